"""Variations where outcomes are stochastic: changed episodes are played again, come what may.

The same actions from another start, or with other chance, often lead to about the same. Then a
changed episode finds neighbours of what is known sooner than a network that has learnt from few
episodes, and the same trade-off is seen from many starts. Where the same actions lead to anything,
such episodes bring little that is new: commands and variations share the steps by what they bring.
"""

from dataclasses import dataclass

import numpy as np

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.planning import may_plan
from pcn.algorithms.pcn.refinements.variations import Actions, Draw, Variations
from pcn.algorithms.pcn.refinements.yields import Yields
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.policy import ConditionedPolicy
from pcn.pareto import preferred_shares


@dataclass(frozen=True, kw_only=True)
class StochasticVariations(AbstractRefinement):
    """Play front episodes with a few actions changed, and store whatever comes of it.

    Only in stochastic environments in which transitions cannot be counted and planned with.
    """

    least: float = 0.1
    """Least share of episodes that are variations."""
    most: float = 0.5
    """Largest share of them."""
    memory: float = 0.9
    """How much of what earlier iterations brought still counts in the next one."""
    unchanged: float = 0.2
    """Share of variations that keep their actions and only meet other chance."""
    crossed: float = 0.2
    """Share of variations that begin as one episode and end as another."""
    more_edits: float = 0.5
    """Probability that an edited episode gets one more edit, again and again."""
    longest_edit: float = 0.5
    """Largest share of an episode that one edit replaces, adds, drops or moves."""
    longer: float = 1.0
    """How much longer than its actions a variation may go on, with its last one, as a share."""

    def __post_init__(self) -> None:
        at_least(self, 0, "least", "memory", "unchanged", "crossed", "more_edits")
        at_least(self, 0, "longest_edit", "longer")
        at_most(self, 0.9, "most")
        at_most(self, self.most, "least")
        at_most(self, 1, "memory", "unchanged", "longest_edit")
        at_most(self, 1 - self.unchanged, "crossed")
        at_most(self, 0.99, "more_edits")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions can have different outcomes."""
        return not spec.deterministic

    def fresh_state(self, training: Training) -> Yields:
        """Nothing was played yet."""
        del training
        return Yields()

    def prepared(self, policy: ConditionedPolicy, training: Training) -> ConditionedPolicy:
        """Forget what warm-up brought: at first everything is new."""
        self.state_in(training, Yields).forget()
        return policy

    def before_storing(self, training: Training, episodes: Episodes) -> Episodes:
        """Note what exploration has brought."""
        if len(training.dataset):
            self._note(training, episodes, varied=False)
        return episodes

    def _note(self, training: Training, episodes: Episodes, *, varied: bool) -> None:
        """Note how many preferences find one of these episodes better than the archive."""
        real = np.asarray(episodes.real_mask)
        returns = episodes.returns(discount=training.config.discount)[real & episodes.ended]
        known = training.dataset.archive().returns
        # Of equal points the first one counts: what repeats the archive brings nothing.
        criteria = training.dataset.order.criteria(np.concatenate([known, returns]))
        won = float(preferred_shares(criteria)[len(known) :].sum())
        self.state_in(training, Yields).add(varied=varied, num_episodes=int(real.sum()), gain=won)

    def after_exploring(self, training: Training) -> None:
        """Play variations, more of them if they bring more than commands do."""
        if may_plan(training):
            return
        state, size = self.state_in(training, Yields), training.schedule.num_episodes
        due = state.next_variations(state.share(self.least, self.most), size)
        while due > 0:
            count = self._play_batch(training, min(due, size))
            if count == 0:
                break
            due -= count
        state.age(self.memory)

    def _play_batch(self, training: Training, wanted: int) -> int:
        """Play and store variations of the archive's episodes; returns how many there were."""
        dataset, rng = training.dataset, training.rng
        size, (favourites, attention) = training.schedule.num_episodes, training.favourites()
        chosen = rng.choice(len(favourites), size=2 * size, p=attention)
        actions = dataset.actions(favourites.rows.taking(chosen))
        head = training.learner.policy.action_head
        draw = head.changed_row  # looking it up takes longer than drawing
        pairs = zip(actions[:size], actions[size:], strict=True)
        varied = [self.varied(one, other, draw, rng) for one, other in pairs]
        limits = np.array([int((1 + self.longer) * len(one)) + 1 for one in varied])
        limits = np.minimum(limits, training.spec.step_limit)
        count = min(wanted, training.affordable(limits))
        if count == 0:
            return 0
        episodes = Variations().play(training, varied, head, count, limits)
        self._note(training, episodes, varied=True)
        dataset.add(episodes)
        return count

    def varied(
        self, actions: Actions, other: Actions, draw: Draw, rng: np.random.Generator
    ) -> Actions:
        """The same actions, with an end like the other's, or edited."""
        kind = rng.uniform()
        if kind < self.unchanged:
            return actions
        if kind < self.unchanged + self.crossed:
            return Variations().joined(actions, other, rng)
        return self.edited(actions, draw, rng)

    def edited(self, actions: Actions, draw: Draw, rng: np.random.Generator) -> Actions:
        """A copy in which one or more segments are replaced, added, dropped or moved.

        What is new is one changed action, held on. The logarithm of a segment's length is uniform:
        episodes of a thousand steps are changed at all scales. `draw` changes an action.
        """
        rows = list(actions)
        for _ in range(rng.geometric(1 - self.more_edits)):
            longest = max(1.0, self.longest_edit * len(rows))
            length = int(np.exp(rng.uniform(0, np.log(longest + 1))))
            place = int(rng.integers(len(rows)))
            fresh = draw(rows[place], rng)
            end = min(place + length, len(rows))
            kind = rng.integers(4)
            if kind == 0:
                rows[place:end] = [fresh] * (end - place)
            elif kind == 1:
                rows[place:place] = [fresh] * length
            elif end - place < len(rows):
                segment = rows[place:end]
                del rows[place:end]
                if kind == 3:
                    goal = int(rng.integers(len(rows) + 1))
                    rows[goal:goal] = segment
        return np.asarray(rows)
