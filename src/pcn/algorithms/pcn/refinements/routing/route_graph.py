"""Route graph: the states that a model of actions leads to, and the nearest events from each.

An ordinary step has the most common reward and does not end the episode. All other steps are
events: something is collected, paid or over. Between events only the number of steps counts, so
the shortest way to each event says all there is to know about the steps in between.

Ordinary steps change some parts of an observation, the *place*, and leave the others, the
*surroundings*, as they are. What a step does is looked up for one set of surroundings; for others,
only the steps are looked up again that depend on something that differs.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.algorithms.pcn.refinements.routing.effects import Effects
from pcn.algorithms.pcn.refinements.routing.ordinary_walks import longest_walks
from pcn.algorithms.pcn.refinements.routing.step_keys import step_keys
from pcn.fingerprints import row_fingerprints

EVENT, UNKNOWN, MISSING = -1, -2, -3
"""Instead of the place that an action leads to: an event, no prediction, not looked up yet."""
MOST_PLACES = 1 << 24
MOST_UNFAMILIAR = 16
"""Unfamiliar steps that are remembered around one state."""


@dataclass(frozen=True)
class Reach:
    """The events that ordinary steps lead to from a state, each by the shortest way."""

    places: Int[np.ndarray, " event"]
    """The place before each event; the event itself is the step after that."""
    actions: Int[np.ndarray, " event"]
    distances: Int[np.ndarray, " event"]
    """Ordinary steps before it."""
    rewards: Float[np.ndarray, "event objective"]
    terminated: Bool[np.ndarray, " event"]
    after: Int[np.ndarray, " event"]
    """The state that the event leads to."""
    most_steps: int
    """The most ordinary steps that can follow one another from the state."""
    unfamiliar: list[tuple[int, int]]
    """Some actions that were never taken at a place, though all were on the way there."""

    @classmethod
    def joined(cls, reaches: "list[Reach]") -> "Reach":
        """The events of several, one after the other."""
        names = ("places", "actions", "distances", "rewards", "terminated", "after")
        columns = {name: np.concatenate([getattr(one, name) for one in reaches]) for name in names}
        return cls(**columns, most_steps=0, unfamiliar=[])


class Table:
    """What each action does at each place in all surroundings, in arrays that grow."""

    def __init__(self, num_actions: int) -> None:
        self._num_actions = num_actions
        self.next = np.zeros((0, 0, num_actions), np.int32)
        """The place after a step, or one of the three constants above."""
        self.leaves = np.zeros((0, 0, num_actions), np.int32)
        """The leaf that predicts the step."""
        self.familiar = np.zeros((0, 0, num_actions), dtype=bool)
        """Whether the action was taken at that place before, in any surroundings."""

    @property
    def size(self) -> int:
        """How many steps there is room for."""
        return self.next.size

    def make_room(self, num_surroundings: int, num_places: int) -> None:
        """Have rows for all surroundings and places."""
        have = self.next.shape[:2]
        if num_surroundings <= have[0] and num_places <= have[1]:
            return
        wanted = [
            old if new <= old else max(new, 2 * old, 16)
            for new, old in zip((num_surroundings, num_places), have, strict=True)
        ]
        shape = (*wanted, self._num_actions)
        for name, empty in (("next", MISSING), ("leaves", 0), ("familiar", False)):
            old = getattr(self, name)
            array = np.full(shape, empty, old.dtype)
            array[: have[0], : have[1]] = old
            setattr(self, name, array)


class RouteGraph:
    """States are numbered as they are met; what an action does is asked once where that is enough.

    A state's number tells its surroundings and its place.
    """

    def __init__(self, model: Effects, *, most_steps: int) -> None:
        self._model = model
        self._most_steps = most_steps
        self.ordinary = model.common_reward()
        """The reward of an ordinary step."""
        self._moving = model.parts_changed(self.ordinary)
        self._tested = model.tested_parts()
        self._taken = np.unique(model.keys_of_steps(self._moving))
        self._place_numbers: dict[int, int] = {}
        self._places = np.zeros((0, model.num_parts))
        self._rest_numbers: dict[int, int] = {}
        self._rests = np.zeros((0, model.num_parts))
        self._begun: set[int] = {0}
        self._table = Table(model.num_actions)
        self._reaches: dict[int, Reach] = {}
        self.work = 0
        """How many steps were looked up or walked over."""

    @property
    def full(self) -> bool:
        """Whether no more steps are looked up."""
        return self._table.size >= self._most_steps

    def numbers_of(self, observations: Float[np.ndarray, "step part"]) -> Int[np.ndarray, " step"]:
        """The number of the state behind each observation."""
        places = np.where(self._moving, observations, 0.0)
        rests = np.where(self._moving, 0.0, observations)
        around, self._rests = _numbered(self._rest_numbers, self._rests, rests)
        place, self._places = _numbered(self._place_numbers, self._places, places)
        return around * MOST_PLACES + place

    def reaches(self, states: Int[np.ndarray, " state"]) -> list[Reach]:
        """What can be reached from each state."""
        fresh = [state for state in dict.fromkeys(states.tolist()) if state not in self._reaches]
        if fresh:
            self._begin(sorted({state // MOST_PLACES for state in fresh} - self._begun))
            self._reaches.update(zip(fresh, self._find(np.array(fresh)), strict=True))
        return [self._reaches[state] for state in states.tolist()]

    def _begin(self, fresh: list[int]) -> None:
        """Take over what does not depend on the surroundings from the first ones."""
        table = self._table
        table.make_room(len(self._rests), len(self._places))
        if not fresh:
            return
        self._begun.update(fresh)
        differs = self._rests[fresh] != self._rests[0]
        depends = (differs.astype(np.float32) @ self._tested.T.astype(np.float32)) > 0
        leaves = table.leaves[0]
        table.next[fresh] = np.where(depends[:, leaves], MISSING, table.next[0])
        table.leaves[fresh] = leaves
        table.familiar[fresh] = table.familiar[0]
        lacking = np.any(table.next[fresh] == MISSING, axis=2) & np.all(
            table.next[0] != MISSING, axis=1
        )
        which, place = np.nonzero(lacking)
        if len(place) and not self.full:
            self._look_up(np.array(fresh)[which], place)

    def _look_up(self, around: Int[np.ndarray, " step"], place: Int[np.ndarray, " step"]) -> None:
        """Ask the model what all actions do at these places in these surroundings."""
        num_actions = self._model.num_actions
        before = np.repeat(self._places[place] + self._rests[around], num_actions, axis=0)
        actions = np.tile(np.arange(num_actions), len(place))
        predicted = self._model.predict(before, actions)
        taken = np.isin(step_keys(np.where(self._moving, before, 0.0), actions), self._taken)
        ordinary = np.all(predicted.rewards == self.ordinary, axis=1) & ~predicted.terminated
        after = np.where(predicted.known, EVENT, UNKNOWN)
        goes_on = predicted.known & ordinary
        moved = np.where(self._moving, predicted.observations[goes_on], 0.0)
        after[goes_on], self._places = _numbered(self._place_numbers, self._places, moved)
        table, shape = self._table, (len(place), num_actions)
        table.make_room(len(self._rests), len(self._places))
        table.next[around, place] = after.reshape(shape)
        table.leaves[around, place] = predicted.leaves.reshape(shape)
        familiar = taken & (predicted.known | predicted.several)
        table.familiar[around, place] = familiar.reshape(shape)
        self.work += len(before)

    def _find(self, states: Int[np.ndarray, " state"]) -> list[Reach]:
        """Walk from all states at once, one ordinary step at a time."""
        around, place = np.divmod(states, MOST_PLACES)
        distance = np.full((len(states), len(self._places)), -1, np.int32)
        row = np.arange(len(states))
        distance[row, place] = 0
        trusted = distance == 0  # reached by familiar steps alone
        steps = 0
        while len(row):
            lacking = np.any(self._table.next[around[row], place] == MISSING, axis=1)
            if lacking.any() and not self.full:
                missing = np.unique((around[row] * MOST_PLACES + place)[lacking])
                self._look_up(*np.divmod(missing, MOST_PLACES))
            more = len(self._places) - distance.shape[1]
            if more:
                distance = np.pad(distance, ((0, 0), (0, more)), constant_values=-1)
                trusted = np.pad(trusted, ((0, 0), (0, more)))
            after = self._table.next[around[row], place]
            familiar = self._table.familiar[around[row], place] & trusted[row, place][:, None]
            self.work += len(row)
            steps += 1
            row, after, familiar = np.repeat(row, after.shape[1]), after.ravel(), familiar.ravel()
            new = after >= 0
            new[new] = distance[row[new], after[new]] < 0
            both = row[new] * MOST_PLACES + after[new]
            by_familiar = np.divmod(both[familiar[new]], MOST_PLACES)
            trusted[by_familiar] = True
            row, place = np.divmod(np.unique(both), MOST_PLACES)
            distance[row, place] = steps
        return self._collected(*np.divmod(states, MOST_PLACES), distance, trusted)

    def _collected(
        self,
        around: Int[np.ndarray, " state"],
        start: Int[np.ndarray, " state"],
        distance: Int[np.ndarray, "state place"],
        trusted: Bool[np.ndarray, "state place"],
    ) -> list[Reach]:
        """The events and the unfamiliar steps within the distances that were walked."""
        num_places, num_states = distance.shape[1], len(around)
        visited = distance >= 0
        is_event = (self._table.next[around, :num_places] == EVENT) & visited[:, :, None]
        row, place, action = np.nonzero(is_event)
        before = self._places[place] + self._rests[around[row]]
        leaves = self._table.leaves[around[row], place, action]
        outcomes = self._model.outcomes_of(before, leaves)
        after, far = self.numbers_of(outcomes.observations), distance[row, place]
        # Of events with the same outcome the nearest one counts.
        order = np.lexsort((far, *outcomes.rewards.T, outcomes.terminated, after, row))
        same = np.column_stack([row, after, outcomes.terminated, outcomes.rewards])[order]
        is_first = np.ones(len(order), dtype=bool)
        is_first[1:] = np.any(same[1:] != same[:-1], axis=1)
        index = order[is_first]
        ends = np.searchsorted(row[index], np.arange(1, num_states))
        strange = trusted[:, :, None] & ~self._table.familiar[around, :num_places]
        surroundings, which = np.unique(around, return_inverse=True)
        walks = longest_walks(self._table.next[surroundings, :num_places])[which, start]
        return [
            Reach(
                places=place[own],
                actions=action[own],
                distances=far[own],
                rewards=outcomes.rewards[own],
                terminated=outcomes.terminated[own],
                after=after[own],
                most_steps=int(walks[state]),
                unfamiliar=_near_and_far(strange[state], distance[state]),
            )
            for state, own in enumerate(np.split(index, ends))
        ]

    def way(self, start: int, end: int) -> list[int]:
        """The actions of a shortest way of ordinary steps from a state to a place."""
        around, place = divmod(start, MOST_PLACES)
        next_places: list[list[int]] = self._table.next[around].tolist()
        before: dict[int, tuple[int, int]] = {place: (place, 0)}
        queue = deque([place])
        while queue and end not in before:
            at = queue.popleft()
            for action, after in enumerate(next_places[at]):
                if after >= 0 and after not in before:
                    before[after] = (at, action)
                    queue.append(after)
        backwards = []
        while end != place:
            end, action = before[end]
            backwards.append(action)
        return backwards[::-1]

    def walk(self, start: int, num_steps: int) -> list[int]:
        """The actions of so many ordinary steps from a state; `Reach.most_steps` allows them."""
        around, place = divmod(start, MOST_PLACES)
        next_places = self._table.next[around, : len(self._places)]
        longest, actions = longest_walks(next_places[None])[0], []
        for left in range(num_steps - 1, -1, -1):
            after = next_places[place]
            action = int(np.argmax((after >= 0) & (longest[np.maximum(after, 0)] >= left)))
            actions.append(action)
            place = int(after[action])
        return actions


def _near_and_far(
    strange: Bool[np.ndarray, "place action"], distance: Int[np.ndarray, " place"]
) -> list[tuple[int, int]]:
    """Some of the marked steps, from the nearest to the farthest."""
    places, actions = np.nonzero(strange)
    order = np.argsort(distance[places], kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, min(len(order), MOST_UNFAMILIAR)).astype(int)]
    return list(zip(places[chosen].tolist(), actions[chosen].tolist(), strict=True))


def _numbered(
    known: dict[int, int],
    rows: Float[np.ndarray, "known part"],
    new: Float[np.ndarray, "step part"],
) -> tuple[Int[np.ndarray, " step"], Float[np.ndarray, "more part"]]:
    """The number of each new row, equal for equal rows, and all rows by number."""
    numbers, added = np.zeros(len(new), np.int64), []
    for index, key in enumerate(row_fingerprints(new).tolist()):
        number = known.get(key)
        if number is None:
            number = known[key] = len(known)
            added.append(index)
        numbers[index] = number
    return numbers, np.concatenate([rows, new[added]]) if added else rows
