import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.nets.plain_policy import HIDDEN_WIDTH, PlainPolicy, WeightVector, weight_mask

GRID = gym.spaces.MultiDiscrete([3, 4], dtype=np.int32)
REALS = gym.spaces.Box(-1.0, 1.0, (7,), np.float32)
ACTIONS = gym.spaces.Discrete(5)


def make(space, width, *, actions=ACTIONS):
    return PlainPolicy.for_spaces(
        space, actions, width=width, joint_one_hot=False, key=jax.random.key(0)
    )


def test_integers_get_a_linear_policy_and_reals_a_hidden_layer():
    assert make(GRID, None).head is None
    assert WeightVector(make(GRID, None)).size == (3 + 4) * 5 + 5
    assert make(REALS, None).head.in_features == HIDDEN_WIDTH
    assert WeightVector(make(REALS, None)).size == 7 * 48 + 48 + 48 * 5 + 5
    assert make(REALS, 0).head is None


@pytest.mark.parametrize(("space", "shown"), [(GRID, np.array([1, 2])), (REALS, np.ones(7))])
@pytest.mark.parametrize("width", [0, 6])
def test_weights_become_a_policy_and_back(space, shown, width):
    vector = WeightVector(make(space, width))
    observation = jnp.asarray(shown, jnp.int32 if space is GRID else jnp.float32)
    same = vector.policy(vector.flat())
    np.testing.assert_array_equal(same(observation), vector.like(observation))
    other = vector.policy(vector.flat() + 1.0)
    np.testing.assert_array_equal(WeightVector(other).flat(), vector.flat() + 1.0)
    assert not np.array_equal(other(observation), same(observation))


def test_what_observations_look_like_is_no_weight():
    policy = make(REALS, 6)
    mask = weight_mask(policy)
    assert mask.embed_state.mean is False
    assert mask.embed_state.deviation is False
    changed = WeightVector(policy).policy(jnp.zeros(WeightVector(policy).size))
    np.testing.assert_array_equal(changed.embed_state.deviation, jnp.ones(7))


@pytest.mark.parametrize("width", [0, 6])
def test_an_undecided_policy_prefers_nothing_and_still_sees(width):
    policy = make(REALS, width)
    seen = jnp.linspace(-1, 1, 7)
    assert np.ptp(policy(seen)) > 0
    np.testing.assert_array_equal(policy.undecided()(seen), np.zeros(5))
    if width:
        np.testing.assert_array_equal(
            policy.undecided().embed_state.linear.weight, policy.embed_state.linear.weight
        )
    np.testing.assert_array_equal(policy.undecided().embed_state.deviation, np.ones(7))


@pytest.mark.slow
@pytest.mark.parametrize("width", [0, 6])
@pytest.mark.parametrize(
    "space",
    [
        REALS,
        gym.spaces.Box(0, 255, (2, 4, 24), np.uint8),
        gym.spaces.Box(0, 255, (1, 30, 30), np.uint8),
        gym.spaces.Dict({"strip": gym.spaces.Box(0, 255, (1, 2, 12), np.uint8), "reals": REALS}),
    ],
    ids=["reals", "strip", "picture", "dict"],
)
def test_an_undecided_policy_can_learn_to_tell_observations_apart(space, width):
    vector = WeightVector(make(space, width).undecided())
    space.seed(0)
    first = jax.tree.map(jnp.asarray, space.sample())
    second = jax.tree.map(jnp.zeros_like, first)

    def first_logit(weights, seen):
        return vector.policy(weights)(seen)[0]

    # A step that raises a logit here must not raise it alike everywhere.
    moved = vector.flat() + 0.1 * jax.grad(first_logit)(vector.flat(), first)
    assert abs(first_logit(moved, first) - first_logit(moved, second)) > 1e-5


def test_several_heads_lie_side_by_side():
    policy = make(REALS, 0, actions=gym.spaces.MultiDiscrete([2, 3]))
    assert policy(jnp.zeros(7)).shape == (5,)
