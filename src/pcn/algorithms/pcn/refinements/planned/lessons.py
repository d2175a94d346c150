"""Lessons: what plans do in each state and at each time, for a network to learn."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PyTree

from pcn.algorithms.pcn.store import Transitions
from pcn.algorithms.pcn.update import answers
from pcn.command import Command
from pcn.nets.heads import AbstractActionHead
from pcn.nets.policy import ConditionedPolicy
from pcn.planning import Plans
from pcn.planning.counting import TransitionCounts
from pcn.types import AnyArray

PART = 4096
"""Lessons in one compiled call."""


class Lessons(eqx.Module):
    """Examples of plans: observation, command and time left in; action out.

    All arrays are padded, so that similar plans share compiled code.
    """

    observations: PyTree[AnyArray]
    """Each leaf [state, ...]."""
    action_masks: Bool[AnyArray, "state choice"] | None
    desired_returns: Float[AnyArray, "plan objective"]
    first_horizon: Float[AnyArray, ""]
    """The horizon of every command at the beginning of an episode."""
    states: Int[AnyArray, " lesson"]
    plans: Int[AnyArray, " lesson"]
    times: Int[AnyArray, " lesson"]
    actions: Num[AnyArray, "lesson part"]
    goodness: Float[AnyArray, "lesson option"] | None = None
    """How good each option is beside the best one, from 0 to 1; None where only the action is."""

    def at(self, index: Int[Array, " batch"]) -> Transitions:
        """Some of the lessons."""
        states, plans, times = (column[index] for column in (self.states, self.plans, self.times))
        batch = self.asked(states, plans, times, self.actions[index])
        if self.goodness is None:
            return batch
        goodness = self.goodness[index].astype(jnp.float32)
        return eqx.tree_at(lambda one: one.goodness, batch, goodness, is_leaf=lambda x: x is None)

    def asked(
        self,
        states: Int[Array, " batch"],
        plans: Int[Array, " batch"],
        times: Int[Array, " batch"],
        actions: Num[Array, "batch part"],
    ) -> Transitions:
        """What a network sees in some states under the commands of some plans."""
        horizon = jnp.maximum(self.first_horizon - times, 1.0)  # as `Command.after` counts down
        masks = self.action_masks
        return Transitions(
            observation=jax.tree.map(lambda leaf: leaf[states], self.observations),
            command=Command(self.desired_returns[plans], horizon),
            action=actions,
            action_mask=None if masks is None else masks[states],
        )


def lessons_of(
    plans: Plans,
    counts: TransitionCounts,
    head: AbstractActionHead,
    *,
    least_probability: float,
    most_places: int,
) -> tuple[Lessons, Float[np.ndarray, " lesson"]]:
    """What all plans do wherever they may get to, and how likely they get there.

    Places that a plan reaches with no more than `least_probability` are left out, and all but the
    likeliest `most_places` of all plans at each time. A plan that does
    different things at one place, depending on the past, gives a lesson for each.
    """
    columns = []
    occupancy = plans.beginning(np.arange(len(plans)))
    for time in range(plans.horizon):
        actions = plans.actions(occupancy)
        acting = actions >= 0
        if not acting.any():
            break
        rows = np.column_stack([occupancy.plans, occupancy.states, actions])[acting]
        rows, inverse = np.unique(rows, axis=0, return_inverse=True)
        chances = np.bincount(inverse.ravel(), occupancy.probabilities[acting])
        columns.append(np.column_stack([rows, np.full(len(rows), time), chances]))
        occupancy = plans.after(occupancy, time, least=least_probability).likeliest(most_places)
    table = np.concatenate(columns)
    plan_index, states, actions, times = table[:, :4].astype(np.int32).T
    size = room_for(len(table))
    states_room = room_for(counts.num_states)
    lessons = Lessons(
        observations=jax.tree.map(lambda leaf: padded(leaf, states_room), counts.observations),
        action_masks=padded(counts.masks, states_room) if counts.masks.shape[1] else None,
        desired_returns=padded(plans.vectors.astype(np.float32), room_for(len(plans))),
        first_horizon=np.asarray(times.max() + 1, np.float32),
        states=padded(states, size),
        plans=padded(plan_index, size),
        times=padded(times, size),
        actions=padded(head.from_options(counts.action_rows(actions)), size),
    )
    return lessons, table[:, 4]


def room_for(count: int) -> int:
    """The next power of four: the models of one training then share two or three programs."""
    return 1 << 2 * max(2, -(-(count - 1).bit_length() // 2))


def padded(array: np.ndarray, size: int) -> np.ndarray:
    """The array with zeros behind its rows, so that there are `size` of them."""
    return np.pad(array, [(0, size - len(array)), *[(0, 0)] * (array.ndim - 1)])


def uncertainty(
    policy: ConditionedPolicy, lessons: Lessons, count: int
) -> Float[np.ndarray, " lesson"]:
    """For each of the first `count` lessons, the probability of any action but the right one."""
    parts = [
        np.asarray(_uncertainty(policy, lessons, np.arange(start, start + PART) % count))
        for start in range(0, count, PART)
    ]
    return np.concatenate(parts)[:count].astype(np.float64)


@eqx.filter_jit
def _uncertainty(
    policy: ConditionedPolicy, lessons: Lessons, index: Int[AnyArray, " lesson"]
) -> Float[Array, " lesson"]:
    log_probability, _ = answers(policy, lessons.at(jnp.asarray(index)))
    return policy.action_head.doubt(log_probability)


def greedy_actions(
    policy: ConditionedPolicy,
    lessons: Lessons,
    plans: Int[np.ndarray, " place"],
    states: Int[np.ndarray, " place"],
    time: int,
) -> Num[np.ndarray, "place part"]:
    """What the network does in some states under the commands of some plans."""
    parts = []
    for start in range(0, len(plans), PART):
        chosen = np.arange(start, start + PART) % len(plans)
        times = np.full(PART, time, np.int32)
        parts.append(np.asarray(_greedy(policy, lessons, states[chosen], plans[chosen], times)))
    return np.concatenate(parts)[: len(plans)]


@eqx.filter_jit
def _greedy(
    policy: ConditionedPolicy,
    lessons: Lessons,
    states: Int[AnyArray, " place"],
    plans: Int[AnyArray, " place"],
    times: Int[AnyArray, " place"],
) -> Num[Array, "place part"]:
    head = policy.action_head
    nothing = jnp.tile(jnp.asarray(head.none()), (len(states), 1))
    batch = lessons.asked(jnp.asarray(states), jnp.asarray(plans), jnp.asarray(times), nothing)
    outputs = jax.vmap(policy)(batch.observation, batch.command)
    return jax.vmap(head.greedy)(jax.vmap(head.masked)(outputs, batch.action_mask))
