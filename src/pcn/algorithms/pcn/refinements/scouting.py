"""Scouting: go to what was hardly tried, and try it.

In stochastic environments a plan can only be as good as the counts that it is made of. Random
actions try the same things again and again near the beginning, and a network repeats what is good
already. Where transitions are counted for `planning`, the counts know which actions were hardly
tried, and the likeliest way there. Some episodes go it, try the action and then act at random.
Brafman and Tennenholtz, "R-MAX", 2002; Ecoffet et al., "First return, then explore", 2021,
arXiv:2004.12919.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Bool, Int, UInt32

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.refinements.planned.scout import Scout, observation_print
from pcn.algorithms.pcn.refinements.planning import Planning
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.envs.spec import EnvironmentSpec
from pcn.nets.heads import AbstractActionHead
from pcn.planning.counting import TransitionCounts
from pcn.planning.scouts import Goals, Ways, drawn_kinds, hardly_tried, ways_to

FEWEST_STATES = 256
"""Tables have room for so many states, or twice as many and so on: few sizes are compiled."""
ROWS = 400_000
"""Goals times rows of counts that ways are looked for at a time: about a second."""
DRAWS = 3
"""How often goals are drawn if no way to any of them is known."""
FEWEST_GOALS = 2
"""Goals at a time where there are more rows than that."""


class Scouted(AbstractState):
    """How many steps scouts have taken."""

    def __init__(self) -> None:
        self.steps = 0

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The steps."""
        return {"steps": np.array(self.steps)}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.steps = int(arrays["steps"])


