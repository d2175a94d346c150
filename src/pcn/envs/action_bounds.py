"""Bounds of continuous actions for spaces without bounds: given by the user, or found by a search.

Many environments accept any number and clip it themselves. There, all actions beyond some size lead
to the same episode. The smallest such size is a bound that loses nothing.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Bool, Float

from pcn.envs.random_episodes import Prober, RandomEpisode
from pcn.errors import UserError
from pcn.nets.heads import is_bounded

LARGEST = 2.0**20
"""The largest number that is tried."""
SMALLEST = 2.0**-10
"""The smallest bound that is returned."""
PATTERNS = 12
"""Episodes that are compared, each with its own seed and its own pattern of actions."""
STEPS = 12
"""Steps of each of them."""
MOST_STEPS = 16 * PATTERNS * STEPS
"""Steps that the search for one bound may take, besides the random episodes."""
SEARCH_SHARE = 0.5
"""Share of a training's steps that the search for all bounds may take."""
PRECISE = 1.05
"""The bound found is at most this many times the smallest possible one."""

ASK = (
    "give the smallest and the largest value to use, action_low and action_high (--action-low, "
    "--action-high)"
)


def is_unbounded(space: gym.Space[Any]) -> bool:
    """Whether a space is, or contains, a box without a bound on some side."""
    if isinstance(space, gym.spaces.Dict | gym.spaces.Tuple):
        parts = space.values() if isinstance(space, gym.spaces.Dict) else space
        return any(is_unbounded(part) for part in parts)
    return isinstance(space, gym.spaces.Box) and not is_bounded(space)


def most_search_steps(space: gym.Space[Any], total_steps: int | None) -> int:
    """How many steps the search for the bounds of a space may take in a training of `total_steps`.

    >>> space = gym.spaces.Box(0.0, np.inf, (2,))
    >>> [most_search_steps(space, total) for total in (None, 100_000, 5_000)]
    [4608, 4608, 2500]
    """
    if not isinstance(space, gym.spaces.Box):
        return 0
    most = MOST_STEPS * sum(int(_is_open(side).sum()) for side in (space.low, space.high))
    return most if total_steps is None else min(most, int(SEARCH_SHARE * total_steps))


def _is_open(side: np.ndarray) -> Bool[np.ndarray, "..."]:
    """Which bounds of one side are infinite."""
    numbers = side.astype(np.float64)
    return ~np.isfinite(numbers) | (np.abs(numbers) >= 1e30)


def within(
    space: gym.Space[Any], low: Sequence[float] | None, high: Sequence[float] | None
) -> gym.Space[Any]:
    """The part of a box between these bounds: one number for all, or one for each.

    A side without a bound stays so if none is given.
    """
    if low is None and high is None:
        return space
    if not isinstance(space, gym.spaces.Box):
        raise UserError(f"action_low and action_high are for a Box, the actions are {space}")
    sides = []
    for name, given, own in (("action_low", low, space.low), ("action_high", high, space.high)):
        if given is None:
            sides.append(own)
            continue
        values = np.asarray(given, dtype=np.float64)
        if values.size not in (1, own.size) or not np.isfinite(values).all():
            raise UserError(f"{name} must be 1 or {own.size} finite numbers, got {tuple(given)}")
        values = np.broadcast_to(values.ravel(), own.size).reshape(own.shape)
        sides.append(values.astype(space.dtype))
    inside = [np.clip(side, space.low, space.high) for side in sides]
    if np.any(inside[0] >= inside[1]):
        raise UserError(
            f"action_low must be below action_high within {space}, got {sides[0]} and {sides[1]}"
        )
    return gym.spaces.Box(inside[0], inside[1], space.shape, space.dtype.type)


def find_bounds(prober: Prober, space: gym.Space[Any], most_steps: int) -> gym.Space[Any]:
    """The space with bounds on its open sides, beyond which actions change nothing.

    The search takes at most that many steps, and leaves the share of random episodes untouched.
    Raises a `UserError` that asks for bounds if none are found.
    """
    if not isinstance(space, gym.spaces.Box):
        raise UserError(
            f"the actions {space} hold numbers without bounds: let the environment bound them"
        )
    low, high = (side.astype(np.float64).ravel() for side in (space.low, space.high))
    base = np.clip(np.zeros(low.size), low, high)
    end = prober.num_steps + most_steps
    prober.allow(most_steps)
    for part in range(low.size):
        for side, sign in ((low, -1.0), (high, 1.0)):
            if _is_open(side[part : part + 1]).item():
                size = _Trial(prober, space, base, part, sign, end).smallest_size()
                side[part] = base[part] + sign * size
    prober.allow(prober.num_steps - end)  # random episodes must not use the rest of the search
    shape = (space.shape or (), space.dtype.type)
    return gym.spaces.Box(
        low.reshape(space.shape).astype(space.dtype),
        high.reshape(space.shape).astype(space.dtype),
        *shape,
    )


def rounded_up(size: float) -> float:
    """The next number with two digits.

    >>> rounded_up(161.1), rounded_up(0.0231), rounded_up(2.0)
    (170.0, 0.024, 2.0)
    """
    unit = 10.0 ** (np.floor(np.log10(size)) - 1)
    return float(f"{np.ceil(size / unit - 1e-9) * unit:.12g}")


class _Trial:
    """Episodes in which one number of the action now and then differs from its base."""

    def __init__(
        self,
        prober: Prober,
        space: gym.spaces.Box,
        base: Float[np.ndarray, " part"],
        part: int,
        sign: float,
        end: int,
    ) -> None:
        self._prober, self._space, self._base = prober, space, base
        self._part, self._sign, self._end = part, sign, end
        self._seeds = [prober.fresh_seed() for _ in range(PATTERNS)]

    def smallest_size(self) -> float:
        """Roughly the smallest size beyond which all actions lead to the same episodes."""
        reference = self._played(LARGEST)
        differs = [
            one.differs_from(two) for one, two in zip(reference, self._played(LARGEST), strict=True)
        ]
        if any(differs) or not self._same(reference, LARGEST / 2):
            raise UserError(
                f"the actions {self._space} have no bounds, and the search found none: {ASK}"
            )
        if self._same(reference, SMALLEST):
            raise UserError(
                f"the actions {self._space} have no bounds, and no action that was tried "
                f"had an effect: {ASK}"
            )
        below, enough = SMALLEST, LARGEST / 2
        while enough / below > PRECISE:
            middle = float(np.sqrt(below * enough))
            if self._same(reference, middle):
                enough = middle
            else:
                below = middle
        return rounded_up(enough)

    def _same(self, reference: list[RandomEpisode], size: float) -> bool:
        """Whether numbers of this size lead to the same episodes as much larger ones."""
        for number, expected in enumerate(reference):
            if expected.differs_from(self._one(number, size)):
                return False
        return True

    def _played(self, size: float) -> list[RandomEpisode]:
        return [self._one(number, size) for number in range(PATTERNS)]

    def _one(self, number: int, size: float) -> RandomEpisode:
        """One episode; in each step the number is at its base, or at this distance from it."""
        if self._prober.num_steps + STEPS > self._end:
            raise UserError(
                f"the actions {self._space} have no bounds, and finding some takes more than "
                f"{SEARCH_SHARE:.0%} of the training's steps: {ASK}"
            )
        seed = self._seeds[number]
        far = np.random.default_rng(seed).uniform(size=STEPS) < 0.5
        script = []
        for is_far in far:
            action = self._base.copy()
            action[self._part] += self._sign * size * is_far
            script.append(action.astype(self._space.dtype).reshape(self._space.shape))
        return self._prober.play(STEPS, seed=seed, script=script)
