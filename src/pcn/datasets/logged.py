"""Logged episodes: recorded steps of an environment, one episode after the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, Num, PyTree

from pcn.envs.observations import empty_observations
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.errors import UserError
from pcn.nets.heads import action_head_for

MOST_CHECKED = 1000
"""Distinct actions that are compared with an action space."""


@dataclass(frozen=True)
class LoggedEpisodes:
    """Episodes in the order in which they were logged, their steps one after the other."""

    spec: EnvironmentSpec
    """The environment: from the dataset, or estimated from the data."""
    observations: PyTree[np.ndarray]
    """Each leaf [step, ...]: what was observed before each action."""
    actions: Num[np.ndarray, "step part"]
    rewards: Float[np.ndarray, "step objective"]
    lengths: Int[np.ndarray, " episode"]
    terminated: Bool[np.ndarray, " episode"]
    """Whether an episode reached a terminal state; the others were truncated."""
    action_masks: Bool[np.ndarray, "step choice"] | None = None
    last_observations: PyTree[np.ndarray] | None = None
    """Each leaf [episode, ...]: what was observed after the last action; None if not known."""
    source: str = ""
    """Where they come from, for people."""
    environment: str = ""
    """The name of the environment, where it is known."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of the environment, if known."""
    discount: float | None = None
    """The discount of the run that they come from."""

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def num_steps(self) -> int:
        """Steps of all episodes."""
        return len(self.rewards)

    @property
    def starts(self) -> Int[np.ndarray, " episode"]:
        """The first step of each episode."""
        return np.cumsum(self.lengths) - self.lengths

    def returns(self, *, discount: float = 1.0) -> Float[np.ndarray, "episode objective"]:
        """The return of each episode."""
        time = np.arange(self.num_steps) - np.repeat(self.starts, self.lengths)
        weighted = self.rewards.astype(np.float64) * (discount**time)[:, None]
        return np.add.reduceat(weighted, self.starts, axis=0)

    def taking(self, index: Int[np.ndarray, " kept"]) -> "LoggedEpisodes":
        """The episodes at `index`, in that order."""
        steps = np.concatenate(
            [np.arange(self.starts[one], self.starts[one] + self.lengths[one]) for one in index]
        )
        last = self.last_observations
        return replace(
            self,
            observations=jax.tree.map(lambda leaf: leaf[steps], self.observations),
            actions=self.actions[steps],
            rewards=self.rewards[steps],
            lengths=self.lengths[index],
            terminated=self.terminated[index],
            action_masks=None if self.action_masks is None else self.action_masks[steps],
            last_observations=None
            if last is None
            else jax.tree.map(lambda leaf: leaf[index], last),
        )

    def batches(self, size: int) -> Iterator[Episodes]:
        """The episodes as padded batches of one size; the last one is filled up."""
        for first in range(0, len(self), size):
            index = np.arange(first, min(first + size, len(self)))
            yield self._padded(index, size)

    def _padded(self, index: Int[np.ndarray, " kept"], size: int) -> Episodes:
        spec, count = self.spec, len(index)
        lengths = np.zeros(size, np.int32)
        lengths[:count] = self.lengths[index]
        rows = np.repeat(np.arange(count), lengths[:count])
        first = self.starts[index[0]]
        steps = slice(first, first + len(rows))
        times = np.arange(len(rows)) - np.repeat(np.cumsum(lengths[:count]), lengths[:count])
        times = times + np.repeat(lengths[:count], lengths[:count])

        def put(empty: np.ndarray, values: np.ndarray) -> np.ndarray:
            empty[rows, times] = values[steps]
            return empty

        shape = (size, spec.step_limit)
        observations = jax.tree.map(
            put, empty_observations(spec.observation_space, shape), self.observations
        )
        last = self.last_observations
        masks = self.action_masks
        ended = np.zeros(size, bool)
        ended[:count] = self.terminated[index]
        device = jax.tree.map(
            jax.numpy.asarray,
            {
                "observations": observations,
                "actions": put(
                    np.zeros((*shape, self.actions.shape[1]), self.actions.dtype), self.actions
                ),
                "rewards": put(np.zeros((*shape, spec.num_objectives), np.float32), self.rewards),
                "lengths": lengths,
                "terminated": ended,
                "action_masks": None
                if masks is None
                else put(np.zeros((*shape, masks.shape[1]), bool), masks),
                "real_mask": np.arange(size) < count,
                "last_observations": None
                if last is None
                else jax.tree.map(
                    lambda leaf: np.concatenate(
                        [leaf[index], np.zeros((size - count, *leaf.shape[1:]), leaf.dtype)]
                    ),
                    last,
                ),
            },
        )
        return Episodes(**device)

    def fitting(self, spec: EnvironmentSpec) -> "LoggedEpisodes":
        """The same episodes as those of an environment; a `UserError` if they do not fit."""
        if self.rewards.shape[1] != spec.num_objectives:
            raise UserError(
                f"{self.source} has rewards of {self.rewards.shape[1]} objectives, "
                f"{spec.name} has {spec.num_objectives}"
            )
        if self.lengths.max() > spec.step_limit:
            raise UserError(
                f"{self.source} has an episode of {self.lengths.max()} steps, "
                f"{spec.name} allows {spec.step_limit}"
            )
        like = empty_observations(spec.observation_space, (1,))
        last = self.last_observations
        for name, seen in (("observations", self.observations), ("last observations", last)):
            if seen is not None and (_shapes(seen) != _shapes(like) or _loses(seen, like)):
                raise UserError(f"the {name} of {self.source} do not fit {spec.observation_space}")
        if (self.action_masks is None) != (not spec.masked_actions):
            raise UserError(f"{self.source} and {spec.name} differ in whether actions are masked")
        head = action_head_for(spec.action_space)
        if self.actions.shape[1] != head.num_parts:
            raise UserError(f"the actions of {self.source} do not fit {spec.action_space}")
        actions = self.actions.astype(head.dtype)
        wrong = [
            action
            for action in np.unique(actions, axis=0)[:MOST_CHECKED]
            if not spec.action_space.contains(_in_space(spec, action))
        ]
        if wrong:
            raise UserError(
                f"{self.source} has the action {wrong[0].tolist()}, which {spec.action_space} does "
                "not have"
            )
        return replace(
            self,
            spec=spec,
            actions=actions,
            observations=_typed(self.observations, like),
            last_observations=None if last is None else _typed(last, like),
        )


def _in_space(spec: EnvironmentSpec, action: Num[np.ndarray, " part"]) -> Any:
    shaped = action.reshape(spec.action_space.shape or ())
    return shaped.astype(spec.action_space.dtype)


def _typed(observations: Any, like: Any) -> Any:
    return jax.tree.map(
        lambda leaf, other: leaf.astype(other.dtype, copy=False), observations, like
    )


def _loses(observations: Any, like: Any) -> bool:
    """Whether real numbers would be rounded to integers."""
    pairs = zip(jax.tree.leaves(observations), jax.tree.leaves(like), strict=True)
    return any(leaf.dtype.kind == "f" and other.dtype.kind != "f" for leaf, other in pairs)


def _shapes(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf.shape[1:], tree), jax.tree.structure(tree)
