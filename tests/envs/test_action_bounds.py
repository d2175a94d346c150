import gymnasium as gym
import numpy as np
import pytest

from continuous_worlds import Pump
from pcn.envs.action_bounds import MOST_STEPS, is_unbounded, within
from pcn.envs.finding import find_environment
from pcn.errors import UserError

OPEN = gym.spaces.Box(0.0, np.inf, (2,))


def found(most, **arguments):
    return find_environment("pump:Pump", arguments, thing=lambda: Pump(most))


def test_the_bound_is_where_larger_actions_change_nothing():
    environment = found(7.3)
    space = environment.environment.spec.action_space
    assert space.low.item() == 0
    assert 7.3 <= space.high.item() <= 8.0
    assert environment.arguments["action_high"] == pytest.approx((space.high.item(),))


def test_bounds_are_asked_for_where_none_are_found():
    with pytest.raises(UserError, match=r"the search found none: give .*action_low and"):
        found(None)


class Clips(gym.Env):
    """Fifty steps; a number of any size, clipped to -1 and 1."""

    observation_space = gym.spaces.Box(0, 1, (1,), np.float32)
    action_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return np.ones(1, np.float32), {}

    def step(self, action):
        self.time += 1
        reward = np.array([np.clip(action, -1, 1).item(), -1.0])
        return np.ones(1, np.float32), reward, self.time == 50, False, {}


def test_the_search_stays_within_what_was_announced():
    """Two open sides: steps that the search does not need are not for random episodes."""
    announced = []
    made = find_environment(
        "clips:Clips", {}, thing=Clips, total_steps=10_000, before_probing=announced.append
    )
    assert announced == [500 + 2 * MOST_STEPS]
    assert 500 < made.num_steps < announced[0]
    space = made.environment.spec.action_space
    for side in (-space.low, space.high):
        assert np.all((side >= 1.0) & (side <= 1.1))


def test_the_search_takes_half_of_a_training_at_most(monkeypatch):
    announced, taken = [], []
    step = Clips.step
    monkeypatch.setattr(Clips, "step", lambda *given: taken.append(1) or step(*given))
    with pytest.raises(
        UserError, match=r"more than 50% of the training's steps: give .*--action-l"
    ):
        find_environment(
            "clips:Clips", {}, thing=Clips, total_steps=2_000, before_probing=announced.append
        )
    assert announced == [400 + 1_000]
    assert len(taken) <= 1_000


def test_given_bounds_are_used():
    space = found(None, action_high=(3.0,)).environment.spec.action_space
    assert space == gym.spaces.Box(0.0, 3.0, (1,))


def test_one_number_bounds_all_parts_and_an_open_side_stays_open():
    space = within(OPEN, None, (2.0,))
    np.testing.assert_array_equal(space.high, [2, 2])
    assert is_unbounded(within(OPEN, (1.0,), None))
    assert is_unbounded(gym.spaces.Tuple([gym.spaces.Discrete(2), OPEN]))
    assert not is_unbounded(space)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (None, (1.0, 2.0, 3.0), "action_high must be 1 or 2 finite numbers"),
        ((5.0,), (2.0,), "action_low must be below action_high"),
        (None, (float("inf"),), "finite"),
    ],
)
def test_bounds_that_cannot_be_are_refused(low, high, message):
    with pytest.raises(UserError, match=message):
        within(OPEN, low, high)


def test_bounds_of_choices_are_refused():
    with pytest.raises(UserError, match="are for a Box"):
        within(gym.spaces.Discrete(2), (0.0,), None)