@dataclass(frozen=True, kw_only=True)
class Scouting(AbstractRefinement):
    """Send some episodes to actions that were hardly tried, where transitions are counted.

    Only in stochastic environments whose observations repeat, beside `planning`.
    """

    share: float = 0.6
    """Share of the exploring steps, as long as there is something left to try."""
    batches: int = 50
    """Ways are looked for about so many times in a training."""
    most_visits: int = 5
    """What was tried so often is known."""
    most_numbers: int = 64
    """Where observations have more numbers, states never share what was tried."""
    num_goals: int = 16
    """Goals that ways are looked for at a time; those hardly ever tried are preferred."""
    num_scouts: int = 8
    """Episodes that are sent at a time."""
    wandering: int = 20
    """Steps that a scout may take beside its way, and as many more as the way has."""
    noise: float = 0.1
    """On its way an episode acts at random with this probability."""
    most_pairs: int = 2_000_000
    """With more states times actions than this, nothing is looked for: it would take too long."""

    def __post_init__(self) -> None:
        at_least(self, 0, "share", "noise")
        at_most(self, 1, "share", "noise")
        at_least(self, 1, "batches", "most_visits", "num_goals", "num_scouts", "most_pairs")
        at_least(self, 0, "wandering", "most_numbers")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions can have different outcomes."""
        return not spec.deterministic

    def fresh_state(self, training: Training) -> Scouted:
        """No steps yet."""
        del training
        return Scouted()

    def goes_further(self, training: Training) -> bool:
        """Where something is counted, scouts get further than random actions."""
        return self.share > 0 and self.counts(training) is not None

    def after_exploring(self, training: Training) -> None:
        """Send scouts for as many steps as are due."""
        counts, state = self.counts(training), self.state_in(training, Scouted)
        before, total = training.steps, training.steps + training.exploring_steps_left
        due = int(self.share * before)
        if counts is None or due - state.steps < self.share * total / self.batches:
            return
        end = min(before + due - state.steps, total)
        while training.steps < end and self._send(training, counts, end - training.steps):
            pass
        # Where there is nothing to try, it is not made up for later.
        state.steps = max(due, state.steps + training.steps - before)

    def counts(self, training: Training) -> TransitionCounts | None:
        """What `planning` has counted; None where it is off or observations hardly repeat."""
        for one in training.refinements:
            if isinstance(one, Planning):
                counts = one.counts(training)
                size = counts.num_states * counts.num_actions
                few = not counts.given_up and 0 < size <= self.most_pairs
                return counts if few and masks_are_understood(counts) else None
        return None

    def _send(self, training: Training, counts: TransitionCounts, steps_left: int) -> bool:
        """Run a batch of scouts and store their episodes; False where there is nothing to try."""
        head, rng = training.learner.policy.action_head, training.rng
        goals = self._goals(counts, rng)
        if len(goals.states) == 0:
            return False
        weights = 1.0 / (1 + goals.visits) ** 2
        affordable = max(FEWEST_GOALS, ROWS // len(counts.visits))
        some = min(self.num_goals, affordable, len(weights))
        for _ in range(DRAWS):
            index = rng.choice(len(weights), some, replace=False, p=weights / weights.sum())
            drawn_goals = goals.chosen(index)
            ways = ways_to(counts, drawn_goals)
            if ways.chances.sum() > 0:
                break
        else:
            return False
        size = self.num_scouts
        batch = training.schedule.batch(size, steps_left)
        drawn = rng.choice(some, size, p=ways.chances / ways.chances.sum())
        most_steps = (2 * ways.num_steps()[drawn] + self.wandering).astype(np.int64)
        agents = self._scouts(head, counts, drawn_goals, ways, drawn)
        episodes = training.runner.run(
            agents,
            training.next_key(),
            size,
            count=batch.count,
            most_steps=np.minimum(batch.most_steps, most_steps),
        )
        for refinement in training.refinements:
            episodes = refinement.before_storing(training, episodes)
        training.dataset.add(episodes)
        return True

    def _goals(self, counts: TransitionCounts, rng: np.random.Generator) -> Goals:
        """What was hardly tried in states of a kind; if that is nothing, in any state.

        Nobody can try everything in every state of a large world. A thing that is new in some of
        its numbers is seen sooner where the others do not count.
        """
        allowed, numbers = allowed_actions(counts), counts.numbers()
        few = numbers.shape[1] <= self.most_numbers
        kinds = drawn_kinds(numbers, rng) if few else None
        if kinds is not None:
            goals = hardly_tried(counts, allowed, most_visits=self.most_visits, kinds=kinds)
            if len(goals.states):
                return goals
        return hardly_tried(counts, allowed, most_visits=self.most_visits)

    def _scouts(
        self,
        head: AbstractActionHead,
        counts: TransitionCounts,
        goals: Goals,
        ways: Ways,
        drawn: Int[np.ndarray, " scout"],
    ) -> Scout:
        """A batch of agents, each on the way that was drawn for it."""
        prints, order = sorted_prints(counts)
        rows = head.from_options(counts.action_rows(np.maximum(ways.actions, 0)))
        rows = np.where((ways.actions >= 0)[..., None], rows, head.none())[:, order]
        places = np.argsort(order)[goals.states]
        empty, missing = room_for(len(prints)) - len(prints), self.num_goals - len(places)
        return Scout(
            action_head=head,
            noise=np.full(len(drawn), self.noise, np.float32),
            prints=np.pad(prints, (0, empty), constant_values=np.iinfo(np.uint32).max),
            actions=np.pad(rows, ((0, missing), (0, empty), (0, 0)), "edge").astype(head.dtype),
            goals=np.pad(places, (0, missing)).astype(np.int32),
            way=drawn.astype(np.int32),
            arrived=np.zeros(len(drawn), bool),
        )


def masks_are_understood(counts: TransitionCounts) -> bool:
    """Whether masks have an entry for every option of every part; real numbers have none."""
    return counts.masks.shape[1] in (0, sum(counts.action_sizes))


def allowed_actions(counts: TransitionCounts) -> Bool[np.ndarray, "state action"] | None:
    """Which actions masks have ever allowed in each state; None without masks."""
    if counts.masks.shape[1] == 0:
        return None
    parts = counts.action_rows(np.arange(counts.num_actions))
    begin = np.cumsum([0, *counts.action_sizes[:-1]])
    return np.all(counts.masks[:, parts + begin], axis=2)


def room_for(num_states: int) -> int:
    """The size of tables for so many states."""
    room = FEWEST_STATES
    while room < num_states:
        room *= 2
    return room


def sorted_prints(
    counts: TransitionCounts,
) -> tuple[UInt32[np.ndarray, " state"], Int[np.ndarray, " state"]]:
    """The numbers of all states in ascending order, and the states in this order."""
    count = counts.num_states
    padded = jax.tree.map(
        lambda leaf: np.resize(leaf, (room_for(count), *leaf.shape[1:])), counts.observations
    )
    prints = np.asarray(_prints(padded))[:count]
    order = np.argsort(prints, kind="stable")
    return prints[order], order


_prints = eqx.filter_jit(jax.vmap(observation_print))
