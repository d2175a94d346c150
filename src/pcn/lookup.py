"""Find functions, classes and other objects of the user by the names in a run's config."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pcn.errors import UserError


class GivenName(str):
    """The name of an object that cannot be imported, together with the object.

    A config holds it like any other name. A file keeps only the name, by which the object cannot be
    found.
    """

    thing: Any

    def __new__(cls, name: str, thing: Any) -> "GivenName":
        """Create a name that carries its object."""
        made = super().__new__(cls, name)
        made.thing = thing
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> "GivenName":
        return self  # strings do the same; `dataclasses.asdict` copies every value

    def __reduce__(self) -> tuple[type["GivenName"], tuple[str, Any]]:
        return GivenName, (str(self), self.thing)


def name_of(function: Callable[..., Any]) -> str:
    """A name under which `find_function` finds a function again.

    The name of a function that cannot be imported, such as a lambda, carries the function with it.
    Functions of the main script get the script's name, so that other processes can import them.
    """
    module = getattr(function, "__module__", type(function).__module__)
    if module == "__main__":
        module = main_script() or module
    name = f"{module}:{getattr(function, '__qualname__', type(function).__qualname__)}"
    with suppress(UserError):
        if _imported(name) is function:
            return name
    return GivenName(name, function)


def main_script() -> str | None:
    """The name under which others import the main script; None where there is none."""
    main = sys.modules["__main__"]
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None:
        return str(spec.name)
    if file is None or not Path(file).stem.isidentifier() or Path(file).suffix != ".py":
        return None
    folder = Path(file).resolve().parent
    found = any(Path(place or ".").resolve() == folder for place in sys.path)
    return Path(file).stem if found else None


def is_importable(name: str) -> bool:
    """Whether another process can import the object with this name."""
    return not isinstance(name, GivenName)


def optional_module(module: str, *, extra: str) -> Any:
    """A module that only comes with an extra; a `UserError` names the extra if it is missing.

    Where the package is there and its own imports fail, the error says why.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == package
        why = "is not installed" if missing else f"cannot be imported ({error})"
        raise UserError(f"{package} {why}: pip install 'pcn[{extra}]'") from None


def find_object(name: str) -> Any:
    """The object called `module:name`."""
    return name.thing if isinstance(name, GivenName) else _imported(name)


def find_function(name: str) -> Callable[..., Any]:
    """The function or class called `module:name`."""
    found = find_object(name)
    if not callable(found):
        raise UserError(f"{name} is neither a function nor a class")
    function: Callable[..., Any] = found
    return function


def _imported(name: str) -> Any:
    module_name, _, attribute = name.partition(":")
    # Importing the main script by its name would run it a second time.
    own = module_name == main_script() and module_name not in sys.modules
    try:
        found: Any = sys.modules["__main__"] if own else importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except UserError as error:  # only a script that calls this package while it is imported
        raise UserError(
            f"cannot find {name}: importing {module_name}.py ran a training or another part of pcn "
            f'({error}); what trains belongs under `if __name__ == "__main__":`'
        ) from None
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        hint = _where_to_look(module_name, attribute)
        raise UserError(f"cannot find {name}: {error}{hint}") from None
    return found


def name_in_file(file: str, attribute: str = "NAME") -> str:
    """How an object of a Python file is named, and where that name is understood.

    >>> name_in_file("van.py", "make"), name_in_file("envs/van.py")
    ('van:make', 'van:NAME, if you work in the folder envs')
    """
    path = Path(file)
    where = "" if path.parent == Path() else f", if you work in the folder {path.parent}"
    return f"{path.stem}:{attribute}{where}"


def _where_to_look(module_name: str, attribute: str) -> str:
    """Advice for a module of the user that was not found."""
    if module_name.endswith(".py"):
        return f"; its name is {name_in_file(module_name, attribute)}"
    if module_name == "__main__":
        return "; it was defined in a notebook, or a script that cannot be imported: work there"
    top = module_name.partition(".")[0]
    with suppress(ImportError, ValueError):
        if not top.isidentifier() or importlib.util.find_spec(top) is not None:
            return ""
    return f"; work in the folder of {top}.py, or put that folder into PYTHONPATH"
