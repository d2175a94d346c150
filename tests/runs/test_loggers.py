"""Opt-in logs."""

from pcn.runs import Report, loggers
from pcn.runs.training import PROGRESS_COLUMNS


def test_tensorboard_events_appear_with_the_first_evaluation(tmp_path):
    report = loggers.tensorboard(tmp_path / "events")
    quiet = Report(10, 100, 0.1, 1.0, 2, None)
    report(quiet)
    assert not (tmp_path / "events").exists()
    evaluation = dict.fromkeys(PROGRESS_COLUMNS, 0.5)
    report(Report(20, 100, 0.2, 1.0, 2, evaluation))
    assert list((tmp_path / "events").iterdir())


def test_names_are_those_of_the_field():
    named = loggers.scalars(dict(zip(PROGRESS_COLUMNS, range(len(PROGRESS_COLUMNS)), strict=True)))
    assert named["eval/hypervolume"] == PROGRESS_COLUMNS.index("executed_hypervolume")
    assert named["archive/hypervolume"] == PROGRESS_COLUMNS.index("archive_hypervolume")
