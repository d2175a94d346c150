"""Equal steps have equal keys."""

import numpy as np

from pcn.algorithms.pcn.refinements.routing.step_keys import tidy
from pcn.fingerprints import row_fingerprints


def test_equal_numbers_have_equal_fingerprints():
    numbers = np.array([[0.1 + 0.2, -0.0], [0.3, 0.0], [0.3001, 0.0]])
    prints = row_fingerprints(tidy(numbers))
    assert prints[0] == prints[1] != prints[2]
