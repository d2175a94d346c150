import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.algorithms.mones.fitness import (
    fitness,
    hypervolume_contributions,
    non_dominated_ranks,
    utilities,
)
from pcn.envs.deep_sea_treasure import DeepSeaTreasure

return_sets = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(2, 4)),
    elements=st.integers(-3, 5).map(float),
)


@given(return_sets)
def test_a_contribution_is_what_the_hypervolume_loses(returns):
    reference = np.full(returns.shape[1], -1.0)
    front = returns[non_dominated_ranks(returns) == 0]
    distinct = np.unique(front, axis=0)
    expected = []
    for index in range(len(distinct)):
        volumes = [
            moocore.hypervolume(points, ref=reference, maximise=True) if len(points) else 0.0
            for points in (distinct, np.delete(distinct, index, axis=0))
        ]
        expected.append(volumes[0] - volumes[1])
    np.testing.assert_allclose(hypervolume_contributions(distinct, reference), expected, atol=1e-9)


@given(return_sets)
def test_every_return_is_dominated_by_one_of_the_rank_before(returns):
    ranks = non_dominated_ranks(returns)
    for index, rank in enumerate(ranks):
        before = returns[ranks == rank - 1]
        better = np.all(before >= returns[index], axis=1) & np.any(before > returns[index], axis=1)
        assert better.any() == (rank > 0)
        peers = returns[ranks == rank]
        assert not np.any(
            np.all(peers >= returns[index], axis=1) & np.any(peers > returns[index], axis=1)
        )


def test_utilities_by_hand():
    # Places 2, 1 and a shared 3.5 of four: log 3 - log 2, log 3, and nothing below zero.
    worth = np.array([np.log(3) - np.log(2), np.log(3), 0.0, 0.0])
    actual = utilities(np.array([0, 0, 1, 1]), np.array([2.0, 5.0, 7.0, 7.0]))
    np.testing.assert_allclose(actual, worth / worth.sum())


@pytest.mark.parametrize("kind", ["hypervolume", "crowding"])
def test_what_is_dominated_is_worth_less_and_what_is_rare_is_worth_more(kind):
    returns = np.array([[1.0, 3.0], [3.0, 1.0], [3.0, 1.0], [3.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    worth = fitness(returns, np.zeros(2), kind)
    assert worth[0] > worth[1] == worth[2] == worth[3] > worth[4] >= worth[5]
    assert worth.sum() == pytest.approx(1.0)


def test_a_treasure_next_to_the_start_is_worth_a_draw():
    """Contributions differ by orders of magnitude; places do not."""
    spec = DeepSeaTreasure().spec
    reference = np.asarray(spec.reference_point)
    alone = hypervolume_contributions(spec.front.returns, reference)
    assert alone.max() / alone.min() > 1_000
    copies = np.repeat(spec.front.returns, [1] + [9] * 9, axis=0)
    worth = fitness(copies, reference, "hypervolume")
    assert worth[0] > np.median(worth)


def test_draws_of_the_same_return_share_what_it_is_worth():
    """Else the return that is reached most often would pull hardest, until there is no other."""
    returns = np.array([[1.0, 3.0]] * 2 + [[3.0, 1.0]] * 10)
    worth = fitness(returns, np.zeros(2), "hypervolume")
    assert worth[:2].sum() == pytest.approx(worth[2:].sum()) == pytest.approx(0.5)


@given(return_sets)
def test_all_of_the_front_is_worth_something(returns):
    worth = fitness(returns, np.full(returns.shape[1], -9.0), "hypervolume")
    assert np.all(worth[non_dominated_ranks(returns) == 0] > 0)


def test_what_does_not_reach_the_reference_point_is_worth_nothing():
    returns = np.array([[-1.0, 9.0], [1.0, 1.0], [0.5, 0.5], [0.0, 0.0], [9.0, 0.0]])
    worth = fitness(returns, np.zeros(2), "hypervolume")
    assert worth[0] == worth[3] == 0.0
    # Equal in one objective and better in another: no volume, but a trade-off all the same.
    assert worth[1] > worth[4] > 0.0
    assert fitness(returns, np.zeros(2), "crowding")[0] > 0.0
    np.testing.assert_array_equal(fitness(returns[[0, 3]], np.zeros(2), "hypervolume"), 0.0)


def test_the_ends_of_a_front_are_the_least_of_its_volume_and_the_least_crowded():
    returns = np.array([[0.1, 3.0], [1.9, 2.1], [2.0, 2.0], [3.0, 0.1]])
    ends, between = [0, 3], [1, 2]
    by_volume = fitness(returns, np.zeros(2), "hypervolume")
    assert by_volume[between].min() > by_volume[ends].max()
    by_crowding = fitness(returns, np.zeros(2), "crowding")
    assert by_crowding[between].max() < by_crowding[ends].min()
    # Behind the front there is no volume to add: what is dominated is ordered by crowding.
    dominated = fitness(np.append(returns, [[9.0, 9.0]], axis=0), np.zeros(2), "hypervolume")
    assert dominated[between].max() == 0.0 < dominated[ends].min()


def test_many_objectives_are_judged_by_crowding():
    returns = np.random.default_rng(0).normal(size=(20, 6))
    reference = np.full(6, -9.0)
    np.testing.assert_array_equal(
        fitness(returns, reference, "auto"), fitness(returns, reference, "crowding")
    )
    few = returns[:, :2]
    np.testing.assert_array_equal(
        fitness(few, reference[:2], "auto"), fitness(few, reference[:2], "hypervolume")
    )
