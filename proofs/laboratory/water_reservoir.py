"""The best known front of the water reservoir: dynamic programming for many weights.

For each pair of weights, the best release for every level and every number of steps left is found
on a grid of levels, and both expected returns of that policy are computed alongside. This gives
the corners of the front's convex hull. The grid makes it an approximation: a test executes policies
in the compiled environment, whose means agree within one per cent.
"""

from functools import cached_property, partial
from statistics import NormalDist
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pcn.envs.laboratory.water_reservoir import (
    DEMAND,
    FLOOD_LEVEL,
    INFLOW_DEVIATION,
    INFLOW_MEAN,
    MOST_KEPT,
    RELEASES,
    STARTS,
    WaterReservoir,
)

GRID = 0.5
HIGHEST = 220.0
"""Above what can be: 100 kept and an inflow of twelve standard deviations above its mean."""
NUM_STEPS = 100


class ReservoirPolicy(NamedTuple):
    """Which release for each number of steps left and each level of the grid."""

    actions: Int[np.ndarray, "left level"]
    expected: Float[np.ndarray, " 2"]
    """Flood and thirst, over all starts, as the grid says."""


class Reservoir:
    """What does not depend on the weights."""

    @cached_property
    def levels(self) -> Float[np.ndarray, " level"]:
        """The levels of the grid."""
        return np.arange(0, HIGHEST + GRID / 2, GRID)

    @cached_property
    def kept(self) -> Float[np.ndarray, "level release"]:
        """The water that is left after each release."""
        return self.levels[:, None] - self.released

    @cached_property
    def released(self) -> Float[np.ndarray, "level release"]:
        """The water that each release really lets out."""
        least = np.maximum(self.levels - MOST_KEPT, 0)[:, None]
        return np.clip(np.array(RELEASES)[None], least, self.levels[:, None])

    @cached_property
    def thirst(self) -> Float[np.ndarray, "level release"]:
        """The reward of each release for thirst."""
        return -np.maximum(DEMAND - self.released, 0)

    @cached_property
    def rain(self) -> tuple[Float[np.ndarray, " inflow"], Float[np.ndarray, " inflow"]]:
        """Inflows of the grid and their probabilities."""
        inflows = np.arange(-20, 100 + GRID / 2, GRID)
        normal = NormalDist(INFLOW_MEAN, INFLOW_DEVIATION)
        below = np.array([normal.cdf(inflow + GRID / 2) for inflow in inflows])
        below[-1] = 1.0
        return inflows, np.diff(below, prepend=0.0)

    @cached_property
    def after_rain(self) -> Float[np.ndarray, "kept inflow"]:
        """The level that follows, for every level of the grid that is kept."""
        num_kept = round(MOST_KEPT / GRID) + 1
        return np.maximum(self.levels[:num_kept, None] + self.rain[0][None], 0)

    def solve(self, weight: float) -> ReservoirPolicy:
        """The policy with the largest sum of flood times `weight` and thirst times the rest."""
        _, probabilities = self.rain
        following = np.round(self.after_rain / GRID).astype(int)
        flood = -np.maximum(self.after_rain - FLOOD_LEVEL, 0) @ probabilities
        left = np.round(self.kept / GRID).astype(int)
        weights = np.array([weight, 1 - weight])
        values = np.zeros((len(self.levels), 2))
        actions = []
        for _ in range(NUM_STEPS):
            later = np.tensordot(values[following], probabilities, axes=(1, 0))
            later[:, 0] += flood
            choices = later[left]
            choices[:, :, 1] += self.thirst
            best = (choices @ weights).argmax(axis=1)
            actions.append(best)
            values = choices[np.arange(len(best)), best]
        at_start = [np.interp(STARTS, self.levels, column).mean() for column in values.T]
        return ReservoirPolicy(np.stack(actions), np.array(at_start))


def policies(num_weights: int = 60) -> list[ReservoirPolicy]:
    """Policies from thirst alone to flood alone, closest where the front bends."""
    reservoir = Reservoir()
    angles = np.linspace(0.002, np.pi / 2 - 0.002, num_weights)
    weights = np.sin(angles) / (np.sin(angles) + np.cos(angles))
    return [reservoir.solve(float(weight)) for weight in weights]


def execute(
    policy: ReservoirPolicy, executions: int, seed: int = 0
) -> tuple[Float[np.ndarray, " 2"], Float[np.ndarray, " 2"]]:
    """The mean return of many executions in the compiled environment, and its standard error."""
    total = np.asarray(_run(jnp.asarray(policy.actions, jnp.int32), seed, executions), np.float64)
    return total.mean(axis=0), total.std(axis=0, ddof=1) / np.sqrt(executions)


@partial(jax.jit, static_argnums=2)
def _run(
    actions: Int[Array, "left level"], seed: int, executions: int
) -> Float[Array, "execution 2"]:
    environment = WaterReservoir()
    step = jax.vmap(environment.step)

    def advance(carry: Any, time: Int[Array, ""]) -> tuple[Any, None]:
        states, key, total = carry
        key, step_key = jax.random.split(key)
        level = jnp.round(states.level[:, 0] / GRID).astype(jnp.int32)
        action = actions[NUM_STEPS - 1 - time][jnp.minimum(level, actions.shape[1] - 1)]
        outcome = step(states, action, jax.random.split(step_key, executions))
        return (outcome.state, key, total + outcome.reward), None

    key, reset_key = jax.random.split(jax.random.key(seed))
    states = jax.vmap(environment.reset)(jax.random.split(reset_key, executions))
    carry = (states, key, jnp.zeros((executions, 2)))
    return jax.lax.scan(advance, carry, jnp.arange(NUM_STEPS))[0][2]
