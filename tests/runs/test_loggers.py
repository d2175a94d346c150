"""Opt-in logs."""

import dataclasses
import sys
import types
import warnings

import pytest

from pcn.errors import UserError
from pcn.runs import Advanced, Request, Started, loggers
from pcn.runs.progress import COLUMNS, Evaluation
from pcn.runs.settling import settle

EVALUATION = Evaluation.of_row(range(len(COLUMNS)))


def advanced(steps, evaluation):
    return Advanced(steps, 100, 0.1, 1.0, 2, "training", evaluation)


@pytest.fixture
def started():
    settled = settle(Request(environment="deep-sea-treasure", hyperparameters={"width": 7}))
    return Started(settled.settings, settled.spec)


def test_tensorboard_events_appear_with_the_first_evaluation(tmp_path, started):
    report = loggers.tensorboard(tmp_path / "events")
    report(started)
    report(advanced(10, None))
    assert not (tmp_path / "events").exists()
    report(advanced(20, EVALUATION))
    assert list((tmp_path / "events").iterdir())


def test_names_are_those_of_the_field():
    named = loggers.scalars(EVALUATION)
    assert named["eval/hypervolume"] == COLUMNS.index("executed_hypervolume")
    assert named["archive/hypervolume"] == COLUMNS.index("archive_hypervolume")


def test_weights_and_biases_gets_every_hyperparameter_first(monkeypatch, started):
    logged = []
    fake = types.ModuleType("wandb")
    run = types.SimpleNamespace(log=logged.append)
    fake.init = lambda **options: logged.append(options) or run
    monkeypatch.setitem(sys.modules, "wandb", fake)
    report = loggers.wandb("project")
    assert logged == []
    for event in (started, advanced(10, None), advanced(20, EVALUATION)):
        report(event)
    first, second = logged
    assert (first["project"], first["config"]["config"]["width"]) == ("project", 7)
    assert (second["global_step"], second["eval/fidelity"]) == (20, EVALUATION.fidelity)


def test_a_missing_package_is_told_with_the_extra_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UserError, match=r"wandb is not installed: pip install 'pcn\[wandb\]'"):
        loggers.wandb("project")


def fake_wandb(monkeypatch):
    """Weights & Biases that writes down how it is called."""
    called = []
    fake = types.ModuleType("wandb")
    fake.init = lambda **options: called.append(options) or types.SimpleNamespace(log=called.append)
    monkeypatch.setitem(sys.modules, "wandb", fake)
    return called


def test_a_run_that_is_resumed_goes_on_logging_where_it_was(tmp_path, monkeypatch, started):
    called = fake_wandb(monkeypatch)
    begun = loggers.all_of(*loggers.logs_of(tmp_path, tensorboard_too=True, project="sea"))
    for event in (started, advanced(20, EVALUATION)):
        begun(event)
    resumed = loggers.all_of(*loggers.logs_again(tmp_path))
    for event in (dataclasses.replace(started, steps=20), advanced(40, EVALUATION)):
        resumed(event)
    first, _, second, _ = called
    assert first["id"] == second["id"]
    assert second["resume"] == "allow"
    assert second["project"] == "sea"
    assert list((tmp_path / "tensorboard").iterdir())


def test_a_run_without_logs_remembers_none(tmp_path, started):
    loggers.all_of(*loggers.logs_of(tmp_path, tensorboard_too=False, project=None))(started)
    assert list(tmp_path.iterdir()) == []
    assert loggers.logs_again(tmp_path) == []


@pytest.mark.parametrize(
    "about",
    ['{"project": 1}', '{"projekt": "x"}', '{"project": "x", "more": "y"}', "{}", "1"],
)
def test_a_damaged_choice_of_logs_is_told(about, tmp_path):
    (tmp_path / loggers.LOGS).write_text(f'{{"wandb": {about}}}')
    with pytest.raises(UserError, match=r"logs\.json is damaged: wandb is .* instead of"):
        loggers.logs_again(tmp_path)


@pytest.mark.slow
def test_weights_and_biases_itself_takes_what_is_logged(tmp_path, monkeypatch, started):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own making
        report = loggers.wandb("sea", "a1b2")
        for event in (started, advanced(20, EVALUATION), advanced(40, EVALUATION)):
            report(event)
        summary, config = dict(wandb.run.summary), dict(wandb.run.config)
        wandb.finish()
    assert summary["eval/hypervolume"] == EVALUATION.executed_hypervolume
    assert summary["global_step"] == 40
    assert config["config"]["width"] == 7
    assert len(list(tmp_path.glob("wandb/offline-run-*-a1b2/*.wandb"))) == 1
