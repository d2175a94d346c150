"""Opt-in logs."""

import sys
import types

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
