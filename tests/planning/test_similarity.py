"""States of which nothing is known are compared with known ones."""

import numpy as np

from pcn.planning.similarity import most_similar


def test_a_state_is_taken_for_the_nearest_known_one_in_standard_deviations():
    numbers = np.array([[0.0, 0.0], [1.0, 1000.0], [0.0, 990.0], [1.0, 300.0]])
    acted = np.array([True, True, False, False])
    # 990 are 2.3 deviations; the 1 and the 10 from the second state are 2.0 and 0.02.
    assert most_similar(numbers, acted).tolist() == [0, 1, 1, 1]
    assert most_similar(numbers * [0.0, 1.0], acted).tolist() == [0, 1, 1, 0]
