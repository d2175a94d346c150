"""Consolidation: train a copy on the archive until executing every command reproduces it.

Discovery is early and execution lags behind: without this step the front that a run reports is
one that its policies do not reach. The copy never explores, so fitting it costs no discovery.
Where luck plays a part no copy can reproduce everything: there the copy counts whose returns are
worth most on average, measured by their hypervolume.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt32

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.dataset import Archive, Dataset
from pcn.algorithms.pcn.evaluate import Actor, execute
from pcn.algorithms.pcn.practice import Practice
from pcn.algorithms.pcn.update import Learner, update_at
from pcn.episodes import Episodes
from pcn.metrics import hypervolume, reached_mask
from pcn.nets.policy import ConditionedPolicy

WRONG_WEIGHT = 5.0
"""How much more a wrongly predicted action counts."""
FIRST_CYCLE = 512
"""Updates in the first learning-rate cycle; each later cycle is twice as long."""
PATIENCE = 3 * 4096
"""Updates without a better execution after which the fit is given up."""
LAST_LEARNING_RATE = 1e-4
"""Where each cycle ends."""

Score = Callable[[Execution], float]
"""How good an execution of the archive is."""


@dataclass(frozen=True)
class Consolidated:
    """The policy that reproduces most of the archive, and what it executes."""

    policy: ConditionedPolicy
    execution: Execution
    num_updates: int
    num_steps: int
    """Environment steps spent on checking."""


def cyclic_learning_rates(start: int, count: int, highest: float) -> Float[np.ndarray, " update"]:
    """Cosine decay from `highest`, restarted in cycles that double in length."""
    update = np.arange(start, start + count)
    cycle = np.floor(np.log2(update / FIRST_CYCLE + 1))
    begin = FIRST_CYCLE * (2**cycle - 1)
    phase = (update - begin) / (FIRST_CYCLE * 2**cycle)
    lowest = min(LAST_LEARNING_RATE, highest)
    return lowest + (highest - lowest) * 0.5 * (1 + np.cos(np.pi * phase))


def consolidate(
    policy: ConditionedPolicy,
    dataset: Dataset,
    archive: Archive,
    actor: Actor,
    config: PCNConfig,
    *,
    score: Score,
    enough: float,
    executions: int,
    most_steps: int | None = None,
    key: UInt32[np.ndarray, " 2"],
) -> Consolidated:
    """Fit a copy of `policy` to the archive; the best executed copy wins, be it the first.

    It ends early when the score is `enough`, or checking has taken `most_steps` environment steps.
    """
    learner = Learner.fresh(policy)
    practice = Practice(archive.rows)
    rng = np.random.default_rng(key)
    per_round = config.updates_per_iteration
    # A test is one pass forward, an update three: tests take no more time than updates.
    per_test = max(per_round, len(practice) // (3 * config.batch_size))

    def check(policy: ConditionedPolicy) -> Execution:
        first = 0

        def rerecord(episodes: Episodes, count: int) -> None:
            """Several ways can lead to one return: the network's own are the easiest to keep."""
            nonlocal first
            rows = archive.rows.taking(np.arange(first, first + count))
            dataset.replace_equals(rows, episodes)
            first += count

        return execute(
            actor,
            policy,
            archive.returns,
            archive.horizons.astype(np.float64),
            key=key,
            upper_bound=dataset.upper_bound(),
            executions=executions,
            keep=rerecord if executions == 1 else None,
        )

    execution = check(policy)
    best = Consolidated(policy, execution, 0, 0)
    best_score, num_steps, num_updates = score(execution), execution.num_steps, 0
    practice.test(policy, dataset.store)
    next_check, next_test = per_round, per_test
    while best_score < enough and num_updates < config.consolidation_updates:
        if num_updates - best.num_updates >= PATIENCE:
            break
        rates = cyclic_learning_rates(num_updates, per_round, config.learning_rate)
        learner, _ = update_at(
            learner,
            dataset.store,
            *practice.draw(rng, per_round, config.batch_size),
            rates.astype(np.float32),
            np.asarray(WRONG_WEIGHT, np.float32),
        )
        num_updates += per_round
        due = num_updates >= min(next_check, config.consolidation_updates)
        if num_updates >= next_test:
            known = practice.test(learner.policy, dataset.store)
            # Without luck, an episode that is known by heart will be executed.
            due |= executions == 1 and known > best_score * len(archive)
            next_test = num_updates + per_test
        if due:
            if most_steps is not None and num_steps + execution.num_steps > most_steps:
                break
            execution = check(learner.policy)
            num_steps += execution.num_steps
            if score(execution) > best_score:
                best = Consolidated(learner.policy, execution, num_updates, 0)
                best_score = score(execution)
            # Checks cost episodes: they become rarer as the fit takes longer.
            next_check = num_updates + max(per_round, num_updates // 4)
    return Consolidated(best.policy, best.execution, num_updates, num_steps)


def reproduced(archive: Archive, tolerance: float) -> Score:
    """The share of commands that returned what was asked for, or better."""
    return lambda execution: float(
        reached_mask(archive.returns, execution.returns, tolerance).mean()
    )


def worth(reference_point: Float[np.ndarray, " objective"]) -> Score:
    """The hypervolume of the returns; it is never enough."""
    return lambda execution: hypervolume(execution.returns, reference_point)
