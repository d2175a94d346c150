"""Array types that several modules share."""

import jax
import numpy as np
from jaxtyping import Int, Num, PRNGKeyArray, UInt32

AnyArray = jax.Array | np.ndarray
"""An array on the device, or one on the host that compiled code takes just as well."""

Action = Num[AnyArray, "*batch part"]
"""One action as a row of numbers, or many. Only its action head (`nets/heads/`) knows what the
numbers mean: choices for a categorical head, coordinates for a continuous one."""

RandomKey = PRNGKeyArray | UInt32[np.ndarray, " 2"]
"""A JAX key, or its two raw numbers."""

MostSteps = int | Int[np.ndarray, " episode"]
"""After how many steps episodes are broken off: one number for all of them, or one for each."""
