"""Loop erasure: episodes that pay without their detours join the dataset without them too.

Where the observation is the state, the part of an episode between two visits of the same
observation can be cut out: every step of what remains has really happened. In a deterministic
environment a candidate only counts once it has been replayed, because an observation may hide
state. Where outcomes are stochastic, a replay proves nothing: there an episode is stored without
its loops if no objective is worse without them. Otherwise the network learns to waste time, and its
first choices alone go in circles.
"""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, PyTree

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.training import Training
from pcn.episodes import Episodes
from pcn.fingerprints import fingerprints
from pcn.pareto import PARETO, AbstractOrder, Tolerances, rounded, unique_front
from pcn.rollout import ScriptedAgent
from pcn.types import Action, AnyArray


@dataclass(frozen=True, kw_only=True)
class LoopErasure(AbstractRefinement):
    """Store episodes that pay without their detours without them too, once a replay confirms it.

    Replays cost environment steps. In stochastic environments nothing is replayed: episodes that
    are better without their detours are stored without them.
    """

    def before_storing(self, training: Training, episodes: Episodes) -> Episodes:
        """In stochastic environments, the episodes without loops that gain nothing."""
        if training.spec.deterministic:
            return episodes
        return without_idle_loops(episodes, discount=training.config.discount)

    def after_storing(self, training: Training, episodes: Episodes) -> None:
        """Replay the loop-free versions that would add to the front; store those that do."""
        config = training.config
        if not training.spec.deterministic:
            return
        shortcuts = promising_shortcuts(
            episodes,
            training.dataset.archive().returns,
            discount=config.discount,
            tolerances=training.dataset.tolerances,
            order=training.dataset.order,
        )
        left = training.exploring_steps_left
        if len(shortcuts) == 0 or left <= 0:
            return
        size = training.schedule.num_episodes
        padded = np.resize(np.arange(len(shortcuts)), size)
        agents = ScriptedAgent(
            shortcuts.actions[padded], np.zeros(size, np.int32), training.learner.policy.action_head
        )
        batch = training.schedule.batch(len(shortcuts), left)
        replay = training.runner.run(
            agents, training.next_key(), size, count=batch.count, most_steps=batch.most_steps
        )
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


def without_idle_loops(episodes: Episodes, *, discount: float) -> Episodes:
    """The terminated episodes without their loops, where no objective is worse without them.

    Truncated episodes stay as they are: they are over because of their length.
    """
    lengths = np.asarray(episodes.lengths)
    rows = np.flatnonzero(
        np.asarray(episodes.real_mask) & np.asarray(episodes.terminated) & (lengths > 1)
    )
    if len(rows) == 0:
        return episodes
    observations = jax.tree.map(lambda leaf: np.asarray(leaf)[rows], episodes.observations)
    kept = without_loops(observations, lengths[rows])
    num_kept, num_steps = kept.sum(axis=1), kept.shape[1]
    order = np.argsort(~kept, axis=1, kind="stable")
    valid = np.arange(num_steps) < num_kept[:, None]

    def shortened(leaf: AnyArray) -> np.ndarray:
        """The kept steps first, in their order; zeros after them."""
        values = np.asarray(leaf)[rows, :num_steps]
        shape = (*order.shape, *(1,) * (values.ndim - 2))
        moved = np.take_along_axis(values, order.reshape(shape), axis=1)
        return moved * valid.reshape(shape).astype(moved.dtype)

    rewards = shortened(episodes.rewards)
    returns = np.einsum("eto,t->eo", rewards.astype(np.float64), discount ** np.arange(num_steps))
    before = episodes.returns(discount=discount)[rows]
    better = (num_kept < lengths[rows]) & np.all(returns >= before, axis=1)
    index = rows[better]
    if len(index) == 0:
        return episodes

    def replaced(leaf: AnyArray) -> np.ndarray:
        whole = np.array(leaf)
        whole[index] = 0
        whole[index, :num_steps] = shortened(leaf)[better]
        return whole

    masks = episodes.action_masks
    new_lengths = lengths.copy()
    new_lengths[index] = num_kept[better]
    return Episodes(
        jax.tree.map(replaced, episodes.observations),
        replaced(episodes.actions),
        replaced(episodes.rewards),
        new_lengths,
        episodes.terminated,
        action_masks=None if masks is None else replaced(masks),
        broken_off=episodes.broken_off,
        real_mask=episodes.real_mask,
        last_observations=episodes.last_observations,
    )


@dataclass(frozen=True)
class Shortcuts:
    """Actions of episodes without their loops, and what they should return."""

    actions: Action
    """[episode, time, part]"""
    lengths: Int[np.ndarray, " episode"]
    returns: Float[np.ndarray, "episode objective"]

    def __len__(self) -> int:
        return len(self.returns)


def promising_shortcuts(
    episodes: Episodes,
    front: Float[np.ndarray, "point objective"],
    *,
    discount: float,
    tolerances: Tolerances,
    order: AbstractOrder = PARETO,
) -> Shortcuts:
    """Loop-free versions of the episodes that came to an end, if they would add to the front."""
    rows = np.flatnonzero(np.asarray(episodes.real_mask) & episodes.ended)
    actions = np.asarray(episodes.actions)
    if len(rows) == 0:
        return Shortcuts(actions[rows], rows, np.zeros((0, front.shape[1])))
    lengths = np.asarray(episodes.lengths)[rows]
    observations = jax.tree.map(lambda leaf: np.asarray(leaf)[rows], episodes.observations)
    kept = without_loops(observations, lengths)
    num_kept = kept.sum(axis=1)
    num_steps = kept.shape[1]
    # Kept steps first, in their order.
    kept_first = np.argsort(~kept, axis=1, kind="stable")[:, :, None]
    valid = (np.arange(num_steps) < num_kept[:, None])[:, :, None]
    rewards = np.asarray(episodes.rewards)[rows, :num_steps].astype(np.float64)
    rewards = np.take_along_axis(rewards, kept_first, axis=1) * valid
    returns = np.einsum("eto,t->eo", rewards, discount ** np.arange(num_steps))
    covered = order.covered_mask(returns, front, tolerances)
    index = np.flatnonzero(~covered & (num_kept < lengths))
    index = index[unique_front(rounded(returns[index], tolerances))] if len(index) else index
    shortened = np.zeros((len(index), *actions.shape[1:]), actions.dtype)
    shortened[:, :num_steps] = np.take_along_axis(
        actions[rows[index], :num_steps], kept_first[index], axis=1
    )
    return Shortcuts(shortened, num_kept[index], returns[index])
