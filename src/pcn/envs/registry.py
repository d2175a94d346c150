"""The table of benchmarks, and families of benchmarks that take arguments."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from pcn.envs.benchmark import Benchmark
from pcn.envs.crossroad import Crossroad
from pcn.envs.crossroad.environment import STEP_LIMIT, Waiting
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.gymnasium_adapter import (
    GymnasiumEnvironment,
    Probe,
    find_make,
    is_gymnasium_id,
    probe,
)
from pcn.envs.minecart import Minecart
from pcn.envs.walkroom import MOST_OBJECTIVES, Walkroom
from pcn.errors import UserError


def walkroom(objectives: int = 2, size: int | None = None, room_seed: int = 0) -> Benchmark:
    """A walkroom with the paper's budget and dataset for its number of objectives."""
    if not 2 <= objectives <= MOST_OBJECTIVES:
        raise UserError(f"walkroom has 2 to {MOST_OBJECTIVES} objectives, got {objectives}")
    return Benchmark(
        name="walkroom",
        make=lambda: Walkroom(objectives, size=size, room_seed=room_seed),
        summary=f"walk to the border of a room with {objectives} dimensions",
        total_steps=100 * objectives * (300 + 100 * objectives),
        settings={
            "default": {
                "capacity": max(10 * objectives**3, 500),
                "evaluations": 20 if objectives < 7 else 5,
            },
            "paper": {"capacity": 10 * objectives**3, "evaluations": 5},
            "authors": {
                "capacity": 10 * objectives**3,
                "evaluations": 5,
                "hidden_layers": 0,
                "command_scale": (0.1,) * objectives + (0.01,),
                "upper_bound": (0.0,) * objectives,
            },
        },
        baselines=_walkroom_baselines(objectives),
        why="The dataset is the paper's, 10 n^3 episodes, but 500 at least: fronts have up to "
        "thousands of points, and 80 episodes for two objectives lose some. "
        "From seven objectives on there are fewer evaluations, as each measures a hypervolume.",
    )


CROSSROAD_REFERENCE = (0.0, -30.0)
"""No cars at all, and a mean time that no schedule we tried has had: the worst waits 27 s."""


def _walkroom_baselines(objectives: int) -> dict[str, dict[str, Any]]:
    """Budgets per draw and per policy rather than for one network that learns from everything."""
    # The authors count MONES' draws, 100n (300 + 100n) of them; one takes 10 to 20 steps.
    draws = 100 * objectives * (300 + 100 * objectives)
    # Fronts of 58 to thousands of points do not show in the usual 200 final draws.
    final_draws = 200 if objectives == 2 else 1_000
    settings: dict[str, dict[str, Any]] = {
        "mones": {"population": 100, "total_steps": 10 * draws, "final_draws": final_draws}
    }
    if objectives <= 5:
        # A fifth of the authors' steps for each of 13, 78 or 286 policies, a tenth for each of 715.
        policies = {2: 13, 3: 78, 4: 286, 5: 715}[objectives]
        steps = (20_000 if objectives <= 4 else 10_000) * policies
        settings["ra"] = {"total_steps": steps, "episodes_per_update": 4}
    return settings


MINECART: dict[str, dict[str, Any]] = {
    "paper": {"learning_rate": 1e-3, "updates_per_iteration": 50, "capacity": 50},
    "authors": {
        "learning_rate": 1e-3,
        "updates_per_iteration": 50,
        "warmup_episodes": 20,
        "capacity": 50,
        "command_scale": (1.0, 1.0, 0.1, 0.1),
        "upper_bound": (1.5, 1.5, 0.0),
    },
}


SIMULATORS = 8
"""Crossroads at once, each in a process: more than cores, so that none of those ever waits."""


@dataclasses.dataclass(frozen=True)
class _Crossroad:
    """One of the crossroads in the table; call it for another number of simulators."""

    name: str
    summary: str
    reference_point: tuple[float, float]
    waiting: Waiting = "mean"
    fresh_traffic: bool = False

    def __call__(self, simulators: int = SIMULATORS) -> Benchmark:
        if simulators < 1:
            raise UserError(f"simulators must be at least 1, got {simulators}")
        return Benchmark(
            name=self.name,
            make=functools.partial(_crossroad_environment, self, simulators),
            summary=self.summary,
            total_steps=300_000,
            settings={
                "default": {
                    "episodes_per_iteration": 16,
                    "updates_per_iteration": 32,
                    "learning_rate": 1e-3,
                    "action_noise": 0.2,
                },
                "paper": CROSSROAD_AUTHORS,
                "authors": {
                    **CROSSROAD_AUTHORS,
                    "command_scale": (1.0, 1.0, 0.01),
                    "upper_bound": (15.0, 15.0),
                },
            },
            baselines=CROSSROAD_BASELINES,
            why="Learning after every 16 episodes is cheap beside simulating them. A few random "
            "actions change an episode a lot: each switch is three seconds without a green light. "
            "The learning rate is the authors'; with a higher one some commands are confused.",
            arguments={"simulators": simulators},
        )


