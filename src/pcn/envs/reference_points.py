"""A reference point from random episodes: worse than the returns of useful policies.

For each objective the point lies a tenth of the spread of returns below the worst return,
discounted or not. An objective that is never negative begins at zero at most, because a policy may
do without it. An objective with only costs is extrapolated to the step limit, at the worst cost of
a step, but at most five times the mean: a good policy may live longer and spend more than a random
one. The result is rounded away from the returns.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Bool, Float

DISCOUNTS = (0.99, 0.95, 0.9, 0.5)
"""The reference point is chosen before the discount, so it is worse than returns with any of
these."""
MARGIN = 0.1
"""Distance from the worst return, as a share of the spread of returns."""
SPENDING = 5.0
"""How much more than random steps the steps of a policy may cost on average, at most."""
BEYOND_LIMIT = 0.005
"""Distance from what a whole episode can cost, as a share of it."""


def reference_point(
    episodes: Sequence[Float[np.ndarray, "_ objective"]],
    ends: Sequence[bool],
    *,
    step_limit: int,
    never_negative: Bool[np.ndarray, " objective"],
) -> tuple[float, ...]:
    """A point below the returns of these episodes and of others like them.

    Args:
        episodes: The rewards of each episode.
        ends: Whether the last reward of each came with its end.
        step_limit: The longest episode.
        never_negative: The objectives that are known to have no negative rewards.
    """
    returns = np.array([rewards.sum(axis=0) for rewards in episodes])
    discounted = np.array(
        [
            discount ** np.arange(len(rewards)) @ rewards
            for rewards in episodes
            for discount in DISCOUNTS
        ]
    )
    rewards = np.concatenate(episodes)
    lowest = np.minimum(returns.min(axis=0), discounted.min(axis=0))
    gains = never_negative | (rewards.min(axis=0) >= 0)
    lowest = np.where(gains, np.minimum(lowest, 0.0), lowest)
    extent = returns.max(axis=0) - lowest
    unit = np.where(extent > 0, extent, np.abs(lowest))
    unit = np.where(unit > 0, unit, 1.0)  # only zeros: any unit will do
    points = np.minimum(lowest - MARGIN * unit, _spent(episodes, ends, step_limit))
    return tuple(rounded_down(*pair) for pair in zip(points.tolist(), unit.tolist(), strict=True))


def _spent(
    episodes: Sequence[Float[np.ndarray, "_ objective"]], ends: Sequence[bool], step_limit: int
) -> Float[np.ndarray, " objective"]:
    """The cost of a whole episode for an objective with only costs; infinity for others.

    A cost that comes with the end of an episode comes once, so it says nothing about other steps.
    """
    on_the_way = [
        rewards[:-1] if end else rewards for rewards, end in zip(episodes, ends, strict=True)
    ]
    steps = np.concatenate(on_the_way)
    if len(steps) == 0:
        return np.full(episodes[0].shape[1], np.inf)
    last = np.array([rewards[-1] for rewards, end in zip(episodes, ends, strict=True) if end])
    at_the_end = np.minimum(last.min(axis=0), 0.0) if len(last) else 0.0
    rate = np.maximum(SPENDING * steps.mean(axis=0), steps.min(axis=0))
    only_costs = (steps.max(axis=0) <= 0) & (rate < 0)
    whole = (rate * step_limit + at_the_end) * (1 + BEYOND_LIMIT)
    return np.where(only_costs, whole, np.inf)


def rounded_down(value: float, extent: float) -> float:
    """The next number below with two digits of `extent`, so never above the value.

    >>> rounded_down(-100.1, 30.0), rounded_down(-100.12, 0.5), rounded_down(0.0123, 0.2)
    (-101.0, -100.12, 0.01)
    """
    unit = 10.0 ** (np.floor(np.log10(extent)) - 1)
    # A difference to the next multiple of 1e-9 is that of floating-point numbers.
    steps = np.floor(value / unit + 1e-9)
    rounded = float(f"{steps * unit:.12g}")
    return rounded if rounded <= value + 1e-9 * unit else value


def never_negative(
    environment: gym.Env[Any, Any], num_objectives: int
) -> Bool[np.ndarray, " objective"]:
    """Which objectives are never negative, as far as the environment's `reward_space` says."""
    space = getattr(environment.unwrapped, "reward_space", None)
    if not isinstance(space, gym.spaces.Box) or space.shape != (num_objectives,):
        return np.zeros(num_objectives, dtype=bool)
    return np.asarray(space.low) >= 0
