"""The latest steps of all episodes: what was observed, done, received, and observed next."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.episodes import Episodes, flat


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps of some episodes, in the order in which they were taken."""

    observations: Float[np.ndarray, "step number"]
    options: Int[np.ndarray, " step"]
    """The action of each step, all parts as one number."""
    rewards: Float[np.ndarray, "step objective"]
    next_observations: Float[np.ndarray, "step number"]
    terminated: Bool[np.ndarray, " step"]
    first: Bool[np.ndarray, " step"]
    """Whether the step began an episode."""

    def __len__(self) -> int:
        return len(self.options)

    def taking(self, index: Int[np.ndarray, " kept"] | slice) -> "Steps":
        """Some of the steps."""
        return Steps(*(getattr(self, item.name)[index] for item in fields(self)))

    @classmethod
    def joined(cls, parts: "list[Steps]") -> "Steps":
        """All of them, the first part first."""
        names = [item.name for item in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class SeenSteps:
    """Remembers the last `most_steps` steps, and what was observed as a row of numbers."""

    def __init__(self, most_steps: int, step_limit: int, *, truncation_ends: bool = False) -> None:
        """With `truncation_ends` nothing comes after a truncated episode either."""
        self._most_steps, self._step_limit = most_steps, step_limit
        self._truncation_ends = truncation_ends
        self._parts: list[Steps] = []
        self.longest = 0
        """Steps of the longest episode."""

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    @property
    def steps(self) -> Steps:
        """Everything remembered; there must be something."""
        if len(self._parts) > 1:
            self._parts = [Steps.joined(self._parts)]
        return self._parts[0]

    def add(self, episodes: Episodes, options: Int[np.ndarray, "episode time"]) -> None:
        """Remember all steps of the real episodes, broken off or not.

        Without `truncation_ends` an end at the environment's limit of steps is no termination:
        what is observed does not tell of it, and whoever plans to a horizon knows of it anyway.
        """
        lengths = np.asarray(episodes.lengths)
        rows = np.flatnonzero(np.asarray(episodes.real_mask) & (lengths > 0))
        if len(rows) == 0 or episodes.last_observations is None:
            return
        lengths = lengths[rows]
        longest = int(lengths.max())
        valid = np.arange(longest) < lengths[:, None]
        seen = flat(episodes.observations, 2)[rows, :longest].astype(np.float32)
        after = np.empty_like(seen)
        after[:, :-1] = seen[:, 1:]
        ends = np.arange(len(rows)), lengths - 1
        after[ends] = flat(episodes.last_observations, 1)[rows]
        terminated, first = np.zeros(valid.shape, bool), np.zeros(valid.shape, bool)
        if self._truncation_ends:
            terminated[ends] = episodes.ended[rows]
        else:
            terminated[ends] = np.asarray(episodes.terminated)[rows] & (lengths < self._step_limit)
        first[:, 0] = True
        rewards = np.asarray(episodes.rewards, np.float32)[rows, :longest]
        kept = options[rows, :longest].astype(np.int32)
        columns = (seen, kept, rewards, after, terminated, first)
        self._parts.append(Steps(*(column[valid] for column in columns)))
        self.longest = max(self.longest, longest)
        if len(self) > self._most_steps:
            self._parts = [self.steps.taking(slice(len(self) - self._most_steps, None))]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything remembered, as named arrays."""
        arrays = {"longest": np.array(self.longest)}
        if self._parts:
            arrays |= {item.name: getattr(self.steps, item.name) for item in fields(Steps)}
        return arrays

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.longest = int(arrays["longest"])
        names = [item.name for item in fields(Steps)]
        self._parts = [Steps(*(arrays[name] for name in names))] if names[0] in arrays else []