CROSSROAD_AUTHORS: dict[str, Any] = {
    "learning_rate": 1e-3,
    "batch_size": 1024,
    "updates_per_iteration": 50,
    "capacity": 50,
}


CROSSROAD_BASELINES: dict[str, dict[str, Any]] = {
    # No hidden units behind the picture's own layers: 1,698 weights instead of 23,922.
    "mones": {"width": 0, "initial_deviation": 0.3},
    # Every episode takes 100 steps and there are 13 policies: few of each between two updates.
    # The picture's layers have many weights to a logit, so each may move only a little.
    "ra": {"width": 0, "episodes_per_update": 4, "learning_rate": 0.01},
}


@functools.cache
def _crossroad_environment(kind: _Crossroad, simulators: int) -> GymnasiumEnvironment:
    """One environment per kind and process: its workers stay warm from one use to the next."""
    make = functools.partial(Crossroad, kind.waiting, fresh_traffic=kind.fresh_traffic)
    found = Probe(
        reference_point=kind.reference_point,
        deterministic=not kind.fresh_traffic,
        masked_actions=True,
        step_limit=STEP_LIMIT,
    )
    return GymnasiumEnvironment(kind.name, make, found, num_slots=simulators, workers=True)


CROSSROADS = {
    kind.name: kind
    for kind in (
        _Crossroad(
            "crossroad", "traffic lights in SUMO trade flow against waiting", CROSSROAD_REFERENCE
        ),
        _Crossroad(
            "crossroad-authors",
            "the same with the authors' second objective and scaling",
            (-20.0, -20.0),
            waiting="authors",
        ),
        _Crossroad(
            "crossroad-stochastic",
            "crossroad with other traffic in each episode",
            CROSSROAD_REFERENCE,
            fresh_traffic=True,
        ),
    )
}


DISCOUNTS = {"resource-gathering-v0": 0.9, "four-room-v0": 0.95}
"""MO-Gymnasium's environments where time is no objective: without a discount, one policy that takes
its time is as good as any in every objective, and there is no trade-off to learn."""


MINECART_BASELINES: dict[str, dict[str, Any]] = {
    # Linear policies, 48 weights instead of the authors' 678: with 8 hidden units the draws of the
    # same seed needed longer to come home with ore once they were greedy. The steps are about those
    # of the authors' 100,000 draws.
    "mones": {
        "total_steps": 20_000_000,
        "width": 0,
        "population": 100,
        "initial_deviation": 0.5,
    },
    # The paper's 20,000,000 steps are for each of its 78 policies; ours are for all together.
    "ra": {
        "total_steps": 20_000_000,
        "width": 0,
        "episodes_per_update": 8,
        "horizon": 150,
        "entropy_bonus": 0.3,
    },
}


