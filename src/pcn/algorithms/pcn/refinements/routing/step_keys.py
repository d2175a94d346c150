"""Keys of steps: observations rounded so that equal ones have equal bits, and numbers for them."""

import numpy as np
from jaxtyping import Float, Int, UInt64

from pcn.fingerprints import row_fingerprints

OBSERVATION_BITS = 20
"""Binary digits of a number in an observation that count: single precision has 24."""


def tidy(
    numbers: Float[np.ndarray, "*step part"], bits: int = OBSERVATION_BITS
) -> Float[np.ndarray, "*step part"]:
    """Rounded to so many binary digits, and without minus zero: equal numbers have equal bits.

    >>> tidy(np.array([[0.1 + 0.2, -0.0]])) == tidy(np.array([[0.3, 0.0]]))
    array([[ True,  True]])
    """
    mantissa, exponent = np.frexp(numbers)
    return np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits) + 0.0


def step_keys(
    observations: Float[np.ndarray, "step part"], actions: Int[np.ndarray, " step"]
) -> UInt64[np.ndarray, " step"]:
    """A number per observation and action, equal for equal ones; observations are `tidy`."""
    return row_fingerprints(observations) * np.uint64(31) + actions.astype(np.uint64)
