"""One run of a plan, in whatever process: what it tells, and what becomes of it."""

import pytest

from pcn.errors import Stopped
from pcn.experiments.execution import task as module
from pcn.experiments.execution.task import Task, perform
from pcn.experiments.status import read_status
from pcn.experiments.sweep import sweep_plan
from pcn.runs.events import Advanced


@pytest.mark.parametrize("moves", [1, 3])
def test_a_worker_whose_parent_was_killed_stops_after_a_checkpoint(moves, tmp_path, monkeypatch):
    reported = []

    def carry_out(job, *, report, stop, **rest):
        for steps in range(moves):
            report(Advanced(steps, 10, 1.0, 0.0, 1, "training", None))
            reported.append(steps)
        assert stop()
        raise Stopped(None)  # as a training does, which has saved a checkpoint before

    def tell(event):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(module, "carry_out", carry_out)
    monkeypatch.setattr(module, "TELL_SECONDS", 0.0)
    (run, *_) = sweep_plan(["deep-sea-treasure"]).runs
    ended = perform(Task(tmp_path, run, 10.0), tell, lambda: True)
    assert (ended.ending, ended.sentence) == ("stopped", "")
    assert reported == list(range(moves))
    assert read_status(tmp_path / run.place).state == "waiting"
