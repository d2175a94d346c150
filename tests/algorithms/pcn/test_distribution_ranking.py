import numpy as np

from pcn.algorithms.pcn.distribution_ranking import DistributionComparison, compared
from pcn.algorithms.pcn.ranking import Comparison, choose, unbeaten_mask
from pcn.pareto import PARETO, Lorenz, Stochastic
from pcn.single_returns import SingleReturns


def by(order, *returns):
    return compared(SingleReturns(tuple(np.asarray(one, float) for one in returns)), 0.0, order)


def lottery(win, lose, share, count):
    won = round(share * count)
    return np.repeat([[win, 0.0], [lose, 0.0]], [won, count - won], axis=0)


def test_the_order_decides_how_commands_are_compared():
    assert isinstance(by(PARETO, [[1, 2]], [[2, 1]]), Comparison)
    assert isinstance(by(Stochastic(), [[1, 2]], [[2, 1]]), DistributionComparison)


def test_a_risk_that_may_pay_off_is_offered_and_a_worse_lottery_is_not():
    safe, risky, worse = (
        lottery(5, 5, 1.0, 200), lottery(9, 0, 0.5, 200), lottery(5, 0, 0.5, 200),
    )  # fmt: skip
    assert choose(by(PARETO, safe, risky, worse), confidence=0.5).tolist() == [0]
    comparison = by(Stochastic(), safe, risky, worse)
    assert sorted(choose(comparison, confidence=0.5).tolist()) == [0, 1]
    kept = unbeaten_mask(comparison, confidence=0.99, identical_after=16)
    assert kept.tolist() == [True, True, False]
    assert comparison.ranked(0.95)[0, 2]
    assert comparison.clearness(0.95)[0, 2] > 1
    assert comparison.clearness(0.95)[0, 1] < 0


def test_few_executions_beat_nobody():
    comparison = by(Stochastic(), lottery(5, 5, 1.0, 8), lottery(5, 0, 0.5, 8))
    assert not comparison.beats(0.99).any()
    assert not comparison.ranked(0.99)[0, 1]


def test_the_same_lottery_is_offered_once():
    rng = np.random.default_rng(0)
    draws = [lottery(9, 0, 0.5, 400)[rng.permutation(400)] for _ in range(3)]
    assert len(choose(by(Stochastic(), *draws), confidence=0.5)) == 1


def test_fair_means_beat_unfair_ones_of_the_same_sum_only_in_a_fair_order():
    rng = np.random.default_rng(1)
    fair = [3.0, 3.0] + 0.1 * rng.normal(size=(50, 2))
    unfair = [1.0, 5.0] + 0.1 * rng.normal(size=(50, 2))
    assert not by(PARETO, fair, unfair).beats(0.95).any()
    # The worst-off gain two. The sums differ by nothing that matters: a tenth of the range.
    comparison = compared(SingleReturns((fair, unfair)), 0.1, Lorenz())
    assert comparison.beats(0.95).tolist() == [[False, True], [False, False]]
    assert choose(comparison, confidence=0.95).tolist() == [0]
