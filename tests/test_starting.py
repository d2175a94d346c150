"""Ctrl-C while the program starts."""

import ast
from pathlib import Path

import pcn


def test_nothing_is_imported_before_ctrl_c_is_quiet():
    """Whatever is imported before it shows a traceback when it is interrupted."""
    _, first, second, *_ = ast.parse(Path(pcn.__file__).read_text(encoding="utf-8")).body
    assert ast.unparse(first) == "from pcn.starting import quiet_while_starting"
    assert ast.unparse(second) == "quiet_while_starting()"
