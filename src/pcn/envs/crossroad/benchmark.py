"""The crossroads in the table of benchmarks."""

import dataclasses
import functools
from typing import Any

from pcn.envs.benchmark import Benchmark
from pcn.envs.crossroad.environment import STEP_LIMIT, Crossroad, Waiting
from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe
from pcn.errors import UserError

REFERENCE = (0.0, -30.0)
"""No cars at all, and a mean time that no schedule we tried has had: the worst waits 27 s."""
SIMULATORS = 8
"""Crossroads at once, each in a process: more than cores, so that none of those ever waits."""


@dataclasses.dataclass(frozen=True)
class CrossroadBenchmark:
    """One of the crossroads in the table; call it for another number of simulators."""

    name: str
    summary: str
    reference_point: tuple[float, float]
    waiting: Waiting = "mean"
    fresh_traffic: bool = False

    def __call__(self, simulators: int = SIMULATORS) -> Benchmark:
        """The benchmark with that many crossroads at once."""
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
                "paper": AUTHORS,
                "authors": {
                    **AUTHORS,
                    "command_scale": (1.0, 1.0, 0.01),
                    "bounded_commands.upper_bound": (15.0, 15.0),
                },
            },
            baselines=BASELINES,
            why="Learning after every 16 episodes is cheap beside simulating them. A few random "
            "actions change an episode a lot: each switch is three seconds without a green light. "
            "The learning rate is the authors'; with a higher one some commands are confused.",
            arguments={"simulators": simulators},
        )


BASELINES: dict[str, dict[str, Any]] = {
    # No hidden units behind the picture's own layers: 1,698 weights instead of 23,922.
    "mones": {"width": 0, "initial_deviation": 0.3},
    # Every episode takes 100 steps and there are 13 policies: few of each between two updates.
    # The picture's layers have hundreds of weights to a logit, most of which move it alike: steps
    # are measured by how much they change the actions, or policies soon take the same one always.
    "ra": {"width": 0, "episodes_per_update": 4, "step_rule": "natural", "kl_bound": 0.003},
}

AUTHORS: dict[str, Any] = {
    "learning_rate": 1e-3,
    "batch_size": 1024,
    "updates_per_iteration": 50,
    "capacity": 50,
}


@functools.cache
def _crossroad_environment(kind: CrossroadBenchmark, simulators: int) -> GymnasiumEnvironment:
    """One environment per kind and process: its workers stay warm from one use to the next."""
    make = functools.partial(Crossroad, kind.waiting, fresh_traffic=kind.fresh_traffic)
    found = Probe(
        reference_point=kind.reference_point,
        deterministic=not kind.fresh_traffic,
        masked_actions=True,
        step_limit=STEP_LIMIT,
    )
    source = GymnasiumSource(kind.name, make)
    return GymnasiumEnvironment.from_source(source, found, num_slots=simulators, workers=True)


CROSSROADS = {
    kind.name: kind
    for kind in (
        CrossroadBenchmark(
            "crossroad", "traffic lights in SUMO trade flow against waiting", REFERENCE
        ),
        CrossroadBenchmark(
            "crossroad-authors",
            "the same with the authors' second objective and scaling",
            (-20.0, -20.0),
            waiting="authors",
        ),
        CrossroadBenchmark(
            "crossroad-stochastic",
            "crossroad with other traffic in each episode",
            REFERENCE,
            fresh_traffic=True,
        ),
    )
}
