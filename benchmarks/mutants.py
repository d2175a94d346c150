"""Change the code in one place at a time, run its tests, and list the changes that no test notices.

A mutant is a module with one comparison, operator, number or word of logic changed, or with one
statement removed. Heavy packages are imported once; each mutant is a fork that imports `pcn` with
the mutant in place and runs the tests of its suite until the first failure: those of its own module
first. Pictures are left alone, no figure is made of them:

    nice -n 8 python benchmarks/mutants.py metrics pareto --sample 100 --seed 0

`SUITES` says which tests belong to which modules. A survivor either changes nothing that can be
seen, or needs a test.
"""

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import os
import random
import resource
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pcn"
SUITES = {
    "metrics": (["metrics"], ["tests/metrics"]),
    "pareto": (["pareto"], ["tests/pareto"]),
    "coverage": (
        ["coverage.py", "single_returns.py", "command.py"],
        [
            "tests/test_coverage.py",
            "tests/test_single_returns.py",
            "tests/test_command.py",
            "tests/runs/test_measures.py",
        ],
    ),
    "comparison": (
        ["experiments/comparison"],
        ["tests/experiments/comparison", "tests/experiments/test_outputs.py"],
    ),
    "table1": (
        ["experiments/table1.py", "experiments/tables.py", "experiments/published.py"],
        ["tests/experiments/test_table1.py", "tests/experiments/test_outputs.py"],
    ),
    "measures": (
        ["runs/measures.py"],
        ["tests/runs/test_measures.py", "tests/runs/test_what_a_run_says.py"],
    ),
    "dataset": (
        ["algorithms/pcn/dataset.py", "algorithms/pcn/ranking.py"],
        ["tests/algorithms/pcn/test_dataset.py", "tests/algorithms/pcn/test_ranking.py"],
    ),
    "commands": (
        ["algorithms/pcn/command_selection.py", "algorithms/pcn/schedule.py"],
        ["tests/algorithms/pcn/test_command_selection.py", "tests/algorithms/pcn/test_schedule.py"],
    ),
    "acting": (
        ["algorithms/pcn/update.py", "algorithms/pcn/agent.py", "algorithms/pcn/acting.py"],
        [
            f"tests/algorithms/pcn/test_{name}.py"
            for name in ("update", "agent", "acting", "upper_bound")
        ],
    ),
    "executing": (
        ["algorithms/pcn/executing.py", "algorithms/execution.py"],
        [
            "tests/algorithms/test_execution.py",
            "tests/algorithms/pcn/test_executing.py",
            "tests/algorithms/stacked/test_execute.py",
        ],
    ),
    "racing": (["algorithms/pcn/racing.py"], ["tests/algorithms/pcn/test_racing.py"]),
    "fitness": (["algorithms/mones/fitness.py"], ["tests/algorithms/mones/test_fitness.py"]),
    "gradients": (
        ["algorithms/ra/gradients.py", "algorithms/ra/stationarity.py"],
        ["tests/algorithms/ra/test_gradients.py", "tests/algorithms/ra/test_stationarity.py"],
    ),
    "minecart": (
        ["envs/minecart/environment.py", "envs/minecart/exact.py"],
        ["tests/envs/minecart/test_environment.py"],
    ),
    "treasure": (["envs/deep_sea_treasure.py"], ["tests/envs/test_deep_sea_treasure.py"]),
    "walkroom": (["envs/walkroom.py"], ["tests/envs/test_walkroom.py"]),
}
SWAPS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt,), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
MOST_SECONDS = 60
"""CPU seconds of a mutant, beyond twice those of the tests without it: one that takes more is taken
for killed, for it does not come to an end."""
PICTURES = ("render", "_picture", "_room_picture", "_bars")
"""Functions that draw."""


def changes_of(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The ways to change one node, as a field and a word."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in SWAPS.get(type(operator), ()):
                yield f"ops.{place}", other.__name__
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        for other in SWAPS.get(type(node.op), ()):
            yield "op", other.__name__
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield "op", "removed"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "value", str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "value", repr(node.value + 1)
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) and not (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ):
        yield "statement", "removed"


def is_annotation(parent: ast.AST, name: str) -> bool:
    return name in ("annotation", "returns", "decorator_list") or (
        isinstance(parent, ast.Raise) or name == "msg"
    )


