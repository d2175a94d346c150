"""Planning: where observations repeat, transitions are counted and the counts are planned with.

In stochastic environments a lucky episode is no promise: the data of a training hold the answer,
but the returns of its single episodes do not. Where the same states are visited again and again,
counts of all transitions make a model, set-valued dynamic programming finds its non-dominated
expected returns, and a network learns to follow the plans. Its policies race against all others.
"""

import math
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import numpy as np

from pcn.algorithms.pcn.refinements.planned.abstract import AbstractPlanning, has_few_options
from pcn.algorithms.pcn.refinements.planned.curriculum import CountedCurriculum
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most, positive
from pcn.envs.observations import empty_observations
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead
from pcn.planning import Plans, TabularModel, plan
from pcn.planning.clocks import pooled_over_time
from pcn.planning.counting import TransitionCounts
from pcn.planning.weighted_planning import plan_for_weights


@dataclass(frozen=True, kw_only=True)
class Planning(AbstractPlanning):
    """Plan with counts of transitions at the end, and teach a network to follow the plans.

    Only in stochastic environments whose actions are discrete, or continuous and few enough in
    levels, and only where the steps of the best episodes were taken often enough to be known.
    """

    name = "planning"
    median_visits: int = 20
    """Visits that half of the steps of the archive's episodes must have had, so that plans stand
    for other refinements."""
    raced_visits: int = 5
    """With so many, plans race beside them."""
    rehearsed_visits: int = 1
    """With so many, plans are rehearsed: where little is known of the best episodes, more has to be
    seen."""
    fewest_steps: int = 64
    """Where the archive's episodes have fewer steps than this, all stored ones count instead."""
    least_visits: int = 2
    """Actions that were tried less often in a state are not planned with, if others were."""
    similar_numbers: int = 0
    """Where observations have at most so many numbers, a state in which nobody has acted is taken
    for the most similar one in which somebody has; elsewhere it is worth the worst that was
    seen."""
    rehearsed_numbers: int = 64
    """The same for rehearsals, which may promise too much: trying it tells."""
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
    update_share: float = 0.125
    """Where plans can be made, the network that explores gets this share of its updates: it only
    has to find more to count."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(
            self, 1, "median_visits", "raced_visits", "rehearsed_visits", "fewest_steps",
            "least_visits", "most_states", "most_actions", "window", "fewest_vectors",
            "most_vectors", "work", "weights", "most_nodes", "most_lessons",
        )  # fmt: skip
        at_least(self, 0, "errors", "most_new", "least_probability", "update_share")
        at_least(self, 0, "similar_numbers", "rehearsed_numbers")
        at_most(self, 1, "most_new", "update_share")
        positive(self, "tolerance")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions can have different outcomes."""
        return not spec.deterministic

    def handles(self, head: AbstractActionHead) -> bool:
        """Only actions that can be counted."""
        return has_few_options(head, self.most_actions)

    def off_because(self, spec: EnvironmentSpec, head: AbstractActionHead) -> str | None:
        """Levels of several numbers have more combinations than can be counted."""
        if spec.deterministic or head.option_names() is None:
            return None
        count = math.prod(head.option_sizes or ())
        if count <= self.most_actions:
            return "planning is off: this head has no levels or bins that could be counted"
        return (
            f"planning is off: {count:,} combinations of levels "
            f"are more than can be counted ({self.most_actions:,})"
        )

    def no_data(self, training: Training) -> TransitionCounts:
        """No counts yet."""
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
        )

    def counts(self, training: Training) -> TransitionCounts:
        """What a training has counted so far."""
        counts = self.state(training).data
        assert isinstance(counts, TransitionCounts)
        return counts

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Count every step."""
        self.counts(training).add(self._in_options(training, episodes))

    def _in_options(self, training: Training, episodes: Episodes) -> Episodes:
        """The episodes with options instead of continuous actions: these can be counted."""
        if np.issubdtype(episodes.actions.dtype, np.integer):
            return episodes
        options = training.learner.policy.action_head.to_options(np.asarray(episodes.actions))
        counted: Episodes = eqx.tree_at(lambda batch: batch.actions, episodes, options)
        return counted

    def in_rehearsal(self) -> "Planning":
        """What was seen once is planned with, too."""
        return replace(
            self,
            updates=self.rehearsal_updates,
            cycles=1,
            least_visits=1,
            trial_share=0.0,
            raced_visits=self.rehearsed_visits,
            similar_numbers=self.rehearsed_numbers,
        )

    def curriculum(self, training: Training, data: TransitionCounts) -> CountedCurriculum:
        """Plans of counted transitions."""
        return CountedCurriculum(self, training, data)

    def is_sound(self, training: Training) -> bool:
        """Whether observations repeat so often that counts can be planned with."""
        return self._is_known(training, self.median_visits)

    def may_race(self, training: Training) -> bool:
        """Whether they repeat at all."""
        return self._is_known(training, min(self.raced_visits, self.median_visits))

    def _is_known(self, training: Training, visits: int) -> bool:
        given_up = self.counts(training).given_up
        return not given_up and self.visits_on_archive(training) >= visits

    def share_of_updates(self, training: Training) -> float:
        """Fewer where plans can be made."""
        return self.update_share if self.is_sound(training) else 1.0

    def visits_on_archive(self, training: Training) -> float:
        """How often the steps of the archive's episodes were taken in all, in the median.

        A few lucky episodes of one or two steps say little: where they began is chance, too.
        """
        counts, rows = self.counts(training), training.dataset.archive().rows
        if rows.lengths.sum() < self.fewest_steps:
            rows = training.dataset.rows
        store, longest = training.dataset.store, int(rows.lengths.max())
        # Beside a long episode, most of a short one is padding.
        valid = np.arange(longest) < rows.lengths[:, None]
        padded = training.dataset.padded_observations(rows)
        seen = jax.tree.map(lambda leaf: leaf[valid][:, None], padded)
        states = counts.states_of(seen, 1)[:, 0]
        options = training.learner.policy.action_head.to_options(
            np.asarray(store.actions)[rows.slots, :longest][valid]
        )
        parts = np.moveaxis(options, -1, 0)
        actions = np.ravel_multi_index(tuple(parts), counts.action_sizes)
        pairs = (states * counts.num_actions + actions)[states >= 0]
        pooled = pooled_over_time(counts)
        visits = np.bincount(
            pooled.states * counts.num_actions + pooled.actions,
            pooled.visits,
            minlength=int(pairs.max(initial=0)) + 1,
        )
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
