"""Runs in Python: training, loading and acting with a policy."""

import gymnasium as gym
import numpy as np
import pytest

import pcn
from ordinary_loop import return_of
from pcn.envs.gymnasium_ids import register_all
from pcn.errors import UserError


@pytest.fixture(scope="module")
def run():
    return pcn.train("deep-sea-treasure", seed=2, total_steps=6_000)


def test_a_policy_reaches_its_return_in_an_ordinary_loop(run):
    register_all()
    environment = gym.make("pcn/deep-sea-treasure-v0")
    for index in range(len(run.coverage_set)):
        total = return_of(run.policy(index), environment)
        np.testing.assert_array_equal(total, run.coverage_set.executed[index])


def test_reset_makes_a_policy_start_over(run):
    deepest = int(np.argmax(run.coverage_set.horizons))

    def command(policy):
        policy.act([0, 0])
        return [*np.asarray(policy.command.desired_return), float(policy.command.desired_horizon)]

    policy = run.policy(deepest)
    first = command(policy)
    policy.observe([0.0, -1.0])
    assert command(policy) != first
    policy.reset()
    assert command(policy) == first


def test_observing_before_acting_is_an_error(run):
    with pytest.raises(RuntimeError, match="call act"):
        run.policy(0).observe([0.0, -1.0])


def test_a_wrong_observation_is_told(run):
    with pytest.raises(pcn.UserError, match="does not fit"):
        run.policy(0).act([0, 0, 0])


def test_a_loaded_run_is_the_trained_one(tmp_path):
    trained = pcn.train("deep-sea-treasure", seed=5, total_steps=3_000, out=tmp_path / "run")
    loaded = pcn.load(tmp_path / "run")
    assert loaded.settings == trained.settings
    assert loaded.metrics == trained.metrics
    np.testing.assert_array_equal(loaded.coverage_set.executed, trained.coverage_set.executed)
    for name, array in trained.weights.items():
        np.testing.assert_array_equal(loaded.weights[name], array)
    again, figures = loaded.executing()
    np.testing.assert_array_equal(again.executed, trained.coverage_set.executed)
    assert figures["executed"] == trained.metrics["executed"]


def test_an_unknown_hyperparameter_is_refused():
    with pytest.raises(pcn.UserError, match="no hyperparameter 'lr'"):
        pcn.train("deep-sea-treasure", lr=0.1)


def test_a_negative_time_between_checkpoints_leaves_no_folder_behind(tmp_path):
    with pytest.raises(UserError, match="checkpoint_seconds must not be negative, got -1"):
        pcn.train("deep-sea-treasure", out=tmp_path / "run", checkpoint_seconds=-1)
    assert not (tmp_path / "run").exists()
