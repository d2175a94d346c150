"""What was passed before is not looked at again."""

import numpy as np

from pcn.algorithms.pcn.refinements.joining import passed as module
from pcn.algorithms.pcn.refinements.joining.passed import Passed, passing_prints

SEEN = np.array([[0.5, 0.0], [0.5, 0.0], [0.5, 0.0], [0.25, 0.0]], np.float32)
RETURNS = np.array([[1.0], [1.0 + 1e-12], [2.0], [1.0]])


def test_an_observation_with_the_same_return_is_new_once():
    prints, passed = passing_prints(SEEN, RETURNS, seed=0), Passed()
    assert passed.new_mask(prints).tolist() == [True, False, True, True]
    assert not passed.new_mask(prints).any()
    restored = Passed()
    restored.from_array(passed.to_array())
    assert not restored.new_mask(prints).any()
    assert restored.new_mask(passing_prints(SEEN, RETURNS, seed=1)).any()


def test_so_many_are_remembered_and_no_more(monkeypatch):
    monkeypatch.setattr(module, "MOST_PASSED", 2)
    prints, passed = passing_prints(SEEN, RETURNS, seed=0), Passed()
    passed.new_mask(prints)
    assert passed.new_mask(prints).any()
