"""CoverageSet: the result of every algorithm: policies, and their executed returns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.pareto import PARETO, AbstractOrder, Tolerances
from pcn.single_returns import HIGH, LOW, SingleReturns


@dataclass(frozen=True)
class CoverageSet:
    """One row per policy: its requested return, and what it returned when executed.

    Where every policy was executed once, as in deterministic environments, the fields about
    uncertainty need not be given: margins are zero and quantiles are the executed return itself.
    """

    requested: Float[np.ndarray, "policy objective"]
    """The return of each policy's command; for MONES and RA the return when it was chosen."""
    horizons: Float[np.ndarray, " policy"]
    """The requested number of steps, or for algorithms without commands the measured one."""
    executed: Float[np.ndarray, "policy objective"]
    """The return it reached; the mean where the environment is stochastic."""
    deviation: Float[np.ndarray, "policy objective"]
    """Standard deviation of single returns (n - 1); zero where there was one execution."""
    tolerances: Tolerances = 0.0
    """Returns that are closer than this in every objective are the same."""
    executions: Int[np.ndarray, " policy"] = None  # type: ignore[assignment]
    """How often each policy was executed."""
    margin: Float[np.ndarray, "policy objective"] = None  # type: ignore[assignment]
    """Half the width of the 95 % interval of the executed mean; zero for one execution."""
    low: Float[np.ndarray, "policy objective"] = None  # type: ignore[assignment]
    """One in ten single executions returned less than this."""
    high: Float[np.ndarray, "policy objective"] = None  # type: ignore[assignment]
    """One in ten single executions returned more than this."""
    network: Int[np.ndarray, " policy"] = None  # type: ignore[assignment]
    """Which of the run's networks executes the policy."""
    singles: SingleReturns | None = None
    """The return of every single execution; None where the set was read from a file."""
    order: AbstractOrder = PARETO
    """The order that decides which return is better."""
    recorded_front: Bool[np.ndarray, " policy"] | None = None
    """Which policies are non-dominated according to a file; for orders that need single
    executions."""
    num_stopped: int = 0
    """The number of further commands whose executions the budget stopped. They have no row here,
    unless all were stopped."""

    def __post_init__(self) -> None:
        count = len(self.executed)
        defaults: dict[str, Any] = {
            "executions": np.ones(count, np.int64),
            "margin": np.zeros_like(self.executed),
            "low": self.executed,
            "high": self.executed,
            "network": np.zeros(count, np.int64),
        }
        for name, value in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    @classmethod
    def measured(
        cls,
        requested: Float[np.ndarray, "policy objective"],
        horizons: Float[np.ndarray, " policy"],
        singles: SingleReturns,
        *,
        tolerances: Tolerances,
        network: Int[np.ndarray, " policy"] | None = None,
        order: AbstractOrder = PARETO,
    ) -> "CoverageSet":
        """The coverage set of policies with these requested returns and single executions."""
        once = cls(
            requested,
            horizons,
            singles.means,
            singles.deviation,
            tolerances,
            network=np.zeros(len(singles), np.int64) if network is None else network,
            singles=singles,
            order=order,
        )
        repeated = singles.counts > 1
        if not repeated.any():
            return once
        margins = singles.margins()
        return replace(
            once,
            executions=singles.counts,
            # One execution says nothing about chance: the others do, the least certain of them.
            margin=np.where(repeated[:, None], margins, margins[repeated].max(axis=0)),
            low=singles.quantiles(LOW),
            high=singles.quantiles(HIGH),
        )

    @classmethod
    def unexecuted(
        cls,
        requested: Float[np.ndarray, "policy objective"],
        horizons: Float[np.ndarray, " policy"],
        *,
        tolerances: Tolerances,
        order: AbstractOrder = PARETO,
        network: Int[np.ndarray, " policy"] | None = None,
        num_stopped: int = 0,
    ) -> "CoverageSet":
        """Policies that were never run: `executed` is the requested return, with zero
        executions."""
        return cls(
            requested,
            horizons,
            requested.copy(),
            np.zeros_like(requested),
            tolerances,
            executions=np.zeros(len(requested), np.int64),
            network=np.zeros(len(requested), np.int64) if network is None else network,
            order=order,
            num_stopped=num_stopped,
        )

    def remeasured(self, singles: SingleReturns) -> "CoverageSet":
        """The same policies with the returns of other executions."""
        return CoverageSet.measured(
            self.requested,
            self.horizons,
            singles,
            tolerances=self.tolerances,
            network=self.network,
            order=self.order,
        )

    def taking(self, index: int) -> "CoverageSet":
        """Only the policy at `index`, executed by the first and only network."""
        one = slice(index, index + 1)
        return replace(
            self,
            network=np.zeros(1, np.int64),
            recorded_front=None,
            num_stopped=0,
            singles=None
            if self.singles is None
            else SingleReturns((self.singles.by_policy[index],)),
            **{
                name: getattr(self, name)[one]
                for name in (
                    "requested", "horizons", "executed", "deviation", "executions", "margin",
                    "low", "high",
                )
            },
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.executed)

    @property
    def is_executed(self) -> bool:
        """Whether the policies were run; otherwise their returns are those of logged episodes."""
        return bool(np.all(self.executions > 0))

    @property
    def is_repeated(self) -> bool:
        """Whether any policy was executed more than once, so that there are means."""
        return bool(np.any(self.executions > 1))

    @property
    def slack(self) -> Float[np.ndarray, "policy objective"]:
        """How much less than requested an executed return may be and still count as reached.

        It is the tolerance, or the margin of the mean where that is larger.
        """
        return np.maximum(self.margin, self.tolerance_vector)

    @property
    def tolerance_vector(self) -> Float[np.ndarray, " objective"]:
        """The tolerance of each objective."""
        return np.broadcast_to(np.asarray(self.tolerances, np.float64), self.executed.shape[1:])

    @property
    def front_mask(self) -> Bool[np.ndarray, " policy"]:
        """Mark the policies whose executed return no other executed return dominates."""
        if self.order.compares_samples and self.recorded_front is not None:
            return self.recorded_front
        samples = None if self.singles is None else self.singles.by_policy
        return self.order.front_mask(self.executed, samples, self.tolerances)

    @property
    def front(self) -> Float[np.ndarray, "point objective"]:
        """The non-dominated executed returns."""
        return self.executed[self.front_mask]


def agreeing_mask(one: CoverageSet, other: CoverageSet) -> Bool[np.ndarray, " policy"]:
    """Mark the policies whose means in two sets of executions differ by no more than chance.

    The margin of a difference of two means is the root of the sum of their squared margins; each
    objective is compared by itself.
    """
    margin = np.sqrt(one.margin**2 + other.margin**2)
    difference = np.abs(one.executed - other.executed)
    return np.all(difference <= np.maximum(margin, one.tolerance_vector), axis=1)
