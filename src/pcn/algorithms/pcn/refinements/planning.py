"""Planning: where observations repeat, transitions are counted and the counts are planned with.

In stochastic environments a lucky episode is no promise: the data of a training hold the answer,
but the returns of its single episodes do not. Where the same states are visited again and again,
counts of all transitions make a model, set-valued dynamic programming finds its non-dominated
expected returns, and a network learns to follow the plans. Its policies race against all others.
"""

import math
from dataclasses import dataclass, replace

import equinox as eqx
import gymnasium as gym
import numpy as np
from jaxtyping import UInt32

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.planned.counting_state import Counting
from pcn.algorithms.pcn.refinements.planned.distilling import Distilling
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most, positive
from pcn.envs.observations import empty_observations
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads import action_head_for
from pcn.planning import Plans, TabularModel, plan
from pcn.planning.counting import TransitionCounts
from pcn.planning.grid import Grid
from pcn.planning.weighted_planning import plan_for_weights


@dataclass(frozen=True, kw_only=True)
class Planning(AbstractRefinement):
    """Plan with counts of transitions at the end, and teach a network to follow the plans.

    Only in stochastic environments whose actions are discrete, or continuous and few enough in
    levels, and only where the steps of the best episodes were taken often enough to be known.
    """

    median_visits: int = 20
    """Visits that half of the steps of the archive's episodes must have had."""
    least_visits: int = 2
    """Actions that were tried less often in a state are not planned with, if others were."""
    errors: float = 2.5
    """Mean rewards of two actions that differ by fewer standard errors count as the same."""
    most_states: int = 20_000
    """Counting is given up beyond this number of different observations."""
    most_actions: int = 1000
    """Environments with more different actions are not counted."""
    window: int = 4096
    """Steps after which it is looked at whether observations repeat."""
    most_new: float = 0.5
    """Counting is given up when a larger share of these steps led to new observations."""
    most_numbers: int = 1
    """Observations of no more real numbers than this are counted in the cells of a grid.

    With two (mountain-car), cells hide too much of what happens next: plans promise what nobody
    reaches."""
    most_cells: int = 576
    """Cells of the grid."""
    most_along: int = 64
    """Cells in each direction."""
    fewest_vectors: int = 24
    """Vectors that each state keeps while planning."""
    most_vectors: int = 200
    """Vectors that each state keeps if the work allows it."""
    work: int = 10_000_000
    """Sums of vectors that planning compares, about: several seconds."""
    weights: int = 100
    """How many weights of the objectives there are plans for where that is too little."""
    most_nodes: int = 4_000_000
    """Then planning ends once there are so many promises to remember."""
    tolerance: float = 1e-7
    """Differences up to this share of an objective's largest mean reward are none."""
    least_probability: float = 1e-4
    """Places that a plan reaches less often are left out."""
    most_lessons: int = 400_000
    """How many places of all plans are taught, the likeliest at each time."""
    updates: int = 6000
    """Updates in a cycle, after which the network is compared with the plans in the model."""
    cycles: int = 3
    """Most cycles; the first one that is good enough is the last."""
    round: int = 500
    """Updates after which it is looked at where the network is uncertain."""
    enough: float = 0.002
    """How far the network may fall short of the plans, as a share of their range."""
    last_learning_rate: float = 1e-4
    """Where each cycle ends; it begins with the training's own learning rate."""
    wrong_weight: float = 3.0
    """How much more a wrongly predicted action counts in the loss."""
    missed_weight: float = 3.0
    """How much more the commands that the network failed are drawn in the next cycle."""
    least_extent: float = 0.2
    """An objective's commands are scaled as if they spread at least over this share of their
    largest size."""

    trial_share: float = 0.1
    """Steps of executions that test the model, as a share of those left at the end."""
    fewest_trials: int = 8
    """Fewer executions than this tell nothing."""
    trial_errors: float = 3.0
    """Standard errors by which they may miss what the model says, on average."""
    trial_slack: float = 0.05
    """Besides, the share of an objective's range that does not matter."""
    most_doubtful: int = 16
    """Commands that race if the model has failed its test."""
    rehearsals: int = 3
    """How often during exploration plans are made and tried, to see more of where they lead."""
    rehearsal_share: float = 0.1
    """Steps of each rehearsal, as a share of all exploring steps."""
    rehearsal_updates: int = 2000
    """Updates with which a network learns the plans of a rehearsal."""
    rehearsal_noise: float = 0.2
    """In rehearsals, each episode acts at random with up to this probability."""

    def __post_init__(self) -> None:
        at_least(
            self, 1, "median_visits", "least_visits", "most_states", "most_actions", "window",
            "fewest_vectors", "most_vectors", "work", "weights", "most_nodes", "updates", "cycles",
            "round", "most_cells", "most_along", "rehearsal_updates", "most_doubtful",
            "most_lessons",
        )  # fmt: skip
        at_least(self, 2, "fewest_trials")
        at_least(self, 0, "most_numbers", "trial_share", "trial_errors", "trial_slack")
        at_least(self, 0, "rehearsals", "rehearsal_share", "rehearsal_noise")
        at_most(self, 1, "rehearsal_noise", "trial_share")
        at_least(self, 0, "errors", "most_new", "enough", "wrong_weight", "missed_weight")
        at_least(self, 0, "least_extent", "least_probability")
        at_most(self, 1, "most_new", "least_extent")
        positive(self, "tolerance", "last_learning_rate")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions can have different outcomes, and can be counted."""
        sizes = action_head_for(spec.action_space).option_sizes
        return (
            not spec.deterministic and sizes is not None and math.prod(sizes) <= self.most_actions
        )

    def off_because(self, spec: EnvironmentSpec) -> str | None:
        """Levels of several numbers have more combinations than can be counted."""
        head = action_head_for(spec.action_space)
        if spec.deterministic or head.option_names() is None:
            return None
        return (
            f"planning is off: {math.prod(head.option_sizes or ()):,} combinations of levels "
            f"are more than can be counted ({self.most_actions:,})"
        )

    def fresh_state(self, training: Training) -> Counting:
        """No counts yet."""
        return Counting(self._no_counts(training))

    def _no_counts(self, training: Training, grid: Grid | None = None) -> TransitionCounts:
        head, spec = training.learner.policy.action_head, training.spec
        assert head.option_sizes is not None
        return TransitionCounts(
            empty_observations(spec.observation_space, ()),
            head.option_sizes,
            spec.num_objectives,
            mask_size=head.mask_size if spec.masked_actions else 0,
            most_states=self.most_states,
            window=self.window,
            most_new=self.most_new,
            grid=grid,
        )

    def _state(self, training: Training) -> Counting:
        return self.state_in(training, Counting)

    def counts(self, training: Training) -> TransitionCounts:
        """What a training has counted so far."""
        return self._state(training).counts

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Count every step; where observations do not repeat, count in the cells of a grid."""
        state = self._state(training)
        if state.counts.given_up and state.counts.grid is None and len(training.dataset):
            grid = self._grid(training)
            if grid is not None:
                state.counts = self._no_counts(training, grid)
        state.counts.add(self._in_options(training, episodes))

    def _in_options(self, training: Training, episodes: Episodes) -> Episodes:
        """The episodes with options instead of continuous actions: these can be counted."""
        if np.issubdtype(episodes.actions.dtype, np.integer):
            return episodes
        options = training.learner.policy.action_head.to_options(np.asarray(episodes.actions))
        counted: Episodes = eqx.tree_at(lambda batch: batch.actions, episodes, options)
        return counted

    def _grid(self, training: Training) -> Grid | None:
        """A grid over what was observed so far; None where observations have too many numbers."""
        space = training.spec.observation_space
        if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
            return None
        if space.shape[0] > self.most_numbers or not np.issubdtype(space.dtype, np.floating):
            return None
        seen = np.asarray(training.dataset.observations())
        finite = np.isfinite(space.low) & np.isfinite(space.high)
        corners = np.where(finite, [space.low, space.high], [seen.min(axis=0), seen.max(axis=0)])
        return Grid.over(corners, most_cells=self.most_cells, most_along=self.most_along)

    def after_exploring(self, training: Training) -> None:
        """Rehearse plans now and then, at equal distances."""
        state = self._state(training)
        total = training.steps + training.exploring_steps_left
        if (state.rehearsals + 1) * total > (self.rehearsals + 1) * training.steps:
            return
        if state.rehearsals < self.rehearsals:
            state.rehearsals += 1
            self._rehearse(training, int(self.rehearsal_share * total))

    def _rehearse(self, training: Training, num_steps: int) -> None:
        """Follow plans with a little noise and store what comes of it.

        A plan with what was hardly seen may promise too much: trying it tells.
        """
        shorter = replace(
            self, updates=self.rehearsal_updates, cycles=1, least_visits=1, trial_share=0.0
        )
        fitting = shorter.contender(training, training.next_key())
        if fitting is None:
            return
        while not fitting.done:
            fitting.iterate()
        contender, size = fitting.contender, training.schedule.num_episodes
        end, begin = training.steps + num_steps, 0
        while training.steps < end and training.exploring_steps_left > 0:
            index = np.arange(begin, begin + size) % len(contender)
            begin += size
            batch = training.schedule.batch(size, training.exploring_steps_left)
            episodes = training.actor.run(
                contender.policy,
                contender.desired_returns[index],
                contender.horizons[index],
                noise=self.rehearsal_noise * training.rng.uniform(size=size),
                upper_bound=np.full(training.spec.num_objectives, np.inf),
                key=training.next_key(),
                greedy=True,
                follows_rewards=contender.follows_rewards,
                count=batch.count,
                most_steps=batch.most_steps,
            )
            training.dataset.add(episodes)

    def contender(self, training: Training, key: UInt32[np.ndarray, " 2"]) -> Distilling | None:
        """A network that follows plans; None where too little repeats itself."""
        if not self.is_sound(training):
            return None
        counts = self.counts(training)
        copy = self._no_counts(training)
        copy.from_arrays(counts.to_arrays())  # counting goes on while others are fitted
        return Distilling(self, training, copy, key)

    def is_sound(self, training: Training) -> bool:
        """Whether observations repeat so often that counts can be planned with."""
        given_up = self.counts(training).given_up
        return not given_up and self.visits_on_archive(training) >= self.median_visits

    def visits_on_archive(self, training: Training) -> float:
        """How often the steps of the archive's episodes were taken in all, in the median."""
        counts, rows = self.counts(training), training.dataset.archive().rows
        store, longest = training.dataset.store, int(rows.lengths.max())
        observations = training.dataset.padded_observations(rows)
        states = counts.states_of(observations, longest)
        options = training.learner.policy.action_head.to_options(
            np.asarray(store.actions)[rows.slots, :longest]
        )
        parts = np.moveaxis(options, -1, 0)
        actions = np.ravel_multi_index(tuple(parts), counts.action_sizes)
        valid = (np.arange(longest) < rows.lengths[:, None]) & (states >= 0)
        visits = np.bincount(counts.states * counts.num_actions + counts.actions, counts.visits)
        pairs = (states * counts.num_actions + actions)[valid]
        return float(np.median(visits[pairs])) if len(pairs) else 0.0

    def plans(self, model: TabularModel, horizon: int, training: Training) -> Plans:
        """Plans with few vectors for each state, then with as many as the work allows.

        Where not even few can be afforded, there is one plan for each of many weights.
        """
        discount = training.config.discount

        def planned(vectors: int) -> Plans:
            return plan(
                model,
                discount=discount,
                horizon=horizon,
                most_vectors=vectors,
                tolerance=self.tolerance,
                most_work=self.work,
            )

        few = min(self.fewest_vectors, self.most_vectors)
        plans = planned(few)
        if plans.horizon < horizon:
            return plan_for_weights(
                model,
                discount=discount,
                horizon=horizon,
                num_weights=self.weights,
                most_nodes=self.most_nodes,
                tolerance=self.tolerance,
            )
        # Twice as many vectors have up to four times as many sums.
        affordable = int(few * np.sqrt(self.work / plans.work))
        if len(plans) < few or affordable <= few:
            return plans
        more = planned(min(self.most_vectors, affordable))
        return plans if more.horizon < horizon else more
