import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from pcn.errors import UserError
from pcn.nets.heads import action_head_for
from pcn.nets.heads.truncated_gaussian import LEAST_SPREAD, MOST_SPREAD

LOW, HIGH = -2.0, 6.0


def described(place, spread, bins=1):
    """Mean and deviation that two outputs stand for, in the first bin of a range from 0 to 1."""
    width = 1 / bins
    mean = width / 2 * (1 + np.tanh(place))
    share = 1 / (1 + np.exp(-spread))
    return mean, width * LEAST_SPREAD ** (1 - share) * MOST_SPREAD**share


def test_one_gaussian_has_the_density_of_scipys_truncated_normal():
    head = action_head_for(gym.spaces.Box(LOW, HIGH, (1,)), "gaussian")
    place, spread = 0.7, -0.4
    mean, deviation = described(place, spread)
    cut = stats.truncnorm((0 - mean) / deviation, (1 - mean) / deviation, mean, deviation)
    outputs = jnp.array([1.3, place, spread])  # a single bin's logit means nothing
    log_probability = jax.jit(head.log_probability)
    for unit in (0.0, 0.2, 0.5, 0.97, 1.0):
        expected = cut.logpdf(unit) - np.log(HIGH - LOW)
        action = jnp.array([LOW + unit * (HIGH - LOW)])
        assert float(log_probability(outputs, action)) == pytest.approx(expected, abs=1e-4)
    assert float(jax.jit(head.entropy)(outputs)) == pytest.approx(
        cut.entropy() + np.log(HIGH - LOW), abs=1e-4
    )


def test_two_bins_are_a_mixture_of_scipys_truncated_normals():
    head = action_head_for(gym.spaces.Box(0.0, 1.0, (1,)), "bins", levels=2)
    logits, places, spread = np.array([0.3, -0.8]), np.array([0.5, -1.0]), 0.2
    outputs = jnp.asarray(np.concatenate([logits, places, [spread]]))
    means = [described(places[0], spread, 2)[0], 0.5 + described(places[1], spread, 2)[0]]
    deviation = described(0.0, spread, 2)[1]
    cuts = [
        stats.truncnorm((low - mean) / deviation, (low + 0.5 - mean) / deviation, mean, deviation)
        for low, mean in zip((0.0, 0.5), means, strict=True)
    ]
    # Logits are those of the density at the means: a bin weighs as much as its part of the curve.
    heights = np.exp(logits) / [cut.pdf(mean) for cut, mean in zip(cuts, means, strict=True)]
    weights = heights / heights.sum()
    np.testing.assert_allclose(jax.jit(head.option_probabilities)(outputs)[0], weights, rtol=1e-4)
    log_probability = jax.jit(head.log_probability)
    for unit in (0.1, 0.49, 0.51, 0.9):
        index = int(unit >= 0.5)
        expected = np.log(weights[index]) + cuts[index].logpdf(unit)
        found = float(log_probability(outputs, jnp.array([unit])))
        assert found == pytest.approx(expected, abs=1e-3)


def test_samples_have_the_mean_and_deviation_of_scipys_truncated_normal():
    head = action_head_for(gym.spaces.Box(0.0, 1.0, (1,)), "gaussian")
    mean, deviation = described(0.9, 0.3)
    cut = stats.truncnorm((0 - mean) / deviation, (1 - mean) / deviation, mean, deviation)
    outputs = jnp.array([0.0, 0.9, 0.3])
    noises = jax.jit(jax.vmap(head.noise))(jax.random.split(jax.random.key(0), 4000))
    drawn = np.asarray(jax.jit(jax.vmap(head.sampled, in_axes=(None, 0)))(outputs, noises))[:, 0]
    assert stats.kstest(drawn, cut.cdf).pvalue > 1e-3
    assert drawn.min() >= 0
    assert drawn.max() <= 1


def test_a_bound_is_an_action_like_any_other():
    head = action_head_for(gym.spaces.Box(-1.0, 1.0, (2,)), "bins")
    outputs = jnp.zeros(head.num_outputs)
    corners = jnp.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    slope = jax.grad(head.log_probability)
    slopes = jax.jit(jax.vmap(slope, in_axes=(None, 0)))(outputs, corners)
    assert np.isfinite(slopes).all()


def test_actions_without_bounds_are_refused_with_what_to_give():
    with pytest.raises(UserError, match=r"have no bounds: give .*action_low and action_high"):
        action_head_for(gym.spaces.Box(0.0, np.inf, (1,)))


def test_actions_in_double_precision_stay_within_their_bounds():
    space = gym.spaces.Box(-0.1, 0.1, (1,), np.float64)
    head = action_head_for(space)  # 0.1 in single precision is larger than 0.1
    (action,) = head.to_environment(np.array([[0.1]], np.float32))
    assert space.contains(action)


def test_whole_numbers_in_a_box_are_all_levels():
    space = gym.spaces.Box(np.array([-1, 0]), np.array([1, 5]), dtype=np.int32)
    head = action_head_for(space, "gaussian")
    assert head.option_sizes == (3, 6)
    rng = np.random.default_rng(0)
    rows = np.array([head.random_row(rng) for _ in range(200)])
    assert {*map(tuple, rows.astype(int))} == {(a, b) for a in range(-1, 2) for b in range(6)}
    assert all(space.contains(action) for action in head.to_environment(rows))
