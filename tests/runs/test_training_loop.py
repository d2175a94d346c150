"""The loop of a training whose disk or environment fails; the trainer learns nothing."""

import dataclasses
import os
import shutil

import numpy as np
import pytest

import pcn
from hostile import Tame
from logged import SETTLED as SETTLED_WALK
from logged import Walk
from made_runs import TREASURES, made_run
from pcn.algorithms.trainer import AbstractTrainer, Outcome, Progress, Snapshot
from pcn.envs.environment import AbstractEnvironment
from pcn.errors import UserError
from pcn.runs import training
from pcn.runs.events import Noticed, Started
from pcn.runs.folder import CHECKPOINT, RunFolder
from pcn.runs.record import Record, evaluation_of
from pcn.runs.settling import Settled
from pcn.runs.training_loop import TrainingLoop
from pcn.runs.writer import TakenOver
from sizes import tiny

RUN = made_run(TREASURES)
PROBE = {"episodes": 0, "steps": 0}


class Failing(AbstractEnvironment):
    """Can neither be prepared nor closed."""

    spec = RUN.spec

    def person_view(self, render_mode=None):
        raise AssertionError("nobody asks for this")

    def prepare(self):
        raise UserError("there is no simulator")

    def close(self):
        raise ConnectionError("the socket is gone")


class Done(AbstractTrainer):
    """Has nothing left to do."""

    steps, done = 0, True

    def iterate(self):
        raise AssertionError("nobody asks for this")

    def snapshot(self):
        return Snapshot({}, {})

    def restore(self, snapshot):
        raise AssertionError("nobody asks for this")

    def outcome(self):
        return Outcome(RUN.coverage_set, {"weight": TREASURES})


SETTLED = Settled(RUN.settings, Failing(), RUN.spec, PROBE, {})


def test_a_command_that_was_stuck_in_an_evaluation_is_still_in_the_archive():
    archive = np.array([[1.0, 3.0], [2.0, 2.0]])  # boxes 1x3 and 2x2, sharing 1x2
    execution = dataclasses.replace(made_run(archive[:1]).coverage_set, num_stopped=1)
    row = evaluation_of(Progress(100, 0.5, archive, execution), 1.0, RUN.spec)
    assert row.archive_hypervolume == 3 + 4 - 2
    assert row.archive_cardinality == 2
    assert (row.executed_hypervolume, row.executed_cardinality, row.fidelity) == (3.0, 1, 0.5)


def created(path):
    return RunFolder.create(path, RUN.settings, RUN.spec, PROBE)


def loop_on(folder):
    """A loop that has nothing left to train, and what it tells."""
    told = []
    return TrainingLoop(SETTLED, Done(), Record(), folder, told.append, lambda: False), told


def notes(told):
    return [event.sentence for event in told if isinstance(event, Noticed)]


def test_an_environment_that_cannot_be_closed_does_not_cost_the_result(tmp_path, caplog):
    loop, _ = loop_on(created(tmp_path / "run"))
    loop.complete(1.0)
    assert len(pcn.load(tmp_path / "run").coverage_set) == len(TREASURES)
    assert "toy could not be closed: it failed at test_training_loop.py" in caplog.text


def test_an_environment_that_cannot_be_closed_does_not_keep_the_folder(tmp_path, monkeypatch):
    folder = created(tmp_path / "run")
    folder.release()
    monkeypatch.setattr(training, "reopen", lambda job: SETTLED)
    with pytest.raises(UserError, match="there is no simulator"):
        training.resume(folder.path)
    assert not list(folder.path.glob(".writer-*"))


def test_a_folder_that_cannot_be_made_again_is_tried_at_the_next_checkpoint(tmp_path):
    mount = tmp_path / "mount"
    path = mount / "run"
    mount.mkdir()
    loop, told = loop_on(created(path))
    shutil.rmtree(mount)
    mount.write_text("no folder")
    loop._save()
    loop._save()
    assert notes(told) == [
        f"cannot create {path}: Not a directory; training goes on and tries again"
    ]
    mount.unlink()
    loop._save()
    assert notes(told)[1] == f"{path} had vanished; it was made again, and nothing is lost"
    assert (path / CHECKPOINT).exists()


def test_a_checkpoint_of_an_attempt_that_was_succeeded_stops_it(tmp_path):
    folder = created(tmp_path / "run")
    loop, told = loop_on(folder)
    folder.claim(take_over=True)
    with pytest.raises(TakenOver, match="attempt 1 writes nothing more"):
        loop._save()
    assert notes(told) == []
    assert not (folder.path / CHECKPOINT).exists()


class Moves(Tame):
    """Changes the working folder."""

    folder = None

    def reset(self, *, seed=None, options=None):
        os.chdir(self.folder)
        return super().reset(seed=seed, options=options)


@pytest.mark.slow
class Refused(Done):
    """Is refused by its environment."""

    done = False

    def iterate(self):
        raise UserError("wild in step 3 of an episode: the observation is nan")


def test_a_failure_names_the_command_that_goes_on_once_there_is_a_checkpoint(tmp_path):
    folder = created(tmp_path / "my run")
    loop = loop_on(folder)[0]
    loop.trainer = Refused()
    with pytest.raises(UserError, match=r"is nan$"):
        loop.complete(0)
    folder.write_checkpoint({"trainer": {}, "record": Record().to_json()}, {})
    with pytest.raises(
        UserError, match=r"is nan; `pcn resume '.*my run'` goes on from the last checkpoint$"
    ):
        loop.complete(0)


def test_a_training_that_is_refused_before_its_first_checkpoint_leaves_no_folder(tmp_path):
    out = tmp_path / "runs" / "dst"
    with pytest.raises(UserError, match="too small"):
        pcn.train("deep-sea-treasure", total_steps=1, out=out)
    assert not out.exists()
    run = pcn.train("deep-sea-treasure", out=out, **tiny("pcn"))
    assert run.path == out


def test_a_refused_training_leaves_files_that_others_put_into_its_folder(tmp_path):
    out = tmp_path / "dst"

    def put(event):
        if isinstance(event, Started):
            (out / "notes.txt").write_text("mine")

    with pytest.raises(UserError, match="too small"):
        pcn.train("deep-sea-treasure", total_steps=1, out=out, report=put)
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "config.json").exists()


def test_an_environment_that_changes_the_working_folder_does_not_move_the_run(
    tmp_path, monkeypatch
):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(Moves, "folder", elsewhere)
    run = pcn.train(Moves, out="run", **tiny("pcn"))
    assert run.path == here / "run"
    assert [path.name for path in here.iterdir()] == ["run"]
    assert not any(elsewhere.iterdir())


@pytest.mark.slow
def test_an_iteration_tells_of_steps_while_episodes_run(monkeypatch):
    monkeypatch.setattr("pcn.runs.training_loop.COLLECTING_SECONDS", 0.0)
    told = []
    pcn.train(Walk, arguments=SETTLED_WALK, report=told.append, **tiny("pcn"))
    steps = [event.steps for event in told if isinstance(event, pcn.Advanced | pcn.Collecting)]
    assert steps == sorted(steps)
    collected = [event.steps for event in told if isinstance(event, pcn.Collecting)]
    # The steps of a Gymnasium environment as they are taken; the last one of all is among them.
    assert collected[-1] == max(steps)
    assert len(collected) > 3 * len([event for event in told if isinstance(event, pcn.Advanced)])
