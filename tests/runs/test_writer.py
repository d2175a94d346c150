"""One process writes a run's folder, and an older attempt never again."""

import json
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

import pcn
from made_runs import save_run
from pcn.errors import UserError
from pcn.runs.folder import RunFolder
from pcn.runs.processes import birth, is_alive
from pcn.runs.writer import SILENT_SECONDS, Writer


@pytest.fixture
def sleeper():
    """Another process that lives as long as the test."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.communicate()


def pretend(folder, **changes):
    """Have the last writer of a folder be somebody else."""
    place = max(folder.glob(".writer-*"))
    content = json.loads((place / "owner.json").read_text())
    (place / "owner.json").write_text(json.dumps({**content, **changes}))
    return place


def held_by_process(folder, pid, **changes):
    Writer.claim(folder)
    return pretend(folder, pid=pid, born=birth(pid), **changes)


def test_a_second_writer_is_refused_with_the_name_of_the_first(tmp_path, sleeper):
    held_by_process(tmp_path, sleeper.pid)
    expected = f"is being written by process {sleeper.pid} on {socket.gethostname()} .attempt 1, "
    with pytest.raises(UserError, match=expected):
        Writer.claim(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1, "a refused writer leaves nothing behind"


def test_the_writer_of_a_dead_process_is_succeeded(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    held_by_process(tmp_path, process.pid)
    assert Writer.claim(tmp_path).owner.attempt == 2


def test_a_process_that_has_ended_and_was_not_collected_is_dead(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    held_by_process(tmp_path, process.pid)
    process.stdin.close()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert Writer.claim(tmp_path).owner.attempt == 2
    process.wait()


def test_a_number_that_went_to_another_process_is_no_life(tmp_path, sleeper):
    held_by_process(tmp_path, sleeper.pid)
    pretend(tmp_path, born="1")
    assert is_alive(sleeper.pid)
    assert Writer.claim(tmp_path).owner.attempt == 2


def test_a_writer_elsewhere_counts_as_dead_once_it_is_silent(tmp_path):
    place = held_by_process(tmp_path, 1, host="elsewhere")
    with pytest.raises(UserError, match=r"on elsewhere .*--take-over"):
        Writer.claim(tmp_path)
    before = time.time() - SILENT_SECONDS - 1
    os.utime(place / "owner.json", (before, before))
    assert Writer.claim(tmp_path).owner.attempt == 2


@pytest.mark.parametrize(
    "damage",
    [{"pid": 1e5}, {"pid": 0}, {"pid": 1 << 70}, {"born": 1}, {"host": 1}],
)
def test_a_writer_whose_file_is_damaged_is_succeeded(damage, tmp_path, sleeper):
    held_by_process(tmp_path, sleeper.pid)
    pretend(tmp_path, **damage)
    assert Writer.claim(tmp_path).owner.attempt == 2


def test_an_older_attempt_is_refused_and_cannot_release_the_newer_one(tmp_path):
    old = Writer.claim(tmp_path)
    new = Writer.claim(tmp_path, take_over=True)
    new.check()
    with pytest.raises(UserError, match=r"was taken over by process .*attempt 1 writes nothing"):
        old.check()
    old.release()
    new.check()
    new.release()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UserError, match="was taken over"):
        old.check()


def test_an_older_attempt_is_refused_by_a_later_one_that_has_its_number(tmp_path):
    old = Writer.claim(tmp_path)
    Writer.claim(tmp_path, take_over=True).release()
    Writer.claim(tmp_path)
    with pytest.raises(UserError, match="was taken over"):
        old.check()


def test_of_many_who_claim_at_once_one_is_the_writer(tmp_path):
    writers, refusals, start = [], [], threading.Barrier(8)

    def claim():
        start.wait()
        try:
            writers.append(Writer.claim(tmp_path))
        except UserError as error:
            refusals.append(error)

    threads = [threading.Thread(target=claim) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(writers), len(refusals)) == (1, 7)


def interrupted(folder, seed=0):
    """A run that was stopped after its first iteration."""
    stop = threading.Event()
    stop.set()
    with pytest.raises(pcn.Stopped):
        pcn.train("deep-sea-treasure", total_steps=800, seed=seed, out=folder, stop=stop)
    return folder


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_name_that_no_folder_can_have_is_told(tmp_path):
    with pytest.raises(UserError, match=r"cannot create .*null byte"):
        save_run(tmp_path / "a\0b", [[1, 3]])


@pytest.mark.slow
def test_a_run_that_is_being_written_is_not_resumed(tmp_path, sleeper):
    folder = interrupted(tmp_path / "run")
    assert not list(folder.glob(".*")), "a stopped training has no writer"
    held_by_process(folder, sleeper.pid)
    before = content(folder)
    with pytest.raises(UserError, match=f"is being written by process {sleeper.pid}"):
        pcn.resume(folder)
    assert content(folder) == before
    assert len(pcn.resume(folder, take_over=True).coverage_set)
    assert not list(folder.glob(".*")), "a finished run has no writer"


@pytest.mark.slow
def test_a_training_that_was_taken_over_stops_before_it_writes(tmp_path):
    folder = interrupted(tmp_path / "run")
    before, newer = {}, []

    def take_over(event):
        if isinstance(event, pcn.Advanced) and not newer:
            newer.append(RunFolder(folder).claim(take_over=True))
            before.update(content(folder))

    with pytest.raises(UserError, match="attempt 1 writes nothing more"):
        pcn.resume(folder, report=take_over, checkpoint_seconds=0)
    assert newer
    assert content(folder) == before
    newer[0].release()
    assert len(pcn.resume(folder).coverage_set)
