"""Action masks as one vector, for callers that do not have the action head at hand."""

from typing import Any

import numpy as np
from jaxtyping import Bool


def flat_mask(given: Any) -> Bool[np.ndarray, " choice"]:
    """A mask as environments give it, one vector or one for each part, as one vector."""
    parts = given if isinstance(given, tuple | list) else [given]
    return np.concatenate([np.ravel(part) for part in parts]).astype(bool)
