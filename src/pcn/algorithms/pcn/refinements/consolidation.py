"""Consolidation: a copy of the network is trained until executing every command reproduces it.

Discovery is early and execution lags behind: without this step the front that a run reports is
one that its policies do not reach. The copy never explores, so fitting it costs no discovery.
Where outcomes are stochastic no copy can reproduce every return: there the copy counts whose mean
returns have the largest hypervolume.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, UInt32

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.dataset import Archive
from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.practice import Practice
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.pcn.update import Learner, update_at
from pcn.checks import at_least, at_most, positive
from pcn.episodes import Episodes
from pcn.metrics import hypervolume, reached_mask
from pcn.nets.policy import ConditionedPolicy
from pcn.pareto import Tolerances
from pcn.serialisation.arrays import named_arrays, with_named_arrays

Score = Callable[[Execution], float]
"""How good an execution of all commands is."""


@dataclass(frozen=True, kw_only=True)
class Consolidation(AbstractRefinement):
    """Train a copy of the network at the end until executing every command reproduces it.

    Wrongly predicted actions count more, the learning rate falls in cycles, and half of each batch
    is drawn where the copy is uncertain.
    """

    updates: int = 20_000
    """Most updates that it takes; the checks' environment steps come on top."""
    patience: int = 3 * 4096
    """Updates without a better execution after which it is given up."""
    wrong_weight: float = 5.0
    """How much more a wrongly predicted action counts in the loss."""
    first_cycle: int = 512
    """Updates in the first learning-rate cycle; each later cycle is twice as long."""
    last_learning_rate: float = 1e-4
    """Where each cycle ends; it begins with the training's own learning rate."""
    check_growth: float = 0.25
    """Updates until the next check, as a share of the updates so far: checks become rarer."""
    uncertain_share: float = 0.5
    """Share of a batch that is drawn in proportion to the probability of any other action."""
    least_uncertainty: float = 1e-6
    """Probability that is added there, so that no step is never drawn."""
    stochastic_budget: float = 0.3
    """Where outcomes are random: steps that checks may take, as a share of the budget, on top."""

    def __post_init__(self) -> None:
        at_least(self, 1, "updates", "patience", "first_cycle")
        at_least(self, 0, "wrong_weight", "check_growth", "uncertain_share", "stochastic_budget")
        at_most(self, 1, "uncertain_share")
        positive(self, "last_learning_rate", "least_uncertainty")

    def learning_rates(
        self, start: int, count: int, highest: float
    ) -> Float[np.ndarray, " update"]:
        """Cosine decay from `highest`, restarted in cycles that double in length."""
        update = np.arange(start, start + count)
        cycle = np.floor(np.log2(update / self.first_cycle + 1))
        begin = self.first_cycle * (2**cycle - 1)
        phase = (update - begin) / (self.first_cycle * 2**cycle)
        lowest = min(self.last_learning_rate, highest)
        return lowest + (highest - lowest) * 0.5 * (1 + np.cos(np.pi * phase))


def reproduced(archive: Archive, tolerances: Tolerances) -> Score:
    """The share of commands that returned what was requested, or better."""
    return lambda execution: float(
        reached_mask(archive.returns, execution.returns, tolerances).mean()
    )


def mean_hypervolume(reference_point: Float[np.ndarray, " objective"]) -> Score:
    """The hypervolume of the mean returns."""
    return lambda execution: hypervolume(execution.returns, reference_point)


