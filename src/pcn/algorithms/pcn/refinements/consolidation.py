"""Consolidation: a copy of the network is trained until executing every command reproduces it.

Discovery is early and execution lags behind: without this step the front that a run reports is
one that its policies do not reach. The copy never explores, so fitting it costs no discovery.

A deterministic environment repeats an episode whose actions are all predicted. So a copy is tested
on the stored episodes first, which takes no environment steps, and only commands whose episodes it
does not predict are executed, as far as the steps that are left allow. Where outcomes are
stochastic nothing is executed here: the copy is a contender, and the race of executions decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt32

from pcn.algorithms.execution import nth_key
from pcn.algorithms.pcn.contender import AbstractFitting, Contender
from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.practice import Practice
from pcn.algorithms.pcn.rows import Archive
from pcn.algorithms.pcn.schedule import UPDATES_AT_ONCE
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.pcn.update import Learner, cosine_decay, update_on
from pcn.checks import at_least, at_most, positive
from pcn.metrics import reached_mask
from pcn.nets.policy import ConditionedPolicy
from pcn.serialisation.arrays import named_arrays, with_named_arrays


@dataclass(frozen=True, kw_only=True)
class Consolidation(AbstractRefinement):
    """Train a copy of the network at the end until executing every command reproduces it.

    The learning rate falls in cycles. Where outcomes are certain, wrongly predicted actions count
    more, and half of each batch is drawn where the copy is uncertain.
    """

    updates: int = 20_000
    """Most updates that it takes."""
    stochastic_updates: int = 7_680
    """How many it takes where outcomes are random: four cycles. Where a refinement leaves the
    exploring network only a share of its updates, it is that share, in whole cycles."""
    patience: int = 3 * 4096
    """Updates without a better copy after which it is given up."""
    wrong_weight: float = 5.0
    """How much more a wrongly predicted action counts in the loss."""
    first_cycle: int = 512
    """Updates in the first learning-rate cycle; each later cycle is twice as long."""
    last_learning_rate: float = 1e-4
    """Where each cycle ends; it begins with the training's own learning rate."""
    check_growth: float = 0.25
    """Updates until the next check, as a share of the updates so far: checks become rarer."""
    check_patience: float = 1.5
    """A check breaks an episode off after this many times the desired horizon."""
    uncertain_share: float = 0.5
    """Share of a batch that is drawn in proportion to the probability of any other action."""
    least_uncertainty: float = 1e-6
    """Probability that is added there, so that no step is never drawn."""

    def __post_init__(self) -> None:
        at_least(self, 1, "updates", "stochastic_updates", "patience", "first_cycle")
        at_least(self, 1, "check_patience")
        at_least(self, 0, "wrong_weight", "check_growth", "uncertain_share")
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
        return cosine_decay(highest, self.last_learning_rate, phase)

    def most_updates(self, training: Training) -> int:
        """How many updates it takes at most; all of these where outcomes are random."""
        if training.spec.deterministic:
            return self.updates
        share = training.share_of_updates()
        if share == 1.0:
            return self.stochastic_updates
        cycles = np.log2(share * self.stochastic_updates / self.first_cycle + 1)
        return self.first_cycle * (2 ** max(1, int(cycles)) - 1)

    def contender(self, training: Training, key: UInt32[np.ndarray, " 2"]) -> "Consolidating":
        """A copy of the network for the commands that are to be chosen from."""
        return Consolidating(self, training, training.commands(), key=key)


