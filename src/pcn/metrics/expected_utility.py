"""Expected utility of a set of returns for users with random monotone preferences."""

from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from pcn.pareto import unique_front

SingleFamily = Literal["linear", "chebyshev", "cobb-douglas"]
Family = Literal["mixed"] | SingleFamily

_MOST_PAIRS_AT_ONCE = 1 << 20


def expected_utility(
    returns: Float[np.ndarray, "point objective"],
    reference_point: Float[np.ndarray, " objective"],
    ideal: Float[np.ndarray, " objective"],
    *,
    family: Family = "mixed",
    num_utilities: int = 999,
    rng: np.random.Generator | None = None,
) -> float:
    """The mean, over random users, of the utility of the return each likes best.

    Objectives are scaled so that `reference_point` is 0 and `ideal` is 1; call the result z.
    Each user draws weights w uniformly from the simplex, and has a utility that is monotone
    and worth 1 at the ideal:

    - linear: the weighted sum of z,
    - chebyshev: min(z / w) max(w), which wants balance and finds concave parts of a front,
    - cobb-douglas: the weighted geometric mean of z,
    - mixed: a third of the users each.

    In the last two, an objective at or below the reference point is worth nothing.
    `family="linear"` between zeros and ones is the expected utility of the field (EUM).
    Without `rng` the users are always the same ones, so that sets can be compared.

    >>> corners = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> expected_utility(corners, np.zeros(2), np.ones(2), family="chebyshev")
    0.0
    """
    return float(
        best_utilities(
            returns,
            reference_point,
            ideal,
            family=family,
            num_utilities=num_utilities,
            rng=rng,
        ).mean()
    )


def best_utilities(
    returns: Float[np.ndarray, "point objective"],
    reference_point: Float[np.ndarray, " objective"],
    ideal: Float[np.ndarray, " objective"],
    *,
    family: Family = "mixed",
    num_utilities: int = 999,
    rng: np.random.Generator | None = None,
) -> Float[np.ndarray, " utility"]:
    """Each random user's utility of the return they like best; see `expected_utility`."""
    if len(returns) == 0:
        raise ValueError("returns has no points: expected utility needs at least one")
    if not np.all(ideal > reference_point):
        raise ValueError(f"ideal {ideal} must be above reference_point {reference_point}")
    families: tuple[SingleFamily, ...] = get_args(SingleFamily) if family == "mixed" else (family,)
    if num_utilities < len(families):
        raise ValueError(f"num_utilities must be at least {len(families)}, got {num_utilities}")
    rng = np.random.default_rng(0) if rng is None else rng
    weights = rng.dirichlet(np.ones(returns.shape[1]), size=num_utilities)
    # Monotone utilities never prefer a dominated return.
    scaled = (returns[unique_front(returns)] - reference_point) / (ideal - reference_point)
    size = max(1, _MOST_PAIRS_AT_ONCE // len(scaled))
    return np.concatenate(
        [
            _utilities(some[start : start + size], scaled, one_family).max(axis=1)
            for one_family, some in zip(
                families, np.array_split(weights, len(families)), strict=True
            )
            for start in range(0, len(some), size)
        ]
    )


def _utilities(
    weights: Float[np.ndarray, "utility objective"],
    scaled: Float[np.ndarray, "point objective"],
    family: SingleFamily,
) -> Float[np.ndarray, "utility point"]:
    utilities: Float[np.ndarray, "utility point"]
    positive = np.maximum(scaled, 0.0)
    if family == "linear":
        utilities = weights @ scaled.T
    elif family == "cobb-douglas":
        with np.errstate(divide="ignore"):  # log 0 is -inf, and its utility 0
            utilities = np.exp(weights @ np.log(positive).T)
    else:
        worst = np.full((len(weights), len(positive)), np.inf)
        for weight, values in zip(weights.T, positive.T, strict=True):
            np.minimum(worst, values / weight[:, None], out=worst)
        utilities = worst * weights.max(axis=1, keepdims=True)
    return utilities
