"""Any Gymnasium environment as a benchmark, with what random episodes find out about it."""

from typing import Any

import gymnasium as gym
import numpy as np

from pcn.envs.benchmark import Benchmark
from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe, probe
from pcn.errors import UserError
from pcn.lookup import find_function

DISCOUNTS = {"resource-gathering-v0": 0.9, "four-room-v0": 0.95}
"""MO-Gymnasium's environments where time is no objective: without a discount, one policy that takes
its time is as good as any in every objective, and there is no trade-off to learn."""


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
    source = (
        GymnasiumSource(name, find_function(name)) if ":" in name else GymnasiumSource.by_id(name)
    )
    if reference_point is None or deterministic is None or masked_actions is None or not step_limit:
        found = probe(source, step_limit=step_limit)
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
    environment = GymnasiumEnvironment.from_source(
        source,
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
    discounted = {"discount": DISCOUNTS[name]} if name in DISCOUNTS else {}
    if discounted:
        changes |= discounted
        why = "Time is no objective here: without a discount there is no trade-off to learn."
    return Benchmark(
        name=name,
        make=lambda: environment,
        summary="a Gymnasium environment",
        total_steps=200_000,
        settings={preset: changes for preset in ("default", "paper", "authors")},
        baselines={algorithm: discounted for algorithm in ("mones", "ra")},
        why=why,
        arguments={
            "environments": environments,
            "workers": workers,
            "frame_stack": frame_stack,
            "reference_point": settled.reference_point,
            "deterministic": settled.deterministic,
            "masked_actions": settled.masked_actions,
            "step_limit": settled.step_limit,
        },
    )
