"""What every action head must do; the table of heads is the list of those that are tested."""

from types import SimpleNamespace

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.errors import UserError
from pcn.nets.heads import ACTION_HEADS, AbstractActionHead, JointHead, action_head_for

EXAMPLES = {
    gym.spaces.Discrete: gym.spaces.Discrete(4),
    gym.spaces.MultiDiscrete: gym.spaces.MultiDiscrete([[2, 3], [4, 1]]),
    gym.spaces.MultiBinary: gym.spaces.MultiBinary(3),
    gym.spaces.Box: gym.spaces.Box(-1.0, 2.0, (2, 2)),
    gym.spaces.Tuple: gym.spaces.Tuple(
        [gym.spaces.Discrete(3), gym.spaces.Box(0.0, 5.0, (2,)), gym.spaces.MultiBinary(2)]
    ),
    gym.spaces.Dict: gym.spaces.Dict(
        {"force": gym.spaces.Box(-1.0, 1.0, (1,)), "gear": gym.spaces.Discrete(2)}
    ),
}
"""A space of each kind; a head for another kind needs another example."""
NUM_DRAWS, NUM_ROWS = 4_000, 1_000
CASES = [
    (space, kind)
    for space in ACTION_HEADS
    for kind in (("levels", "bins") if space is gym.spaces.Box else ("levels",))
]
"""One Gaussian is one bin: the same code."""


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0].__name__}-{case[1]}")
def case(request):
    return request.param


@pytest.fixture(scope="module")
def space(case):
    return EXAMPLES[case[0]]


@pytest.fixture(scope="module")
def head(case, space):
    return action_head_for(space, case[1], levels=5)


@pytest.fixture(scope="module")
def compiled(head):
    """The methods of the head, each compiled once: op by op they take many times as long."""
    return SimpleNamespace(
        greedy=jax.jit(head.greedy),
        log_probability=jax.jit(head.log_probability),
        log_probabilities=jax.jit(jax.vmap(head.log_probability, in_axes=(None, 0))),
        random=jax.jit(jax.vmap(head.random, in_axes=(0, None))),
        sampled=jax.jit(jax.vmap(head.sampled, in_axes=(None, 0))),
        sharpened=jax.jit(head.sharpened),
        entropy=jax.jit(head.entropy),
        divergence=jax.jit(head.divergence),
        matches=jax.jit(head.matches),
        masked=jax.jit(head.masked),
        allowed=jax.jit(head.allowed),
        is_none=jax.jit(head.is_none),
    )


def outputs_of(head, seed=0):
    return np.random.default_rng(seed).normal(size=head.num_outputs).astype(np.float32)


@pytest.fixture(scope="module")
def outputs(head):
    return jnp.asarray(outputs_of(head))


@pytest.fixture(scope="module")
def noises(head):
    return jax.jit(jax.vmap(head.noise))(jax.random.split(jax.random.key(0), NUM_DRAWS))


@pytest.fixture(scope="module")
def actions(compiled, outputs, noises):
    """Actions sampled from the outputs."""
    return compiled.sampled(outputs, noises)


def same(one, other):
    """Whether two actions are equal, tuple for tuple and dict for dict."""
    return jax.tree.all(jax.tree.map(lambda a, b: bool(np.array_equal(a, b)), one, other))


def test_actions_are_rows_of_the_stored_type(head, compiled, outputs, noises, actions):
    assert noises.shape == (NUM_DRAWS, head.num_noise)
    for rows in (
        compiled.greedy(outputs)[None],
        actions,
        compiled.random(noises, None),
        head.random_row(np.random.default_rng(0))[None],
        head.none()[None],
    ):
        assert rows.shape[1:] == (head.num_parts,)
        assert rows.dtype == head.dtype


