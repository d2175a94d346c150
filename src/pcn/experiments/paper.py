"""The paper's experiments as plans: Table 1 with its figures, and the box plots of Walkroom."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pcn.algorithms import ALGORITHMS
from pcn.errors import UserError
from pcn.experiments.plan import Plan, PlannedRun, label_of
from pcn.recipes import recipe_for
from pcn.runs.request import Request

FIRST_SEED = 1000
"""The first seed; hyperparameters were chosen on other seeds."""
TABLE_SEEDS = 5
WALKROOM_SEEDS = 20
SCALED_SEEDS = 2
"""Seeds of Walkroom if steps are scaled down: enough to test everything."""
LEAST_STEPS = 1_000
"""The fewest steps that allow some iterations of every algorithm."""
PCN_PRESETS = ("default", "paper")
MOST_OBJECTIVES_OF_RA = 5
"""For more objectives RA has too many directions, in the paper as well."""

BUDGETS: Mapping[tuple[str, str], int] = {
    ("crossroad-authors", "mones"): 600_000,
    ("crossroad-authors", "ra"): 600_000,
}
"""Steps by environment and algorithm that differ from the recipe: twice PCN's."""

Runs = Iterator[PlannedRun]


def paper_plan(
    what: str,
    *,
    preset: str | None = None,
    seeds: int | None = None,
    scale: float = 1.0,
    first_seed: int = FIRST_SEED,
) -> Plan:
    """The plan of one of `EXPERIMENTS`.

    Args:
        what: The name of the experiment.
        preset: The only preset of PCN; by default Table 1 has `default` and `paper`, Walkroom
            `default`.
        seeds: How many seeds; by default those of the paper.
        scale: Multiplies the number of steps of every run.
        first_seed: The smallest seed.
    """
    if what not in EXPERIMENTS:
        raise UserError(f"no experiment is called {what!r}; there are: {', '.join(EXPERIMENTS)}")
    if preset is not None and preset not in ALGORITHMS["pcn"].presets:
        known = ", ".join(ALGORITHMS["pcn"].presets)
        raise UserError(f"no preset is called {preset!r}; there are: {known}")
    if not 0 < scale <= 1:
        raise UserError(f"scale must be above 0 and at most 1, got {scale:g}")
    if seeds is not None and seeds < 1:
        raise UserError(f"seeds must be at least 1, got {seeds}")
    if first_seed < 0:
        raise UserError(f"first_seed must not be negative, got {first_seed}")
    runs: list[PlannedRun] = []
    for part in EXPERIMENTS[what]:
        runs += part(preset, seeds, scale, first_seed)
    # Seed by seed: a first table is complete early, and processes compile different programs.
    runs.sort(key=lambda run: run.request.seed)
    return Plan(name=what, runs=tuple(runs), preset=preset, scale=scale)


def _table(environment: str) -> Callable[[str | None, int | None, float, int], Runs]:
    """The rows of one environment in Table 1."""

    def runs(preset: str | None, seeds: int | None, scale: float, first_seed: int) -> Runs:
        presets = PCN_PRESETS if preset is None else (preset,)
        number = TABLE_SEEDS if seeds is None else seeds
        for seed in range(first_seed, first_seed + number):
            for algorithm, chosen in _rows(presets, ("mones", "ra")):
                yield _run(environment, environment, {}, algorithm, chosen, seed, scale)

    return runs


def _walkroom(preset: str | None, seeds: int | None, scale: float, first_seed: int) -> Runs:
    """Rooms with two to nine objectives, another room for each seed."""
    usual = WALKROOM_SEEDS if scale == 1 else SCALED_SEEDS
    number = usual if seeds is None else seeds
    for seed in range(first_seed, first_seed + number):
        for objectives in range(9, 1, -1):  # the long ones first
            others = ("mones", "ra") if objectives <= MOST_OBJECTIVES_OF_RA else ("mones",)
            arguments = {"objectives": objectives, "room_seed": seed}
            for algorithm, chosen in _rows((preset or "default",), others):
                group = f"walkroom-{objectives}"
                yield _run(group, "walkroom", arguments, algorithm, chosen, seed, scale)


def _rows(presets: Sequence[str], others: Sequence[str]) -> list[tuple[str, str]]:
    """Algorithms and presets, PCN's first."""
    return [("pcn", preset) for preset in presets] + [(other, "default") for other in others]


def _run(
    group: str,
    environment: str,
    arguments: Mapping[str, Any],
    algorithm: str,
    preset: str,
    seed: int,
    scale: float,
) -> PlannedRun:
    steps = BUDGETS.get((environment, algorithm))
    if steps is None:
        steps = int(recipe_for(environment, arguments, algorithm, preset)[0]["total_steps"])
    request = Request(
        environment=environment,
        arguments=arguments,
        algorithm=algorithm,
        preset=preset,
        hyperparameters={"total_steps": max(round(steps * scale), min(steps, LEAST_STEPS))},
        seed=seed,
    )
    return PlannedRun.of(group, label_of(algorithm, preset, {}), request)


DST, MINECART = _table("deep-sea-treasure"), _table("minecart")
# The variant with the objectives of the paper's figures.
CROSSROAD = _table("crossroad-authors")

EXPERIMENTS = {
    "table1": (DST, MINECART, CROSSROAD),
    "dst": (DST,),
    "minecart": (MINECART,),
    "crossroad": (CROSSROAD,),
    "walkroom": (_walkroom,),
    "all": (DST, MINECART, CROSSROAD, _walkroom),
}
"""The experiments that can be reproduced, and their parts."""
