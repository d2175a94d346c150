"""What the steps after a remembered one brought, against sums by hand."""

import jax
import jax.numpy as jnp
import numpy as np

from pcn.algorithms.pcn.refinements.valued.replay import Replay
from pcn.planning.seen_steps import SeenSteps

STEPS = dict(
    longest=np.array(3),
    observations=np.arange(5, dtype=np.float32)[:, None],
    options=np.array([0, 1, 0, 1, 1], np.int32),
    rewards=np.array([[1, 10], [2, 20], [3, 30], [4, 40], [5, 50]], np.float32),
    next_observations=np.array([[1], [2], [9], [4], [8]], np.float32),
    terminated=np.array([False, False, True, False, False]),
    first=np.array([True, False, False, True, False]),
)
"""An episode of three steps that terminates, and one of two that is truncated."""


def outlook(index, num_steps):
    seen = SeenSteps(8, step_limit=9)
    seen.from_arrays(STEPS)
    replay = jax.tree.map(jnp.asarray, Replay.of(seen))
    unit = jnp.array([1.0, 10.0])
    return replay.at(jnp.array(index), unit, discount=0.5, num_steps=num_steps)


def test_two_rewards_are_summed_within_an_episode_and_no_farther():
    two = outlook([0, 1, 2, 3, 4], 2)
    # 1 + .5 * 2, 2 + .5 * 3, 3 alone, 4 + .5 * 5, 5 alone; the second objective in units of ten
    np.testing.assert_allclose(two.rewards[:, 0], [2.0, 3.5, 3.0, 6.5, 5.0])
    np.testing.assert_allclose(two.rewards[:, 1], [2.0, 3.5, 3.0, 6.5, 5.0])
    np.testing.assert_allclose(two.next_observations[:, 0], [2, 9, 9, 8, 8])
    # After a termination nothing is worth anything; a truncated episode would have gone on.
    np.testing.assert_allclose(two.discounts, [0.25, 0.0, 0.0, 0.25, 0.5])


def test_a_single_reward_leads_to_the_next_observation():
    one = outlook([0, 2, 4], 1)
    np.testing.assert_allclose(one.rewards[:, 0], [1.0, 3.0, 5.0])
    np.testing.assert_allclose(one.next_observations[:, 0], [1, 9, 8])
    np.testing.assert_allclose(one.discounts, [0.5, 0.0, 0.5])
    np.testing.assert_array_equal(one.options, [0, 0, 1])