def test_noise_of_many_actions_at_once_is_like_that_of_each(head, noises):
    many = np.asarray(head.noise(jax.random.key(1), (NUM_DRAWS // 8, 8)))
    assert many.shape == (NUM_DRAWS // 8, 8, head.num_noise)
    flat, single = many.reshape(NUM_DRAWS, -1), np.asarray(noises)
    for share in (0.1, 0.5, 0.9):
        np.testing.assert_allclose(
            np.quantile(flat, share, axis=0), np.quantile(single, share, axis=0), atol=0.25
        )
    assert len(np.unique(flat[:, 0])) > 0.99 * NUM_DRAWS


def test_numpy_draws_the_same_noise(head, noises):
    drawn = head.noise_on_host(np.random.default_rng(0), (NUM_DRAWS // 8, 8))
    if drawn is None:  # JAX draws it
        assert type(head).noise_on_host is AbstractActionHead.noise_on_host
        return
    assert drawn.shape == (NUM_DRAWS // 8, 8, head.num_noise)
    assert drawn.dtype == np.float32
    flat, single = drawn.reshape(NUM_DRAWS, -1), np.asarray(noises)
    for share in (0.1, 0.5, 0.9):
        np.testing.assert_allclose(
            np.quantile(flat, share, axis=0), np.quantile(single, share, axis=0), atol=0.25
        )
    assert len(np.unique(flat[:, 0])) > 0.99 * NUM_DRAWS


def test_environments_accept_every_action(head, space, actions):
    rng = np.random.default_rng(0)
    rows = np.concatenate([actions[:100], [head.random_row(rng) for _ in range(100)]])
    in_space = jax.jit(head.in_space)
    for row, action in zip(rows, head.to_environment(rows), strict=True):
        assert space.contains(action)
        put = in_space(row)
        assert jax.tree.map(np.shape, put) == jax.tree.map(np.shape, action)
        assert same(jax.tree.map(np.asarray, put), action)


def test_an_action_of_the_space_becomes_a_row_and_the_same_action_again(head, space):
    space.seed(0)
    for _ in range(20):
        action = space.sample()
        row = head.from_environment(action)
        assert row.dtype == head.dtype
        assert row.shape == (head.num_parts,)
        assert same(head.to_environment(row[None])[0], action)


def test_the_greedy_action_is_the_most_likely_of_many(compiled, outputs, actions):
    greedy = compiled.greedy(outputs)
    likely = compiled.log_probabilities(outputs, actions)
    assert compiled.log_probability(outputs, greedy) >= np.max(likely) - 1e-6
    assert bool(compiled.matches(outputs, greedy))
    other = actions[int(np.argmin(likely))]
    assert not bool(compiled.matches(outputs, other))


def test_doubt_is_small_for_the_greedy_action_and_large_for_the_least_likely(
    head, compiled, outputs, noises
):
    sharp = compiled.sharpened(outputs, jnp.float32(4))
    likely = np.asarray(compiled.log_probabilities(sharp, compiled.random(noises, None)))
    doubts = np.asarray(head.doubt(jnp.asarray(np.sort(likely))))
    assert (np.diff(doubts) <= 1e-6).all()
    best = compiled.log_probability(sharp, compiled.greedy(sharp))
    assert 0 <= head.doubt(best) < doubts[0] <= 1


def test_options_stand_for_the_actions_that_they_are_counted_as(head, outputs):
    rng = np.random.default_rng(4)
    rows = np.array([head.random_row(rng) for _ in range(50)])
    options = head.to_options(rows)
    assert options.shape == rows.shape
    assert (options >= 0).all()
    assert (options < np.array(head.option_sizes)).all()
    np.testing.assert_array_equal(head.to_options(head.from_options(options)), options)
    assert head.from_options(options).dtype == head.dtype
    probabilities = jax.jit(head.option_probabilities)(outputs)
    assert tuple(len(part) for part in probabilities) == head.option_sizes
    np.testing.assert_allclose([np.sum(part) for part in probabilities], 1, rtol=1e-5)


def test_a_changed_action_is_another_one_that_the_environment_accepts(head, space):
    rng = np.random.default_rng(5)
    row = head.random_row(rng)
    changed = np.array([head.changed_row(row, rng) for _ in range(50)])
    assert changed.dtype == head.dtype
    assert (changed != row).any(axis=1).sum() > 10
    assert all(space.contains(action) for action in head.to_environment(changed))


def test_the_gradient_of_the_likelihood_makes_an_action_likelier(head, compiled, outputs):
    action = head.random_row(np.random.default_rng(1))
    value, slope = jax.jit(jax.value_and_grad(head.log_probability))(outputs, action)
    slope = np.asarray(slope)
    assert np.isfinite(slope).all()
    assert slope.any()
    assert compiled.log_probability(outputs + 1e-2 * slope, action) > value


def test_the_entropy_is_the_mean_surprise_of_sampled_actions(head, compiled, outputs, actions):
    surprise = -np.asarray(compiled.log_probabilities(outputs, actions))
    error = surprise.std() / np.sqrt(NUM_DRAWS)
    entropy = float(compiled.entropy(outputs))
    assert entropy == pytest.approx(surprise.mean(), abs=5 * error)
    assert entropy <= head.max_entropy + 1e-5


def test_the_divergence_is_the_mean_difference_of_log_probabilities(
    head, compiled, outputs, actions
):
    others = jnp.asarray(outputs_of(head, seed=1))
    likely = compiled.log_probabilities(outputs, actions)
    difference = np.asarray(likely) - np.asarray(compiled.log_probabilities(others, actions))
    error = difference.std() / np.sqrt(NUM_DRAWS)
    divergence = float(compiled.divergence(outputs, others))
    assert divergence == pytest.approx(difference.mean(), abs=5 * error)
    assert divergence > 0
    assert float(compiled.divergence(outputs, outputs)) == pytest.approx(0, abs=1e-6)


def test_sharper_outputs_are_sampled_less_randomly(compiled, outputs):
    entropies = [
        float(compiled.entropy(compiled.sharpened(outputs, jnp.float32(factor))))
        for factor in (0.5, 1, 4)
    ]
    assert entropies == sorted(entropies, reverse=True)
    sharp = compiled.sharpened(outputs, jnp.float32(4))
    np.testing.assert_allclose(compiled.greedy(sharp), compiled.greedy(outputs), rtol=1e-6)


def test_no_action_is_none_and_none_is_none(head, compiled):
    assert bool(compiled.is_none(head.none()))
    rng = np.random.default_rng(0)
    assert not any(bool(compiled.is_none(head.random_row(rng))) for _ in range(50))


def test_without_a_mask_everything_is_allowed(head, compiled, outputs):
    np.testing.assert_array_equal(head.masked(outputs, None), outputs)
    assert bool(compiled.allowed(compiled.greedy(outputs), None))


def test_masks_are_obeyed_in_every_way_to_choose(head, compiled, outputs, noises):
    if head.mask_size == 0 or isinstance(head, JointHead):
        pytest.skip("this head knows no masks, or has parts without any: see test_joint.py")
    rng = np.random.default_rng(2)
    everything = np.ones(head.mask_size, bool)
    for _ in range(2):
        # Two actions that may be mixed are allowed, and nothing else.
        one, two = head.random_row(rng), head.random_row(rng)
        mask = np.array(
            [
                not bool(compiled.allowed(one, everything ^ entry))
                or not bool(compiled.allowed(two, everything ^ entry))
                for entry in np.eye(head.mask_size, dtype=bool)
            ]
        )
        given = jnp.asarray(mask)
        masked = compiled.masked(outputs, given)
        chosen = [
            compiled.greedy(masked)[None],
            compiled.sampled(masked, noises)[:100],
            compiled.random(noises, given)[:100],
            np.stack([head.allowed_row(head.random_row(rng), mask, rng) for _ in range(50)]),
        ]
        for action in np.concatenate(chosen):
            parts = np.stack([one, two, action])
            assert all(part[2] in part[:2] for part in parts.T)
            assert bool(compiled.allowed(action, given))
        np.testing.assert_array_equal(head.allowed_row(one, mask, rng), one)
        np.testing.assert_array_equal(head.from_info(head.to_info(mask)), mask)


def test_random_actions_are_spread_evenly(head, compiled, noises):
    by_noise = np.asarray(compiled.random(noises, None), np.float64)
    rng = np.random.default_rng(3)
    by_row = np.array([head.random_row(rng) for _ in range(NUM_ROWS)], np.float64)
    # Both are uniform: means and deviations agree within five standard errors.
    error = 5 * by_row.std(axis=0).max() * np.sqrt(1 / NUM_ROWS + 1 / NUM_DRAWS)
    np.testing.assert_allclose(by_noise.mean(axis=0), by_row.mean(axis=0), atol=error + 1e-9)
    np.testing.assert_allclose(by_noise.std(axis=0), by_row.std(axis=0), atol=error + 1e-9)


def test_spaces_without_a_head_are_refused_by_name():
    with pytest.raises(UserError, match=r"needs actions that are Discrete, .*, got Text\("):
        action_head_for(gym.spaces.Text(3))
