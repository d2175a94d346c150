"""Rollouts for the page: what the run says its policies return, and why they did it."""

import numpy as np
import pytest

from explored import shown
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.errors import UserError
from pcn.explorer.rollouts import Limits, Performer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["pcn", "mones", "ra", "pcn-gymnasium"])
def performer(request):
    made = Performer(shown(request.param).acting)
    yield made
    made.close()


@pytest.fixture(scope="module")
def commanded():
    made = Performer(shown("pcn").acting)
    yield made
    made.close()


def test_every_policy_returns_what_the_run_says(performer):
    for index, executed in enumerate(performer.run.coverage_set.executed):
        rollout = performer.execute_policy(index, seed=0, limits=Limits())
        # Numbers for the page have seven digits.
        np.testing.assert_allclose(rollout["returned"], executed, rtol=1e-6)
        np.testing.assert_allclose(np.sum(rollout["rewards"], axis=0), executed, rtol=1e-6)
        assert rollout["steps"] == len(rollout["actions"]) == len(rollout["probabilities"])


def test_the_action_is_the_one_that_the_network_finds_most_likely(performer):
    last = len(performer.run.coverage_set) - 1
    rollout = performer.execute_policy(last, seed=0, limits=Limits())
    for action, probabilities in zip(rollout["actions"], rollout["probabilities"], strict=True):
        assert len(probabilities) == 4
        assert sum(probabilities) == pytest.approx(1, abs=1e-3)
        assert np.argmax(probabilities) == action


def test_what_is_left_of_a_command_is_what_was_not_received_yet(commanded):
    deepest = int(np.argmax(commanded.run.coverage_set.horizons))
    rollout = commanded.execute_policy(deepest, seed=0, limits=Limits())
    rewards, left = np.array(rollout["rewards"]), np.array(rollout["remaining"])
    np.testing.assert_array_equal(left[:-1] - rewards[:-1], left[1:])  # the discount is 1
    assert rollout["remaining_horizon"][0] == rollout["horizon"]
    assert rollout["remaining_horizon"][1] == rollout["horizon"] - 1


def test_there_is_a_picture_before_each_step_and_at_the_end(commanded):
    rollout = commanded.execute_policy(0, seed=0, limits=Limits())
    assert rollout["frame_steps"] == list(range(rollout["steps"] + 1))
    assert all(frame.startswith("data:image/png;base64,") for frame in rollout["frames"])


def test_a_return_of_one_s_own_is_executed_and_compared(commanded):
    """A return between two policies: which one is nearer, and by how much it was missed, by hand.

    Distances are shares of the front's range, the largest over the objectives.
    """
    front = commanded.run.coverage_set.front
    desired = front[0] + 0.25 * (front[-1] - front[0])
    rollout = commanded.execute_command(desired.tolist(), None, seed=0, limits=Limits())
    extent = front.max(axis=0) - front.min(axis=0)
    distances = [max(abs(point - desired) / extent) for point in front]
    nearest = rollout["nearest"]
    assert nearest["distance"] == pytest.approx(min(distances), rel=1e-6)
    executed = commanded.run.coverage_set.executed[nearest["policy"]]
    np.testing.assert_array_equal(executed, front[int(np.argmin(distances))])
    np.testing.assert_allclose(
        rollout["off"], (np.array(rollout["returned"]) - desired) / extent, rtol=1e-5
    )
    assert rollout["policy"] is None
    assert f"The nearest policy of the front is {nearest['policy']} " in rollout["message"]
    depth = -rollout["returned"][1]
    assert f"time {depth} steps" in rollout["message"]  # as a person thinks of it: no minus


def test_asking_for_what_a_policy_returns_gives_its_episode(commanded):
    coverage_set = commanded.run.coverage_set
    index = int(np.flatnonzero(coverage_set.front_mask)[-1])
    asked = commanded.execute_command(
        coverage_set.requested[index].tolist(), coverage_set.horizons[index],
        seed=0, limits=Limits(),
    )  # fmt: skip
    picked = commanded.execute_policy(index, seed=0, limits=Limits())
    assert asked["actions"] == picked["actions"]


def test_policies_without_commands_cannot_be_asked_for_a_return():
    performer = Performer(shown("ra").acting)
    with pytest.raises(UserError, match="policies of ra take no command"):
        performer.execute_command([1.0, -1.0], None, seed=0, limits=Limits())
    rollout = performer.execute_policy(0, seed=0, limits=Limits())
    assert rollout["remaining"] is rollout["remaining_horizon"] is None


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Limits(seconds=0), "by the time limit of a rollout, 0 s"),
        (Limits(most_steps=1), "by the page's limit of steps"),
        (Limits(stopped=lambda: True), "because nobody waits for it any more"),
    ],
)
def test_a_rollout_that_takes_too_long_is_stopped_and_says_by_what(commanded, limits, why):
    deepest = int(np.argmax(commanded.run.coverage_set.horizons))
    rollout = commanded.execute_policy(deepest, seed=0, limits=limits)
    assert rollout["steps"] == 1
    assert rollout["stopped"] == why
    assert not rollout["truncated"]  # neither the environment nor its step limit has
    assert rollout["message"] == f"It was stopped {why}, after one step."


def test_an_episode_that_is_over_was_not_stopped(commanded):
    shortest = int(np.argmin(commanded.run.coverage_set.horizons))
    rollout = commanded.execute_policy(shortest, seed=0, limits=Limits(most_steps=1))
    assert rollout["steps"] == 1
    assert rollout["stopped"] is rollout["message"] is None


def test_an_environment_without_a_picture_is_watched_without(monkeypatch):
    def refuse(self, state):
        raise UserError("it does not define `render`")

    monkeypatch.setattr(DeepSeaTreasure, "render", refuse)
    performer = Performer(shown("pcn").acting)
    rollout = performer.execute_policy(0, seed=0, limits=Limits())
    assert rollout["frames"] is None
    assert rollout["message"] == "There is no picture: it does not define `render`"
    assert rollout["actions"]
