"""The step limit of a Gymnasium environment: written in it, or estimated from random episodes."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import gymnasium as gym

UNLIMITED_STEPS = 1000
"""Step limit of environments that have none, if the budget allows episodes of that length."""
OF_EQUAL_LENGTH = 10
"""Limit as a multiple of the episode length, if all random episodes had the same length."""
OF_ENDING_LENGTH = 10
"""Costs are extrapolated to this multiple of the longest random episode, if all of them ended."""
OURS = "ours: none is known"
"""The source of limits that neither are written nor were seen."""
EPISODES_IN_BUDGET = 100
"""The fewest episodes of an environment without a limit that fit into the budget."""
_ATTRIBUTES = (
    "_max_episode_steps",
    "max_episode_steps",
    "_max_steps",
    "max_steps",
    "max_timesteps",
)


class StepLimit(NamedTuple):
    """The longest episode, and where the limit comes from."""

    steps: int
    source: str


def written_limit(environment: gym.Env[Any, Any]) -> StepLimit | None:
    """The limit in the spec, in a wrapper anywhere in the chain or in an attribute, if any.

    The smallest of several counts, because it ends the episode.
    """
    found = list(_written(environment))
    return min(found, key=lambda limit: limit.steps) if found else None


def _written(environment: gym.Env[Any, Any]) -> Iterator[StepLimit]:
    spec = environment.spec
    most: Any = None if spec is None else spec.max_episode_steps
    if _is_limit(most):
        yield StepLimit(int(most), "its spec")
    layer: Any = environment
    while True:
        wrapper = type(layer).__name__
        # Wrappers pass on attributes of the wrapped environment, so only their own are read.
        own = vars(layer) if isinstance(layer, gym.Wrapper) else None
        for name in _ATTRIBUTES:
            value = getattr(layer, name, None) if own is None else own.get(name)
            if _is_limit(value):
                yield StepLimit(int(value or 0), f"{wrapper}.{name}")
        if not isinstance(layer, gym.Wrapper):
            return
        layer = layer.env


def _is_limit(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and value == int(value) and value >= 1
    except (TypeError, ValueError, OverflowError):
        return False


def longest_useful(limit: StepLimit, lengths: Sequence[int], *, all_ended: bool) -> int:
    """How long useful episodes may be: far shorter than a limit of ours if random ones all ended.

    >>> longest_useful(StepLimit(1000, OURS), [1, 2, 2], all_ended=True)
    20
    """
    if limit.source != OURS or not all_ended:
        return limit.steps
    return min(limit.steps, OF_ENDING_LENGTH * max(lengths))


def observed_limit(
    truncated: Sequence[int], terminated: Sequence[int], total_steps: int | None
) -> StepLimit:
    """A limit from the lengths of random episodes, where none is written.

    If the environment truncated episodes, their length is the limit, provided that all were equally
    long and none lasted longer. Otherwise they were truncated for another reason, such as leaving a
    region. In that case episodes may be long, but not so long that few fit into the budget, unless
    some were longer than that.
    """
    longest = max([*truncated, *terminated], default=0)
    if truncated and min(truncated) == longest:
        return StepLimit(longest, "observed truncation")
    most = UNLIMITED_STEPS
    if len(terminated) > 1 and not truncated and min(terminated) == max(terminated):
        most = min(most, OF_EQUAL_LENGTH * max(terminated))
    if total_steps is None:
        return StepLimit(most, OURS)
    affordable = max(total_steps // EPISODES_IN_BUDGET, 2 * longest, 1)
    return StepLimit(min(affordable, most), OURS)
