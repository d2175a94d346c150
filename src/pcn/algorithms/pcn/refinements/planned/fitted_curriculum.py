"""Curriculum of a fitted model: plans on its lattice, imagined episodes as lessons."""

from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Num

from pcn.algorithms.pcn.refinements.planned.curriculum import AbstractCurriculum
from pcn.algorithms.pcn.refinements.planned.lessons import Lessons, padded, room_for
from pcn.algorithms.pcn.refinements.planned.offered_actions import OfferedActions
from pcn.algorithms.pcn.training import Training
from pcn.command import Command
from pcn.nets.policy import ConditionedPolicy
from pcn.pareto import non_dominated_mask
from pcn.planning.fitted_model import fit_model
from pcn.planning.imagination import Act, Imagined, imagine
from pcn.planning.lattice import Lattice
from pcn.planning.lattice_plans import LatticePlans, plan_on_lattice
from pcn.planning.seen_steps import SeenSteps
from pcn.planning.weighted_planning import spread_weights
from pcn.types import AnyArray

if TYPE_CHECKING:
    from pcn.algorithms.pcn.refinements.fitted_planning import FittedPlanning

_FARTHEST = 5.0
"""How many times e fits into the largest ratio of two weights."""


class FittedCurriculum(AbstractCurriculum):
    """The model that the steps suggest, a plan for each of many weights, and lessons of them.

    Lessons come from imagined episodes in which something else than the plan is done now and then:
    so a network learns what to do beside the way as well.
    """

    def __init__(self, settings: "FittedPlanning", training: Training, seen: SeenSteps) -> None:
        super().__init__(settings, training)
        self._settings = settings
        steps = seen.steps
        rng = np.random.default_rng(len(steps))
        both = np.concatenate([steps.observations, steps.next_observations])
        lattice = Lattice.over(both, most_nodes=settings.nodes, most_along=settings.most_along)
        head = training.learner.policy.action_head
        self._actions = OfferedActions.of(head, settings.most_pairs // len(lattice))
        self.model = fit_model(
            steps,
            lattice,
            self._actions.features,
            offered=self._actions.numbers,
            amounts=self._actions.are_amounts,
            updates=settings.model_updates,
            neighbours=settings.neighbours,
            reach=settings.reach,
            least_steps=settings.least_steps,
            draws=settings.draws,
            tested=settings.tested,
            rng=rng,
        )
        """What was fitted to the steps."""
        self.slack = settings.slack
        self._horizon = seen.longest
        self._unknown = training.dataset.rows.lowest.min(axis=0)
        begun = lattice.places(steps.observations[steps.first])
        begun = begun[np.lexsort(begun.T)]  # all over where episodes begin
        self._starts = begun[np.linspace(0, len(begun) - 1, settings.episodes).round().astype(int)]
        self.plans = self._planned()
        self.lessons, self.weights = self._lessons(rng)

    def _planned(self) -> LatticePlans:
        """Plans whose returns in the model no other plan dominates; sets `vectors` and `steps`."""
        settings, objectives = self._settings, self.model.num_objectives
        discount = self._training.config.discount

        def planned(weights: Float[np.ndarray, "plan objective"]) -> LatticePlans:
            return plan_on_lattice(self.model, weights, discount=discount, horizon=self._horizon)

        largest = np.abs(self.model.rewards[self.model.known]).max(axis=0, initial=0.0)
        single = planned(
            spread_weights(objectives, objectives) / np.where(largest > 0, largest, 1.0)
        )
        extent = np.ptp(self._returns(self._imagined(single))[0], axis=0)
        weights = _spread(objectives, settings.weights) / np.where(extent > 0, extent, 1.0)
        plans = planned(weights)
        vectors, lengths = self._returns(self._imagined(plans))
        _, first = np.unique(vectors, axis=0, return_index=True)
        kept = first[non_dominated_mask(vectors[first])]
        self.vectors, self.steps = vectors[kept], lengths[kept]
        return plans.taking(kept)

    def _imagined(
        self, plans: LatticePlans, disturbed: Float[np.ndarray, " episode"] | None = None
    ) -> Imagined:
        """As many episodes of each plan as there are starts, plan after plan."""
        number = np.repeat(np.arange(len(plans)), len(self._starts))

        def act(
            episodes: Int[np.ndarray, " episode"],
            places: Float[np.ndarray, "episode number"],
            time: int,
        ) -> Int[np.ndarray, " episode"]:
            return plans.chosen(number[episodes], places, time)

        return self._run(act, len(plans), disturbed)

    def _run(
        self, act: Act, count: int, disturbed: Float[np.ndarray, " episode"] | None = None
    ) -> Imagined:
        return imagine(
            self.model,
            np.tile(self._starts, (count, 1)),
            act,
            discount=self._training.config.discount,
            horizon=self._horizon,
            unknown=self._unknown,
            rng=np.random.default_rng(0),
            groups=count,
            disturbed=disturbed,
        )

    def _returns(
        self, imagined: Imagined
    ) -> tuple[Float[np.ndarray, "plan objective"], Float[np.ndarray, " plan"]]:
        """Mean return and mean length of the episodes of each plan."""
        episodes, objectives = len(self._starts), self.model.num_objectives
        returns = imagined.returns.reshape(-1, episodes, objectives)
        return returns.mean(axis=1), imagined.lengths.reshape(-1, episodes).mean(axis=1)

    def _lessons(self, rng: np.random.Generator) -> tuple[Lessons, Float[np.ndarray, " lesson"]]:
        """Every step of the disturbed episodes; as many of them as can be taught."""
        settings, episodes = self._settings, len(self._starts)
        disturbed = settings.disturbance * rng.random(len(self.vectors) * episodes) ** 2
        imagined = self._imagined(self.plans, disturbed)
        kept = np.arange(len(imagined.times))
        if len(kept) > settings.most_lessons:
            kept = np.sort(rng.choice(kept, settings.most_lessons, replace=False))
        size, plans = room_for(len(kept)), imagined.episodes[kept] // episodes
        observations = self.model.lattice.observations(imagined.places[kept])
        lessons = Lessons(
            observations=padded(observations, size),
            action_masks=None,
            desired_returns=padded(self.vectors.astype(np.float32), room_for(len(self.vectors))),
            first_horizon=np.asarray(self._horizon, np.float32),
            states=padded(np.arange(len(kept), dtype=np.int32), size),
            plans=padded(plans.astype(np.int32), size),
            times=padded(imagined.times[kept].astype(np.int32), size),
            actions=padded(self._actions.rows(imagined.options[kept]), size),
            goodness=self._goodness(imagined, kept, size),
        )
        shares = np.bincount(plans, minlength=len(self.vectors))
        return lessons, 1.0 / shares[plans]  # long plans are taught no more than short ones

    def _goodness(
        self, imagined: Imagined, kept: Int[np.ndarray, " lesson"], size: int
    ) -> Float[np.ndarray, "room option"] | None:
        """How good every action is where the lessons are; None where an option is a part of one."""
        if not self._actions.are_all_there_is:
            return None
        goodness = np.zeros((size, *self._actions.sizes), np.float16)
        times, plans = imagined.times[kept], imagined.episodes[kept] // len(self._starts)
        for time in np.unique(times):
            now = np.flatnonzero(times == time)
            worse = self.plans.shortfalls(plans[now], imagined.places[kept[now]], int(time))
            goodness[now] = self._actions.for_all(np.exp(-worse / self._settings.nearly))
        return goodness

    def expected(self, policy: ConditionedPolicy) -> Float[np.ndarray, "plan objective"]:
        """What a network returns on average in the model, for each plan's command."""
        number = np.repeat(np.arange(len(self.vectors)), len(self._starts))
        desired = self.vectors[number].astype(np.float32)
        size = room_for(len(number))

        def act(
            episodes: Int[np.ndarray, " episode"],
            places: Float[np.ndarray, "episode number"],
            time: int,
        ) -> Int[np.ndarray, " episode"]:
            horizon = np.asarray(max(self._horizon - time, 1), np.float32)
            seen = padded(self.model.lattice.observations(places), size)
            rows = _greedy(policy, seen, padded(desired[episodes], size), horizon)
            chosen = self._actions.nearest(np.asarray(rows)[: len(episodes)])
            return self.model.nearest_known(places, chosen) if self._actions.are_amounts else chosen

        return self._returns(self._run(act, len(self.vectors)))[0]


def _spread(num_objectives: int, count: int) -> Float[np.ndarray, "plan objective"]:
    """Weights for many plans, the single objectives first; the same in every call.

    The best of one objective may be far away from all that matters, so that extents say little:
    ratios of two weights go from one to more than a hundred up to more than a hundred to one.
    """
    weights = spread_weights(num_objectives, count)
    if num_objectives == 2 and count > 2:
        logs = np.linspace(-_FARTHEST, _FARTHEST, count - 2)[:, None] * np.array([0.5, -0.5])
        weights[2:] = np.exp(logs)
    return weights


@eqx.filter_jit
def _greedy(
    policy: ConditionedPolicy,
    observations: Float[AnyArray, "episode number"],
    desired_returns: Float[AnyArray, "episode objective"],
    horizon: Float[AnyArray, ""],
) -> Num[Array, "episode part"]:
    """What the network does under these commands."""
    commands = Command(
        jnp.asarray(desired_returns), jnp.full(len(observations), jnp.asarray(horizon))
    )
    outputs = jax.vmap(policy)(jnp.asarray(observations), commands)
    return jax.vmap(policy.action_head.greedy)(outputs)