def nodes_of(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes in a fixed order, without types, messages of errors and decorators."""
    yield tree
    for name, value in ast.iter_fields(tree):
        if is_annotation(tree, name) or getattr(tree, "name", "") in PICTURES:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from nodes_of(child)


def mutants_of(path: Path) -> Iterator[tuple[str, ast.Module]]:
    """Each mutant of a module: where and what was changed, and the changed tree."""
    whole = ast.parse(path.read_text())
    for number, node in enumerate(nodes_of(whole)):
        for field, word in changes_of(node):
            tree = copy.deepcopy(whole)
            changed = next(one for place, one in enumerate(nodes_of(tree)) if place == number)
            before = ast.unparse(changed)
            change(tree, changed, field, word)
            after = "" if field == "statement" else ast.unparse(changed)
            place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            yield f"{place}: {before!r} became {after!r} ({word})", ast.fix_missing_locations(tree)


def change(tree: ast.AST, node: ast.AST, field: str, word: str) -> None:
    if field.startswith("ops."):
        node.ops[int(field[4:])] = getattr(ast, word)()  # type: ignore[attr-defined]
    elif field == "value":
        node.value = ast.literal_eval(word)  # type: ignore[attr-defined]
    elif field == "op" and word != "removed":
        node.op = getattr(ast, word)()  # type: ignore[attr-defined]
    else:
        other: ast.AST = ast.Pass() if field == "statement" else node.operand  # type: ignore
        for parent in ast.walk(tree):
            for name, value in ast.iter_fields(parent):
                if value is node:
                    setattr(parent, name, other)
                elif isinstance(value, list) and any(one is node for one in value):
                    value[[one is node for one in value].index(True)] = other


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Puts the mutant in the place of its module."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        self.is_package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.is_package else parts)
        self.path, self.tree = path, tree

    def find_spec(self, name, path, target=None):  # type: ignore[no-untyped-def]
        if name != self.name:
            return None
        found = importlib.util.spec_from_loader(
            name, self, origin=str(self.path), is_package=self.is_package
        )
        found.has_location = True
        if self.is_package:
            found.submodule_search_locations = [str(self.path.parent)]
        return found

    def exec_module(self, module):  # type: ignore[no-untyped-def]
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def survives(finder: Finder | None, tests: list[str], most_seconds: int) -> bool:
    """Whether all tests pass in a fork with the mutant; without one, with the code as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no program of JAX runs before the fork
        child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds))
            if finder is not None:
                nothing = os.open(os.devnull, os.O_RDWR)
                os.dup2(nothing, 1)
                os.dup2(nothing, 2)
            if finder is not None:
                sys.meta_path.insert(0, finder)
            import pytest

            options = ["-x", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
            options += ["-o", "filterwarnings="]
            code = int(pytest.main([*options, "-o", "addopts=", *tests]))
        except BaseException:
            traceback.print_exc()
            code = 99
        sys.stdout.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    return status == 0


def mirrored(file: Path) -> str | None:
    """The test file of a module, which is the quickest to notice a change."""
    place = file.relative_to(SOURCE)
    test = Path("tests") / place.parent / f"test_{place.name}"
    return str(test) if test.exists() else None


def files_of(tests: list[str]) -> list[str]:
    """The test files in folders, and single ones."""
    return [
        str(file)
        for test in tests
        for file in (sorted(Path(test).rglob("test_*.py")) or [Path(test)])
    ]


def cpu_seconds() -> float:
    """Of all forks so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def import_heavy_packages() -> None:
    import equinox  # noqa: F401
    import gymnasium  # noqa: F401
    import hypothesis  # noqa: F401
    import jax.numpy  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import moocore  # noqa: F401
    import optax  # noqa: F401
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", default=list(SUITES), choices=list(SUITES))
    parser.add_argument("--sample", type=int, help="so many mutants of each suite, at random")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.chdir(ROOT)
    import_heavy_packages()
    for suite in options.suites:
        places, tests = SUITES[suite]
        files = [
            file
            for place in places
            for file in (sorted((SOURCE / place).rglob("*.py")) or [SOURCE / place])
        ]
        mutants = [(file, *mutant) for file in files for mutant in mutants_of(file)]
        there, chosen = len(mutants), random.Random(options.seed)
        if options.sample is not None:
            mutants = chosen.sample(mutants, min(there, options.sample))
        before = cpu_seconds()
        if not survives(None, tests, 3600):
            raise SystemExit(f"{suite}: the tests fail without any change")
        most = int(2 * (cpu_seconds() - before)) + MOST_SECONDS
        began, survivors = cpu_seconds(), 0
        for number, (file, told, tree) in enumerate(mutants, start=1):
            finder, own = Finder(file, tree), mirrored(file)
            first = [] if own is None else [own]
            others = [test for test in files_of(tests) if test not in first]
            if all(survives(finder, part, most) for part in (first, others) if part):
                survivors += 1
                print(f"survived: {told}", flush=True)
            if number % 10 == 0:
                took = cpu_seconds() - began
                print(f"{suite}: {number} mutants, {survivors} alive, {took:.0f} s", flush=True)
        print(f"{suite}: {len(mutants)} of {there} mutants, {survivors} survived", flush=True)


if __name__ == "__main__":
    main()
