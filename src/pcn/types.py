"""Array types that several modules share."""

import jax
import numpy as np
from jaxtyping import PRNGKeyArray, UInt32

AnyArray = jax.Array | np.ndarray
"""An array on the device, or one on the host that compiled code takes just as well."""

RandomKey = PRNGKeyArray | UInt32[np.ndarray, " 2"]
"""A JAX key, or its two raw numbers."""
