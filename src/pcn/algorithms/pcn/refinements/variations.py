"""Variations: episodes of the front are played again with a few of their actions changed.

Sampling from the network varies an episode everywhere at once. A stored list of actions can be
changed in one place, or cut and continued as another episode does: a small step from a point of the
front, which finds its neighbours and the last improvements in each objective. In stochastic
environments the same actions still lead to similar places more often than random ones do.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.fitted_planning import FittedPlanning
from pcn.algorithms.pcn.refinements.planning import Planning
from pcn.algorithms.pcn.refinements.scripts import DISCRETE, Actions, Alike, Tried, play_scripts
from pcn.algorithms.pcn.refinements.weighted_values import WeightedValues
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead

Draw = Callable[[Num[np.ndarray, " part"], np.random.Generator], Num[np.ndarray, " part"]]
"""An action to try instead of another one."""


@dataclass(frozen=True, kw_only=True)
class Variations(AbstractRefinement):
    """Replay front episodes with a few actions changed, and store what adds to the front.

    Each iteration plays as many variations as exploring episodes at first, and several times as
    many at the end, when exploration finds little. No variation is played twice. In stochastic
    environments, only with discrete actions and where neither a model is planned with nor values
    are learnt.
    """

    last_batches: int = 4
    """How many times as many variations as exploring episodes an iteration plays at the end."""
    crossed: float = 0.5
    """Share of variations that begin as one episode and end as another."""
    crossed_and_edited: float = 0.5
    """Share of these that are edited, too; the others are played as they are."""
    shift: int = 3
    """How many steps earlier or later, at most, the other episode is joined."""
    more_edits: float = 0.5
    """Probability that an edited episode gets one more edit, again and again."""
    extra_steps: int = 4
    """How long a variation may go on, with its last action, after its last one."""
    alike: int = 8
    """How many other lists of actions with the return of a stored episode are varied, too."""
    attempts: int = 8
    """How often another variation is drawn in place of one that was played before."""
    remembered: int = 1_000_000
    """How many variations are remembered."""
    stochastic: bool = True
    """Whether they are played in stochastic environments with discrete actions, too."""

    def __post_init__(self) -> None:
        at_least(self, 0, "crossed", "crossed_and_edited", "shift", "more_edits", "extra_steps")
        at_least(self, 0, "alike")
        at_least(self, 1, "attempts", "remembered", "last_batches")
        at_most(self, 1, "crossed", "crossed_and_edited")
        at_most(self, 0.99, "more_edits")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """In stochastic environments with discrete actions, too.

        Whether others do better there shows in the training.
        """
        discrete = isinstance(spec.action_space, DISCRETE)
        return spec.deterministic or (self.stochastic and discrete)

    def may_be_left_to_others(self, training: Training) -> bool:
        """Whether a model may be planned with, or values are learnt: these bring more.

        They are made for stochastic environments, so that none of them is there in others.
        """
        counting = [one for one in training.refinements if isinstance(one, Planning)]
        fitted = [one for one in training.refinements if isinstance(one, FittedPlanning)]
        valuing = [one for one in training.refinements if isinstance(one, WeightedValues)]
        return (
            bool(fitted)
            or any(not one.counts(training).given_up for one in counting)
            or any(one.may_take_over(training) for one in valuing)
        )

    def fresh_state(self, training: Training) -> Tried:
        """Nothing has been played yet."""
        del training
        return Tried(self.remembered)

    def after_exploring(self, training: Training) -> None:
        """Play batches of variations, more and more of them as the budget is spent."""
        if self.may_be_left_to_others(training):
            return
        spent = training.steps / training.config.total_steps
        for _ in range(1 + round((self.last_batches - 1) * spent)):
            self._play_batch(training)

    def _play_batch(self, training: Training) -> None:
        """Play variations of the archive's episodes; store those that no known return covers."""
        config, dataset, rng = training.config, training.dataset, training.rng
        size, archive = training.schedule.num_episodes, dataset.archive()
        chosen = rng.integers(len(archive), size=2 * size)
        tried = self.state_in(training, Tried)
        tried.alike.follow(archive.returns)
        actions = [
            self._one_of(stored, tried.alike.at(archive.returns[row]), rng)
            for stored, row in zip(
                dataset.actions(archive.rows.taking(chosen)), chosen.tolist(), strict=True
            )
        ]
        head = training.learner.policy.action_head
        draw = head.changed_row  # looking it up takes longer than drawing
        pairs = zip(actions[:size], actions[size:], strict=True)
        varied = [self._new(tried, one, other, draw, rng) for one, other in pairs]
        count = training.affordable(self._limits(varied))
        if count == 0:
            return
        episodes = self.play(training, varied, head, count)
        returns = episodes.returns(discount=config.discount)
        covered = dataset.order.covered_mask(returns, archive.returns, dataset.tolerances)
        dataset.add(episodes, stored_mask=~covered)
        if self.alike:
            self._note_alike(tried.alike, episodes, returns, archive.returns, training)

    def _one_of(self, stored: Actions, alike: list[Actions], rng: np.random.Generator) -> Actions:
        """The stored actions or others of the same return."""
        place = int(rng.integers(len(alike) + 1)) if alike else 0
        return stored if place == 0 else alike[place - 1]

    def _note_alike(
        self,
        known: Alike,
        episodes: Episodes,
        returns: Float[np.ndarray, "episode objective"],
        front: Float[np.ndarray, "point objective"],
        training: Training,
    ) -> None:
        """Keep the actions of episodes that returned what some stored episode did."""
        off = np.abs(returns[:, None] - front[None])
        equal = np.all(off <= training.dataset.tolerances, axis=2)
        usable = episodes.ended & np.asarray(episodes.real_mask) & equal.any(axis=1)
        actions, lengths = np.asarray(episodes.actions), np.asarray(episodes.lengths)
        for row in np.flatnonzero(usable).tolist():
            place = int(training.rng.integers(self.alike))
            point = front[int(equal[row].argmax())]
            known.add(point, actions[row, : lengths[row]].copy(), self.alike, place)

    def play(
        self,
        training: Training,
        varied: list[Actions],
        head: AbstractActionHead,
        count: int | None = None,
    ) -> Episodes:
        """Play the first ones; what does not end soon after the last action is broken off."""
        return play_scripts(training, varied, head, most_steps=self._limits(varied), count=count)

    def _limits(self, varied: list[Actions]) -> Int[np.ndarray, " episode"]:
        """After how many steps each variation is broken off."""
        return np.array([len(actions) + self.extra_steps for actions in varied])

    def _new(
        self,
        tried: Tried,
        actions: Actions,
        other: Actions,
        draw: Draw,
        rng: np.random.Generator,
    ) -> Actions:
        """A variation that has not been played, if one is found in a few attempts."""
        for _ in range(self.attempts):
            varied = self.varied(actions, other, draw, rng)
            if tried.is_new(varied):
                break
        return varied

    def varied(
        self, actions: Actions, other: Actions, draw: Draw, rng: np.random.Generator
    ) -> Actions:
        """Actions like the first ones, perhaps with an end like the other's."""
        if rng.uniform() >= self.crossed:
            return self.edited(actions, draw, rng)
        joined = self.joined(actions, other, rng)
        return self.edited(joined, draw, rng) if rng.uniform() < self.crossed_and_edited else joined

    def joined(self, actions: Actions, other: Actions, rng: np.random.Generator) -> Actions:
        """The beginning of one episode and then the end of another, from about that step on."""
        cut = int(rng.integers(len(actions)))
        end = max(0, cut + int(rng.integers(-self.shift, self.shift + 1)))
        joined = np.concatenate([actions[:cut], other[end:]])
        return joined if len(joined) else other

    def edited(self, actions: Actions, draw: Draw, rng: np.random.Generator) -> Actions:
        """A copy with one or more actions replaced, added, dropped or moved.

        `draw` draws an action to try instead of one: a near one or any where actions are
        continuous, otherwise any.
        """
        rows = list(actions)
        for _ in range(rng.geometric(1 - self.more_edits)):
            kind = rng.integers(4)
            place = int(rng.integers(len(rows)))
            fresh = draw(rows[place], rng)
            if kind == 0:
                rows[place] = fresh
            elif kind == 1:
                rows.insert(place, fresh)
            elif len(rows) > 1:
                dropped = rows.pop(place)
                if kind == 3:
                    rows.insert(int(rng.integers(len(rows) + 1)), dropped)
        return np.asarray(rows)
