from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

from logged_episodes import LENGTHS, RETURNS, REWARDS, by_hand
from made_runs import toy_spec
from pcn.datasets.describing import looks_deterministic
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.errors import UserError


def test_returns_are_those_of_whole_episodes():
    np.testing.assert_array_equal(by_hand().returns(), RETURNS)
    # Discounted by a half: 1 + 2 / 2, 0 + 5 / 2 + .25 / 4, 7.
    np.testing.assert_array_equal(by_hand().returns(discount=0.5)[:, 0], [2, 2.5625, 7])


@pytest.mark.parametrize("size", [2, 8])
def test_batches_are_padded_and_hold_every_step_once(size):
    logged = by_hand(masked=True, parts=True)
    batches = list(logged.batches(size))
    assert [batch.num_episodes for batch in batches] == [size] * (2 if size == 2 else 1)
    assert sum(batch.num_steps for batch in batches) == 6
    real = [np.asarray(batch.real_mask) for batch in batches]
    returns = [batch.returns()[mask] for batch, mask in zip(batches, real, strict=True)]
    np.testing.assert_array_equal(np.concatenate(returns), RETURNS)
    first = batches[0]
    np.testing.assert_array_equal(np.asarray(first.rewards)[1, :3], REWARDS[2:5])
    np.testing.assert_array_equal(
        np.asarray(first.observations["where"])[1, :3], logged.observations["where"][2:5]
    )
    np.testing.assert_array_equal(np.asarray(first.action_masks)[1, :3], logged.action_masks[2:5])
    assert not np.asarray(first.rewards)[1, 3:].any()
    assert np.asarray(first.terminated).tolist()[:2] == [True, False]


def test_taking_episodes_takes_their_steps():
    taken = by_hand(parts=True).taking(np.array([2, 0]))
    assert taken.lengths.tolist() == [1, 2]
    np.testing.assert_array_equal(taken.rewards, REWARDS[[5, 0, 1]])
    np.testing.assert_array_equal(taken.returns(), [RETURNS[2], RETURNS[0]])


def test_episodes_of_something_else_are_refused_in_a_sentence():
    logged, spec = by_hand(), by_hand().spec
    with pytest.raises(UserError, match="do not fit"):
        logged.fitting(DeepSeaTreasure().spec)  # whole numbers
    with pytest.raises(UserError, match="an episode of 3 steps, toy allows 2"):
        logged.fitting(replace(spec, step_limit=2))
    with pytest.raises(UserError, match="rewards of 2 objectives, toy has 3"):
        logged.fitting(replace(toy_spec(3), observation_space=spec.observation_space))
    with pytest.raises(UserError, match=r"has the action \[3\]"):
        logged.fitting(replace(spec, action_space=gym.spaces.Discrete(3)))
    with pytest.raises(UserError, match="the last observations of by hand do not fit"):
        replace(logged, last_observations=np.zeros((3, 5))).fitting(spec)
    with pytest.raises(UserError, match="actions are masked"):
        logged.fitting(replace(spec, masked_actions=True))


def test_outcomes_that_go_apart_are_stochastic():
    """The same first observation and action: once the reward differs, once what is seen next."""
    lengths = np.array([2, 2])
    seen = np.array([[0], [1], [0], [1]], np.float32)
    actions = np.array([[0], [0], [0], [0]])
    rewards = np.array([[1.0], [2.0], [1.0], [2.0]], np.float32)
    assert looks_deterministic(seen, actions, rewards, lengths)
    assert not looks_deterministic(seen, actions, rewards * [[1], [1], [1], [2]], lengths)
    assert not looks_deterministic(seen * [[1], [1], [1], [2]], actions, rewards, lengths)
    assert looks_deterministic(
        seen, np.array([[0], [0], [1], [0]]), rewards * [[1], [1], [3], [1]], lengths
    )


def test_random_starts_are_stochastic():
    """As in probing: what an action leads to depends on where the episode began."""
    lengths = np.array([2, 2])
    seen = {"where": np.array([[0], [1], [5], [1]]), "what": np.zeros((4, 1))}
    actions, rewards = np.zeros((4, 1), int), np.ones((4, 2), np.float32)
    assert not looks_deterministic(seen, actions, rewards, lengths)
    assert looks_deterministic({"what": seen["what"]}, actions, rewards, lengths)


def test_every_length_counts():
    assert sum(LENGTHS) == by_hand().num_steps