class Consolidating(AbstractFitting):
    """A consolidation in progress, a few updates at a time; the best copy wins.

    How good a copy is: how many commands it reproduces, as far as tests and checks tell. Where
    outcomes are random, the last copy is as good as any.
    """

    name = "consolidation"

    def __init__(
        self,
        settings: Consolidation,
        training: Training,
        archive: Archive,
        *,
        key: UInt32[np.ndarray, " 2"],
    ) -> None:
        config = training.config
        self._settings = settings
        self._training = training
        self._archive = archive
        self._key = key
        self._rng = np.random.default_rng(key)
        self._exact = training.spec.deterministic
        self._most_updates = settings.most_updates(training)
        self._learner = Learner.fresh(training.learner.policy)
        self._practice = Practice(
            archive.rows,
            # Where outcomes are random, uncertain steps may be those that chance has decided.
            uncertain_share=settings.uncertain_share if self._exact else 0.0,
            least_uncertainty=settings.least_uncertainty,
        )
        self._per_round = config.updates_per_iteration or UPDATES_AT_ONCE
        # A test is one forward pass, an update three: tests take no more time than updates.
        self._per_test = max(self._per_round, len(self._practice) // (3 * config.batch_size))
        self.policy: ConditionedPolicy = training.learner.policy
        self.num_updates = 0
        self.num_steps = 0
        self._num_reached = -1
        self._best_at = 0
        self._next_check, self._next_test = self._per_round, 0

    @property
    def done(self) -> bool:
        """Whether everything is reproduced, or nothing better can be expected."""
        if not self._exact:
            return self.num_updates >= self._most_updates
        return (
            self._num_reached == len(self._archive)
            or self.num_updates >= self._most_updates
            or self.num_updates - self._best_at >= self._settings.patience
        )

    @property
    def contender(self) -> Contender:
        """The best copy so far under all commands."""
        horizons = self._archive.horizons.astype(np.float64)
        return Contender(self.policy, self._archive.returns, horizons)

    def iterate(self) -> None:
        """Test the network as it is the first time; then a few updates, and tests that are due.

        Where outcomes are random there are no tests.
        """
        if not self._exact:
            self._update()
            self.policy = self._learner.policy
            return
        if self._num_reached < 0:
            self._test()
            return
        self._update()
        if self.num_updates >= min(self._next_test, self._most_updates):
            self._test()

    def _update(self) -> None:
        config, settings = self._training.config, self._settings
        rates = settings.learning_rates(self.num_updates, self._per_round, config.learning_rate)
        self._learner, _ = update_on(
            self._learner,
            self._training.dataset.store.at,
            self._practice.draw(self._rng, self._per_round, config.batch_size),
            rates.astype(np.float32),
            np.asarray(settings.wrong_weight if self._exact else 1.0, np.float32),
        )
        self.num_updates += self._per_round

    def _test(self) -> None:
        """See which stored episodes the copy predicts whole; execute the others if that is due."""
        reached = self._practice.test(self._learner.policy, self._training.dataset.store)
        self._next_test = self.num_updates + self._per_test
        if self.num_updates >= min(self._next_check, self._most_updates):
            reached |= self._check(np.flatnonzero(~reached))
            growth = int(self._settings.check_growth * self.num_updates)
            self._next_check = self.num_updates + max(self._per_round, growth)
        if reached.sum() > self._num_reached:
            self.policy = self._learner.policy
            self._num_reached, self._best_at = int(reached.sum()), self.num_updates

    def _check(self, commands: Int[np.ndarray, " checked"]) -> Bool[np.ndarray, " command"]:
        """Execute some commands with the copy, if the steps allow; marks those that it reaches.

        Where the copy reaches a return by a way of its own, that way becomes its new target:
        several ways can lead to one return, and the copy's own are the easiest to keep.
        """
        training, rows = self._training, self._archive.rows
        reached = np.zeros(len(self._archive), dtype=bool)
        commands = commands[np.argsort(rows.lengths[commands], kind="stable")]
        size = training.actor.batch_size
        batches = [commands[first : first + size] for first in range(0, len(commands), size)]
        limits = (self._settings.check_patience * rows.lengths).astype(np.int64) + 1
        # Enough is left to execute everything that is offered once more.
        if (
            not training.explores
            or limits[commands].sum() > training.steps_left - self._archive.horizons.sum()
        ):
            return reached
        steps_before = training.steps
        for number, batch in enumerate(batches):
            padded = np.resize(batch, size)
            episodes = training.actor.run(
                self._learner.policy,
                rows.returns[padded],
                rows.lengths[padded].astype(np.float64),
                upper_bound=training.upper_bound(),
                lower_bound=training.lower_bound(),
                key=nth_key(self._key, number),
                greedy=True,
                count=len(batch),
                most_steps=limits[padded],
            )
            training.dataset.replace_equals(rows.taking(batch), episodes)
            returns = episodes.returns(discount=training.config.discount)[: len(batch)]
            ended = np.asarray(episodes.ended)[: len(batch)]
            reached[batch] = ended & reached_mask(
                rows.returns[batch], returns, training.dataset.tolerances
            )
        self.num_steps += training.steps - steps_before
        return reached

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""
        arrays = {
            **named_arrays(self._learner, "consolidating.learner"),
            **named_arrays(self.policy, "consolidating.policy"),
            "consolidating.uncertainty": self._practice.uncertainty,
        }
        facts: dict[str, Any] = {
            "num_updates": self.num_updates,
            "most_updates": self._most_updates,
            "num_steps": self.num_steps,
            "num_reached": self._num_reached,
            "best_at": self._best_at,
            "next_check": self._next_check,
            "next_test": self._next_test,
            "rng": self._rng.bit_generator.state,
        }
        return arrays, facts

    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        """Go back to a snapshot."""
        self._learner = with_named_arrays(self._learner, arrays, "consolidating.learner")
        self.policy = with_named_arrays(self.policy, arrays, "consolidating.policy")
        self._practice.uncertainty = np.array(arrays["consolidating.uncertainty"])
        self.num_updates = facts["num_updates"]
        # More is known meanwhile; older checkpoints have none.
        self._most_updates = facts.get("most_updates", self._most_updates)
        self.num_steps = facts["num_steps"]
        self._num_reached = facts["num_reached"]
        self._best_at = facts["best_at"]
        self._next_check, self._next_test = facts["next_check"], facts["next_test"]
        self._rng.bit_generator.state = facts["rng"]
