"""Runs in Python: training, loading and acting with a policy."""

import threading

import gymnasium as gym
import numpy as np
import pytest

import pcn
from explored import shown
from made_runs import made_run
from ordinary_loop import return_of
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.gymnasium_ids import register_all
from pcn.errors import UserError


@pytest.fixture(scope="module")
def run():
    return pcn.train("deep-sea-treasure", seed=2, total_steps=6_000)


@pytest.mark.slow
def test_a_policy_reaches_its_return_in_an_ordinary_loop(run):
    register_all()
    environment = gym.make("pcn/deep-sea-treasure-v0")
    for index in range(len(run.coverage_set)):
        total = return_of(run.policy(index), environment)
        np.testing.assert_array_equal(total, run.coverage_set.executed[index])


@pytest.mark.slow
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


@pytest.mark.slow
def test_observing_before_acting_is_an_error(run):
    with pytest.raises(RuntimeError, match="call act"):
        run.policy(0).observe([0.0, -1.0])


@pytest.mark.slow
def test_a_wrong_observation_is_told(run):
    with pytest.raises(pcn.UserError, match=r"the observation has shape \(3,\)"):
        run.policy(0).act([0, 0, 0])


@pytest.mark.slow
def test_a_loaded_run_is_the_trained_one(tmp_path):
    trained = pcn.train("deep-sea-treasure", seed=5, total_steps=3_000, out=tmp_path / "run")
    loaded = pcn.load(tmp_path / "run")
    assert loaded.settings == trained.settings
    assert loaded.metrics == trained.metrics
    np.testing.assert_array_equal(loaded.coverage_set.executed, trained.coverage_set.executed)
    for name, array in trained.weights.items():
        np.testing.assert_array_equal(loaded.weights[name], array)
    assert loaded.progress == trained.progress
    assert loaded.spec.to_json() == trained.spec.to_json()
    again, metrics = loaded.execute()
    np.testing.assert_array_equal(again.executed, trained.coverage_set.executed)
    assert metrics["executed"] == trained.metrics["executed"]


@pytest.mark.slow
def test_a_run_shows_itself_in_one_line(run):
    shown = repr(run)
    assert shown.startswith(f"Run(pcn on deep-sea-treasure, seed 2: {len(run.coverage_set)} pol")
    assert len(shown) < 100


def test_a_run_counts_one_policy_in_the_singular():
    assert "seed 0: 1 policy, hypervolume" in repr(made_run([[1, -1]]))
    assert "seed 0: 2 policies, hypervolume" in repr(made_run([[1, -1], [2, -3]]))


@pytest.mark.slow
def test_progress_is_numbers(run):
    assert run.progress
    for evaluation in run.progress:
        assert type(evaluation.steps) is type(evaluation.executed_cardinality) is int
        assert isinstance(evaluation.fidelity, float)
    steps = [evaluation.steps for evaluation in run.progress]
    assert steps == sorted(steps)


@pytest.mark.slow
def test_all_environment_steps_are_told_by_their_parts(run):
    assert run.metrics["steps"] == sum(run.metrics["steps_by_phase"].values())
    assert run.metrics["steps_by_phase"]["training"] >= 5_000
    assert run.metrics["steps"] <= 6_000
    assert run.metrics["probe"] == {"episodes": 0, "steps": 0}


@pytest.mark.slow
def test_the_environment_of_a_trained_run_is_the_one_it_was_trained_on():
    environment = DeepSeaTreasure()
    run = pcn.train(environment, total_steps=500)
    assert run.environment() is environment


@pytest.mark.slow
def test_events_come_in_order_and_say_what_was_settled():
    events = []
    run = pcn.train("deep-sea-treasure", total_steps=2_000, report=events.append)
    first, *others = events
    assert isinstance(first, pcn.Started)
    assert first.settings is run.settings
    assert first.spec is run.spec
    assert first.recipe == {"total_steps": 100_000}
    assert first.steps == 0
    assert all(isinstance(event, pcn.Advanced) for event in others)
    assert [event.evaluation for event in others if event.evaluation] == run.progress
    assert {event.phase for event in others} == run.metrics["steps_by_phase"].keys() - {"probing"}
    steps = [event.steps for event in others]
    assert steps == sorted(steps)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["event", "function"])
