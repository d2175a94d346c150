"""A memory of recent episodes of every kind, step after step, in bounded room."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, Num, PyTree

from pcn.algorithms.pcn.refinements.abstract import AbstractState
from pcn.episodes import Episodes

MOST_BYTES = 1 << 26
"""Room that remembered observations may take."""


@dataclass(frozen=True)
class Steps:
    """The steps of some episodes one after the other, oldest episode first."""

    observations: list[np.ndarray]
    """The leaves of the observations, each [step, ...]."""
    actions: Num[np.ndarray, "step part"]
    rewards: Float[np.ndarray, "step objective"]
    action_masks: Bool[np.ndarray, "step choice"]
    """Nothing [step, 0] where the environment masks no actions."""
    lengths: Int[np.ndarray, " episode"]
    terminated: Bool[np.ndarray, " episode"]
    broken_off: Bool[np.ndarray, " episode"]

    @property
    def num_steps(self) -> int:
        """How many steps there are."""
        return len(self.actions)

    @property
    def starts(self) -> Int[np.ndarray, " episode"]:
        """The first step of each episode."""
        return np.cumsum(self.lengths) - self.lengths

    @classmethod
    def of(cls, episodes: Episodes) -> "Steps":
        """The steps of the real episodes."""
        rows = np.flatnonzero(np.asarray(episodes.real_mask) & (np.asarray(episodes.lengths) > 0))
        lengths = np.asarray(episodes.lengths)[rows].astype(np.int64)
        longest = int(lengths.max(initial=1))
        valid = np.arange(longest) < lengths[:, None]

        def taken(leaf: object) -> np.ndarray:
            return np.asarray(leaf)[rows, :longest][valid]

        masks = episodes.action_masks
        return cls(
            [taken(leaf) for leaf in jax.tree.leaves(episodes.observations)],
            taken(episodes.actions),
            taken(episodes.rewards),
            np.zeros((int(valid.sum()), 0), bool) if masks is None else taken(masks),
            lengths,
            np.asarray(episodes.terminated)[rows],
            np.asarray(episodes.broken_off)[rows],
        )

    @classmethod
    def joined(cls, parts: "list[Steps]") -> "Steps":
        """All of them as one, the first part first."""
        columns = zip(*(part.observations for part in parts), strict=True)
        rest = [item.name for item in fields(cls)][1:]
        return cls(
            [np.concatenate(column) for column in columns],
            *(np.concatenate([getattr(part, name) for part in parts]) for name in rest),
        )


class EpisodeMemory(AbstractState):
    """Remembers the last `most_steps` steps, in whole batches of episodes."""

    def __init__(self, example: PyTree[np.ndarray], most_steps: int) -> None:
        """`example` is an observation, as `Episodes` hold it."""
        leaves, self._structure = jax.tree.flatten(example)
        self._num_leaves = len(leaves)
        num_bytes = max(1, sum(np.asarray(leaf).nbytes for leaf in leaves))
        self._most_steps = max(1, min(most_steps, MOST_BYTES // num_bytes))
        self._parts: list[Steps] = []
        self.open = True
        """Whether it takes in more; once what it holds is being learnt, it must not change."""

        self.num_rounds = 0
        """How often what it holds was learnt before the end."""

    @property
    def num_steps(self) -> int:
        """How many steps are remembered."""
        return sum(part.num_steps for part in self._parts)

    @property
    def steps(self) -> Steps:
        """Everything remembered."""
        if len(self._parts) > 1:
            self._parts = [Steps.joined(self._parts)]
        return self._parts[0]

    def observations(self, steps: Steps) -> PyTree[np.ndarray]:
        """The observations of remembered steps in the environment's form."""
        return jax.tree.unflatten(self._structure, steps.observations)

    def add(self, episodes: Episodes) -> None:
        """Remember the real episodes; the oldest batches are forgotten where room is needed."""
        if not self.open:
            return
        part = Steps.of(episodes)
        if part.num_steps:
            self._parts.append(part)
        while len(self._parts) > 1 and self.num_steps - self._parts[0].num_steps >= (
            self._most_steps
        ):
            self._parts.pop(0)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything remembered."""
        arrays = {"open": np.asarray(self.open), "num_rounds": np.asarray(self.num_rounds)}
        if self._parts:
            steps = Steps.joined(self._parts)
            arrays |= {f"observations.{i}": leaf for i, leaf in enumerate(steps.observations)}
            names = [item.name for item in fields(Steps)][1:]
            arrays |= {name: getattr(steps, name) for name in names}
        return arrays

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave, as one batch."""
        self.open = bool(arrays["open"])
        self.num_rounds = int(arrays["num_rounds"])
        self._parts = []
        if "actions" in arrays:
            leaves = [arrays[f"observations.{i}"] for i in range(self._num_leaves)]
            names = [item.name for item in fields(Steps)][1:]
            self._parts = [Steps(leaves, *(arrays[name] for name in names))]
