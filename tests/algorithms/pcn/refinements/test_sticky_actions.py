import numpy as np

from pcn.algorithms.pcn.refinements import StickyActions


def test_episodes_differ_in_how_long_they_repeat_an_action():
    repeat = StickyActions().repeat_probabilities(5_000, np.random.default_rng(0))
    assert len(set(repeat.tolist())) > 2_500
    assert repeat.min() == 0
    assert 0.94 < repeat.max() <= 0.95
    # max(0.95 - u^2, 0): the mean is sqrt(.95) * .95 * 2 / 3.
    np.testing.assert_allclose(repeat.mean(), np.sqrt(0.95) * 0.95 * 2 / 3, atol=0.01)


def test_the_largest_probability_can_be_set():
    repeat = StickyActions(most=0.5).repeat_probabilities(1_000, np.random.default_rng(0))
    assert 0.49 < repeat.max() <= 0.5
