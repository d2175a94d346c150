"""RA's training loop: every policy ascends in its own direction, all of them side by side.

Parisi, Pirotta, Smacchia, Bascetta and Restelli, Policy gradient approaches for multi-objective
sequential decision making, IJCNN 2014, doi:10.1109/IJCNN.2014.6889738.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from pcn.algorithms.execution import Execution
from pcn.algorithms.ra.candidates import Candidates
from pcn.algorithms.ra.config import RAConfig
from pcn.algorithms.ra.directions import refuse_too_many, settled_intervals
from pcn.algorithms.ra.update import Findings, Learners, UpdateSettings, policies_of, update_some
from pcn.algorithms.stacked.algorithm import ARRAYS, fresh_policy
from pcn.algorithms.stacked.execute import run_each
from pcn.algorithms.stacked.trainer import AbstractStackedTrainer
from pcn.algorithms.trainer import Outcome, Progress, Snapshot, evaluation_due
from pcn.coverage import CoverageSet
from pcn.envs.environment import AbstractEnvironment
from pcn.episodes import Episodes
from pcn.nets.plain_policy import WeightVector
from pcn.pareto import lattice_points, rounded, spread, unique_front
from pcn.serialisation.arrays import named_arrays, with_named_arrays
from pcn.types import AnyArray


class RATrainer(AbstractStackedTrainer):
    """RA on one environment, an update of every policy at a time."""

    config: RAConfig

    def __init__(
        self,
        environment: AbstractEnvironment,
        config: RAConfig,
        *,
        seed: int,
        steps_before: int = 0,
    ) -> None:
        super().__init__(environment, config, seed=seed, steps_before=steps_before)
        self._updates = 0
        spec = environment.spec
        intervals = settled_intervals(spec.num_objectives, config.intervals)
        policy = fresh_policy(environment.spec, config, self._next_key()).undecided()
        self._vector = WeightVector(policy)
        refuse_too_many(spec.num_objectives, intervals, self._vector.size)
        self._directions = lattice_points(spec.num_objectives, intervals)
        self._learners = self._fresh_learners()
        count = len(self._directions)
        self._still_count = np.zeros(count, np.int64)
        self._ascent_norm = np.zeros(count)
        self._mean_returns = np.zeros((count, spec.num_objectives))
        self._mean_lengths = np.zeros(count)
        self._extent = np.zeros(spec.num_objectives)
        self._best = Candidates.none_yet(self._learners.weights, spec.num_objectives)

    @property
    def _budget_spent(self) -> bool:
        """Whether every policy has stopped, or only the last executions fit into the budget."""
        if self._updates == 0:
            return False
        if not self._active_mask.any():
            return True
        # Episodes of the next update may be twice as long as those of the last one were.
        needed = 2 * self._mean_lengths[self._active_mask].mean() * self._num_episodes
        return bool(self._steps_left_to_train < needed)

    @property
    def _reserved_steps(self) -> float:
        # Where outcomes are random, what was chosen is executed afresh.
        each = self._executions * (1 if self.environment.spec.deterministic else 2)
        return float(each * self._greedy_steps)

    @property
    def _greedy_steps(self) -> int:
        """What executing every policy once may take."""
        return len(self._directions) * self.environment.spec.step_limit

    @property
    def _num_episodes(self) -> int:
        """Episodes of the next update."""
        return int(self._active_mask.sum()) * self.config.episodes_per_update

    @property
    def _active_mask(self) -> Bool[np.ndarray, " direction"]:
        return self._still_count < self.config.stop_after

    @property
    def _longest_episode(self) -> int:
        limit = self.environment.spec.step_limit
        return limit if self.config.horizon is None else min(self.config.horizon, limit)

    def _train(self) -> Progress:
        """Run every policy that has not stopped, and update it.

        The loss is the mean length of the shortest mixture of unit gradients: zero where no
        policy can improve in all objectives.
        """
        config, steps_before = self.config, self.steps
        if self._updates == 0:
            self._vector = WeightVector(self._standardise(self._vector.like))
        index, episodes = self._run()
        self._measure(index, episodes)
        self._update(index, episodes)
        self._updates += 1
        due = evaluation_due(
            steps_before,
            self.steps,
            total_steps=config.total_steps,
            evaluations=config.evaluations,
        )
        affordable = self._steps_left_to_train >= self._greedy_steps
        execution = None
        if due and affordable:
            execution = self._coverage_set(self._candidates(1, self._greedy_steps))[0]
        front = unique_front(rounded(self._mean_returns, config.tolerances(self._mean_returns)))
        return Progress(
            self.steps, float(self._ascent_norm.mean()), self._mean_returns[front], execution
        )

    def _end(self) -> tuple[Outcome, float]:
        """Execute every policy greedily and keep those that no other dominates.

        Where outcomes are random the kept ones are executed afresh, and only that is reported:
        the best of many means were lucky.
        """
        deterministic = self.environment.spec.deterministic
        afresh = 0 if deterministic else self._steps_left // 2
        candidates = self._candidates(self._executions, self._steps_left - afresh)
        coverage_set, kept = self._coverage_set(candidates)
        facts = {
            "updates": self._updates,
            "directions": len(self._directions),
            "stopped": int((~self._active_mask).sum()),
        }
        if not deterministic:
            execution, executed = self._run_greedily(
                candidates.weights[kept], self._executions, self._steps_left
            )
            kept = kept[executed]
            coverage_set = CoverageSet.measured(
                np.asarray(candidates.sampled)[kept],
                np.asarray(candidates.lengths)[kept],
                execution.singles,
                tolerances=coverage_set.tolerances,
            )
        policies = policies_of(self._vector, candidates.weights[kept], 1)
        arrays = {**named_arrays(policies, ARRAYS), "directions": self._directions[kept]}
        return Outcome(coverage_set, arrays, facts), float(self._ascent_norm.mean())

    def _coverage_set(self, candidates: Candidates) -> tuple[CoverageSet, Int[np.ndarray, " kept"]]:
        executed = np.asarray(candidates.executed)[candidates.known]
        return candidates.coverage_set(self.config.tolerances(executed))

    def _candidates(self, executions: int, total_steps: int) -> Candidates:
        """Every policy as it is, or as it was when it returned more in its own direction.

        A policy that samples its actions gets better and better, but its first choices alone may
        go in circles one day and not the next. Where outcomes are random, looking back would
        prefer policies whose executions happened to go well: there every policy counts as it is.
        """
        weights = np.asarray(self._learners.weights)
        now = Candidates.of(
            weights,
            *self._run_greedily(weights, executions, total_steps),
            sampled=self._mean_returns,
            lengths=self._mean_lengths,
        )
        if not self.environment.spec.deterministic:
            return now
        self._best = self._best.or_better(now, self._mix())
        return self._best

    def _run_greedily(
        self, weights: Float[AnyArray, "policy weight"], executions: int, total_steps: int
    ) -> tuple[Execution, Int[np.ndarray, " executed"]]:
        policies = policies_of(self._vector, weights, 1)
        return self._execute(policies, len(weights), executions=executions, total_steps=total_steps)

    def _run(self) -> tuple[Int[np.ndarray, " some"], Episodes]:
        """Which policies acted, and episodes of each, those of the first one first.

        They are those that have not stopped, and a few others that make their number a power of
        two: a program for each number would take longer to compile than it saves.
        """
        copies, active = self.config.episodes_per_update, self._active_mask
        horizon, affordable = self.config.horizon, self._most_steps_each(self._num_episodes)
        num_active = max(int(active.sum()), 1)
        some = min(1 << (num_active - 1).bit_length(), len(active))
        index = np.argsort(~active, kind="stable")[:some]
        episodes = run_each(
            self._runner,
            policies_of(self._vector, self._learners.weights[index], copies),
            some * copies,
            sharpness=1.0,
            key=self._next_key(),
            count=num_active * copies,
            most_steps=affordable if horizon is None else min(horizon, affordable),
        )
        return index, episodes

    def _measure(self, index: Int[np.ndarray, " some"], episodes: Episodes) -> None:
        """Note what those that have not stopped return on average."""
        active = self._active_mask[index]
        acting = index[active]
        returns = episodes.returns(discount=self.config.discount)
        means = returns.reshape(len(index), -1, returns.shape[-1]).mean(axis=1)
        lengths = np.asarray(episodes.lengths).reshape(len(index), -1)
        self._mean_returns = _replaced(self._mean_returns, acting, means[active])
        self._mean_lengths = _replaced(self._mean_lengths, acting, lengths.mean(axis=1)[active])

    def _update(self, index: Int[np.ndarray, " some"], episodes: Episodes) -> None:
        config = self.config
        # Directions mean something only between objectives of the same range: that of the front.
        front = self._mean_returns[unique_front(self._mean_returns)]
        extent = spread(front)
        # Where the front agrees, that of all policies, or of all their episodes.
        for wider in (self._mean_returns, episodes.returns(discount=config.discount)):
            extent = np.where(extent > 0, extent, spread(wider))
        kept = config.smoothing if self._updates else 0.0
        self._extent = kept * self._extent + (1 - kept) * extent
        # Policies are handed over greedy, so that at the end indecision is paid for.
        share = min(self.steps / config.total_steps, 1.0)
        step_size = config.learning_rate if config.step_rule == "adam" else config.kl_bound
        longest = int(np.asarray(episodes.lengths).max())
        self._learners, findings = update_some(
            self._learners,
            index,
            self._vector,
            episodes,
            self._mix()[index].astype(np.float32),
            self._active_mask[index],
            np.asarray(config.discount, np.float32),
            np.asarray(config.entropy_bonus * (1 - 2 * share), np.float32),
            np.asarray(step_size, np.float32),
            UpdateSettings(
                config.step_rule, config.smoothing, config.conjugate_steps, config.damping
            ),
            # A program for each length would take longer to compile than it saves.
            min(1 << (longest - 1).bit_length(), self._longest_episode),
        )
        self._stop(index, findings)

    def _mix(self) -> Float[np.ndarray, "direction objective"]:
        return self._directions / np.where(self._extent > 0, self._extent, 1.0)

    def _stop(self, index: Int[np.ndarray, " some"], findings: Findings) -> None:
        config = self.config
        head = self._vector.like.action_head
        lowest, extent = head.min_entropy, head.max_entropy - head.min_entropy
        norm = np.asarray(findings.ascent_norm)
        finished = (norm < config.stationarity_tolerance) | (
            np.asarray(findings.entropy) - lowest < config.entropy_tolerance * extent
        )
        active = self._active_mask[index]
        acting = index[active]
        counted = np.where(finished, self._still_count[index] + 1, 0)
        self._still_count = _replaced(self._still_count, acting, counted[active])
        self._ascent_norm = _replaced(self._ascent_norm, acting, norm[active])

    def _state(self) -> Snapshot:
        """Policies, optimiser, what is known of their returns, and random state."""
        arrays = {
            **named_arrays(self._learners, "learners"),
            **named_arrays(self._vector, "vector"),
            **named_arrays(self._best, "best"),
            "still_count": self._still_count,
            "ascent_norm": self._ascent_norm,
            "mean_returns": self._mean_returns,
            "mean_lengths": self._mean_lengths,
            "extent": self._extent,
        }
        facts = {
            "steps": self.steps,
            "updates": self._updates,
            "rng": self._rng.bit_generator.state,
        }
        return Snapshot(arrays, facts)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        arrays = snapshot.arrays
        self._learners = with_named_arrays(self._learners, arrays, "learners")
        self._vector = with_named_arrays(self._vector, arrays, "vector")
        self._best = with_named_arrays(self._best, arrays, "best")
        self._still_count = np.array(arrays["still_count"])
        self._ascent_norm = np.array(arrays["ascent_norm"])
        self._mean_returns = np.array(arrays["mean_returns"])
        self._mean_lengths = np.array(arrays["mean_lengths"])
        self._extent = np.array(arrays["extent"])
        self._runner.steps = snapshot.facts["steps"]
        self._updates = snapshot.facts["updates"]
        self._rng.bit_generator.state = snapshot.facts["rng"]

    def _fresh_learners(self) -> Learners:
        first = jnp.broadcast_to(self._vector.flat(), (len(self._directions), self._vector.size))
        return Learners.fresh(first, self.environment.spec.num_objectives)


def _replaced(
    array: Shaped[np.ndarray, "direction *rest"],
    index: Int[np.ndarray, " some"],
    values: Shaped[np.ndarray, "some *rest"],
) -> Shaped[np.ndarray, "direction *rest"]:
    """A copy with other values at `index`: snapshots hold on to the array itself."""
    changed = array.copy()
    changed[index] = values
    return changed
