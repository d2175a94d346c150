"""What every action head must do; the table of heads is the list of those that are tested."""

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.errors import UserError
from pcn.nets.heads import ACTION_HEADS, JointHead, action_head_for

pytestmark = pytest.mark.slow

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
NUM_DRAWS = 4_000
CASES = [
    (space, kind)
    for space in ACTION_HEADS
    for kind in (("levels", "bins") if space is gym.spaces.Box else ("levels",))
]
"""One Gaussian is one bin: the same code."""


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0].__name__}-{case[1]}")
def case(request):
    return request.param


@pytest.fixture
def space(case):
    return EXAMPLES[case[0]]


@pytest.fixture
def head(case, space):
    return action_head_for(space, case[1], levels=5)


def same(one, other):
    """Whether two actions are equal, tuple for tuple and dict for dict."""
    return jax.tree.all(jax.tree.map(lambda a, b: bool(np.array_equal(a, b)), one, other))


def outputs_of(head, seed=0):
    return jax.random.normal(jax.random.key(seed), (head.num_outputs,))


def noises_of(head, seed=0):
    return jax.vmap(head.noise)(jax.random.split(jax.random.key(seed), NUM_DRAWS))


def test_actions_are_rows_of_the_stored_type(head):
    outputs, noises = outputs_of(head), noises_of(head)
    assert noises.shape == (NUM_DRAWS, head.num_noise)
    for actions in (
        head.greedy(outputs)[None],
        jax.vmap(lambda noise: head.sampled(outputs, noise))(noises),
        jax.vmap(lambda noise: head.random(noise, None))(noises),
        head.random_row(np.random.default_rng(0))[None],
        head.none()[None],
    ):
        assert actions.shape[1:] == (head.num_parts,)
        assert actions.dtype == head.dtype


def test_environments_accept_every_action(head, space):
    noises = noises_of(head)[:100]
    rows = np.asarray(jax.vmap(lambda noise: head.sampled(outputs_of(head), noise))(noises))
    rng = np.random.default_rng(0)
    rows = np.concatenate([rows, [head.random_row(rng) for _ in range(100)]])
    actions = head.to_environment(rows)
    for row, action in zip(rows, actions, strict=True):
        assert space.contains(action)
        in_space = head.in_space(jnp.asarray(row))
        assert jax.tree.map(np.shape, in_space) == jax.tree.map(np.shape, action)
        assert same(jax.tree.map(np.asarray, in_space), action)


def test_an_action_of_the_space_becomes_a_row_and_the_same_action_again(head, space):
    space.seed(0)
    for _ in range(20):
        action = space.sample()
        row = head.from_environment(action)
        assert row.dtype == head.dtype
        assert row.shape == (head.num_parts,)
        assert same(head.to_environment(row[None])[0], action)


def test_the_greedy_action_is_the_most_likely_of_many(head):
    outputs = outputs_of(head)
    greedy = head.greedy(outputs)
    actions = jax.vmap(lambda noise: head.sampled(outputs, noise))(noises_of(head))
    likely = jax.vmap(lambda action: head.log_probability(outputs, action))(actions)
    assert head.log_probability(outputs, greedy) >= likely.max() - 1e-6
    assert bool(head.matches(outputs, greedy))
    other = actions[jnp.argmin(likely)]
    assert not bool(head.matches(outputs, other))


def test_doubt_is_small_for_the_greedy_action_and_large_for_the_least_likely(head):
    outputs = head.sharpened(outputs_of(head), jnp.float32(4))
    actions = jax.vmap(lambda noise: head.random(noise, None))(noises_of(head))
    likely = jax.vmap(lambda action: head.log_probability(outputs, action))(actions)
    doubts = np.asarray(head.doubt(jnp.sort(likely)))
    assert (np.diff(doubts) <= 1e-6).all()
    assert 0 <= head.doubt(head.log_probability(outputs, head.greedy(outputs))) < doubts[0] <= 1


def test_options_stand_for_the_actions_that_they_are_counted_as(head):
    rng = np.random.default_rng(4)
    rows = np.array([head.random_row(rng) for _ in range(50)])
    options = head.to_options(rows)
    assert options.shape == rows.shape
    assert (options >= 0).all()
    assert (options < np.array(head.option_sizes)).all()
    np.testing.assert_array_equal(head.to_options(head.from_options(options)), options)
    assert head.from_options(options).dtype == head.dtype
    probabilities = head.option_probabilities(outputs_of(head))
    assert tuple(len(part) for part in probabilities) == head.option_sizes
    np.testing.assert_allclose([part.sum() for part in probabilities], 1, rtol=1e-5)


def test_a_changed_action_is_another_one_that_the_environment_accepts(head, space):
    rng = np.random.default_rng(5)
    row = head.random_row(rng)
    changed = np.array([head.changed_row(row, rng) for _ in range(50)])
    assert changed.dtype == head.dtype
    assert (changed != row).any(axis=1).sum() > 10
    assert all(space.contains(action) for action in head.to_environment(changed))


