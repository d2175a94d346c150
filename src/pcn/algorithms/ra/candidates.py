"""The candidates of RA: for every direction the weights of a policy, and its return."""

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float, Int

from pcn.algorithms.execution import Execution
from pcn.coverage import CoverageSet
from pcn.pareto import Tolerances, rounded, unique_front
from pcn.types import AnyArray


class Candidates(eqx.Module):
    """One policy for each direction, executed greedily."""

    weights: Float[AnyArray, "direction weight"]
    executed: Float[AnyArray, "direction objective"]
    deviation: Float[AnyArray, "direction objective"]
    sampled: Float[AnyArray, "direction objective"]
    """Mean return while the policy still sampled its actions."""
    lengths: Float[AnyArray, " direction"]
    """Mean length of those episodes."""

    @classmethod
    def none_yet(
        cls, weights: Float[AnyArray, "direction weight"], num_objectives: int
    ) -> "Candidates":
        """Candidates that are worse than any executed one."""
        shape = (len(weights), num_objectives)
        return cls(
            weights=np.asarray(weights),
            executed=np.full(shape, -np.inf),
            deviation=np.zeros(shape),
            sampled=np.zeros(shape),
            lengths=np.zeros(len(weights)),
        )

    @classmethod
    def of(
        cls,
        weights: Float[np.ndarray, "direction weight"],
        execution: Execution,
        executed: Int[np.ndarray, " executed"],
        *,
        sampled: Float[np.ndarray, "direction objective"],
        lengths: Float[np.ndarray, " direction"],
    ) -> "Candidates":
        """The returns of the policies at `executed`; the others are worse than any."""
        returns, deviation = np.full_like(sampled, -np.inf), np.zeros_like(sampled)
        returns[executed], deviation[executed] = execution.returns, execution.deviation
        return cls(weights, returns, deviation, sampled, lengths)

    @property
    def known(self) -> Int[np.ndarray, " known"]:
        """Which were executed."""
        return np.flatnonzero(np.isfinite(np.asarray(self.executed)).all(axis=1))

    def or_better(
        self, newer: "Candidates", mix: Float[np.ndarray, "direction objective"]
    ) -> "Candidates":
        """For each direction the candidate that returned more in it; the newer one if they tie."""
        better = newer._along(mix) >= self._along(mix)

        def chosen(new: AnyArray, old: AnyArray) -> np.ndarray:
            mask = better.reshape(-1, *(1,) * (np.ndim(new) - 1))
            return np.where(mask, np.asarray(new), np.asarray(old))

        kept: Candidates = jax.tree.map(chosen, newer, self)
        return kept

    def coverage_set(self, tolerances: Tolerances) -> tuple[CoverageSet, Int[np.ndarray, " kept"]]:
        """The policies whose greedy returns are not dominated, and which they are.

        The requested return of a policy is its mean return while it sampled its actions.
        """
        executed = np.asarray(self.executed)[self.known]
        kept = self.known[unique_front(rounded(executed, tolerances))]
        coverage_set = CoverageSet(
            requested=np.asarray(self.sampled[kept]),
            horizons=np.asarray(self.lengths[kept]),
            executed=np.asarray(self.executed[kept]),
            deviation=np.asarray(self.deviation[kept]),
            tolerances=tolerances,
        )
        return coverage_set, kept

    def _along(
        self, mix: Float[np.ndarray, "direction objective"]
    ) -> Float[np.ndarray, " direction"]:
        # Objectives without weight do not count, however bad they are.
        along = np.zeros_like(self.executed)
        np.multiply(mix, self.executed, out=along, where=mix > 0)
        return along.sum(axis=1)
