"""Checks of the values that a Gymnasium environment returns; each error names environment and
step."""

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Num

from pcn.errors import UserError, in_one_line
from pcn.nets.heads import AbstractActionHead

LARGEST_REWARD = 1e30
"""Larger rewards are refused: returns are kept in single precision, which ends at 3e38."""


class AnswerCheck:
    """Checks the values that one instance of an environment returns, one after the other.

    The number of objectives is that of the first reward, unless it is known before. Likewise,
    either all infos have an action mask or none, as the first one.
    """

    def __init__(
        self,
        name: str,
        head: AbstractActionHead | None = None,
        num_objectives: int | None = None,
        *,
        masked: bool | None = None,
    ) -> None:
        self._name = name
        self._masked = masked
        self._shape = None if num_objectives is None else (num_objectives,)
        # Looking up a method of an Equinox module is slower than most of them, so it is done once.
        # Without a head, masks are not checked: no policy acts yet.
        self._checked_mask: Callable[[Any], Any] = (
            (lambda mask: mask) if head is None else head.checked_mask
        )
        self._step = 0

    @property
    def where(self) -> str:
        """The environment, and where in an episode it is."""
        if self._step == 0:
            return f"{self._name} at the start of an episode"
        return f"{self._name} in step {self._step} of an episode"

    def begin(self) -> None:
        """An episode is about to begin."""
        self._step = 0

    def advance(self) -> None:
        """A step is about to be taken."""
        self._step += 1

    def refusal(self, what: str) -> UserError:
        """The error that says where, and what is wrong."""
        return UserError(f"{self.where}: {what}")

    def mask(self, info: Any, *, over: bool = False) -> dict[str, Any]:
        """The only part of an `info` that is used: its mask, as one vector.

        After the last step of an episode nothing is chosen, and a mask is not needed.
        """
        if not isinstance(info, Mapping):
            raise self.refusal(f"the info is {_shown(info)}, which is not a dictionary")
        found = "action_mask" in info
        if self._masked is None:
            self._masked = found
        if found != self._masked and not over:
            what = "an `action_mask`, and earlier ones had none" if found else "no `action_mask`"
            raise self.refusal(
                f"the info has {what}; give one with every observation, "
                "all ones where everything is allowed"
            )
        if not found:
            return {}
        try:
            return {"action_mask": self._checked_mask(info["action_mask"])}
        except UserError as error:
            raise self.refusal(str(error)) from None

    def flag(self, name: str, given: Any) -> bool:
        """Check `terminated` or `truncated`: true or false, or the number 1 or 0."""
        if given is True or given is False:  # as most environments do, and found out soonest
            return bool(given)
        if isinstance(given, np.bool_):
            return bool(given)
        try:
            value = np.asarray(given).item()
        except (ValueError, TypeError):  # several numbers, or a list of lists of different lengths
            value = None
        if value not in (0, 1):
            raise self.refusal(f"`{name}` is {_shown(given)}, which is neither true nor false")
        return bool(value)

    def reward(self, given: Any) -> Num[np.ndarray, " objective"]:
        """Check a reward: finite real numbers, one for each objective."""
        try:
            reward = np.asarray(given)
        except ValueError:  # a list of lists of different lengths
            raise self.refusal(
                f"the reward is {_shown(given)}, which is not a vector of numbers"
            ) from None
        if reward.dtype.kind not in "fiub":
            raise self.refusal(
                f"the reward is {_shown(given)}, which is not a vector of real numbers"
            )
        if self._shape is None:
            if reward.ndim != 1 or reward.size < 2:
                kind = "a single number" if reward.ndim == 0 else f"of shape {reward.shape}"
                raise self.refusal(
                    f"the reward is {kind}; pcn needs a vector with a number for each of two or "
                    "more objectives"
                )
            self._shape = reward.shape
        if reward.shape != self._shape:
            raise self.refusal(f"the reward has shape {reward.shape}, expected {self._shape}")
        for value in reward.tolist():  # faster than an array of so few numbers
            if not -LARGEST_REWARD <= value <= LARGEST_REWARD:  # also refuses NaN
                raise self.refusal(
                    f"the reward is {_shown(given, str)}; every objective must be a finite number, "
                    f"at most {LARGEST_REWARD:g}"
                )
        return reward

    def episode_start(self, answer: Any) -> tuple[Any, Any]:
        """Check the result of `reset`: observation and info."""
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise self.refusal("`reset` must return two values, the observation and the info")
        return answer

    def outcome(self, answer: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Check the result of `step`: observation, reward, terminated, truncated and info."""
        if not isinstance(answer, tuple) or len(answer) != 5:
            count = len(answer) if isinstance(answer, tuple) else 1
            raise self.refusal(
                "`step` must return five values, the observation, the reward, terminated, "
                f"truncated and the info; it returned {count}"
            )
        return answer

    def observation(self, space: gym.Space[Any], seen: Any) -> str | None:
        """Refuse an observation that cannot be learnt from; note one that is outside its box."""
        fault = observation_fault(space, seen)
        if fault is not None:
            raise self.refusal(fault)
        outside = _outside(space, seen, "the observation")
        return None if outside is None else f"{self.where}: {outside}"


def observation_fault(
    space: gym.Space[Any], seen: Any, what: str = "the observation"
) -> str | None:
    """Why an observation cannot be used, in words; None if it can."""
    if isinstance(space, gym.spaces.Dict | gym.spaces.Tuple):
        for name, part in _parts(space):
            try:
                inner = seen[name]
            except (KeyError, IndexError, TypeError):
                return f"{what} has no part {name!r}, which its space has"
            fault = observation_fault(part, inner, f"part {name!r} of {what}")
            if fault is not None:
                return fault
        return None
    try:
        array = np.asarray(seen)
    except ValueError:
        return f"{what} is {_shown(seen)}, which is not an array"
    if array.dtype.kind not in "fiub":
        return f"{what} is {_shown(seen)}, which is not an array of real numbers"
    if array.size != int(np.prod(space.shape or ())):
        return f"{what} has shape {array.shape}, its space says {space.shape}"
    if not np.isfinite(array).all():
        place = int(np.flatnonzero(~np.isfinite(np.ravel(array)))[0])
        return (
            f"{what} is {np.ravel(array)[place]} at entry {place}; only finite numbers can be used"
        )
    counted = gym.spaces.Discrete | gym.spaces.MultiDiscrete
    # A lossless type, because observations are often wider than their space.
    if isinstance(space, counted) and not space.contains(_typed(space, array)):
        return f"{what} is {_shown(seen, str)}, which is not in its space {space}"
    return None


def _shown(value: Any, words: Callable[[Any], str] = repr) -> str:
    """A value as it stands in a sentence."""
    return in_one_line(words(value))


def _typed(space: gym.Space[Any], array: np.ndarray) -> Any:
    shaped = array.reshape(space.shape or ()).astype(space.dtype)
    return int(shaped) if isinstance(space, gym.spaces.Discrete) else shaped


def _outside(space: gym.Space[Any], seen: Any, what: str) -> str | None:
    """Which entry lies outside its box or is no flag, in words; None if none is."""
    if isinstance(space, gym.spaces.Dict | gym.spaces.Tuple):
        found = (_outside(part, seen[name], f"part {name!r} of {what}")
                 for name, part in _parts(space))  # fmt: skip
        return next((sentence for sentence in found if sentence is not None), None)
    if isinstance(space, gym.spaces.Box):
        lowest, highest = space.low, space.high
    elif isinstance(space, gym.spaces.MultiBinary):
        lowest, highest = np.zeros(space.shape), np.ones(space.shape)
    else:
        return None
    array = np.asarray(seen).reshape(space.shape)
    beyond = np.ravel((array < lowest) | (array > highest))
    if not beyond.any():
        return None
    place = int(np.flatnonzero(beyond)[0])
    low, high = np.ravel(lowest)[place], np.ravel(highest)[place]
    return (
        f"{what} is {np.ravel(array)[place]:g} at entry {place}, outside its space's "
        f"{low:g} to {high:g}; training goes on, but the space should be mended"
    )


def _parts(space: gym.Space[Any]) -> list[tuple[Any, gym.Space[Any]]]:
    """The parts of a `Dict` or `Tuple` space and what each is called."""
    spaces: Any = space.spaces  # type: ignore[attr-defined]
    return list(spaces.items()) if isinstance(spaces, dict) else list(enumerate(spaces))
