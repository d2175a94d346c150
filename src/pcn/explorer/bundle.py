"""ES modules as one script: a file that is opened from disk may not load modules.

Only what the page's modules need is understood: named imports from `./file.js`, and exports of
functions, classes, constants and lists of names. Everything else is an error that says where.
"""

import re
from collections.abc import Mapping

ENTRY = "main.js"

_IMPORT = re.compile(
    r"^import\s+(?:\{(?P<names>[^}]*)\}\s*from\s*)?['\"]\./(?P<file>[\w-]+\.js)['\"];?[ \t]*$",
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export\s+(?P<rest>(?:async\s+function|function\s*\*?|class|const)\s+(?P<name>[\w$]+))",
    re.MULTILINE,
)
_EXPORT_LIST = re.compile(r"^export\s*\{(?P<names>[^}]*)\};?[ \t]*$", re.MULTILINE)
_LEFT = re.compile(r"^(?:import\b(?!\.)|export\b).*|\bimport\s*\(.*|\bimport\.meta.*", re.MULTILINE)
_NAME = re.compile(r"^[\w$]+$")


def bundled(modules: Mapping[str, str], entry: str = ENTRY) -> str:
    r"""One script that does the same as loading the entry module.

    Each module becomes a function that is called once and returns its exports; imported modules
    come before it.

    >>> print(bundled({"main.js": "import { a } from './x.js';\nshow(a);",
    ...                "x.js": "export const a = 1;"}))
    const module_x = (() => {
    const a = 1;
    return { a };
    })();
    const module_main = (() => {
    const { a } = module_x;
    show(a);
    return {  };
    })();
    """
    order: list[str] = []
    _visit(entry, modules, order, [])
    return "\n".join(_wrapped(name, modules[name]) for name in order)


def _visit(name: str, modules: Mapping[str, str], order: list[str], path: list[str]) -> None:
    """Append a module to the order after all its imports."""
    if name in path:
        raise ValueError(f"modules import each other in a circle: {' -> '.join([*path, name])}")
    if name in order:
        return
    if name not in modules:
        raise ValueError(f"{path[-1] if path else 'the page'} imports {name}, which does not exist")
    for found in _IMPORT.finditer(modules[name]):
        _visit(found["file"], modules, order, [*path, name])
    order.append(name)


def _wrapped(name: str, source: str) -> str:
    """A module as a function that is called at once."""
    exported: list[str] = []

    def imported(found: re.Match[str]) -> str:
        if found["names"] is None:
            return ""
        pairs = [_renamed(part, name) for part in _parts(found["names"])]
        taken = ", ".join(old if old == new else f"{old}: {new}" for old, new in pairs)
        return f"const {{ {taken} }} = {_variable(found['file'])};"

    def declared(found: re.Match[str]) -> str:
        exported.append(found["name"])
        return found["rest"]

    def listed(found: re.Match[str]) -> str:
        for part in _parts(found["names"]):
            old, new = _renamed(part, name)
            exported.append(new if old == new else f"{new}: {old}")
        return ""

    body = _IMPORT.sub(imported, source)
    body = _EXPORT.sub(declared, body)
    body = _EXPORT_LIST.sub(listed, body)
    left = _LEFT.search(body)
    if left is not None:
        raise ValueError(f"{name}: the bundle does not understand {left.group().strip()!r}")
    return (
        f"const {_variable(name)} = (() => {{\n{body.strip()}\n"
        f"return {{ {', '.join(exported)} }};\n}})();"
    )


def _parts(names: str) -> list[str]:
    return [part.strip() for part in names.split(",") if part.strip()]


def _renamed(part: str, name: str) -> tuple[str, str]:
    """`a` as (a, a), and `a as b` as (a, b)."""
    words = part.split()
    if len(words) == 3 and words[1] == "as":
        words = [words[0], words[2]]
    if len(words) > 2 or not all(_NAME.match(word) for word in words):
        raise ValueError(f"{name}: the bundle does not understand {part!r}")
    return words[0], words[-1]


def _variable(file: str) -> str:
    return "module_" + file.removesuffix(".js").replace("-", "_")
