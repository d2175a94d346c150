"""Targets of weighted values against calculation by hand, and values that are known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.pcn.refinements.valued.replay import Outlook, Replay
from pcn.algorithms.pcn.refinements.valued.value_learning import (
    ValueLearner,
    expected_of_plans,
    learn_values,
    random_weights,
    targets,
    value_loss,
    values_of,
)
from pcn.nets.value_network import ValueNetwork
from pcn.planning.seen_steps import SeenSteps


def constant(values, extent=(1.0, 1.0), sizes=(2,)):
    """A network that says the same everywhere: a value for each option, two if not given."""
    zeros, ones = np.zeros(1, np.float32), np.ones(2, np.float32)
    network = ValueNetwork(
        zeros, zeros + 1, ones, sizes=sizes, width=2, normalises=False, key=jax.random.PRNGKey(0)
    )
    layers = jax.tree.map(lambda leaf: leaf * 0 if eqx.is_array(leaf) else leaf, network.network)
    layers = eqx.tree_at(lambda one: one.layers[-1].bias, layers, jnp.ravel(jnp.array(values)))
    return eqx.tree_at(lambda one: (one.network, one.extent), network, (layers, jnp.array(extent)))


@pytest.mark.parametrize(
    ("extent", "expected"),
    [
        # .75 * 1 + .25 * 0 is more than .75 * 0 + .25 * 2: the older value of the first option
        ((1.0, 1.0), [[1.0 + 0.5 * 10, 2.0 + 0.5 * 20], [3.0, 4.0]]),
        # in extents .25 * 1 is less than .25 * 2: that of the second option
        ((3.0, 1.0), [[1.0 + 0.5 * 30, 2.0 + 0.5 * 40], [3.0, 4.0]]),
    ],
)
def test_newer_values_choose_and_older_ones_tell_what_it_is_worth(extent, expected):
    values = constant([[1.0, 0.0], [0.0, 2.0]], extent)
    older = constant([[10.0, 20.0], [30.0, 40.0]])
    outlook = Outlook(
        observations=jnp.zeros((2, 1)),
        options=jnp.zeros(2, jnp.int32),
        rewards=jnp.array([[1.0, 2.0], [3.0, 4.0]]),
        next_observations=jnp.zeros((2, 1)),
        discounts=jnp.array([0.5, 0.0]),  # the second step was the last
    )
    weights = jnp.array([[0.75, 0.25], [0.75, 0.25]])
    np.testing.assert_allclose(targets(values, older, outlook, weights), expected)


def test_a_plan_is_expected_to_return_the_value_of_its_best_option():
    values = constant([[1.0, 0.0], [0.0, 2.0]], extent=(3.0, 1.0))
    values = eqx.tree_at(lambda one: one.unit, values, jnp.array([10.0, 100.0]))
    starts = np.array([[0.0], [5.0]], np.float32)
    # 10 / 3 * w beats 200 * (1 - w) for nobody but those who weigh the first objective alone.
    expected = expected_of_plans(values, starts, np.array([[1.0, 0.0], [0.5, 0.5]]))
    np.testing.assert_allclose(expected, [[10.0, 0.0], [0.0, 200.0]])


def test_the_values_of_all_parts_of_an_action_are_summed():
    each = [[1.0, 0.0], [0.0, 2.0], [5.0, 0.0], [0.0, 3.0], [0.0, 4.0]]
    values = constant(each, sizes=(2, 3))
    starts, weights = np.zeros((1, 1), np.float32), np.array([[1.0, 0.0], [0.0, 1.0]])
    # (1, 0) and (5, 0) are best for the first objective, (0, 2) and (0, 4) for the second.
    np.testing.assert_allclose(expected_of_plans(values, starts, weights), [[6.0, 0.0], [0.0, 6.0]])
    outlook = Outlook(
        observations=jnp.zeros((1, 1)),
        options=jnp.array([5]),  # the last option of both parts: (0, 2) and (0, 4)
        rewards=jnp.array([[1.0, 2.0]]),
        next_observations=jnp.zeros((1, 1)),
        discounts=jnp.array([0.5]),
    )
    wanted = targets(values, values, outlook, jnp.array([[1.0, 0.0]]))
    np.testing.assert_allclose(wanted, [[1.0 + 0.5 * 6, 2.0]])
    # It says (0, 6), which is 4 and 4 away: Huber losses of 3.5 each.
    assert value_loss(values, outlook, jnp.array([[1.0, 0.0]]), wanted, 1.0) == pytest.approx(7.0)
    # Squared up to 4, they are 8 each.
    assert value_loss(values, outlook, jnp.array([[1.0, 0.0]]), wanted, 4.0) == pytest.approx(16.0)


def test_random_weights_sum_to_one_and_some_care_for_one_objective_only():
    weights = np.asarray(
        random_weights(np.zeros(2, np.uint32), (4000,), 3, single_share=0.25, middle_share=0.5)
    )
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-5)
    assert np.mean(weights.max(axis=1) == 1.0) == pytest.approx(0.25, abs=0.03)
    # The middle is (1/3, 1/3, 1/3), and .6 of the way to it leaves at least .2 of each.
    assert np.mean(weights.min(axis=1) >= 0.2) == pytest.approx(0.5, abs=0.1)
    assert weights.mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("huber_delta", "expected"),
    [
        # One of five pays 10: the mean is 2.
        (100.0, 2.0),
        # 4 v = 1 where the pull of each error is at most 1.
        (1.0, 0.25),
    ],
)
def test_the_mean_of_skewed_rewards_is_learnt_where_errors_count_squared(huber_delta, expected):
    nothing = np.zeros((5, 1), np.float32)
    replay = Replay(
        observations=nothing,
        options=np.zeros(5, np.int32),
        rewards=np.array([[0], [0], [0], [0], [10]], np.float32) * np.ones(2, np.float32),
        next_observations=nothing,
        terminated=np.ones(5, bool),
        left=np.ones(5, np.int32),
    )
    learner = learn_values(
        ValueLearner.fresh(constant([[0.0, 0.0]], sizes=(1,))),
        replay,
        np.asarray(5, np.int32),
        np.array([1, 2], np.uint32),
        num_updates=2000,
        batch_size=64,
        learning_rate=np.asarray(3e-3, np.float32),
        discount=0.9,
        num_steps=1,
        copied_after=50,
        huber_delta=huber_delta,
        weights=np.full((1, 2), 0.5, np.float32),
        chances=np.ones(1, np.float32),
    )
    values = values_of(learner.values, nothing[:1], np.full((1, 2), 0.5))
    np.testing.assert_allclose(values[0, 0], expected, atol=0.15)


@pytest.mark.slow
def test_values_of_a_chain_of_two_steps_are_learnt():
    # In 0 nothing is paid. In 1 option 0 pays (1, 0), option 1 pays (0, 1), and all is over.
    steps = dict(
        longest=np.array(2),
        observations=np.array([[0], [1], [0], [1]] * 2, np.float32),
        options=np.array([0, 0, 1, 1] * 2, np.int32),
        rewards=np.array([[0, 0], [1, 0], [0, 0], [0, 1]] * 2, np.float32),
        next_observations=np.array([[1], [2], [1], [2]] * 2, np.float32),
        terminated=np.array([False, True, False, True] * 2),
        first=np.array([True, False, True, False] * 2),
    )
    seen_steps = SeenSteps(8, step_limit=9)
    seen_steps.from_arrays(steps)
    network = ValueNetwork(
        np.zeros(1, np.float32),
        np.ones(1, np.float32),
        np.ones(2, np.float32),
        sizes=(2,),
        width=32,
        normalises=False,
        key=jax.random.PRNGKey(1),
    )
    shares = np.linspace(0, 1, 33, dtype=np.float32)
    learner = learn_values(
        ValueLearner.fresh(network),
        Replay.of(seen_steps),
        np.asarray(8, np.int32),
        np.array([1, 2], np.uint32),
        num_updates=1500,
        batch_size=32,
        learning_rate=np.asarray(3e-3, np.float32),
        discount=0.9,
        num_steps=1,
        copied_after=50,
        huber_delta=1.0,
        weights=np.stack([shares, 1 - shares], axis=1),
        chances=np.full(len(shares), 1 / len(shares), np.float32),
    )
    seen = np.array([[0.0], [0.0], [1.0]], np.float32)
    weights = np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
    values = values_of(learner.values, seen, weights)
    # From 0 on, those who weigh the first objective more are paid (.9, 0), the others (0, .9).
    np.testing.assert_allclose(values[0], [[0.9, 0.0]] * 2, atol=0.06)
    np.testing.assert_allclose(values[1], [[0.0, 0.9]] * 2, atol=0.06)
    np.testing.assert_allclose(values[2], [[1.0, 0.0], [0.0, 1.0]], atol=0.06)
    assert int(learner.num_updates) == 1500
