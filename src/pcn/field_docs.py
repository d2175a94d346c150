"""Docstrings of fields: what stands below the fields of a dataclass, which Python does not keep."""

import ast
import dataclasses
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any


def paragraphs(docstring: str) -> str:
    """A docstring with one line for each paragraph.

    >>> paragraphs("One\\n    line.\\n\\n    Another.")
    'One line.\\n\\nAnother.'
    """
    return "\n\n".join(" ".join(part.split()) for part in docstring.split("\n\n"))


def field_docs(cls: type[Any]) -> dict[str, str]:
    """The docstrings below the fields of a dataclass and of its bases, one line a paragraph."""
    docs: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        if dataclasses.is_dataclass(owner):
            docs |= _own_docs(owner)
    return docs


def _own_docs(cls: type[Any]) -> dict[str, str]:
    docs: dict[str, str] = {}
    try:
        path = inspect.getsourcefile(cls)
    except (TypeError, OSError):  # a class of an interpreter's prompt has no file
        path = None
    found = None if path is None else _classes_in(path).get(cls.__qualname__)
    body = [] if found is None else found.body
    for field, doc in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(doc, ast.Expr)
            and isinstance(doc.value, ast.Constant)
            and isinstance(doc.value.value, str)
        ):
            docs[field.target.id] = paragraphs(inspect.cleandoc(doc.value.value))
    return docs


@cache
def _classes_in(path: str) -> dict[str, ast.ClassDef]:
    """The classes of a file by their qualified names; each file is parsed once."""
    return dict(_classes_below(ast.parse(Path(path).read_text(encoding="utf-8")), ""))


def _classes_below(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.ClassDef):
            yield prefix + one.name, one
            yield from _classes_below(one, f"{prefix}{one.name}.")
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _classes_below(one, f"{prefix}{one.name}.<locals>.")
        else:
            yield from _classes_below(one, prefix)
