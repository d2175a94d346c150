"""MONES' training loop: draw policies, run them, move the distribution towards the better ones.

Parisi, Pirotta and Peters, Manifold-based multi-objective policy search with sample reuse,
Neurocomputing 2017, doi:10.1016/j.neucom.2016.11.094.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pcn.algorithms.execution import Execution
from pcn.algorithms.mones.config import MONESConfig
from pcn.algorithms.mones.fitness import fitness
from pcn.algorithms.mones.pool import Pool
from pcn.algorithms.mones.search_distribution import (
    AbstractSearchDistribution,
    DiagonalGaussian,
    FullGaussian,
    importance_weights,
)
from pcn.algorithms.stacked.algorithm import ARRAYS, fresh_policy
from pcn.algorithms.stacked.execute import run_each, taking
from pcn.algorithms.stacked.trainer import AbstractStackedTrainer
from pcn.algorithms.trainer import Outcome, Progress, Snapshot, evaluation_due
from pcn.coverage import CoverageSet
from pcn.envs.environment import AbstractEnvironment
from pcn.nets.plain_policy import PlainPolicy, WeightVector
from pcn.pareto import non_dominated_mask, rounded, unique_front
from pcn.serialisation.arrays import named_arrays, with_named_arrays
from pcn.types import AnyArray, RandomKey

FRESH_SHARE = 0.25
"""Of the steps that are left for the end: to execute what was chosen afresh, if that is random."""


class MONESTrainer(AbstractStackedTrainer):
    """MONES on one environment, a generation at a time."""

    config: MONESConfig

    def __init__(
        self,
        environment: AbstractEnvironment,
        config: MONESConfig,
        *,
        seed: int,
        steps_before: int = 0,
    ) -> None:
        super().__init__(environment, config, seed=seed, steps_before=steps_before)
        self._generation = 0
        self._full_length = 0.0  # of the newest generation whose episodes were not broken off
        self._weights = WeightVector(fresh_policy(environment.spec, config, self._next_key()))
        kind = FullGaussian if config.covariance == "full" else DiagonalGaussian
        self._distribution: AbstractSearchDistribution = kind.around(
            jnp.zeros(self._weights.size), config.initial_deviation
        )
        self._pool = Pool.empty(self._distribution, config, environment.spec.num_objectives)

    @property
    def _budget_spent(self) -> bool:
        """Whether no more is left of the budget than the final draws will take."""
        spent = self._final_steps >= self._steps_left
        return self._generation > 0 and (spent or self._steps_left_to_train < self._episodes)

    @property
    def _final_steps(self) -> float:
        """What the final draws will take if they are as long as those of training."""
        return self.config.final_draws * self._final_executions * self._full_length

    @property
    def _reserved_steps(self) -> float:
        if self._generation == 0:
            return np.inf
        spec = self.environment.spec
        one = spec.step_limit if spec.deterministic else spec.step_limit / FRESH_SHARE
        # The last generation may take some of it: it would be broken off too early otherwise.
        return max(self._final_steps / 2, one)

    @property
    def _episodes(self) -> int:
        """Episodes of a generation."""
        return self.config.population * self.config.episodes_per_draw

    @property
    def _final_executions(self) -> int:
        """How often each final draw is run before the best are chosen and executed afresh."""
        for_one = max(self.config.final_draws * self._full_length, 1.0)
        return int(
            np.clip(
                self.config.final_share * self.config.total_steps / for_one, 1, self._executions
            )
        )

    def _train(self) -> Progress:
        """Draw a generation, run it, and follow the natural gradient of its fitness.

        The loss is the share of the new draws that the pool dominates.
        """
        config, steps_before = self.config, self.steps
        if self._generation == 0:
            self._weights = WeightVector(self._standardise(self._weights.like))
        draws, policies = drawn(
            self._distribution, self._weights, self._next_key(), config.population
        )
        returns, lengths = self._run(policies)
        self._generation += 1
        self._pool = self._pool.adding(self._distribution, draws, returns, lengths)
        self._improve()
        pooled = self._comparable(self._pool.known_returns())
        loss = 1 - float(non_dominated_mask(pooled)[: len(returns)].mean())
        due = evaluation_due(
            steps_before,
            self.steps,
            total_steps=config.total_steps,
            evaluations=config.evaluations,
        )
        # The generation has just been executed: it costs nothing to say what it reached.
        front = unique_front(pooled[: len(returns)])
        reached = CoverageSet(
            requested=returns[front],
            horizons=lengths[front],
            executed=returns[front],
            deviation=np.zeros_like(returns[front]),
            tolerances=config.tolerances(pooled),
        )
        return Progress(self.steps, loss, pooled[unique_front(pooled)], reached if due else None)

    def _run(
        self, policies: PlainPolicy
    ) -> tuple[Float[np.ndarray, "draw objective"], Float[np.ndarray, " draw"]]:
        """The mean return and length of each draw's episodes.

        An episode that was broken off counts as the reference point.
        """
        config, spec = self.config, self.environment.spec
        patience, affordable = self._patience(), self._most_steps_each(self._episodes)
        returns, lengths = [], []
        for _ in range(config.episodes_per_draw):
            episodes = run_each(
                self._runner,
                policies,
                config.population,
                sharpness=self._sharpness(),
                key=self._next_key(),
                most_steps=affordable if patience is None else min(patience, affordable),
            )
            taken = np.asarray(episodes.lengths)
            measured = episodes.returns(discount=config.discount)
            returns.append(np.where(episodes.ended[:, None], measured, spec.reference_point))
            lengths.append(taken)
        if patience is None:
            self._full_length = float(np.mean(lengths))
        return np.mean(returns, axis=0), np.mean(lengths, axis=0)

    def _comparable(
        self, returns: Float[np.ndarray, "draw objective"]
    ) -> Float[np.ndarray, "draw objective"]:
        """Returns of the pool with those made equal that are; the reference point stays itself."""
        reference = np.asarray(self.environment.spec.reference_point)
        return rounded(returns - reference, self.config.tolerances(returns)) + reference

    def _sharpness(self) -> float:
        """How predictably draws act: from sampling to their first choice as training goes on."""
        first = self.config.initial_sharpness
        share = self.steps / (self.config.sharpening_share * self.config.total_steps)
        return np.inf if first is None or share >= 1 else first * self.config.most_sharpening**share

    def _patience(self) -> int | None:
        """When to break episodes off: long ones are mostly policies that go in circles."""
        if (
            self.config.patience is None
            or self._pool.num_known == 0
            or self._rng.uniform() < self.config.exempt_share
        ):
            return None
        return self._long(self.config.patience)

    def _long(self, patience: float) -> int:
        """So many times the longest episode of the pool's front, and a step."""
        front_mask = non_dominated_mask(self._comparable(self._pool.known_returns()))
        return int(patience * self._pool.known_lengths()[front_mask].max()) + 1

    def _improve(self) -> None:
        pool = self._pool
        num_draws = pool.draws.shape[0] * pool.draws.shape[1]
        merit = np.zeros(num_draws, np.float32)
        known = fitness(
            self._comparable(pool.known_returns()),
            np.asarray(self.environment.spec.reference_point),
            self.config.fitness,
            most_objectives=self.config.most_hypervolume_objectives,
        )
        merit[: len(known)] = known
        self._distribution = improved(
            self._distribution,
            pool.sources,
            pool.draws.reshape(num_draws, -1),
            merit,
            (np.arange(len(pool.draws)) < pool.num_known).astype(np.float32),
            np.asarray(self.config.kl_bound, np.float32),
        )

    def _end(self) -> tuple[Outcome, float]:
        """Run a fixed number of new draws, keep the non-dominated, and execute those again.

        Where nothing is random their first execution is all there is to know. Where the budget
        does not hold all draws, there are fewer.
        """
        config, deterministic = self.config, self.environment.spec.deterministic
        _, policies = drawn(self._distribution, self._weights, self._next_key(), config.final_draws)
        afresh = 0 if deterministic else int(FRESH_SHARE * self._steps_left)
        first, run = self._execute_some(
            policies, config.final_draws, self._final_executions, self._steps_left - afresh
        )
        tolerances = config.tolerances(first.returns)
        kept = unique_front(rounded(first.returns, tolerances))
        again = first.taking(kept)
        if not deterministic:
            chosen = taking(policies, run[kept])
            again, found = self._execute_some(chosen, len(kept), self._executions, self._steps_left)
            kept = kept[found]
        coverage_set = CoverageSet.measured(
            first.returns[kept],
            first.horizons[kept],
            again.singles,
            tolerances=tolerances,
        )
        facts = {"generations": self._generation, "final_draws": len(run)}
        arrays = named_arrays(taking(policies, run[kept]), ARRAYS)
        return Outcome(coverage_set, arrays, facts), 1 - len(kept) / len(run)

    def _execute_some(
        self, policies: PlainPolicy, num_policies: int, executions: int, total_steps: int
    ) -> tuple[Execution, Int[np.ndarray, " run"]]:
        """Execute policies; where so many steps might not hold all, break off as in training."""
        patience = self.config.patience
        scarce = total_steps < num_policies * executions * self.environment.spec.step_limit
        return self._execute(
            policies,
            num_policies,
            executions=executions,
            total_steps=total_steps,
            most_steps=self._long(patience) if scarce and patience is not None else None,
        )

    def _state(self) -> Snapshot:
        """Distribution, pool, what observations look like, and random state."""
        arrays = {
            **named_arrays(self._distribution, "distribution"),
            **named_arrays(self._pool, "pool"),
            **named_arrays(self._weights, "weights"),
        }
        facts = {
            "steps": self.steps,
            "generation": self._generation,
            "known_generations": self._pool.num_known,
            "full_length": self._full_length,
            "rng": self._rng.bit_generator.state,
        }
        return Snapshot(arrays, facts)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        arrays, facts = snapshot.arrays, snapshot.facts
        self._distribution = with_named_arrays(self._distribution, arrays, "distribution")
        self._weights = with_named_arrays(self._weights, arrays, "weights")
        pool = with_named_arrays(self._pool, arrays, "pool")
        self._pool = Pool(
            pool.sources, pool.draws, pool.returns, pool.lengths, facts["known_generations"]
        )
        self._runner.steps = facts["steps"]
        self._generation = facts["generation"]
        self._full_length = facts["full_length"]
        self._rng.bit_generator.state = facts["rng"]


@eqx.filter_jit
def drawn(
    distribution: AbstractSearchDistribution,
    weights: WeightVector,
    key: RandomKey,
    num_draws: int,
) -> tuple[Float[Array, "draw weight"], PlainPolicy]:
    """New weights, and the stack of policies that have them."""
    draws = distribution.sample(jnp.asarray(key), num_draws)
    return draws, jax.vmap(weights.policy)(draws)


@eqx.filter_jit
def improved(
    distribution: AbstractSearchDistribution,
    sources: AbstractSearchDistribution,
    draws: Float[AnyArray, "draw weight"],
    merit: Float[AnyArray, " draw"],
    known_mask: Float[AnyArray, " generation"],
    kl_bound: Float[AnyArray, ""],
) -> AbstractSearchDistribution:
    """The distribution one step of bounded divergence along its natural gradient."""
    draws, merit = jnp.asarray(draws), jnp.asarray(merit)
    importance = importance_weights(distribution, sources, draws, jnp.asarray(known_mask))
    direction = distribution.natural_gradient(draws, merit, importance)
    return distribution.moved(distribution.bounded(direction, kl_bound))
