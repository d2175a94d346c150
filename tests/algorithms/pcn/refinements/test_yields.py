"""Steps are shared between two ways of exploring by what each of them brings."""

import numpy as np
import pytest

from pcn.algorithms.pcn.refinements.yields import Yields


def noted(commands, variations):
    """Yields after so many episodes with such a gain of each kind."""
    yields = Yields()
    for varied, (episodes, gain) in enumerate((commands, variations)):
        yields.add(varied=bool(varied), num_episodes=episodes, gain=gain)
    return yields


def test_both_kinds_are_tried_alike_at_first():
    assert Yields().share(0.0, 0.9) == 0.5


def test_the_kind_that_brings_more_gets_more():
    # (.01 + .01) / (19 + 1) = .001 and (.05 + .01) / (19 + 1) = .003
    assert noted((19, 0.01), (19, 0.05)).share(0.0, 0.9) == pytest.approx(0.75)
    assert noted((19, 0.05), (19, 0.01)).share(0.0, 0.9) == pytest.approx(0.25)


def test_shares_stay_within_their_limits():
    assert noted((99, 1), (99, 0)).share(0.1, 0.5) == 0.1
    assert noted((99, 0), (99, 1)).share(0.1, 0.5) == 0.5


def test_what_happened_long_ago_counts_less():
    yields = noted((100, 1), (100, 0))
    before = yields.share(0.0, 0.9)
    for _ in range(100):
        yields.age(0.9)
    assert before < 0.02
    assert yields.share(0.0, 0.9) == pytest.approx(0.5, abs=0.01)


def test_fractions_of_variations_are_not_lost():
    yields = Yields()
    played = [yields.next_variations(0.2, 2) for _ in range(8)]  # .2 / .8 of 2 episodes: one half
    assert played == [0, 1] * 4


def test_a_checkpoint_goes_on_as_it_was():
    yields, restored = noted((8, 0.3), (4, 0.2)), Yields()
    yields.next_variations(0.3, 5)
    restored.from_arrays(yields.to_arrays())
    assert restored.share(0.0, 0.9) == yields.share(0.0, 0.9)
    shares = (0.3, 0.4, 0.1)
    assert [restored.next_variations(share, 7) for share in shares] == [
        yields.next_variations(share, 7) for share in shares
    ]


def test_forgetting_begins_anew():
    yields = noted((50, 0), (50, 1))
    yields.forget()
    np.testing.assert_array_equal(yields.to_arrays()["counts"], np.zeros((2, 2)))
