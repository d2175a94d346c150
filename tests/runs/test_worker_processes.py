"""Worker processes: Ctrl-C is not for them, and none is left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import jax
import numpy as np
import pytest

import pcn
from logged import SETTLED, Stuck, Walk, environment
from pcn.errors import UserError
from pcn.rollout import ScriptedAgent, rollout
from pcn.runs.processes import birth, is_alive
from sizes import tiny

pytestmark = pytest.mark.slow

SECONDS = 60
"""Long enough for a busy machine."""

TRAIN = """
import signal, sys
# Where tests run, Ctrl-C may be switched off, and processes would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
from pcn.cli import main
main(sys.argv[1:])
"""


def others(before):
    """Child processes of this one that were not there before."""
    return [child for child in multiprocessing.active_children() if child not in before]


def soon(condition):
    """Whether something comes true before long."""
    deadline = time.monotonic() + SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def empty(group):
    """Whether a group of processes has no members."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_ctrl_c_stops_a_training_on_workers_with_a_checkpoint_and_ends_them_all(tmp_path):
    folder = tmp_path / "run"
    small = {**tiny("pcn"), "total_steps": 10_000_000}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in small.items()]
    point = map(str, SETTLED["reference_point"])
    process = subprocess.Popen(
        [
            sys.executable, "-c", TRAIN, "train", "logged:Walk", "--out", str(folder), *options,
            "--workers", "--environments", "2", "--step-limit", "10", "--deterministic", "True",
            "--masked-actions", "False", "--checkpoint-seconds", "0", "--reference-point", *point,
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=Path(__file__).parents[1],
    )  # fmt: skip
    try:
        checkpoint = folder / "checkpoint.npz"
        assert soon(lambda: checkpoint.exists() or process.poll() is not None)
        with suppress(ProcessLookupError):  # if it has failed, what it said tells why
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
        _, said = process.communicate(timeout=SECONDS)
        ended = soon(lambda: empty(process.pid))
    finally:
        with suppress(ProcessLookupError):  # the last of them may end meanwhile
            os.killpg(process.pid, signal.SIGKILL)
        process.stderr.close()
    assert process.returncode == 130, said
    assert "interrupted; continue with" in said
    assert not (folder / "metrics.json").exists()
    assert ended, "processes were left behind"


def test_workers_are_gone_once_a_training_is_over():
    before = multiprocessing.active_children()
    arguments = {**SETTLED, "deterministic": True, "workers": True, "environments": 2}
    during = []
    pcn.train(
        Walk,
        arguments=arguments,
        report=lambda _: during.append(len(others(before))),
        **tiny("pcn"),
    )
    assert set(during) == {2}
    assert not others(before)


def test_when_one_worker_dies_the_others_are_ended_whatever_they_do():
    before = multiprocessing.active_children()
    scripts = np.array([[[0]], [[1]]], np.int32)  # one dies, the other is busy for a minute
    started = time.monotonic()
    with pytest.raises(UserError, match="a worker process died"):
        rollout(
            environment(Stuck, num_slots=2, workers=True),
            ScriptedAgent(scripts, np.zeros(2, np.int32)),
            jax.random.key(0),
            2,
        )
    assert not others(before)
    assert time.monotonic() - started < SECONDS / 2


SPEC = """
import sys
from logged import SETTLED, Walk, environment
from pcn.envs.worker_slots import WorkerSlots
from pcn.errors import UserError
spec = environment(Walk).spec
"""

UNGUARDED = (
    SPEC
    + """
class Own(Walk):
    pass

def reset(kind):
    slots = WorkerSlots(kind, spec, 2)
    try:
        slots.reset({0: 0, 1: 1})
        print("reset")
    finally:
        slots.close()

reset(Walk)  # of a module: the script is not imported again
try:
    reset(Own)
except UserError as error:
    print(error)
"""
)


def run_script(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(text)
    return subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1])])},
    )


def test_a_script_without_a_guard_is_told_so_in_one_sentence(tmp_path):
    said, errors = run_script(tmp_path, UNGUARDED).communicate(timeout=SECONDS)
    first, second = said.splitlines()
    assert first == "reset"
    assert second.endswith('put that under `if __name__ == "__main__":`')
    assert errors == ""


ABANDONED = (
    SPEC
    + """
from hostile import Hangs
spec = environment(Hangs).spec
if __name__ == "__main__":
    slots = WorkerSlots(Hangs, spec, 1)
    slots.reset({0: 0})
    slots.step({0: 1}), slots.step({0: 1})
    print(slots._processes[0].pid, flush=True)
    slots.step({0: 1})  # hangs
"""
)


def test_a_worker_that_hangs_does_not_outlive_a_killed_training(tmp_path):
    process = run_script(tmp_path, ABANDONED)
    try:
        worker = int(process.stdout.readline())
        time.sleep(0.2)  # it is in the step that never ends
        assert is_alive(worker)
    finally:
        process.kill()
        process.communicate()
    assert soon(lambda: not is_alive(worker) or not birth(worker))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_queueing_system_that_ends_the_whole_group_gets_a_checkpoint(number, tmp_path):
    folder = tmp_path / "run"
    process = subprocess.Popen(
        [
            sys.executable, "-c", TRAIN, "train", "deep-sea-treasure", "--out", str(folder),
            "--total-steps", "10000000", "--checkpoint-seconds", "0",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    checkpoint = folder / "checkpoint.npz"
    assert soon(lambda: checkpoint.exists() or process.poll() is not None)
    before = checkpoint.stat().st_mtime_ns
    os.killpg(process.pid, number)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + number, said
    assert "stopping after this iteration" in said
    assert "continue with" in said
    assert checkpoint.stat().st_mtime_ns > before


def test_ctrl_c_while_the_program_starts_is_no_traceback(tmp_path):
    for delay in (0.05, 0.3, 0.8):
        process = subprocess.Popen(
            [sys.executable, "-c", SLOW_START, "train", "deep-sea-treasure", "--out", "x"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        )  # fmt: skip
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
        assert process.returncode == 130, said
        assert "Traceback" not in said
        assert "interrupted" in said


SLOW_START = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
print("running", flush=True)
sys.argv[0] = "pcn"
import runpy
runpy.run_module("pcn", run_name="__main__", alter_sys=False)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "command", [["train"], ["train", "--workers"], ["check"]], ids=["train", "workers", "check"]
)
def test_the_first_signal_while_probing_ends_the_program(command, number, tmp_path):
    started = tmp_path / "started"
    folder = tmp_path / "run"
    out = ["--out", str(folder)] if command[0] == "train" else []
    process = subprocess.Popen(
        [sys.executable, "-c", TRAIN, command[0], "hostile:HangsOnceSeen", *command[1:], *out],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOSTILE_FILE": str(started)},
        cwd=Path(__file__).parents[1],
    )  # fmt: skip
    try:
        assert soon(lambda: started.exists() or process.poll() is not None)
        process.send_signal(number)
        _, said = process.communicate(timeout=SECONDS / 2)
        ended = soon(lambda: empty(process.pid))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stderr.close()
    assert process.returncode == 128 + number, said
    assert said == "pcn: interrupted\n"
    assert not folder.exists()
    assert ended, "processes were left behind"
