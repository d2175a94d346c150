import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.errors import UserError
from pcn.nets.heads import action_head_for

SPACE = gym.spaces.Tuple([gym.spaces.Discrete(3), gym.spaces.Box(0.0, 5.0, (2,))])
ONLY_SECOND = np.array([False, True, False])


def test_masks_reach_discrete_parts_and_leave_the_others_free():
    head = action_head_for(SPACE)
    assert head.mask_size == 3
    outputs = jnp.zeros(head.num_outputs).at[0].set(9.0)
    mask = jnp.asarray(ONLY_SECOND)
    noises = jax.jit(jax.vmap(head.noise))(jax.random.split(jax.random.key(0), 50))
    drawn = np.asarray(jax.jit(jax.vmap(lambda noise: head.random(noise, mask)))(noises))
    assert (drawn[:, 0] == 1).all()
    assert len(np.unique(drawn[:, 1])) > 5
    assert int(head.greedy(head.masked(outputs, mask))[0]) == 1
    row = np.array([2, 1.0, 4.0], np.float32)
    assert not bool(head.allowed(row, mask))
    allowed = head.allowed_row(row, ONLY_SECOND, np.random.default_rng(0))
    np.testing.assert_array_equal(allowed, [1, 1.0, 4.0])


@pytest.mark.parametrize(
    "given", [(ONLY_SECOND, None), [ONLY_SECOND], ONLY_SECOND], ids=["tuple", "own", "flat"]
)
def test_a_mask_is_read_in_the_form_of_the_space_or_for_discrete_parts_alone(given):
    head = action_head_for(SPACE)
    np.testing.assert_array_equal(head.flat_mask(given), ONLY_SECOND)
    np.testing.assert_array_equal(head.from_info(head.to_info(ONLY_SECOND)), ONLY_SECOND)


def test_masks_of_real_numbers_are_refused():
    with pytest.raises(UserError, match="real numbers cannot be masked"):
        action_head_for(SPACE).flat_mask((ONLY_SECOND, np.ones(2)))
    with pytest.raises(UserError, match="real numbers cannot be masked"):
        action_head_for(SPACE.spaces[1]).flat_mask(np.ones(2))


def test_a_dict_is_a_row_in_the_order_of_its_names():
    space = gym.spaces.Dict(b=gym.spaces.Box(0.0, 1.0, (1,)), a=gym.spaces.Discrete(4))
    head = action_head_for(space)
    row = np.array([3, 0.5], np.float32)
    (action,) = head.to_environment(row[None])
    assert action["a"] == 3
    assert action["b"] == pytest.approx(0.5)
    assert space.contains(action)
    np.testing.assert_array_equal(head.from_environment(action), row)