def test_the_gradient_of_the_likelihood_makes_an_action_likelier(head):
    outputs = outputs_of(head)
    action = jnp.asarray(head.random_row(np.random.default_rng(1)))
    value, slope = jax.value_and_grad(head.log_probability)(outputs, action)
    assert np.isfinite(slope).all()
    assert slope.any()
    assert head.log_probability(outputs + 1e-2 * slope, action) > value


def test_the_entropy_is_the_mean_surprise_of_sampled_actions(head):
    outputs = outputs_of(head)
    actions = jax.vmap(lambda noise: head.sampled(outputs, noise))(noises_of(head))
    surprise = -np.asarray(jax.vmap(lambda a: head.log_probability(outputs, a))(actions))
    error = surprise.std() / np.sqrt(NUM_DRAWS)
    assert float(head.entropy(outputs)) == pytest.approx(surprise.mean(), abs=5 * error)
    assert float(head.entropy(outputs)) <= head.max_entropy + 1e-5


def test_the_divergence_is_the_mean_difference_of_log_probabilities(head):
    outputs, others = outputs_of(head), outputs_of(head, seed=1)
    actions = jax.vmap(lambda noise: head.sampled(outputs, noise))(noises_of(head))
    difference = np.asarray(
        jax.vmap(lambda a: head.log_probability(outputs, a) - head.log_probability(others, a))(
            actions
        )
    )
    error = difference.std() / np.sqrt(NUM_DRAWS)
    divergence = float(head.divergence(outputs, others))
    assert divergence == pytest.approx(difference.mean(), abs=5 * error)
    assert divergence > 0
    assert float(head.divergence(outputs, outputs)) == pytest.approx(0, abs=1e-6)


def test_sharper_outputs_are_sampled_less_randomly(head):
    outputs = outputs_of(head)
    entropies = [
        float(head.entropy(head.sharpened(outputs, jnp.float32(factor)))) for factor in (0.5, 1, 4)
    ]
    assert entropies == sorted(entropies, reverse=True)
    sharp = head.sharpened(outputs, jnp.float32(4))
    np.testing.assert_allclose(head.greedy(sharp), head.greedy(outputs), rtol=1e-6)


def test_no_action_is_none_and_none_is_none(head):
    assert bool(head.is_none(head.none()))
    rng = np.random.default_rng(0)
    assert not any(bool(head.is_none(head.random_row(rng))) for _ in range(50))


def test_without_a_mask_everything_is_allowed(head):
    outputs = outputs_of(head)
    np.testing.assert_array_equal(head.masked(outputs, None), outputs)
    assert bool(head.allowed(head.greedy(outputs), None))


def test_masks_are_obeyed_in_every_way_to_choose(head):
    if head.mask_size == 0 or isinstance(head, JointHead):
        pytest.skip("this head knows no masks, or has parts without any: see test_joint.py")
    rng, outputs = np.random.default_rng(2), outputs_of(head)
    everything = np.ones(head.mask_size, bool)
    for _ in range(2):
        # Two actions that may be mixed are allowed, and nothing else.
        one, two = head.random_row(rng), head.random_row(rng)
        mask = np.array(
            [
                not bool(head.allowed(one, jnp.asarray(everything ^ entry)))
                or not bool(head.allowed(two, jnp.asarray(everything ^ entry)))
                for entry in np.eye(head.mask_size, dtype=bool)
            ]
        )
        given = jnp.asarray(mask)
        noises = noises_of(head)[:100]
        chosen = [
            head.greedy(head.masked(outputs, given))[None],
            jax.vmap(lambda n: head.sampled(head.masked(outputs, given), n))(noises),  # noqa: B023
            jax.vmap(lambda n: head.random(n, given))(noises),  # noqa: B023
            jnp.stack([head.allowed_row(head.random_row(rng), mask, rng) for _ in range(50)]),
        ]
        for action in np.concatenate(chosen):
            parts = np.stack([one, two, action])
            assert all(part[2] in part[:2] for part in parts.T)
            assert bool(head.allowed(action, given))
        np.testing.assert_array_equal(head.allowed_row(one, mask, rng), one)
        np.testing.assert_array_equal(head.from_info(head.to_info(mask)), mask)


def test_random_actions_are_spread_evenly(head):
    noises = noises_of(head)
    by_noise = np.asarray(jax.vmap(lambda noise: head.random(noise, None))(noises), np.float64)
    rng = np.random.default_rng(3)
    by_row = np.array([head.random_row(rng) for _ in range(NUM_DRAWS)], np.float64)
    # Both are uniform: means and deviations agree within five standard errors.
    error = 5 * by_row.std(axis=0).max() / np.sqrt(NUM_DRAWS)
    np.testing.assert_allclose(by_noise.mean(axis=0), by_row.mean(axis=0), atol=error + 1e-9)
    np.testing.assert_allclose(by_noise.std(axis=0), by_row.std(axis=0), atol=error + 1e-9)


def test_spaces_without_a_head_are_refused_by_name():
    with pytest.raises(UserError, match=r"needs actions that are Discrete, .*, got Text\("):
        action_head_for(gym.spaces.Text(3))
