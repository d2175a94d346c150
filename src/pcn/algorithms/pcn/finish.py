"""The end of a training: which commands a run offers, and what each of them returns."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, UInt32

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.consolidate import Consolidated, consolidate, reproduced, worth
from pcn.algorithms.pcn.dataset import Archive, Dataset
from pcn.algorithms.pcn.evaluate import Actor, execute
from pcn.coverage import CoverageSet
from pcn.nets.policy import ConditionedPolicy
from pcn.pareto import dominating_score

CANDIDATES = 64
"""How many commands a stochastic environment's run chooses from at the end, if it can afford it."""
FEWEST = 8
"""How many it chooses from and executes, however small its budget is."""
CHECKING_SHARE = 0.3
"""Steps that choosing may take beyond the budget, as a share of it."""
CHECKS = 3
"""How often all candidates can be executed within that share."""
EXECUTING_SHARE = 0.5
"""Steps that the final executions may take beyond the budget, as a share of it."""

NextKey = Callable[[], UInt32[np.ndarray, " 2"]]


def finished(
    policy: ConditionedPolicy,
    dataset: Dataset,
    actor: Actor,
    config: PCNConfig,
    *,
    next_key: NextKey,
) -> tuple[Consolidated, CoverageSet]:
    """The consolidated network and the policies it offers."""
    if not actor.environment.spec.deterministic:
        return _finished_with_luck(policy, dataset, actor, config, next_key=next_key)
    archive = dataset.archive()
    final = consolidate(
        policy,
        dataset,
        archive,
        actor,
        config,
        score=reproduced(archive, config.return_tolerance),
        enough=1.0,
        executions=1,
        key=next_key(),
    )
    return final, coverage_set_of(archive, final.execution, config)


def _finished_with_luck(
    policy: ConditionedPolicy,
    dataset: Dataset,
    actor: Actor,
    config: PCNConfig,
    *,
    next_key: NextKey,
) -> tuple[Consolidated, CoverageSet]:
    """Find the commands that are worth most on average, and execute them afresh.

    An archived return may have been luck: another command can return more on average.
    """
    known = dataset.archive()
    num_checks = max(2, config.executions // 4)
    most = _affordable(CHECKING_SHARE / CHECKS, num_checks, known, config)
    archive = dataset.candidates(min(max(CANDIDATES, len(known)), most))
    final = consolidate(
        policy,
        dataset,
        archive,
        actor,
        config,
        score=worth(np.asarray(actor.environment.spec.reference_point, dtype=np.float64)),
        enough=np.inf,
        executions=num_checks,
        most_steps=int(CHECKING_SHARE * config.total_steps),
        key=next_key(),
    )
    kept = np.flatnonzero(plausible_mask(final.execution, num_checks))
    most = _affordable(EXECUTING_SHARE, config.executions, archive, config)
    if len(kept) > most:
        best_first = np.argsort(-dominating_score(final.execution.returns[kept]), kind="stable")
        kept = np.sort(kept[best_first[:most]])
    archive = Archive(archive.rows.taking(kept))
    # The best of many means are lucky ones: only fresh executions say what to expect.
    execution = execute(
        actor,
        final.policy,
        archive.returns,
        archive.horizons.astype(np.float64),
        key=next_key(),
        upper_bound=dataset.upper_bound(),
        executions=config.executions,
    )
    return final, coverage_set_of(archive, execution, config)


def _affordable(share: float, executions: int, archive: Archive, config: PCNConfig) -> int:
    """How many commands can be executed that often with a share of the budget.

    Where episodes are long and the budget is small, checking would take longer than training.
    """
    per_command = executions * float(archive.horizons.mean())
    return max(FEWEST, int(share * config.total_steps / per_command))


def plausible_mask(execution: Execution, executions: int) -> Bool[np.ndarray, " command"]:
    """Mark the commands that may be non-dominated, as far as a few executions can tell.

    Of two means only those more than a standard error each apart are told apart.
    """
    error = execution.deviation / np.sqrt(executions)
    lowest, highest = execution.returns - error, execution.returns + error
    beaten = np.all(lowest[None] >= highest[:, None], axis=2)
    beaten &= np.any(lowest[None] > highest[:, None], axis=2)
    return ~beaten.any(axis=1)


def coverage_set_of(archive: Archive, execution: Execution, config: PCNConfig) -> CoverageSet:
    """What was asked for beside what came of it."""
    return CoverageSet(
        requested=archive.returns,
        horizons=archive.horizons.astype(np.float64),
        executed=execution.returns,
        deviation=execution.deviation,
        tolerance=config.return_tolerance,
    )
