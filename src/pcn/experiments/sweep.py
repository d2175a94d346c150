"""A study as a plan: environments x algorithms x a grid of hyperparameters x seeds."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from typing import Any

from pcn.algorithms import ALGORITHMS
from pcn.envs.registry import parameters_of
from pcn.errors import UserError
from pcn.experiments.plan import Plan, PlannedRun, label_of
from pcn.runs.request import Request

MOST_SEEDS = 1_000_000
"""More seeds in a range are a slip of the finger, and do not fit into memory."""


def sweep_plan(
    environments: Sequence[str],
    *,
    algorithms: Sequence[str] = ("pcn",),
    preset: str = "default",
    seeds: Sequence[int] = (0,),
    grid: Mapping[str, Sequence[Any]] | None = None,
    total_steps: int | None = None,
) -> Plan:
    """Every combination of environment, algorithm, values of the `grid`, and seed.

    Args:
        environments: Names of environments, as `pcn.train` takes them.
        algorithms: Names of algorithms. Those that have no such preset train with `default`.
        preset: The preset.
        seeds: The seeds of each combination.
        grid: The values of hyperparameters, or of arguments of the environment, by their names.
            Those that only some of the algorithms or environments have are varied for these alone.
        total_steps: Steps of each training; by default those of the environment's recipe.
    """
    for algorithm in algorithms:
        if algorithm not in ALGORITHMS:
            known = ", ".join(ALGORITHMS)
            raise UserError(f"no algorithm is called {algorithm!r}; there are: {known}")
    if not any(preset in ALGORITHMS[algorithm].presets for algorithm in algorithms):
        known = ", ".join(ALGORITHMS[algorithms[0]].presets)
        raise UserError(f"{algorithms[0]} has no preset {preset!r}; it has: {known}")
    grid = grid or {}
    _refuse_unknown(grid, environments, algorithms)
    steps = {} if total_steps is None else {"total_steps": total_steps}
    runs = []
    for seed, environment, algorithm in product(seeds, environments, algorithms):
        chosen = preset if preset in ALGORITHMS[algorithm].presets else "default"
        parameters, options = parameters_of(environment), _options(algorithm)
        taken = {name: grid[name] for name in grid if name in options or name in parameters}
        for values in _combinations(taken):
            request = Request(
                environment=environment,
                arguments={name: values[name] for name in values if name not in options},
                algorithm=algorithm,
                preset=chosen,
                hyperparameters=steps | {name: values[name] for name in values if name in options},
                seed=seed,
            )
            runs.append(PlannedRun.of(environment, label_of(algorithm, chosen, values), request))
    return Plan(name="sweep", runs=tuple(runs))


def seeds_in(text: str) -> tuple[int, ...]:
    """The seeds that a text such as `0-4,10` names.

    >>> seeds_in("0-4,10")
    (0, 1, 2, 3, 4, 10)
    """
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else not last)):
            raise UserError(f"seeds are numbers and ranges such as 0-4,10; got {text!r}")
        smallest, largest = int(first), int(last or first)
        if smallest > largest:
            raise UserError(f"--seeds {part} has no seed: write {largest}-{smallest}")
        if largest - smallest >= MOST_SEEDS:
            raise UserError(f"--seeds {part} are more than {MOST_SEEDS:,} seeds")
        seeds += range(smallest, largest + 1)
    if len(set(seeds)) < len(seeds):
        raise UserError(f"--seeds {text} has a seed twice")
    return tuple(seeds)


def grid_in(assignments: Sequence[str]) -> dict[str, list[Any]]:
    """The values that texts such as `learning-rate=1e-3,3e-3` give to hyperparameters.

    A value is a number, a truth, None, a tuple in parentheses, or else a word.

    >>> grid_in(["learning-rate=1e-3,3e-3", "step-rule=adam"])
    {'learning_rate': [0.001, 0.003], 'step_rule': ['adam']}
    """
    grid: dict[str, list[Any]] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        option = name.removeprefix("--").replace("-", "_")
        if not (option and equals and text):
            raise UserError(f"--set takes name=value[,value...], got {assignment!r}")
        if option in grid:
            raise UserError(f"--set {name} is given twice: write all values behind one =")
        grid[option] = [_value(word) for word in _split(text)]
    return grid


def _combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _options(algorithm: str) -> set[str]:
    return ALGORITHMS[algorithm].config_class.names()


def _refuse_unknown(
    names: Iterable[str], environments: Sequence[str], algorithms: Sequence[str]
) -> None:
    """Raise a `UserError` for an option that no algorithm or environment of the sweep has."""
    known: set[str] = set().union(
        *(_options(algorithm) for algorithm in algorithms),
        *(parameters_of(environment) for environment in environments),
    )
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=3)
            hint = f"; close to it are: {', '.join(close)}" if close else ""
            takers = ", ".join([*algorithms, *environments])
            raise UserError(f"none of {takers} has an option {name!r}{hint}")


def _split(text: str) -> list[str]:
    """The words between commas; those inside parentheses belong to a tuple."""
    words, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            words.append("")
        else:
            words[-1] += character
    return words


def _value(word: str) -> Any:
    try:
        value = ast.literal_eval(word.strip())
    except (ValueError, SyntaxError):
        return {"true": True, "false": False}.get(word, word)
    # A whole number may be typed as 1e5.
    return int(value) if isinstance(value, float) and value.is_integer() else value
