"""CoverageSet: what every algorithm ends in: executed returns, and how to reach each."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pcn.pareto import Tolerances, non_dominated_mask, rounded


@dataclass(frozen=True)
class CoverageSet:
    """One row per policy: its requested return, and what it returned when executed."""

    requested: Float[np.ndarray, "policy objective"]
    """The return each policy stands for: in PCN's dataset, or as MONES and RA measured it."""
    horizons: Float[np.ndarray, " policy"]
    """The requested number of steps, or for algorithms without commands the measured one."""
    executed: Float[np.ndarray, "policy objective"]
    """The return it reached; the mean where the environment is stochastic."""
    deviation: Float[np.ndarray, "policy objective"]
    """Standard deviation of the executed return; zero where there was one execution."""
    tolerances: Tolerances = 0.0
    """Returns that are closer than this in every objective are the same."""

    def __len__(self) -> int:
        return len(self.executed)

    @property
    def tolerance_vector(self) -> Float[np.ndarray, " objective"]:
        """The tolerance of each objective."""
        return np.broadcast_to(np.asarray(self.tolerances, np.float64), self.executed.shape[1:])

    @property
    def front_mask(self) -> Bool[np.ndarray, " policy"]:
        """Mark the policies whose executed return no other executed return dominates."""
        return non_dominated_mask(rounded(self.executed, self.tolerances))

    @property
    def front(self) -> Float[np.ndarray, "point objective"]:
        """The non-dominated executed returns."""
        return self.executed[self.front_mask]
