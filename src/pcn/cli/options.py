"""The options of `pcn train`: those of every algorithm and of every environment, in groups.

An option that was not given is absent from the parser's result. So presets and recipes can set it
later, when algorithm and environment are known.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Annotated, Any, TypedDict, get_args

import tyro

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.config import Option
from pcn.envs.registry import (
    ENVIRONMENTS,
    GYMNASIUM,
    JAX_PACKAGES,
    Parameter,
    package_of,
    parameters_of,
)
from pcn.errors import UserError

GYMNASIUM_OWNER = "Gymnasium environments"
"""The owner of the options of all environments that are not in the table."""

EVERY_ALGORITHM = "every algorithm's"
"""The group of those options that all algorithms have."""


@dataclass
class SharedOption:
    """One option of the command line, and the algorithms or environments that take it."""

    name: str
    group: str = ""
    """What it belongs to within its owner, such as a refinement."""
    owners: list[str] = field(default_factory=list)
    sources: list[Option | Parameter] = field(default_factory=list)
    """What each owner says of it."""

    def add(self, owner: str, source: Option | Parameter) -> None:
        """One more owner."""
        self.owners.append(owner)
        self.sources.append(source)

    @property
    def kinds(self) -> list[Any]:
        """The type that each owner gives it."""
        return [source.kind for source in self.sources]

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def annotation(self) -> Any:
        """Its type with its help, as tyro takes them."""
        given = [source.default for source in self.sources]
        defaults = ["not set" if default is None else default for default in given]
        # If it has no default, its help explains what happens.
        is_set = any(default is not None for default in given)
        argument = tyro.conf.arg(
            help=_merged(self.owners, [source.help for source in self.sources], "\n\n"),
            help_behavior_hint=f"(default: {_merged(self.owners, defaults, ', ')})"
            if is_set
            else "",
        )
        return Annotated[reduce(or_, self.kinds), argument]


def algorithm_options() -> dict[str, SharedOption]:
    """Every hyperparameter of every algorithm."""
    options: dict[str, SharedOption] = {}
    for algorithm, entry in ALGORITHMS.items():
        for option in entry.config_class.options():
            shared = options.setdefault(option.name, SharedOption(option.name, option.group))
            shared.add(algorithm, option)
    return options


def environment_options() -> dict[str, SharedOption]:
    """Every argument that some environment takes."""
    options: dict[str, SharedOption] = {}
    takers: list[tuple[str, Mapping[str, Parameter]]] = [
        *((name, entry.parameters) for name, entry in ENVIRONMENTS.items()),
        *((f"{name}:NAME", entry.parameters) for name, entry in JAX_PACKAGES.items()),
        (GYMNASIUM_OWNER, GYMNASIUM),
    ]
    for taker, parameters in takers:
        for name, item in parameters.items():
            shared = options.setdefault(name, SharedOption(name))
            shared.add(taker, item)
    return options


def groups_of(options: Iterable[SharedOption]) -> dict[str, Any]:
    """The options by their owners: a dictionary type for each group, every key optional."""
    grouped: dict[str, dict[str, Any]] = {}
    for option in options:
        title = listed(option.owners)
        if option.owners == list(ALGORITHMS):
            title = EVERY_ALGORITHM
        elif option.group and len(option.owners) == 1:
            title += f" {option.group.replace('_', ' ')}"
        grouped.setdefault(title, {})[option.name] = option.annotation
    return {title: _typed_dict(title, fields) for title, fields in grouped.items()}


def one_group(title: str, *options: SharedOption) -> Any:
    """A dictionary type for options of several owners, every key optional."""
    return _typed_dict(title, {option.name: option.annotation for option in options})


def refuse_options_of_others(
    given: Iterable[str], options: Mapping[str, SharedOption], taker: str, hint: str
) -> None:
    """Raise a `UserError` for an option that `taker` does not take."""
    for name in given:
        option = options[name]
        if taker not in option.owners:
            raise UserError(f"{option.flag} is an option of {listed(option.owners)}, not of {hint}")


def environment_taker(name: str) -> str:
    """The owner of an environment's options."""
    package = package_of(name)
    if package is not None:
        return f"{package}:NAME"
    return name if parameters_of(name) is not GYMNASIUM else GYMNASIUM_OWNER


def with_values(arguments: Iterable[str], options: Mapping[str, SharedOption]) -> list[str]:
    """Arguments in which optional values of switches are explicit, as the parser needs them.

    `--workers` becomes `--workers True` and `--no-workers` becomes `--workers False`, while
    `--workers ray` stays as it is.
    """
    given = list(arguments)
    for option in options.values():
        words = [word for kind in option.kinds for word in _words_of_switch(kind)]
        if not words:
            continue
        negated = option.flag.replace("--", "--no-", 1)
        found: list[str] = []
        for argument, following in zip(given, [*given[1:], ""], strict=False):
            if argument == negated:
                found += [option.flag, "False"]
            elif argument == option.flag and following not in (*words, "True", "False"):
                found += [option.flag, "True"]
            else:
                found.append(argument)
        given = found
    return given


def _words_of_switch(kind: Any) -> tuple[str, ...]:
    """The words that a type allows beside True and False."""
    parts = get_args(kind)
    return tuple(w for part in parts for w in get_args(part)) if bool in parts else ()


def listed(words: list[str]) -> str:
    """Words as a list in a sentence."""
    return " and ".join(", ".join(words).rsplit(", ", 1))


def _merged(owners: list[str], values: list[Any], between: str) -> str:
    """The one value that all owners share, or each value with its owners."""
    by_value: dict[str, list[str]] = {}
    for owner, value in zip(owners, values, strict=True):
        by_value.setdefault(str(value), []).append(owner)
    if len(by_value) == 1:
        return next(iter(by_value))
    return between.join(f"{listed(sharing)}: {value}" for value, sharing in by_value.items())


def _typed_dict(title: str, fields: dict[str, Any]) -> Any:
    return TypedDict(title, fields, total=False)  # type: ignore[operator]
