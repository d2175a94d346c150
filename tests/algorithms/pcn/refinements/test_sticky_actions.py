import numpy as np

from pcn.algorithms.pcn.refinements import StickyActions


def test_episodes_differ_in_how_long_they_repeat_an_action():
    repeat = StickyActions(share=1.0).repeat_probabilities(5_000, np.random.default_rng(0))
    assert len(set(repeat.tolist())) > 2_500
    assert repeat.min() == 0
    assert 0.94 < repeat.max() <= 0.95
    # max(0.95 - u^2, 0): the mean is sqrt(.95) * .95 * 2 / 3.
    np.testing.assert_allclose(repeat.mean(), np.sqrt(0.95) * 0.95 * 2 / 3, atol=0.01)


def test_the_largest_probability_can_be_set():
    repeat = StickyActions(most=0.5).repeat_probabilities(1_000, np.random.default_rng(0))
    assert 0.49 < repeat.max() <= 0.5


def test_most_episodes_choose_every_random_action_anew():
    repeat = StickyActions().repeat_probabilities(20_000, np.random.default_rng(0))
    # A quarter repeats, and of these max(0.95 - u^2, 0) is zero for u > sqrt(0.95).
    np.testing.assert_allclose(np.mean(repeat > 0), 0.25 * np.sqrt(0.95), atol=0.01)
    assert np.mean(repeat > 0.8) > 0.08


def test_without_a_share_no_episode_repeats():
    repeat = StickyActions(share=0.0).repeat_probabilities(100, np.random.default_rng(0))
    assert not repeat.any()


def test_runs_from_before_there_was_a_share_draw_the_same_random_numbers():
    rng, then = np.random.default_rng(0), np.random.default_rng(0)
    repeat = StickyActions(share=1.0).repeat_probabilities(100, rng)
    np.testing.assert_array_equal(repeat, np.clip(0.95 - then.uniform(size=100) ** 2, 0, 1))
    assert rng.uniform() == then.uniform()
