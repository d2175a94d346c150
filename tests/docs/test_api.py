"""The API reference has every public name, and no other."""

import re

import pcn
from doc_pages import text_of


def test_the_reference_has_every_public_name_and_no_other():
    named = re.findall(r"^\.\. auto\w+:: (\w+)", text_of("docs/api.md"), re.MULTILINE)
    assert len(named) == len(set(named))
    assert {*named, "__version__"} == {*pcn.__all__, "__version__"}
