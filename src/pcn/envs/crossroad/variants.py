"""The crossroads of the table of environments."""

from dataclasses import dataclass
from functools import partial

from pcn.envs.crossroad.environment import Crossroad, Waiting, crossroad_spec
from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.registry import Workers
from pcn.envs.worker_slots import ANSWER_SECONDS
from pcn.errors import UserError

REFERENCE = (0.0, -30.0)
"""No cars at all, and a mean time that no tried schedule reached: the worst waits 27 s."""


@dataclass(frozen=True)
class Variant:
    """The properties of one crossroad."""

    reference_point: tuple[float, float] = REFERENCE
    waiting: Waiting = "mean"
    fresh_traffic: bool = False


VARIANTS = {
    "crossroad": Variant(),
    "crossroad-authors": Variant((-20.0, -20.0), waiting="authors"),
    "crossroad-stochastic": Variant(fresh_traffic=True),
}


def crossroad(
    name: str,
    simulators: int,
    workers: Workers = True,
    *,
    answer_seconds: float = ANSWER_SECONDS,
) -> GymnasiumEnvironment:
    """A crossroad with that many simulations at once, each in a process of its own.

    More processes than cores, so that no core waits. With `workers="ray"` the processes are actors
    of a Ray cluster.
    """
    if not workers:
        raise UserError("crossroad needs its workers: a process holds one simulation of SUMO's")
    if simulators < 1:
        raise UserError(f"simulators must be at least 1, got {simulators}")
    variant = VARIANTS[name]
    spec = crossroad_spec(
        name,
        variant.waiting,
        reference_point=variant.reference_point,
        deterministic=not variant.fresh_traffic,
    )
    make = partial(Crossroad, variant.waiting, fresh_traffic=variant.fresh_traffic)
    return GymnasiumEnvironment(
        spec, make, num_slots=simulators, workers=workers, answer_seconds=answer_seconds
    )
