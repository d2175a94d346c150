"""Loop erasure: episodes that pay without their detours join the dataset without them too.

In a deterministic environment whose observation is its state, the part of an episode between
two visits of the same observation can be cut out: what remains is a valid, shorter episode. An
observation may hide state, so a candidate only counts once it has been replayed.
"""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, PyTree

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.training import Training
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.fingerprints import fingerprints
from pcn.pareto import Tolerances, covered_mask, rounded, unique_front
from pcn.rollout import ScriptedAgent
from pcn.types import Action, AnyArray


@dataclass(frozen=True, kw_only=True)
class LoopErasure(AbstractRefinement):
    """Store episodes that pay without their detours without them too, once a replay confirms it.

    Only in deterministic environments. Replays cost environment steps.
    """

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions have the same outcome."""
        return spec.deterministic

    def after_storing(self, training: Training, episodes: Episodes) -> None:
        """Replay the loop-free versions that would add to the front; store those that do."""
        config = training.config
        shortcuts = promising_shortcuts(
            episodes,
            training.dataset.archive().returns,
            discount=config.discount,
            tolerances=training.dataset.tolerances,
        )
        if len(shortcuts) == 0:
            return
        size = training.schedule.num_episodes
        padded = np.resize(np.arange(len(shortcuts)), size)
        agents = ScriptedAgent(
            shortcuts.actions[padded], np.zeros(size, np.int32), training.learner.policy.action_head
        )
        replay = training.runner.run(agents, training.next_key(), size, count=len(shortcuts))
        returns = replay.returns(discount=config.discount)
        promised = shortcuts.returns[padded]
        faithful = np.all(np.abs(returns - promised) <= training.dataset.tolerances, axis=1)
        training.dataset.add(replay, stored_mask=faithful)


def without_loops(
    observations: PyTree[AnyArray], lengths: Int[np.ndarray, " episode"]
) -> Bool[np.ndarray, "episode time"]:
    """Mark the steps that are left when every loop is cut out."""
    num_episodes, num_steps = len(lengths), int(lengths.max())
    time = np.broadcast_to(np.arange(num_steps), (num_episodes, num_steps))
    prints = fingerprints(observations, num_steps)
    # Each step of the padding gets a number of its own: it is never a second visit.
    prints = np.where(time < lengths[:, None], prints, time.astype(np.uint64))
    order = np.argsort(prints, axis=1, kind="stable")
    ordered = np.take_along_axis(prints, order, axis=1)
    is_last = np.ones_like(ordered, dtype=bool)
    is_last[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
    # From each place in the order, the next one that is its group's last visit.
    place = np.where(is_last, time, num_steps)
    place = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
    last_visit = np.empty_like(order)
    np.put_along_axis(last_visit, order, np.take_along_axis(order, place, axis=1), axis=1)
    kept = np.zeros(prints.shape, dtype=bool)
    now, going = np.zeros(num_episodes, dtype=np.int64), np.arange(num_episodes)
    while len(going):
        visit = last_visit[going, now[going]]
        kept[going, visit] = True
        now[going] = visit + 1
        going = going[now[going] < lengths[going]]
    return kept


@dataclass(frozen=True)
class Shortcuts:
    """Actions of episodes without their loops, and what they should return."""

    actions: Action
    """[episode, time, part]"""
    returns: Float[np.ndarray, "episode objective"]

    def __len__(self) -> int:
        return len(self.returns)


def promising_shortcuts(
    episodes: Episodes,
    front: Float[np.ndarray, "point objective"],
    *,
    discount: float,
    tolerances: Tolerances,
) -> Shortcuts:
    """Loop-free versions of the episodes that came to an end, if they would add to the front."""
    rows = np.flatnonzero(np.asarray(episodes.real_mask) & episodes.ended)
    actions = np.asarray(episodes.actions)
    if len(rows) == 0:
        return Shortcuts(actions[rows], np.zeros((0, front.shape[1])))
    lengths = np.asarray(episodes.lengths)[rows]
    observations = jax.tree.map(lambda leaf: np.asarray(leaf)[rows], episodes.observations)
    kept = without_loops(observations, lengths)
    num_kept = kept.sum(axis=1)
    num_steps = kept.shape[1]
    # Kept steps first, in their order.
    order = np.argsort(~kept, axis=1, kind="stable")[:, :, None]
    valid = (np.arange(num_steps) < num_kept[:, None])[:, :, None]
    rewards = np.asarray(episodes.rewards)[rows, :num_steps].astype(np.float64)
    rewards = np.take_along_axis(rewards, order, axis=1) * valid
    returns = np.einsum("eto,t->eo", rewards, discount ** np.arange(num_steps))
    covered = covered_mask(returns, front, tolerances=tolerances)
    index = np.flatnonzero(~covered & (num_kept < lengths))
    index = index[unique_front(rounded(returns[index], tolerances))] if len(index) else index
    shortened = np.zeros((len(index), *actions.shape[1:]), actions.dtype)
    shortened[:, :num_steps] = np.take_along_axis(
        actions[rows[index], :num_steps], order[index], axis=1
    )
    return Shortcuts(shortened, returns[index])
