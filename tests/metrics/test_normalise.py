import inspect

import numpy as np
import pytest

from pcn.metrics.normalise import check_comparable, normalised


def test_the_front_spans_zero_to_one():
    front = np.array([[1.0, -3.0], [5.0, -7.0], [2.0, -4.0]])
    np.testing.assert_allclose(normalised(front, front=front), [[0, 1], [1, 0], [0.25, 0.75]])


def test_an_objective_without_range_is_only_shifted():
    front = np.array([[1.0, 6.0], [3.0, 6.0]])
    assert normalised(np.array([[2.0, 9.0]]), front=front).tolist() == [[0.5, 3.0]]


def test_inputs_are_left_as_they_are():
    front = np.array([[1.0, 6.0], [3.0, 9.0]])
    normalised(front, front=front)
    assert front.tolist() == [[1, 6], [3, 9]]


def test_refusals_name_the_value():
    unchecked = inspect.unwrap(check_comparable)  # without the tests' checked annotations
    with pytest.raises(ValueError, match="front has 2 objectives, returns have 3"):
        unchecked(np.zeros((1, 3)), np.zeros((1, 2)))
    with pytest.raises(ValueError, match="front has no points"):
        normalised(np.zeros((1, 2)), front=np.zeros((0, 2)))
