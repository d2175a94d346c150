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

from pcn.algorithms.pcn.refinements.effects import Effects, fingerprints

EVENT, UNKNOWN, MISSING = -1, -2, -3
"""Instead of the place that an action leads to: an event, no prediction, not looked up yet."""
MOST_PLACES = 1 << 24
EXPLORED_NEAREST = 4
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
    unfamiliar: list[tuple[int, int]]
    """The nearest places and actions of which little is known."""


class Surroundings:
    """What each action does at each place, as long as nothing but the place changes."""

    def __init__(self, num_actions: int) -> None:
        self._shape = (0, num_actions)
        self.next = np.zeros(self._shape, np.int64)
        """The place after a step, or one of the three constants above."""
        self.leaves = np.zeros(self._shape, np.int64)
        """The leaf that predicts the step."""
        self.familiar = np.zeros(self._shape, dtype=bool)

    def make_room(self, num_places: int) -> None:
        """Have rows for all places."""
        missing = num_places - len(self.next)
        if missing > 0:
            missing = max(missing, len(self.next))
            more = (missing, self.next.shape[1])
            self.next = np.concatenate([self.next, np.full(more, MISSING)])
            self.leaves = np.concatenate([self.leaves, np.zeros(more, np.int64)])
            self.familiar = np.concatenate([self.familiar, np.zeros(more, dtype=bool)])

    def take_over(self, other: "Surroundings", unchanged: Bool[np.ndarray, "place action"]) -> None:
        """Everything that other surroundings say of unchanged steps."""
        self.make_room(len(other.next))
        rows = slice(len(other.next))
        self.next[rows] = np.where(unchanged, other.next, MISSING)
        self.leaves[rows] = other.leaves
        self.familiar[rows] = other.familiar


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
        self._place_numbers: dict[int, int] = {}
        self._places = np.zeros((64, model.num_parts))
        self._surroundings_numbers: dict[int, int] = {}
        self._surroundings: list[Surroundings] = []
        self._rests: list[Float[np.ndarray, " part"]] = []
        self._reaches: dict[int, Reach] = {}
        self.num_expanded = 0
        """How many steps the model was asked about."""

    @property
    def full(self) -> bool:
        """Whether no more steps are looked up."""
        return self.num_expanded >= self._most_steps

    def numbers_of(self, observations: Float[np.ndarray, "step part"]) -> Int[np.ndarray, " step"]:
        """The number of the state behind each observation."""
        places = np.where(self._moving, observations, 0.0)
        rests = observations - places
        known = self._surroundings_numbers
        around = np.zeros(len(observations), np.int64)
        for row, key in enumerate(fingerprints(rests).tolist()):
            if key not in known:
                known[key] = len(self._surroundings)
                self._surroundings.append(Surroundings(self._model.num_actions))
                self._rests.append(rests[row])
            around[row] = known[key]
        return around * MOST_PLACES + self._numbers_of_places(places)

    def _numbers_of_places(
        self, places: Float[np.ndarray, "step part"]
    ) -> Int[np.ndarray, " step"]:
        known = self._place_numbers
        numbers = np.zeros(len(places), np.int64)
        for row, key in enumerate(fingerprints(places).tolist()):
            number = known.get(key)
            if number is None:
                number = known[key] = len(known)
                if number == len(self._places):
                    self._places = np.concatenate([self._places, np.zeros_like(self._places)])
                self._places[number] = places[row]
            numbers[row] = number
        return numbers

    def reaches(self, states: Int[np.ndarray, " state"]) -> list[Reach]:
        """What can be reached from each state."""
        fresh = [state for state in dict.fromkeys(states.tolist()) if state not in self._reaches]
        for number in sorted({state // MOST_PLACES for state in fresh}):
            self._begin(number)
        while fresh:
            missing: set[tuple[int, int]] = set()
            waiting = []
            for state in fresh:
                around, place = divmod(state, MOST_PLACES)
                lacking = self._find_reach(state, around, place)
                if lacking:
                    waiting.append(state)
                    missing.update((around, one) for one in lacking)
            self._look_up(sorted(missing))
            fresh = waiting
        return [self._reaches[state] for state in states.tolist()]

    def _begin(self, number: int) -> None:
        """Take over what does not depend on the surroundings from the first ones."""
        first, own = self._surroundings[0], self._surroundings[number]
        if number == 0 or len(own.next):
            return
        differing = np.flatnonzero(self._rests[number] != self._rests[0])
        depends = np.any(self._model.tested_parts()[:, differing], axis=1)
        own.take_over(first, ~depends[first.leaves])
        lacking = np.any((own.next == MISSING) & (first.next != MISSING), axis=1)
        self._look_up([(number, place) for place in np.flatnonzero(lacking).tolist()])

    def _look_up(self, missing: list[tuple[int, int]]) -> None:
        """Ask the model what all actions do at these places in these surroundings."""
        if not missing:
            return
        num_actions = self._model.num_actions
        around, place = np.array(missing).T
        observations = self._places[place] + np.array([self._rests[one] for one in around])
        before = np.repeat(observations, num_actions, axis=0)
        actions = np.tile(np.arange(num_actions), len(missing))
        self.num_expanded += len(before)
        predicted = self._model.predict(before, actions)
        ordinary = np.all(predicted.rewards == self.ordinary, axis=1) & ~predicted.terminated
        moved = np.where(self._moving, predicted.observations, 0.0)
        after = np.where(predicted.known, EVENT, UNKNOWN)
        goes_on = predicted.known & ordinary
        after[goes_on] = self._numbers_of_places(moved[goes_on])
        rows = zip(
            missing,
            after.reshape(-1, num_actions),
            predicted.leaves.reshape(-1, num_actions),
            predicted.familiar.reshape(-1, num_actions),
            strict=True,
        )
        for (number, at), next_places, leaves, familiar in rows:
            own = self._surroundings[number]
            own.make_room(at + 1)
            own.next[at], own.leaves[at], own.familiar[at] = next_places, leaves, familiar

    def _find_reach(self, start: int, around: int, place: int) -> list[int]:
        """Store what can be reached, or return the places that must be looked up first."""
        own = self._surroundings[around]
        next_places = own.next.tolist()
        num_known, full = len(next_places), self.full
        events: list[tuple[int, int, int]] = []
        lacking: list[int] = []
        distances, queue = {place: 0}, deque([place])
        while queue:
            at = queue.popleft()
            if at >= num_known or MISSING in next_places[at]:
                lacking.append(at)
                continue
            distance = distances[at]
            for action, after in enumerate(next_places[at]):
                if after >= 0:
                    if after not in distances:
                        distances[after] = distance + 1
                        queue.append(after)
                elif after == EVENT:
                    events.append((at, action, distance))
        if lacking and not full:
            return lacking
        self._reaches[start] = self._reach(around, events, list(distances))
        return []

    def _reach(self, around: int, events: list[tuple[int, int, int]], nearby: list[int]) -> Reach:
        own = self._surroundings[around]
        places, actions, distances = np.array(events, np.int64).reshape(-1, 3).T
        before = self._places[places] + self._rests[around]
        outcomes = self._model.outcomes_of(before, own.leaves[places, actions])
        after = self.numbers_of(outcomes.observations)
        same = np.column_stack([after, outcomes.terminated, outcomes.rewards])
        first = np.unique(same, axis=0, return_index=True)[1]  # events are in order of distance
        near = np.array([place for place in nearby if place < len(own.next)], np.int64)
        strange = np.argwhere(~own.familiar[near])[:EXPLORED_NEAREST]
        return Reach(
            places=places[first],
            actions=actions[first],
            distances=distances[first],
            rewards=outcomes.rewards[first],
            terminated=outcomes.terminated[first],
            after=after[first],
            unfamiliar=[(int(near[row]), int(action)) for row, action in strange],
        )

    def way(self, start: int, end: int) -> list[int]:
        """The actions of a shortest way of ordinary steps from a state to a place."""
        around, place = divmod(start, MOST_PLACES)
        next_places = self._surroundings[around].next.tolist()
        before: dict[int, tuple[int, int]] = {place: (place, 0)}
        queue = deque([place])
        while queue and end not in before:
            at = queue.popleft()
            for action, after in enumerate(next_places[at]):
                if after >= 0 and after not in before:
                    before[after] = (at, action)
                    if after < len(next_places):
                        queue.append(after)
        backwards = []
        while end != place:
            end, action = before[end]
            backwards.append(action)
        return backwards[::-1]
