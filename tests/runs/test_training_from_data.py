"""Training from logged episodes: alone, with an environment to execute, or to go on with."""

import json
import threading

import numpy as np
import pytest

import pcn
from logged_episodes import assert_same
from made_runs import TREASURES
from pcn.cli import main
from pcn.errors import Stopped, UserError
from pcn.experiments.comparison.finding import find_runs
from pcn.explorer.document import document_of
from pcn.explorer.shown_runs import open_runs
from pcn.export import write_dataset, write_onnx
from pcn.figures.front import front_figure
from pcn.runs.logged import read_dataset

QUICK = {"logged_updates": 2048, "width": 32}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run on Deep Sea Treasure whose archive is the whole front."""
    path = tmp_path_factory.mktemp("runs") / "finished"
    return pcn.train("deep-sea-treasure", out=path, total_steps=20_000, width=32)


@pytest.fixture(scope="module")
def unexecuted(finished):
    path = finished.path.with_name("unexecuted")
    return pcn.train(dataset=finished.path, out=path, **QUICK)


@pytest.mark.slow
def test_a_finished_run_keeps_its_episodes_as_they_were(finished):
    """Every kept episode, played again, brings the same rewards and observations."""
    logged = read_dataset(finished.path)
    assert len(logged) == 200
    env = finished.environment().person_view()
    for index in range(0, len(logged), 20):
        observation, _ = env.reset(seed=0)
        start = logged.starts[index]
        for step in range(start, start + logged.lengths[index]):
            np.testing.assert_array_equal(observation, logged.observations[step])
            observation, reward, terminated, _, _ = env.step(int(logged.actions[step, 0]))
            np.testing.assert_array_equal(np.float32(reward), logged.rewards[step])
        np.testing.assert_array_equal(observation, logged.last_observations[index])
        assert terminated == logged.terminated[index]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["log.npz", "log-v0"])
def test_a_runs_episodes_survive_the_way_through_a_file_bit_for_bit(finished, name, tmp_path):
    write_dataset(finished.path, tmp_path / name)
    assert_same(read_dataset(tmp_path / name), read_dataset(finished.path))


@pytest.mark.slow
def test_from_a_runs_episodes_alone_the_executed_front_is_the_runs(finished, tmp_path):
    np.testing.assert_array_equal(finished.coverage_set.executed, TREASURES)
    run = pcn.train(
        dataset=finished.path, execute_on="deep-sea-treasure", out=tmp_path / "run", **QUICK
    )
    np.testing.assert_array_equal(run.coverage_set.executed, finished.coverage_set.executed)
    assert run.metrics["steps_by_phase"] == {
        "probing": 0, "learning from data": 0, "consolidating": 0,
        "executing": -int(TREASURES[:, 1].sum()),
    }  # fmt: skip
    assert run.settings.data["interaction"] == "execute"


@pytest.mark.slow
def test_without_an_environment_nothing_is_called_executed(unexecuted, capsys, tmp_path):
    run = pcn.load(unexecuted.path)
    assert not run.is_executed
    np.testing.assert_array_equal(run.coverage_set.requested, TREASURES)
    assert run.coverage_set.executions.tolist() == [0] * 10
    assert run.metrics["steps"] == 0
    content = json.loads((run.path / "metrics.json").read_text())
    assert content["executed"] == content["fidelity"] == {}
    assert content["not_executed"].startswith("NOT EXECUTED")
    assert content["archive"]["hypervolume"] == pytest.approx(22855)
    assert content["predicted"] == {"episodes": 10, "of": 10}
    header = (run.path / "front.csv").read_text().splitlines()[0]
    assert "NOT_EXECUTED_treasure" in header
    assert ",executed_" not in header
    assert "NOT EXECUTED" in repr(run)
    assert "NOT EXECUTED" in run._repr_html_()
    (axes,) = front_figure(run).axes
    assert "NOT EXECUTED" in axes.get_title()
    assert any("NOT EXECUTED" in text.get_text() for text in axes.get_legend().get_texts())
    shown, _ = open_runs([run.path])
    assert "NOT EXECUTED" in document_of(shown, live=False)["runs"][0]["not_executed"]
    entrants, left_out = find_runs([run.path])
    assert entrants == []
    assert "was NOT EXECUTED" in left_out[0]
    card = write_onnx(run, tmp_path / "policy.onnx", policy=3).card.read_text()
    assert "## NOT EXECUTED" in card
    capsys.readouterr()


@pytest.mark.slow
def test_the_command_says_that_nothing_was_executed(finished, tmp_path, capsys):
    out = str(tmp_path / "run")
    main(["train", "--from-dataset", str(finished.path), "--out", out, "--logged-updates", "512"])
    printed = capsys.readouterr().out
    assert "no environment: nothing will be executed" in printed
    assert printed.count("NOT EXECUTED") == 11  # ten policies and the sentence
    assert "executed hypervolume" not in printed
    assert "execute every policy" in printed
    assert "execute every policy again" not in printed
    assert "predicts every action of" in printed


@pytest.mark.slow
def test_policies_that_were_not_executed_can_be_executed_later(unexecuted):
    coverage_set, metrics = pcn.load(unexecuted.path).execute()
    np.testing.assert_array_equal(coverage_set.executed, TREASURES)
    assert metrics["executed"]["hypervolume"] == pytest.approx(22855)


@pytest.mark.slow
def test_with_an_environment_training_goes_on_from_the_episodes(finished, tmp_path):
    few = read_dataset(finished.path)
    from pcn.datasets.npz import write_npz_dataset

    poor = np.flatnonzero(few.returns()[:, 0] <= 3)
    write_npz_dataset(tmp_path / "poor.npz", few.taking(poor))
    run = pcn.train("deep-sea-treasure", dataset=tmp_path / "poor.npz", total_steps=20_000, **QUICK)
    assert run.settings.data["interaction"] == "train"
    assert 0 < run.metrics["steps"] <= 20_000
    assert run.coverage_set.executed[:, 0].max() == 124  # nothing like it was logged


@pytest.mark.slow
def test_an_interrupted_training_from_data_ends_as_if_it_had_not_been(
    finished, unexecuted, tmp_path
):
    stop = threading.Event()

    def report(event):
        if getattr(event, "phase", "") == "learning from data":
            stop.set()

    with pytest.raises(Stopped):
        pcn.train(dataset=finished.path, out=tmp_path / "run", report=report, stop=stop, **QUICK)
    resumed = pcn.resume(tmp_path / "run")
    for name, array in unexecuted.weights.items():
        np.testing.assert_array_equal(resumed.weights[name], array)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "which environment"),
        ({"execute_on": "deep-sea-treasure"}, "execute_on needs a dataset"),
        ({"dataset": "nowhere.npz"}, "does not exist"),
        ({"dataset": "nowhere.npz", "algorithm": "ra"}, "ra cannot learn from logged episodes"),
    ],
)
def test_requests_that_make_no_sense_are_told_in_a_sentence(arguments, sentence):
    with pytest.raises(UserError, match=sentence):
        pcn.train(**arguments)


def test_runs_that_keep_no_episodes_say_so():
    from explored import KEPT

    with pytest.raises(UserError, match=r"has no checkpoint|kept no rewards"):
        read_dataset(KEPT / "pcn")
