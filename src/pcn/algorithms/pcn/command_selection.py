"""Choosing what to ask for while exploring (section 4.3)."""

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.core_config import CoreConfig
from pcn.algorithms.pcn.rows import Archive


def select_commands(
    known: Archive, num_commands: int, config: CoreConfig, rng: np.random.Generator
) -> tuple[Float[np.ndarray, "command objective"], Float[np.ndarray, " command"]]:
    """Desired returns and horizons slightly beyond known episodes, in the paper the non-dominated.

    Each starts from a random one of their returns and raises one random objective by up to that
    objective's standard deviation over all of them.
    """
    num_distinct = 1 if config.shared_command else num_commands
    chosen = rng.integers(len(known), size=num_distinct)
    desired = known.returns[chosen].copy()
    objective = rng.integers(desired.shape[1], size=num_distinct)
    deviation = known.returns.std(axis=0)
    desired[np.arange(num_distinct), objective] += rng.uniform(0, deviation[objective])
    horizon = np.maximum(known.horizons[chosen] + config.horizon_offset, 1.0)
    repeats = num_commands // num_distinct
    return np.repeat(desired, repeats, axis=0), np.repeat(horizon, repeats)
