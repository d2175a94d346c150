"""Runs of machines that share no path travel through a URL, and end like undisturbed ones."""

import re
import sys
import zipfile

import pytest

from pcn.errors import UserError
from pcn.experiments.execution.local import LocalExecutor
from pcn.experiments.execution.task import Task, perform
from pcn.experiments.execution.uploads import Snapshot, Uploads
from pcn.experiments.experiment import carry_out_plan, fetch_uploaded, unfinished
from pcn.experiments.preparation import prepare
from pcn.experiments.status import log_file, read_status
from quick_plans import assert_same, plan_of, train_alone
from refusals import refusal

RUN = "runs/toy/ra/seed-0"


@pytest.fixture
def uploads(tmp_path):
    return Uploads(f"file://{tmp_path}/store")


def write_run(folder, text, **beside):
    path = folder / RUN
    (path / ".writer-1").mkdir(parents=True, exist_ok=True)
    (path / ".writer-1" / "owner.json").write_text("somebody")
    (path / "config.json").write_text(text)
    log_file(path).write_text(f"log of {text}")


def read_run(folder):
    return (folder / RUN / "config.json").read_text()


def test_the_newest_attempt_counts_whoever_uploads_last(uploads, tmp_path):
    for text, snapshot in (("first", (1, 1)), ("second", (2, 1)), ("a late first", (1, 9))):
        write_run(tmp_path / text, text)
        uploads.upload(RUN, tmp_path / text, Snapshot(*snapshot))
    assert uploads.newest() == {RUN: Snapshot(2, 1)}
    uploads.fetch([RUN], tmp_path / "here", finished=[])
    assert read_run(tmp_path / "here") == "second"
    assert log_file(tmp_path / "here" / RUN).read_text() == "log of second"
    assert not list((tmp_path / "here" / RUN).glob(".writer-*")), "its writer was on that machine"


def test_older_snapshots_are_removed(uploads, tmp_path):
    write_run(tmp_path, "text")
    for number in (1, 2, 3):
        uploads.upload(RUN, tmp_path, Snapshot(1, number))
    assert [path.name for path in (tmp_path / "store" / RUN).parent.iterdir()] == [
        "seed-0.0001.000003.zip"
    ]


def test_half_a_snapshot_does_not_count(uploads, tmp_path):
    write_run(tmp_path, "text")
    uploads.upload(RUN, tmp_path, Snapshot(1, 1))
    half = tmp_path / "store" / f"{Snapshot(1, 2).place(RUN)}.0123.part"
    half.write_bytes(b"PK")
    assert uploads.newest() == {RUN: Snapshot(1, 1)}


def test_finished_runs_are_not_replaced(uploads, tmp_path):
    write_run(tmp_path / "there", "there")
    uploads.upload(RUN, tmp_path / "there", Snapshot(1, 1))
    write_run(tmp_path / "here", "here")
    uploads.fetch([RUN], tmp_path / "here", finished=[RUN])
    assert read_run(tmp_path / "here") == "here"
    uploads.fetch([RUN], tmp_path / "here", finished=[])
    assert read_run(tmp_path / "here") == "there"


@pytest.mark.parametrize("name", ["../../outside", "seed-0/../../outside", "seed-1/config.json"])
def test_files_of_nothing_but_the_run_are_unpacked(uploads, tmp_path, name):
    target = tmp_path / "store" / Snapshot(1, 1).place(RUN)
    target.parent.mkdir(parents=True)
    with zipfile.ZipFile(target, "w") as packed:
        packed.writestr(name, "text")
    with pytest.raises(UserError, match="holds files that are not of this run"):
        uploads.download(RUN, tmp_path / "here", Snapshot(1, 1))
    assert not any(path.is_file() for path in (tmp_path / "here").rglob("*"))


def test_a_damaged_snapshot_is_told(uploads, tmp_path):
    target = tmp_path / "store" / Snapshot(1, 1).place(RUN)
    target.parent.mkdir(parents=True)
    target.write_bytes(b"no zip file")
    with pytest.raises(UserError, match=r"the uploaded runs/toy/ra/seed-0 is damaged: "):
        uploads.download(RUN, tmp_path / "here", Snapshot(1, 1))


SWEEP = ("sweep", "deep-sea-treasure", "--total-steps", "300")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("nonsense://bucket", "pcn: cannot use nonsense://bucket: Protocol not known: nonsense"),
        ("file:///proc/nothing", r"pcn: cannot write to file:///proc/nothing: .+"),
    ],
)
def test_a_url_that_cannot_be_used_is_told_in_one_sentence(url, sentence, capsys, tmp_path):
    told = refusal(capsys, *SWEEP, "--upload", url, "--out", tmp_path / "study")
    assert re.fullmatch(sentence, told)


def test_without_fsspec_the_extra_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)  # as if it were not installed
    told = refusal(capsys, *SWEEP, "--upload", "file:///tmp/x", "--out", tmp_path / "study")
    assert told == "pcn: fsspec is not installed: pip install 'pcn[upload]'"


@pytest.mark.slow
def test_a_run_goes_on_elsewhere_from_what_a_lost_machine_has_uploaded(uploads, tmp_path):
    plan, steps = plan_of((0,)), []
    task = Task(tmp_path / "experiment", plan.runs[0], 0.0, upload=uploads.url)

    class LostError(BaseException):
        """The machine is gone: nothing of it is heard or written any more."""

    def lose(event):
        steps.append(event.steps)
        if uploads.newest():
            raise LostError

    with pytest.raises(LostError):
        perform(task, lose, lambda: False)
    assert not task.folder.exists(), "it worked in a folder of its own"
    found = uploads.newest()  # how many snapshots got away in time depends on the machine
    assert {name: one.attempt for name, one in found.items()} == {task.name: 1}

    outcome = carry_out_plan(
        prepare(plan, task.folder), LocalExecutor(1), checkpoint_seconds=0, upload=uploads.url
    )
    assert not outcome.failures
    assert unfinished(prepare(plan, task.folder)) == ()
    run = task.path
    assert read_status(run).attempt == 2
    begun = re.findall(r"at step ([\d,]+)", log_file(run).read_text())
    assert begun[0] == "0" != begun[1], "it continued, and did not begin anew"
    assert_same(run, train_alone(tmp_path / "undisturbed", (0,)) / run.name)
    # A driver on another machine, or another shard, finds the finished run.
    fetch_uploaded(uploads.url, plan.runs, tmp_path / "other")
    assert_same(tmp_path / "other" / plan.runs[0].place, run)