class Consolidating:
    """A consolidation in progress, a few updates at a time.

    The best executed copy wins, be it the network as training left it.
    """

    def __init__(
        self,
        settings: Consolidation,
        training: Training,
        archive: Archive,
        *,
        executions: int,
        key: UInt32[np.ndarray, " 2"],
    ) -> None:
        config, deterministic = training.config, training.spec.deterministic
        self._settings = settings
        self._training = training
        self._archive = archive
        self._executions = executions
        self._key = key
        self._rng = np.random.default_rng(key)
        reference = np.asarray(training.spec.reference_point, dtype=np.float64)
        self._score = (
            reproduced(archive, training.dataset.tolerances)
            if deterministic
            else mean_hypervolume(reference)
        )
        self._enough = 1.0 if deterministic else np.inf
        self._most_steps = (
            None if deterministic else int(settings.stochastic_budget * config.total_steps)
        )
        self._learner = Learner.fresh(training.learner.policy)
        self._practice = Practice(
            archive.rows,
            uncertain_share=settings.uncertain_share,
            least_uncertainty=settings.least_uncertainty,
        )
        self._per_round = config.updates_per_iteration
        # A test is one forward pass, an update three: tests take no more time than updates.
        self._per_test = max(self._per_round, len(self._practice) // (3 * config.batch_size))
        self.policy: ConditionedPolicy = training.learner.policy
        self.execution: Execution | None = None
        self.num_updates = 0
        self.num_steps = 0
        self._best_score = -np.inf
        self._best_at = 0
        self._last_steps = 0
        self._next_check, self._next_test = self._per_round, self._per_test
        self._out_of_steps = False

    @property
    def done(self) -> bool:
        """Whether everything is reproduced, or nothing better can be expected."""
        return self.execution is not None and (
            self._best_score >= self._enough
            or self.num_updates >= self._settings.updates
            or self.num_updates - self._best_at >= self._settings.patience
            or self._out_of_steps
        )

    def iterate(self) -> None:
        """Execute the network as it is the first time; then a few updates, and a check if due."""
        if self.execution is None:
            self._check()
            self._practice.test(self.policy, self._training.dataset.store)
            return
        self._update()
        due = self.num_updates >= min(self._next_check, self._settings.updates)
        if self.num_updates >= self._next_test:
            known = self._practice.test(self._learner.policy, self._training.dataset.store)
            # A deterministic environment repeats an episode whose actions are all predicted.
            due |= self._executions == 1 and known > self._best_score * len(self._archive)
            self._next_test = self.num_updates + self._per_test
        if not due:
            return
        if self._most_steps is not None and self.num_steps + self._last_steps > self._most_steps:
            self._out_of_steps = True
            return
        self._check()
        growth = int(self._settings.check_growth * self.num_updates)
        self._next_check = self.num_updates + max(self._per_round, growth)

    def _update(self) -> None:
        config, settings = self._training.config, self._settings
        rates = settings.learning_rates(self.num_updates, self._per_round, config.learning_rate)
        self._learner, _ = update_at(
            self._learner,
            self._training.dataset.store,
            *self._practice.draw(self._rng, self._per_round, config.batch_size),
            rates.astype(np.float32),
            np.asarray(settings.wrong_weight, np.float32),
        )
        self.num_updates += self._per_round

    def _check(self) -> None:
        """Execute every command with the copy; keep it if it is the best so far."""
        training = self._training
        execution = Execution.of(
            self._rerecorded(
                training.actor.execute(
                    self._learner.policy,
                    self._archive.returns,
                    self._archive.horizons.astype(np.float64),
                    key=self._key,
                    upper_bound=training.upper_bound(),
                    executions=self._executions,
                )
            ),
            executions=self._executions,
            discount=training.config.discount,
        )
        self.num_steps += execution.num_steps
        self._last_steps = execution.num_steps
        score = self._score(execution)
        if self.execution is None or score > self._best_score:
            self.policy, self.execution = self._learner.policy, execution
            self._best_score, self._best_at = score, self.num_updates

    def _rerecorded(self, batches: Iterable[Episodes]) -> Iterator[Episodes]:
        """Where the copy reaches a return by a way of its own, that way becomes its new target.

        Several ways can lead to one return: the copy's own are the easiest to keep. Outcomes that
        were averaged over several executions have no single way.
        """
        first = 0
        for episodes in batches:
            if self._executions == 1:
                count = int(np.asarray(episodes.real_mask).sum())
                rows = self._archive.rows.taking(np.arange(first, first + count))
                self._training.dataset.replace_equals(rows, episodes)
                first += count
            yield episodes

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""
        arrays = {
            **named_arrays(self._learner, "consolidating.learner"),
            **named_arrays(self.policy, "consolidating.policy"),
            "consolidating.uncertainty": self._practice.uncertainty,
        }
        facts: dict[str, Any] = {
            "num_updates": self.num_updates,
            "num_steps": self.num_steps,
            "best_at": self._best_at,
            "last_steps": self._last_steps,
            "next_check": self._next_check,
            "next_test": self._next_test,
            "out_of_steps": self._out_of_steps,
            "rng": self._rng.bit_generator.state,
        }
        if self.execution is not None:
            arrays |= self.execution.to_arrays("consolidating.execution")
            facts["best_score"] = self._best_score
        return arrays, facts

    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        """Go back to a snapshot."""
        self._learner = with_named_arrays(self._learner, arrays, "consolidating.learner")
        self.policy = with_named_arrays(self.policy, arrays, "consolidating.policy")
        self._practice.uncertainty = np.array(arrays["consolidating.uncertainty"])
        self.num_updates = facts["num_updates"]
        self.num_steps = facts["num_steps"]
        self._best_at = facts["best_at"]
        self._last_steps = facts["last_steps"]
        self._next_check, self._next_test = facts["next_check"], facts["next_test"]
        self._out_of_steps = facts["out_of_steps"]
        self._rng.bit_generator.state = facts["rng"]
        if "best_score" in facts:
            self.execution = Execution.from_arrays(arrays, "consolidating.execution")
            self._best_score = facts["best_score"]
