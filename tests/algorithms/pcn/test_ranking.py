import numpy as np

from pcn.algorithms.pcn.ranking import Comparison, choose, unbeaten_mask, unranked_mask
from pcn.pareto import ORDERS
from pcn.single_returns import SingleReturns


def compared(*returns, indifference=0.0, order="pareto"):
    singles = SingleReturns(tuple(np.asarray(one, dtype=float) for one in returns))
    return Comparison.of(singles, indifference, ORDERS[order]())


def normal(rng, mean, count, deviation=1.0):
    return np.asarray(mean) + deviation * rng.normal(size=(count, len(mean)))


def test_differences_are_those_of_executions_with_the_same_number():
    one, other = [[1.0, 0.0], [4.0, 2.0], [9.0, 9.0]], [[0.0, 1.0], [1.0, 1.0]]
    comparison = compared(one, other)
    assert comparison.counts.tolist() == [[3, 2], [2, 2]]
    # 1 - 0 and 4 - 1; 0 - 1 and 2 - 1. The third execution has no counterpart.
    np.testing.assert_allclose(comparison.difference[0, 1], [2.0, 0.0])
    np.testing.assert_allclose(comparison.deviation[0, 1], [2**0.5, 2**0.5])
    np.testing.assert_allclose(comparison.difference[1, 0], [-2.0, 0.0])


def test_common_randomness_tells_neighbours_apart():
    rng = np.random.default_rng(0)
    weather = rng.normal(scale=50.0, size=(400, 2))
    apart = rng.normal(scale=50.0, size=(400, 2))
    better = weather + 5.0
    assert compared(better, weather).beats(0.9)[0, 1]
    assert not compared(better, apart).beats(0.9).any()


def test_a_lottery_that_nobody_has_won_yet_is_not_beaten():
    stake = np.full((8, 2), 1.0)
    ticket = np.zeros((8, 2))
    lucky = np.zeros((8, 2))
    lucky[3] = 100.0  # tells what chance can do
    comparison = compared(stake, ticket, lucky)
    assert not comparison.beats(0.95)[0, 1]
    assert compared(stake, ticket).beats(0.95)[0, 1]  # where chance was never seen


def test_what_is_equal_in_one_objective_and_better_in_another_wins():
    assert compared([[1.0, 2.0]] * 8, [[1.0, 1.0]] * 8).beats(0.95).tolist() == [
        [False, True],
        [False, False],
    ]


def test_a_fair_order_compares_what_the_worst_off_get():
    uneven, even = [[0.0, 4.0]] * 8, [[2.0, 2.0]] * 8
    assert not compared(uneven, even).beats(0.95).any()
    # The worst off get 0 and 2, all together 4 and 4.
    fair = compared(uneven, even, order="lorenz")
    np.testing.assert_allclose(fair.gain[1, 0], [2.0, 0.0])
    assert fair.beats(0.95).tolist() == [[False, False], [True, False]]


def test_dominated_means_are_beaten_and_better_ones_are_not():
    rng = np.random.default_rng(1)
    means = [[0.0, 4.0], [4.0, 0.0], [-1.0, -1.0]]
    comparison = compared(*(normal(rng, mean, 200) for mean in means))
    kept = unbeaten_mask(comparison, confidence=0.95, identical_after=10)
    assert kept.tolist() == [True, True, False]
    assert not unranked_mask(comparison, kept, 0.95).any()


def test_neighbours_that_cannot_be_ranked_need_more_executions():
    rng = np.random.default_rng(2)
    means = [[0.0, 4.0], [4.0, 0.0], [4.1, 0.05]]
    few = compared(*(normal(rng, mean, 10) for mean in means))
    everyone = np.ones(3, dtype=bool)
    assert unranked_mask(few, everyone, 0.95).tolist() == [False, True, True]
    many = compared(*(normal(rng, mean, 10_000) for mean in means))
    assert not unranked_mask(many, everyone, 0.95).any()


def test_one_of_two_identical_commands_is_enough_but_not_too_early():
    rng = np.random.default_rng(3)
    returns = normal(rng, [1.0, 2.0], 20)
    comparison = compared(returns, returns, normal(rng, [2.0, 1.0], 20))
    assert unbeaten_mask(comparison, confidence=0.9, identical_after=20)[:2].sum() == 1
    assert unbeaten_mask(comparison, confidence=0.9, identical_after=21)[:2].tolist() == [1, 1]


def test_wrong_decisions_are_as_rare_as_the_confidence_says():
    rng = np.random.default_rng(4)
    beaten = sum(
        compared(normal(rng, [0.0, 0.0], 20), normal(rng, [0.0, 0.0], 20)).beats(0.9).any()
        for _ in range(400)
    )
    assert beaten < 0.1 * 400


def test_what_never_varies_is_as_clear_as_can_be():
    # The margins are zero, and 3 divided by the smallest number is no number: that is clipped.
    clear = compared([[3.0, 0.0]] * 2, [[0.0, 0.0]] * 2).clearness(0.9)
    assert clear[0, 1] == 1e9
    assert clear[1, 0] == -1e9
    assert clear[0, 0] == clear[1, 1] == -np.inf  # nothing is better than itself


def test_units_of_an_objective_decide_nothing():
    rng = np.random.default_rng(5)
    means = [[0.0, 4.0], [4.0, 0.0], [2.0, 2.5], [1.9, 1.9], [1.0, 1.0]]
    returns = [normal(rng, mean, 50, 0.3) for mean in means]
    for scale in (1e-6, 1e6):
        scaled = [one * np.array([1.0, scale]) for one in returns]
        chosen = [
            choose(compared(*some, indifference=0.01), confidence=0.5).tolist()
            for some in (returns, scaled)
        ]
        assert chosen[0] == chosen[1]


def test_small_losses_do_not_add_up_along_a_dense_front():
    angles = np.linspace(0, np.pi / 2, 200)
    front = 10 * np.stack([np.cos(angles), np.sin(angles)], 1)
    # Each neighbour is better in one objective by more than what does not matter, and worse in
    # the other by less: all of a flat end could be given up for the next one.
    chosen = choose(
        compared(*np.tile(front[:, None], (1, 5, 1)), indifference=0.005), confidence=0.5
    )
    loss = (front[:, None] - front[chosen]).max(axis=2).min(axis=1)
    assert {0, 199} <= set(chosen.tolist())
    assert len(chosen) < 200
    assert loss.max() <= 0.05 + 1e-9  # 0.5 % of the range