def test_a_stopped_training_can_be_resumed(tmp_path, kind):
    options = {"total_steps": 3_000, "seed": 5, "episodes_per_iteration": 16}
    event = threading.Event()
    told = []

    def report(advanced):
        told.append(advanced)
        if len(told) == 3:
            event.set()

    stop = event if kind == "event" else event.is_set
    folder = tmp_path / "run"
    with pytest.raises(pcn.Stopped) as stopped:
        pcn.train("deep-sea-treasure", out=folder, report=report, stop=stop, **options)
    assert stopped.value.path == folder
    assert len(told) == 3
    with pytest.raises(UserError, match="continue it with `pcn resume"):
        pcn.load(folder)
    resumed = []
    again = pcn.resume(folder, report=resumed.append)
    assert resumed[0].steps == told[-1].steps
    whole = pcn.train("deep-sea-treasure", **options)
    assert again.metrics["steps_by_phase"] == whole.metrics["steps_by_phase"]
    for name, array in whole.weights.items():
        np.testing.assert_array_equal(again.weights[name], array)


@pytest.mark.slow
def test_a_training_that_is_not_recorded_can_be_stopped():
    with pytest.raises(pcn.Stopped) as stopped:
        pcn.train("deep-sea-treasure", stop=lambda: True)
    assert stopped.value.path is None


def test_an_unknown_hyperparameter_is_refused():
    with pytest.raises(pcn.UserError, match="no hyperparameter 'lr'"):
        pcn.train("deep-sea-treasure", lr=0.1)


def test_a_negative_time_between_checkpoints_leaves_no_folder_behind(tmp_path):
    with pytest.raises(UserError, match="checkpoint_seconds must not be negative, got -1"):
        pcn.train("deep-sea-treasure", out=tmp_path / "run", checkpoint_seconds=-1)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("desired", [[1.0], [1.0, np.nan], [1.0, 2.0, 3.0]])
def test_a_desired_return_of_another_shape_is_refused(desired):
    with pytest.raises(UserError, match="a return must be 2 finite numbers"):
        made_run([[1, -3]]).policy_for(desired)


@pytest.mark.parametrize("horizon", [0, -3, np.nan, np.inf])
def test_a_desired_horizon_below_one_step_is_refused(horizon):
    with pytest.raises(UserError, match="desired_horizon must be at least 1, got"):
        made_run([[1, -3]]).policy_for([1.0, -3.0], horizon)


def test_the_nearest_policy_is_one_of_the_front_in_units_of_its_range():
    """(9, -12) is dominated, and ranges are 10: (4, -5) is 4 and 4 away from (0, -1)."""
    run = made_run([[9, -12], [0, -1], [10, -11]])
    assert run.nearest_policy(np.array([9.0, -12.0])) == (2, pytest.approx(0.1))
    assert run.nearest_policy(np.array([4.0, -5.0])) == (1, pytest.approx(0.4))


@pytest.mark.slow
def test_a_run_with_one_policy_is_measured_and_saved_as_such(tmp_path):
    run = shown("pcn").acting
    run.taking(1).save(tmp_path / "one")
    one = pcn.load(tmp_path / "one")
    requested, executed = run.coverage_set.requested[1], run.coverage_set.executed[1]
    np.testing.assert_array_equal(one.coverage_set.requested, [requested])
    # One point: its box from the reference point, which is (0, -25) here.
    reference = np.array(run.spec.reference_point)
    assert one.metrics["executed"]["hypervolume"] == pytest.approx(np.prod(executed - reference))
    assert one.metrics["steps"] == run.metrics["steps"]
    assert one.spec.to_json() == run.spec.to_json()
    with pytest.raises(UserError, match="there is no policy 1"):
        one.policy(1)
    with pytest.raises(UserError, match="there is no policy True"):
        run.taking(True)
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [
        "config.json", "front.csv", "metrics.json", "progress.csv", "spec.json", "weights.npz",
    ]  # fmt: skip


@pytest.mark.parametrize("given", [{"executions": 0}, {"executions": -1}, {"seed": -1}])
def test_executions_and_seeds_are_whole_numbers(given):
    with pytest.raises(UserError, match="must be a whole number"):
        made_run([[1, 3]]).execute(**given)
