"""Who imports whom: every module has a line, and imports only lines below its own.

The code is read, not run: imports inside functions and for type checkers count like all others.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import pcn

PACKAGE = Path(pcn.__file__).parent

LINES = (
    ("cli", "__main__"),
    ("__init__",),  # the public names of the package
    ("experiments", "explorer", "export", "figures"),
    ("runs",),
    ("recipes",),
    ("algorithms/__init__",),  # the table of algorithms
    ("algorithms/*",),  # never one another: what two of them need moves down
    ("algorithms/stacked",),
    ("algorithms/trainer", "algorithms/config", "algorithms/execution"),
    ("rollout", "datasets"),
    ("envs",),
    ("nets", "metrics", "planning"),
    ("episodes", "command", "coverage", "single_returns", "pareto", "fingerprints"),
    (
        "serialisation",
        "errors",
        "types",
        "checks",
        "lookup",
        "lazy",
        "version",
        "compilation",
        "cluster",
        "memory",
        "program_cache",
        "field_docs",
        "processor_time",
        "starting",
        "worker_processes",
    ),
)
"""From top to bottom. A name stands for a module, or for a package and everything in it; `*` for
each of the others in a folder."""

TABLES = {
    "ALGORITHMS": "algorithms/__init__",
    "METRICS": "metrics/__init__",
    "ORDERS": "pareto/orders/__init__",
    "ENVIRONMENTS": "envs/registry",
    "JAX_PACKAGES": "envs/registry",
    "ACTION_HEADS": "nets/heads/__init__",
    "EMBEDDINGS": "nets/spaces",
    "HEAD_GRAPHS": "export/graphs/heads",
    "EMBEDDING_GRAPHS": "export/graphs/embeddings",
    "REFINEMENTS": "algorithms/pcn/refinements/__init__",
    "COMMANDS": "cli/main",
    "EXPERIMENTS": "experiments/paper",
}
"""What can be added to by one line, and the module in which that line belongs."""

NOT_SHIPPED = ("proofs", "tests", "benchmarks")


@dataclass(frozen=True)
class Import:
    """A line that imports a module of the package, or another one from elsewhere."""

    importer: str
    line: int
    imported: str

    def __str__(self) -> str:
        return f"module {dotted(self.importer)} (line {self.line}) imports {dotted(self.imported)}"


def dotted(module: str) -> str:
    return ".".join(part for part in ("pcn", *module.split("/")) if part != "__init__")


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """Every module of the package, as a path without its ending."""
    return {
        path.relative_to(package).with_suffix("").as_posix(): path
        for path in sorted(package.rglob("*.py"))
    }


def names_imported(tree: ast.AST, importer: str) -> Iterator[tuple[int, str]]:
    """Everything that may be a module among what is imported, absolute, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                folders = ["pcn", *importer.split("/")][: -node.level]
                base = ".".join([*folders, *filter(None, [base])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = node.args[0]
            if name in ("import_module", "__import__") and isinstance(given, ast.Constant):
                yield node.lineno, str(given.value)


def module_of(name: str, known: dict[str, Path]) -> str | None:
    """The module of the package that `import name` or `from ... import name` reads."""
    if name.partition(".")[0] != "pcn":
        return None
    parts = name.split(".")[1:]
    while True:
        path = "/".join(parts)
        for candidate in (path, f"{path}/__init__".removeprefix("/")):
            if candidate in known:
                return candidate
        if not parts:
            return None
        parts.pop()  # a name in a module


def imports(known: dict[str, Path]) -> Iterator[Import]:
    """All imports between modules of the package."""
    for importer, path in known.items():
        for line, name in names_imported(ast.parse(path.read_text()), importer):
            imported = module_of(name, known)
            if imported is not None and imported != importer:
                yield Import(importer, line, imported)


def entry_of(module: str) -> tuple[int, str] | None:
    """The number of a module's line, and the part of the package that it belongs to there."""
    numbers = {entry: number for number, line in enumerate(LINES) for entry in line}
    parts = module.split("/")
    for length in range(len(parts), 0, -1):
        part = "/".join(parts[:length])
        if part in numbers:
            return numbers[part], part
        wildcard = "/".join([*parts[: length - 1], "*"])
        if wildcard in numbers:
            return numbers[wildcard], part
    return None


def complaint(found: Import) -> str | None:
    """What is wrong with an import, if anything."""
    upper, lower = entry_of(found.importer), entry_of(found.imported)
    if upper is None or lower is None:
        return None  # told by itself
    if lower[0] < upper[0]:
        return f"{found}, which is above it"
    if lower[0] == upper[0] and lower[1] != upper[1] and any("*" in e for e in LINES[upper[0]]):
        return f"{found}, which stands beside it: what both need moves down"
    return None


KNOWN = modules()


def test_contributors_read_the_same_table():
    page = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    blocks = [part.strip().splitlines() for part in page.split("```")[1::2]]
    assert [" · ".join(line) for line in LINES] in blocks


def test_every_module_has_a_line():
    assert [dotted(module) for module in KNOWN if entry_of(module) is None] == []


def test_modules_import_only_what_is_below_them():
    complaints = sorted({text for found in imports(KNOWN) if (text := complaint(found))})
    assert not complaints, "\n" + "\n".join(complaints)


def test_what_shares_a_line_does_not_go_in_circles():
    beside: dict[str, set[str]] = {}
    for found in imports(KNOWN):
        upper, lower = entry_of(found.importer), entry_of(found.imported)
        if upper and lower and upper[0] == lower[0] and upper[1] != lower[1]:
            beside.setdefault(upper[1], set()).add(lower[1])

    def reached(part: str, seen: frozenset[str] = frozenset()) -> frozenset[str]:
        for other in beside.get(part, set()) - seen:
            seen = reached(other, seen | {other})
        return seen

    assert [part for part in beside if part in reached(part)] == []


def test_nothing_that_is_installed_needs_what_is_not():
    helpers = {path.stem for path in Path(__file__).parent.glob("*.py")}
    found = [
        f"module {dotted(module)} (line {line}) imports {name}, which is not installed"
        for module, path in KNOWN.items()
        for line, name in names_imported(ast.parse(path.read_text()), module)
        if name.partition(".")[0] in {*NOT_SHIPPED, *helpers}
    ]
    assert not found, "\n" + "\n".join(found)


def targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []


@cache
def written_tables() -> dict[str, list[tuple[str, type]]]:
    """For each table, the modules that write to it, and what each writes."""
    written: dict[str, list[tuple[str, type]]] = {table: [] for table in TABLES}
    for module, path in KNOWN.items():
        for node in ast.walk(ast.parse(path.read_text())):
            places = [
                target.value if isinstance(target, ast.Subscript) else target
                for target in targets(node)
            ]
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                changes = node.func.attr in ("update", "setdefault", "pop", "clear", "__setitem__")
                places = [node.func.value] if changes else []
            for table in {ast.unparse(place).rpartition(".")[2] for place in places} & {*TABLES}:
                written[table].append((module, type(getattr(node, "value", None))))
    return written


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_plain_dicts_that_nobody_adds_to_from_elsewhere(table):
    assert written_tables()[table] == [(TABLES[table], ast.Dict)]


def examples() -> dict[str, Path]:
    names = (
        "__init__", "cli/__init__", "cli/main", "algorithms/__init__", "algorithms/pcn/__init__",
        "algorithms/pcn/train", "algorithms/ra/train", "algorithms/stacked/execute",
        "algorithms/trainer", "envs/__init__", "envs/spec", "rollout/__init__", "types",
    )  # fmt: skip
    return dict.fromkeys(names, Path())


@pytest.mark.parametrize(
    ("importer", "source", "expected"),
    [
        ("envs/spec", "import pcn.types", None),
        ("envs/spec", "from pcn.types import AnyArray", None),
        ("envs/spec", "from pcn import types", None),
        ("envs/spec", "from pcn.rollout import rollout", "pcn.rollout, which is above it"),
        ("envs/spec", "from .. import rollout", "pcn.rollout, which is above it"),
        ("envs/spec", "from ..rollout import rollout", "pcn.rollout, which is above it"),
        ("envs/spec", "import pcn", "imports pcn, which is above it"),
        ("envs/spec", "def f():\n from pcn.cli import main", "pcn.cli.main, which is above it"),
        ("envs/spec", "if TYPE_CHECKING:\n import pcn.cli", "pcn.cli, which is above it"),
        ("envs/spec", "importlib.import_module('pcn.cli')", "pcn.cli, which is above it"),
        ("envs/spec", "from pcn.envs import spec", None),
        ("algorithms/pcn/train", "from pcn.algorithms import ALGORITHMS", "above it"),
        ("algorithms/pcn/train", "from pcn.algorithms.ra.train import RA", "moves down"),
        ("algorithms/pcn/train", "from pcn.algorithms.stacked.execute import execute", None),
        ("algorithms/pcn/train", "from pcn.algorithms.trainer import Progress", None),
        ("algorithms/stacked/execute", "from pcn.algorithms.ra import train", "above it"),
        ("cli/main", "import pcn", None),
    ],
)
def test_an_import_is_found_wherever_it_stands(importer, source, expected):
    known = examples()
    named = names_imported(ast.parse(source), importer)
    found = [
        Import(importer, line, imported)
        for line, name in named
        if (imported := module_of(name, known)) and imported != importer
    ]
    complaints = [text for one in found if (text := complaint(one))]
    if expected is None:
        assert complaints == []
    else:
        assert len(complaints) == 1
        line = len(source.splitlines())
        assert complaints[0].startswith(f"module {dotted(importer)} (line {line}) imports ")
        assert complaints[0].endswith(expected)
