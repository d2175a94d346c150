"""Which steps are remembered, by hand."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from pcn.episodes import Episodes
from pcn.planning.seen_steps import SeenSteps

OPTIONS = np.array([[0, 1, 0], [2, 2, 2], [1, 1, 1]])


def episodes(terminated=(True, True, False)):
    """One of two steps, one of three, and one that only fills up the batch."""
    levels = np.arange(9, dtype=np.float32).reshape(3, 3, 1)
    return Episodes(
        observations=jnp.asarray(levels),
        last_observations=jnp.asarray(np.array([[50.0], [60.0], [70.0]], np.float32)),
        actions=jnp.zeros((3, 3, 1), jnp.int32),
        rewards=jnp.asarray(np.arange(18, dtype=np.float32).reshape(3, 3, 2)),
        lengths=jnp.array([2, 3, 3]),
        terminated=jnp.array(terminated),
        real_mask=jnp.array([True, True, False]),
    )


def test_every_real_step_is_remembered_with_what_came_next():
    seen = SeenSteps(100, step_limit=3)
    seen.add(episodes(), OPTIONS)
    steps = seen.steps
    assert steps.observations[:, 0].tolist() == [0, 1, 3, 4, 5]
    assert steps.next_observations[:, 0].tolist() == [1, 50, 4, 5, 60]
    assert steps.options.tolist() == [0, 1, 2, 2, 2]
    assert steps.rewards[:, 0].tolist() == [0, 2, 6, 8, 10]
    assert steps.first.tolist() == [True, False, True, False, False]
    assert seen.longest == 3


def test_an_end_at_the_limit_of_steps_is_no_termination():
    seen = SeenSteps(100, step_limit=3)
    seen.add(episodes(), OPTIONS)
    assert seen.steps.terminated.tolist() == [False, True, False, False, False]


def test_the_oldest_steps_are_forgotten():
    seen = SeenSteps(7, step_limit=9)
    seen.add(episodes(), OPTIONS)
    seen.add(episodes(), OPTIONS)
    assert len(seen) == 7
    assert seen.steps.observations[:, 0].tolist() == [4, 5, 0, 1, 3, 4, 5]


def test_it_can_be_saved_and_restored():
    seen, again = SeenSteps(100, step_limit=9), SeenSteps(100, step_limit=9)
    again.from_arrays(seen.to_arrays())
    assert len(again) == 0
    seen.add(episodes(), OPTIONS)
    again.from_arrays(seen.to_arrays())
    assert again.longest == 3
    np.testing.assert_array_equal(again.steps.next_observations, seen.steps.next_observations)
    assert again.steps.terminated.dtype == bool


def test_steps_that_were_given_out_stay_as_they_are():
    seen = SeenSteps(7, step_limit=9)
    seen.add(episodes(), OPTIONS)
    before = seen.steps
    seen.add(episodes(), OPTIONS)
    assert before.observations[:, 0].tolist() == [0, 1, 3, 4, 5]


def test_steps_stand_in_one_place_with_zeros_behind_them():
    seen = SeenSteps(12, step_limit=9)
    seen.add(episodes(), OPTIONS)
    place = seen.padded.observations.ctypes.data
    assert place % 64 == 0  # compiled programs read it there
    seen.add(episodes(), OPTIONS)
    assert seen.padded.observations.ctypes.data == place
    assert seen.padded.observations[:, 0].tolist() == [0, 1, 3, 4, 5] * 2 + [0, 0]
    assert seen.padded_left.tolist() == [2, 1, 3, 2, 1] * 2 + [0, 0]


def test_nothing_comes_after_a_truncated_episode_for_values_that_do_not_know_the_time():
    seen = SeenSteps(100, step_limit=3, truncation_ends_up_to=3)
    seen.add(episodes((True, False, False)), OPTIONS)
    assert seen.steps.terminated.tolist() == [False, True, False, False, True]


def test_after_a_long_truncated_episode_values_go_on():
    seen = SeenSteps(100, step_limit=3, truncation_ends_up_to=2)  # the second one has three steps
    seen.add(episodes((False, False, False)), OPTIONS)
    assert seen.steps.terminated.tolist() == [False, True, False, False, False]


def test_an_episode_that_was_broken_off_could_have_gone_on():
    seen = SeenSteps(100, step_limit=9, truncation_ends_up_to=9)
    whole = episodes((True, False, False))
    broken_off = jnp.array([False, True, False])
    seen.add(eqx.tree_at(lambda batch: batch.broken_off, whole, broken_off), OPTIONS)
    assert seen.steps.terminated.tolist() == [False, True, False, False, False]


def test_a_mask_stands_behind_the_numbers_of_each_observation():
    seen, masked = SeenSteps(100, step_limit=9), episodes()
    masks = np.zeros((3, 3, 4), bool)
    masks[0, 1, 2] = True
    seen.add(
        eqx.tree_at(lambda one: one.action_masks, masked, masks, is_leaf=lambda x: x is None),
        OPTIONS,
    )
    steps = seen.steps
    assert steps.observations[1].tolist()[-4:] == [0, 0, 1, 0]
    assert steps.next_observations[0].tolist()[-4:] == [0, 0, 1, 0]
    # What is allowed after the last step is not recorded, so all is.
    assert steps.next_observations[1].tolist()[-4:] == [1, 1, 1, 1]
