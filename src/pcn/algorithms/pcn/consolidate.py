"""Consolidation: train a copy on the archive until executing every command reproduces it.

Discovery is early and execution lags behind: without this step the front that a run reports is
one that its policies do not reach. The copy never explores, so fitting it costs no discovery.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt32

from pcn.algorithms.execution import Execution, nth_key
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.dataset import Archive, Dataset
from pcn.algorithms.pcn.evaluate import Actor, execute
from pcn.algorithms.pcn.update import Learner, update_many
from pcn.episodes import Episodes
from pcn.metrics import reached_mask
from pcn.nets.policy import ConditionedPolicy

WRONG_WEIGHT = 5.0
"""How much more a wrongly predicted action counts."""
FIRST_CYCLE = 512
"""Updates in the first learning-rate cycle; each later cycle is twice as long."""
PATIENCE = 3 * 4096
"""Updates without a better execution after which the fit is given up."""
LAST_LEARNING_RATE = 1e-4
"""Where each cycle ends."""


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
    upper_bound: Float[np.ndarray, " objective"],
    executions: int,
    key: UInt32[np.ndarray, " 2"],
) -> Consolidated:
    """Fit a copy of `policy` to the archive; the best executed copy wins, be it the first."""
    learner = Learner.fresh(policy)
    drawing = dataset.drawing(archive.rows)
    counts = batch_counts(config)
    per_round = config.updates_per_iteration

    def check(policy: ConditionedPolicy) -> tuple[Execution, float]:
        first = 0

        def rerecord(episodes: Episodes, count: int) -> None:
            """Several ways can lead to one return: the network's own are the easiest to keep."""
            nonlocal first
            rows = archive.rows.taking(np.arange(first, first + count))
            dataset.replace_equals(rows, episodes)
            first += count

        execution = execute(
            actor,
            policy,
            archive.returns,
            archive.horizons.astype(np.float64),
            key=key,
            upper_bound=upper_bound,
            executions=executions,
            keep=rerecord if executions == 1 else None,
        )
        hits = reached_mask(archive.returns, execution.returns, config.return_tolerance)
        return execution, float(hits.mean())

    execution, share = check(policy)
    best = Consolidated(policy, execution, 0, 0)
    best_share, num_steps, num_updates = share, execution.num_steps, 0
    next_check = per_round
    while best_share < 1 and num_updates < config.consolidation_updates:
        if num_updates - best.num_updates >= PATIENCE:
            break
        rates = cyclic_learning_rates(num_updates, per_round, config.learning_rate)
        learner, _ = update_many(
            learner,
            dataset.store,
            (drawing,) * len(counts),
            rates.astype(np.float32),
            np.asarray(WRONG_WEIGHT, np.float32),
            nth_key(key, num_updates + 1),
            counts,
        )
        num_updates += per_round
        if num_updates >= next_check or num_updates >= config.consolidation_updates:
            execution, share = check(learner.policy)
            num_steps += execution.num_steps
            if share > best_share:
                best, best_share = Consolidated(learner.policy, execution, num_updates, 0), share
            # Checks cost episodes: they become rarer as the fit takes longer.
            next_check = num_updates + max(per_round, num_updates // 8)
    return Consolidated(best.policy, best.execution, num_updates, num_steps)


def batch_counts(config: PCNConfig) -> tuple[int, ...]:
    """How many transitions of a batch come from the whole dataset and from the archive."""
    from_archive = round(config.archive_fraction * config.batch_size)
    if from_archive == 0:
        return (config.batch_size,)
    return (config.batch_size - from_archive, from_archive)
