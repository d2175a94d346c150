"""Whole numbers as people type them: 100000, 100_000 and 1e5."""

from typing import Any

from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

REGISTRY = ConstructorRegistry()


def whole_number(word: str) -> int:
    """What the word says, if that is a whole number."""
    try:
        return int(word)
    except ValueError:
        value = float(word)
        if not value.is_integer():
            raise ValueError(f"{word} is no whole number") from None
        return int(value)


@REGISTRY.primitive_rule
def _whole_numbers(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[int] | None:
    if info.type is not int:
        return None

    def is_instance(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=lambda words: whole_number(words[0]),
        is_instance=is_instance,
        str_from_instance=lambda value: [str(value)],
    )
