"""Values as people type them: whole numbers such as 100000, 100_000 and 1e5, and `None`."""

from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

REGISTRY = ConstructorRegistry()


def whole_number(word: str) -> int:
    """What the word says, if that is a whole number."""
    try:
        return int(word)
    except ValueError:
        pass
    try:
        value = float(word)
    except ValueError:
        value = float("nan")
    if not value.is_integer():
        raise ValueError(f"{word!r} is not a whole number")
    return int(value)


def true_or_false(word: str) -> bool:
    """What the word says, if that is `True` or `False`."""
    if word not in ("True", "False"):
        raise ValueError(f"{word!r} is neither True nor False")
    return word == "True"


def number(word: str) -> float:
    """What the word says, if that is a number."""
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"{word!r} is not a number") from None


_SIMPLE: dict[Any, tuple[str, Any]] = {
    int: ("INT", whole_number),
    float: ("FLOAT", number),
    str: ("STR", str),
    bool: ("{True,False}", true_or_false),
    Path: ("PATH", Path),
}
"""Types that may be optional: how help calls them, and how they are read."""


@REGISTRY.primitive_rule
def _required_number(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """A whole or a real number; True and False are none."""
    kind = info.type
    if kind is not int and kind is not float:
        return None
    metavar, read = _SIMPLE[kind]
    accepted = int if kind is int else int | float
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=metavar,
        instance_from_str=lambda words: read(words[0]),
        is_instance=lambda value: isinstance(value, accepted) and not isinstance(value, bool),
        str_from_instance=lambda value: [str(value)],
    )


@REGISTRY.primitive_rule
def _optional(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """One of these types or `None`; help shows the type alone."""
    parts = get_args(info.type)
    if get_origin(info.type) not in (Union, UnionType) or len(parts) != 2 or NoneType not in parts:
        return None
    kind = next(part for part in parts if part is not NoneType)
    if get_origin(kind) is tuple and get_args(kind)[0] in _SIMPLE and get_args(kind)[1:] == (...,):
        metavar, read = _SIMPLE[get_args(kind)[0]]
        return PrimitiveConstructorSpec(
            nargs="*",
            metavar=f"{metavar} [{metavar} ...]",
            instance_from_str=lambda words: (
                None if words == ["None"] else tuple(read(word) for word in words)
            ),
            is_instance=lambda value: value is None or isinstance(value, tuple),
            str_from_instance=lambda value: ["None"] if value is None else list(map(str, value)),
        )
    if kind not in _SIMPLE:
        return None
    metavar, read = _SIMPLE[kind]
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=metavar,
        instance_from_str=lambda words: None if words[0] == "None" else read(words[0]),
        is_instance=lambda value: value is None or isinstance(value, kind),
        str_from_instance=lambda value: [str(value)],
    )
