import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.ra.config import RAConfig
from pcn.algorithms.ra.gradients import PolicyGradients, advantages
from pcn.algorithms.stacked.algorithm import fresh_policy, stacked
from pcn.algorithms.stacked.execute import run_each
from pcn.episodes import Episodes
from pcn.nets.plain_policy import WeightVector
from pcn.rollout.runner import Runner

KEY = np.array([0, 7], np.uint32)
REWARDS = np.array([[1.0, 3.0], [2.0, 1.0]])  # of the fork's two branches


def episodes_with(rewards, lengths):
    rewards = jnp.asarray(rewards, jnp.float32)
    count, time, _ = rewards.shape
    return Episodes(
        jnp.zeros((count, time, 1), jnp.int32),
        jnp.zeros((count, time, 1), jnp.int32),
        rewards,
        jnp.asarray(lengths, jnp.int32),
        jnp.ones(count, bool),
    )


@pytest.fixture(scope="module")
def on_the_fork(fork):
    """A policy with weights of its own on the fork, and what many of its episodes tell."""
    vector = WeightVector(fresh_policy(fork.spec, RAConfig(), KEY))
    weights = 0.7 * jax.random.normal(jax.random.key(3), (vector.size,))
    count = 8_000
    stack = stacked(vector.policy(weights), count)
    episodes = run_each(Runner(fork), stack, count, sharpness=1.0, key=KEY)
    return PolicyGradients(vector, episodes.trimmed(1)), weights


def probabilities(gradients, weights):
    logits = gradients.vector.policy(weights)(jnp.zeros(1, jnp.int32))
    return np.asarray(jax.nn.softmax(logits), dtype=np.float64)


def finite_differences(function, weights, *, step=1e-2):
    slopes = []
    for index in range(len(weights)):
        moved = [function(weights.at[index].add(sign * step)) for sign in (1, -1)]
        slopes.append((np.asarray(moved[0], float) - np.asarray(moved[1], float)) / (2 * step))
    return np.stack(slopes, axis=-1)


def test_advantages_by_hand():
    # Two episodes of 2 and 1 steps; from the start they return 1 + 2 = 3 and 5, on average 4.
    episodes = episodes_with([[[1.0, 0.0], [2.0, 0.0]], [[5.0, 1.0], [9.0, 9.0]]], [2, 1])
    episodes = eqx.tree_at(lambda e: e.rewards, episodes, episodes.rewards.at[1, 1].set(0.0))
    expected = [[[-1.0, -0.5], [0.0, 0.0]], [[1.0, 0.5], [0.0, 0.0]]]
    np.testing.assert_allclose(advantages(episodes, discount=1.0), expected)


def test_discounted_advantages_count_later_steps_less():
    episodes = episodes_with([[[0.0], [4.0]], [[0.0], [0.0]]], [2, 2])
    actual = advantages(episodes, discount=0.5)[..., 0]
    # From the start: 2 and 0, around 1. From the second step: 4 and 0, around 2, times 0.5.
    np.testing.assert_allclose(actual, [[1.0, 1.0], [-1.0, -1.0]])


@pytest.mark.slow
def test_the_jacobian_is_the_slope_of_the_expected_returns(on_the_fork):
    gradients, weights = on_the_fork
    estimated = gradients.jacobian(weights, advantages(gradients.episodes, discount=1.0))
    exact = finite_differences(lambda moved: probabilities(gradients, moved) @ REWARDS, weights)
    assert np.abs(exact).max() > 0.1
    np.testing.assert_allclose(estimated, exact, atol=0.03)


@pytest.mark.slow
def test_the_jacobian_is_the_slope_of_the_weighted_log_probabilities(on_the_fork):
    gradients, weights = on_the_fork
    few = PolicyGradients(gradients.vector, gradients.episodes.taking(np.arange(5)))
    beyond = jax.random.normal(jax.random.key(0), (5, 1, 2))

    def surrogate(moved):
        return jnp.tensordot(beyond, few.log_probabilities(moved), ((0, 1), (0, 1))) / 5

    np.testing.assert_allclose(
        few.jacobian(weights, beyond), finite_differences(surrogate, weights), atol=1e-3
    )


@pytest.mark.slow
def test_entropy_by_hand(on_the_fork):
    gradients, weights = on_the_fork
    chances = probabilities(gradients, weights)
    expected = -np.sum(chances * np.log(chances))
    assert float(gradients.entropy(weights)) == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
def test_the_curvature_of_the_divergence_is_the_fisher_matrix(on_the_fork):
    gradients, weights = on_the_fork
    gradients = PolicyGradients(gradients.vector, gradients.episodes.taking(np.arange(2_000)))
    hessian = jax.hessian(lambda other: gradients.divergence(weights, other))(weights)
    scores = jax.jacobian(gradients.log_probabilities)(weights)[:, 0]
    np.testing.assert_allclose(hessian, scores.T @ scores / len(scores), atol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("bound", [1e-4, 1e-3])
def test_a_natural_step_rises_and_goes_as_far_as_it_may(on_the_fork, bound):
    gradients, weights = on_the_fork
    slope = gradients.jacobian(weights, advantages(gradients.episodes, discount=1.0))[0]
    step = gradients.natural_step(weights, slope, bound, conjugate_steps=10, damping=1e-3)
    assert float(slope @ step) > 0
    far = float(gradients.divergence(weights, weights + step))
    assert far == pytest.approx(bound, rel=0.15)


@pytest.mark.slow
def test_padding_changes_nothing(fork):
    vector = WeightVector(fresh_policy(fork.spec, RAConfig(), KEY))
    weights = 0.7 * jax.random.normal(jax.random.key(3), (vector.size,))
    episodes = run_each(
        Runner(fork), stacked(vector.policy(weights), 8), 8, sharpness=1.0, key=KEY
    )  # ten steps wide, one step long
    outcomes = []
    for seen in (episodes, episodes.trimmed(1)):
        gradients = PolicyGradients(vector, seen)
        outcomes.append(
            (
                gradients.jacobian(weights, advantages(seen, discount=1.0)),
                gradients.entropy(weights),
            )
        )
    for padded, trimmed in zip(*outcomes, strict=True):
        np.testing.assert_allclose(padded, trimmed, atol=1e-6)
