"""Playing a policy shows the command that its network was really given."""

import numpy as np
import pytest

import pcn
from pcn.runs.playing import play

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run():
    return pcn.train("deep-sea-treasure", seed=2, total_steps=6_000, discount=0.9)


@pytest.mark.slow
def test_the_command_is_bounded_and_follows_the_rewards(run):
    """By hand: what is left is (command - reward) / discount, never beyond the bounds."""
    deepest = int(np.argmax(run.coverage_set.horizons))
    bound = np.array([5.0, -1.5])
    bounded = pcn.Run(
        run.settings, run.coverage_set, run.metrics, run.progress,
        {**run.weights, "upper_bound": bound}, spec=run.spec,
    )  # fmt: skip
    episode = play(bounded, deepest)
    requested = run.coverage_set.requested[deepest]
    assert requested[0] > bound[0]
    expected = np.minimum(requested, bound)
    np.testing.assert_allclose(episode.command.desired_return, expected, rtol=1e-6)
    horizon = run.coverage_set.horizons[deepest]
    assert episode.command.desired_horizon == horizon
    for step in episode.steps:
        expected = np.clip((expected - step.reward) / 0.9, run.weights["lower_bound"], bound)
        np.testing.assert_allclose(step.command.desired_return, expected, rtol=1e-4)
        horizon = max(horizon - 1, 1)
        assert step.command.desired_horizon == horizon


@pytest.mark.slow
def test_the_return_is_the_executed_one_discounted_as_in_training(run):
    for index, executed in enumerate(run.coverage_set.executed):
        episode = play(run, index)
        np.testing.assert_allclose(episode.total, executed, rtol=1e-6)
        rewards = [step.reward for step in episode.steps]
        by_hand = sum(0.9**time * reward for time, reward in enumerate(rewards))
        np.testing.assert_allclose(episode.total, by_hand, rtol=1e-5)
        assert episode.terminated


@pytest.mark.slow
def test_actions_have_the_environment_s_words(run):
    words = {step.action for step in play(run, 0).steps}
    assert words <= {"up", "down", "left", "right"}
