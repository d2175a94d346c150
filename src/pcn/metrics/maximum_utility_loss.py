"""Maximum utility loss: the most that any user loses compared with the true front."""

from copy import deepcopy

import numpy as np
from jaxtyping import Float

from pcn.metrics.expected_utility import Family, best_utilities


def maximum_utility_loss(
    returns: Float[np.ndarray, "point objective"],
    front: Float[np.ndarray, "front objective"],
    reference_point: Float[np.ndarray, " objective"],
    ideal: Float[np.ndarray, " objective"],
    *,
    family: Family = "mixed",
    num_utilities: int = 999,
    rng: np.random.Generator | None = None,
) -> float:
    """The largest difference, over random users, between the front's best and the returns' best.

    The users are those of `expected_utility`; `family="linear"` between zeros and ones is the
    maximum utility loss of the field (MUL). Lower is better, and negative only where the
    returns are better than the front for everyone.

    >>> front = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> maximum_utility_loss(front, front, np.zeros(2), np.ones(2))
    0.0
    """
    available, achieved = (
        best_utilities(
            points,
            reference_point,
            ideal,
            family=family,
            num_utilities=num_utilities,
            rng=same_users,
        )
        for points, same_users in ((front, deepcopy(rng)), (returns, rng))
    )
    return float((available - achieved).max())
