"""What the configs of all algorithms have in common."""

from dataclasses import dataclass

from pcn.algorithms.config import options_of
from pcn.field_docs import field_docs


class Owner:
    @dataclass
    class Inside:
        rate: float = 0.5
        """How fast."""


def test_fields_of_a_class_inside_another_have_their_help():
    assert field_docs(Owner.Inside) == {"rate": "How fast."}


def test_fields_of_a_class_inside_a_function_have_their_help():
    @dataclass
    class Inside(Owner.Inside):
        limit: int = 3
        """How far."""

    found = {option.name: option.help for option in options_of(Inside)}
    assert found == {"rate": "How fast.", "limit": "How far."}


def test_a_class_without_a_file_has_no_help_and_is_no_error():
    names = {"__name__": "nowhere"}
    exec(
        "from dataclasses import dataclass\n@dataclass\nclass Typed:\n    rate: float = 1.0", names
    )
    assert field_docs(names["Typed"]) == {}
