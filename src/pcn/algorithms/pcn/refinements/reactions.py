"""Reactions: simple policies that react to what they observe are tried, and changed.

Over hundreds of steps random actions get nowhere: what one of them gains, the next one loses. A
policy that does not look ahead but reacts, such as "water if the soil is dry", gets far, and the
network can learn it, because it is a function of the observation. So after the random episodes of
the warm-up, other ones follow that choose by random linear functions of the observation. Those
whose returns are non-dominated are tried again, slightly changed, for as long as that is so. Random
search for linear policies is strong in long tasks: Mania et al., "Simple random search of static
linear policies is competitive for reinforcement learning", 2018, arXiv:1803.07055.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Num, PyTree

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.envs.observations import num_parts, whole_numbers
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import flat
from pcn.nets.heads import AbstractActionHead
from pcn.rollout import AbstractNoisyAgent, in_a_row
from pcn.types import AnyArray

Weights = Float[np.ndarray, "policy output input"]
"""Of each linear policy; the last input is one."""


class Reacting(AbstractNoisyAgent):
    """Takes what a linear function of the standardised observation prefers."""

    shared: ClassVar[tuple[str, ...]] = ("action_head", "mean", "deviation")

    weights: Float[AnyArray, "*episode output input"]
    mean: Float[AnyArray, " number"]
    deviation: Float[AnyArray, " number"]

    def wanted(
        self, observation: PyTree[Array], mask: Bool[Array, " choice"] | None
    ) -> tuple[Num[Array, " part"], Bool[Array, ""]]:
        """The preferred action among those that the mask allows."""
        numbers = (in_a_row(observation) - self.mean) / self.deviation
        outputs = jnp.asarray(self.weights) @ jnp.append(numbers, 1.0)
        return self.action_head.greedy(self.action_head.masked(outputs, mask)), jnp.asarray(True)


class Reacted(AbstractState):
    """The policies that were played and are still non-dominated, and what they returned."""

    def __init__(self, num_outputs: int, num_numbers: int, num_objectives: int) -> None:
        self.weights: Weights = np.zeros((0, num_outputs, num_numbers + 1))
        self.returns: Float[np.ndarray, "policy objective"] = np.zeros((0, num_objectives))
        self.mean, self.deviation = np.zeros(num_numbers), np.ones(num_numbers)

    def add(self, weights: Weights, returns: Float[np.ndarray, "policy objective"]) -> None:
        """Remember what some policies returned."""
        self.weights = np.concatenate([self.weights, weights])
        self.returns = np.concatenate([self.returns, returns])

    def keep(self, mask: Bool[np.ndarray, " policy"]) -> None:
        """Forget all others."""
        self.weights, self.returns = self.weights[mask], self.returns[mask]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything."""
        return {
            "weights": self.weights,
            "returns": self.returns,
            "mean": self.mean,
            "deviation": self.deviation,
        }

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.weights, self.returns = np.array(arrays["weights"]), np.array(arrays["returns"])
        self.mean, self.deviation = np.array(arrays["mean"]), np.array(arrays["deviation"])


@dataclass(frozen=True, kw_only=True)
class Reactions(AbstractRefinement):
    """Try random linear policies at first, and change those whose returns are non-dominated.

    Each iteration plays as many changed policies, in shares of its episodes, as there are such
    policies in the archive. Only in deterministic environments whose observations are a few real
    numbers and whose random episodes are long and mostly run to the step limit.
    """

    budget_share: float = 0.4
    """Most of the budget that the first policies may take."""
    first: int = 128
    """How many first policies there are, if the budget allows."""
    change: float = 0.5
    """Largest typical change of a weight; those of first policies are drawn from a normal
    distribution with deviation 1."""
    fewest_steps: float = 20.0
    """Mean length of random episodes from which on reactions are tried."""
    share_of_limit: float = 0.5
    """The same as a share of the step limit: where random episodes end by themselves, they do get
    somewhere."""
    most_numbers: int = 64
    """Most numbers that an observation may have."""

    def __post_init__(self) -> None:
        at_least(self, 0, "budget_share", "first", "change", "fewest_steps", "share_of_limit")
        at_least(self, 1, "most_numbers")
        at_most(self, 1, "budget_share")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where an episode can be repeated, and observations are a few real numbers."""
        few = num_parts(spec) <= self.most_numbers
        return spec.deterministic and few and not whole_numbers(spec)

    def handles(self, head: AbstractActionHead) -> bool:
        """Only choices among options."""
        return head.option_sizes is not None

    def fresh_state(self, training: Training) -> Reacted:
        """Nothing has been played yet."""
        num_outputs = training.learner.policy.action_head.num_outputs
        return Reacted(num_outputs, num_parts(training.spec), training.spec.num_objectives)

    def after_warming_up(self, training: Training) -> None:
        """Play random policies until their share of the budget is spent."""
        shortest = max(self.fewest_steps, self.share_of_limit * training.spec.step_limit)
        if training.schedule.mean_length < shortest:
            return
        state = self.state_in(training, Reacted)
        seen = flat(training.dataset.observations(), 1).astype(np.float64)
        deviation = seen.std(axis=0)
        state.mean, state.deviation = seen.mean(axis=0), np.where(deviation > 0, deviation, 1.0)
        waiting = training.rng.normal(size=(self.first, *state.weights.shape[1:]))
        last = training.steps + self.budget_share * training.config.total_steps
        while len(waiting) and training.exploring_steps_left > 0 and training.steps < last:
            steps_left = min(training.exploring_steps_left, int(last - training.steps))
            waiting = waiting[self._play(training, waiting, steps_left) :]

    def after_exploring(self, training: Training) -> None:
        """Play changed policies: the more of the archive are such policies, the more of them."""
        state, archive = self.state_in(training, Reacted), training.dataset.archive()
        same = np.all(state.returns[:, None] == archive.returns[None], axis=-1)
        state.keep(same.any(axis=1))
        count, rng = len(state.weights), training.rng
        if count == 0 or training.exploring_steps_left <= 0:
            return
        share = min(1.0, same.any(axis=0).mean())
        wanted = max(1, round(training.schedule.num_episodes * share))
        chosen = state.weights[rng.integers(count, size=wanted)]
        scale = self.change * np.exp(rng.uniform(-2.0, 0.5, size=(wanted, 1, 1)))
        changed = chosen + scale * rng.normal(size=chosen.shape)
        self._play(training, changed, training.exploring_steps_left)

    def _play(self, training: Training, weights: Weights, steps_left: int) -> int:
        """Play as many of the first policies as fit, and store what they bring; how many."""
        schedule, state = training.schedule, self.state_in(training, Reacted)
        size = schedule.num_episodes
        batch = schedule.batch(min(size, len(weights)), steps_left)
        episodes = training.runner.run(
            Reacting(
                action_head=training.learner.policy.action_head,
                noise=np.zeros(size, np.float32),
                weights=np.resize(weights[: batch.count], (size, *weights.shape[1:])).astype(
                    np.float32
                ),
                mean=state.mean.astype(np.float32),
                deviation=state.deviation.astype(np.float32),
            ),
            training.next_key(),
            size,
            count=batch.count,
            most_steps=batch.most_steps,
        )
        for refinement in training.refinements:
            episodes = refinement.before_storing(training, episodes)
        training.dataset.add(episodes)
        ended = np.flatnonzero(episodes.ended[: batch.count])
        returns = episodes.returns(discount=training.config.discount)
        state.add(weights[ended], returns[ended])
        return batch.count