def gymnasium_benchmark(
    name: str,
    environments: int = 16,
    workers: bool = False,
    step_limit: int | None = None,
    reference_point: tuple[float, ...] | None = None,
    deterministic: bool | None = None,
    masked_actions: bool | None = None,
    frame_stack: int = 2,
) -> Benchmark:
    """Any Gymnasium environment; what is not given is found out by random episodes.

    The benchmark's arguments hold what was found, so that a resumed run does not ask again.
    """
    if environments < 1:
        raise UserError(f"environments must be at least 1, got {environments}")
    if frame_stack < 1:
        raise UserError(f"frame_stack must be at least 1, got {frame_stack}")
    if step_limit is not None and step_limit < 1:
        raise UserError(f"step_limit must be at least 1, got {step_limit}")
    make = find_make(name)
    if reference_point is None or deterministic is None or masked_actions is None or not step_limit:
        found = probe(make, name, step_limit=step_limit)
    else:
        found = Probe(reference_point, deterministic, masked_actions, step_limit)
    settled = Probe(
        reference_point=found.reference_point if reference_point is None else reference_point,
        deterministic=found.deterministic if deterministic is None else deterministic,
        masked_actions=found.masked_actions if masked_actions is None else masked_actions,
        step_limit=step_limit or found.step_limit,
    )
    num_objectives = len(found.reference_point)
    if len(settled.reference_point) != num_objectives or not np.all(
        np.isfinite(settled.reference_point)
    ):
        raise UserError(
            f"reference_point must be {num_objectives} finite numbers, "
            f"got {settled.reference_point}"
        )
    environment = GymnasiumEnvironment(
        name,
        make,
        settled,
        num_slots=environments,
        workers=workers,
        frame_stack=frame_stack,
        discount=DISCOUNTS.get(name, 1.0),
    )
    pictures = isinstance(environment.spec.observation_space, gym.spaces.Box) and (
        environment.spec.observation_space.dtype == np.uint8
        and len(environment.spec.observation_space.shape) == 3
    )
    changes: dict[str, Any] = {}
    why = ""
    if pictures:
        changes |= {"capacity": 50, "episodes_per_iteration": 16}
        why = "Pictures fill memory, so fewer episodes of them are kept."
    if name in DISCOUNTS:
        changes["discount"] = DISCOUNTS[name]
        why = "Time is no objective here: without a discount there is no trade-off to learn."
    return Benchmark(
        name=name,
        make=lambda: environment,
        summary="a Gymnasium environment",
        total_steps=200_000,
        settings={preset: changes for preset in ("default", "paper", "authors")},
        why=why,
        arguments={
            "environments": environments,
            "workers": workers,
            "frame_stack": frame_stack,
            **dataclasses.asdict(settled),
        },
    )


FAMILIES: dict[str, Callable[..., Benchmark]] = {"walkroom": walkroom, **CROSSROADS}
"""Environments that take arguments: `pcn train walkroom --objectives 7 --room-seed 3`."""

BENCHMARKS: dict[str, Benchmark] = {
    "deep-sea-treasure": Benchmark(
        name="deep-sea-treasure",
        make=DeepSeaTreasure,
        summary="a submarine trades treasure against time (concave map)",
        total_steps=100_000,
        settings={
            "paper": {"joint_one_hot": True},
            "authors": {
                "joint_one_hot": True,
                "hidden_layers": 0,
                "command_scale": (0.1, 0.1, 0.01),
                "upper_bound": (124.0, -1.0),
            },
        },
        baselines={
            # The authors' 25,000 draws take about 20 steps each; with a quarter of these steps one
            # seed of five never reached the deepest treasure.
            "mones": {"total_steps": 500_000},
            # The paper's 100,000 steps for each of RA's 13 policies; they share no experience.
            "ra": {"total_steps": 1_300_000},
        },
    ),
    "minecart": Benchmark(
        name="minecart",
        make=Minecart,
        summary="fetch two kinds of ore from five mines with little fuel",
        total_steps=10_000_000,
        settings=MINECART,
        baselines=MINECART_BASELINES,
    ),
    "minecart-stochastic": Benchmark(
        name="minecart-stochastic",
        make=lambda: Minecart(stochastic=True),
        summary="the same, and how much ore a mine yields is random",
        total_steps=10_000_000,
        settings=MINECART,
        baselines=MINECART_BASELINES,
    ),
    **{f"walkroom-{number}": walkroom(number) for number in range(2, 10)},
    **{name: kind() for name, kind in CROSSROADS.items()},
}


def find_benchmark(name: str, **arguments: Any) -> Benchmark:
    """The benchmark of that name: ours, a Gymnasium id, or `module:function`."""
    if name in BENCHMARKS and (not arguments or arguments == BENCHMARKS[name].arguments):
        return BENCHMARKS[name]
    if name in FAMILIES:
        return FAMILIES[name](**arguments)
    if name in BENCHMARKS:
        raise UserError(f"{name} takes no arguments, got {', '.join(arguments)}")
    if is_environment(name):
        return gymnasium_benchmark(name, **arguments)
    known = ", ".join(BENCHMARKS | FAMILIES)
    raise UserError(
        f"no environment is called {name!r}; there are: {known}, every Gymnasium id with vector "
        "rewards, and module:function for one of your own"
    )


def is_environment(name: str) -> bool:
    """Whether `find_benchmark` would look for an environment of that name."""
    return name in BENCHMARKS or name in FAMILIES or ":" in name or is_gymnasium_id(name)


def parameters_of(name: str) -> Mapping[str, inspect.Parameter]:
    """The arguments that an environment takes."""
    if name in FAMILIES:
        return inspect.signature(FAMILIES[name]).parameters
    if name not in BENCHMARKS and is_environment(name):
        parameters = dict(inspect.signature(gymnasium_benchmark).parameters)
        parameters.pop("name")
        return parameters
    return {}
