"""Plans that are disturbed end like undisturbed ones, and nothing is done twice."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from pcn.experiments.execution.local import LocalExecutor
from pcn.experiments.execution.task import Ended, Moved
from pcn.experiments.experiment import carry_out_plan, unfinished
from pcn.experiments.preparation import prepare
from pcn.experiments.status import read_status
from quick_plans import QUICK, STEPS, assert_same, plan_of, train_alone

pytestmark = pytest.mark.slow

SECONDS = 240
"""Long enough for a busy machine."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return train_alone(tmp_path_factory.mktemp("undisturbed"), (0, 1, 2))


def start(folder):
    options = [f"{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "pcn", "sweep", "deep-sea-treasure", "--algorithm", "ra"),
            *("--seeds", "0-2", "--total-steps", str(STEPS), "--set", *options),
            *("--jobs", "1", "--checkpoint-seconds", "0", "--out", str(folder)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(condition, process):
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.005)


def group_is_empty(group):
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_a_plan_that_is_killed_and_interrupted_ends_like_undisturbed_trainings(
    tmp_path, undisturbed
):
    runs = [tmp_path / run.place for run in plan_of((0, 1, 2)).runs]
    process = start(tmp_path)
    wait_for((runs[1] / "checkpoint.npz").exists, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert group_is_empty(process.pid)
    assert not (runs[1] / "metrics.json").exists(), "the kill came too late to prove anything"
    finished = {path: path.stat().st_mtime_ns for path in runs[0].iterdir()}

    process = start(tmp_path)
    wait_for((runs[2] / "checkpoint.npz").exists, process)
    process.send_signal(signal.SIGINT)
    shown, told = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, told
    assert "interrupted; continue with `" in told
    assert "keeps 1 finished run, continues 1, begins 1" in shown
    assert not (runs[2] / "metrics.json").exists(), "the signal came too late to prove anything"
    assert not list(runs[2].glob(".writer-*")), "who is told to stop lets others write"
    assert read_status(runs[2]).state == "waiting"
    assert group_is_empty(process.pid), "workers do not outlive the command"

    process = start(tmp_path)
    shown, told = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, told
    assert "keeps 2 finished runs, continues 1, begins 0" in shown
    assert {path: path.stat().st_mtime_ns for path in runs[0].iterdir()} == finished
    assert [read_status(run).attempt for run in runs] == [1, 2, 2]
    for run in runs:
        assert_same(run, undisturbed / run.name)


def test_a_run_whose_worker_is_killed_goes_on_in_another_one(tmp_path, undisturbed):
    plan, events = plan_of((0,)), []
    run = tmp_path / plan.runs[0].place

    def tell(event):
        kills = isinstance(event, Moved) and not any(isinstance(old, Moved) for old in events)
        events.append(event)
        if kills:
            [owner] = run.glob(".writer-*/owner.json")
            os.kill(json.loads(owner.read_text())["pid"], signal.SIGKILL)

    outcome = carry_out_plan(
        prepare(plan, tmp_path), LocalExecutor(1), tell=tell, checkpoint_seconds=0
    )
    endings = [event.ending for event in events if isinstance(event, Ended)]
    assert endings == ["lost", "done"]
    assert not outcome.failures
    assert_same(run, undisturbed / "seed-0")


BROKEN = """
import os
import gymnasium as gym
import numpy as np

class Broken(gym.Env):
    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        print("cores", len(os.sched_getaffinity(0)), "threads", os.environ.get("OMP_NUM_THREADS"))
        return 0, {}

    def step(self, action):
        if os.path.exists(BREAKS):
            raise RuntimeError("the simulator broke")
        return 1, np.array([float(action), -float(action)]), True, False, {}
"""


def test_a_failed_run_is_told_with_its_log_and_does_not_stop_the_others(tmp_path, monkeypatch):
    before = os.sched_getaffinity(0), dict(os.environ)
    breaks = tmp_path / "breaks"
    (tmp_path / "broken_simulator.py").write_text(BROKEN.replace("BREAKS", repr(str(breaks))))
    monkeypatch.syspath_prepend(str(tmp_path))
    environments = ["broken_simulator:Broken", "deep-sea-treasure"]
    plan = plan_of((0,), total_steps=300, environments=environments)
    folder = tmp_path / "experiment"
    preparation = prepare(plan, folder)
    breaks.touch()
    outcome = carry_out_plan(preparation, LocalExecutor(1))
    [failure] = outcome.failures
    assert "the simulator broke" in failure.sentence
    assert "the simulator broke" in failure.log.read_text()
    assert [run.group for run in unfinished(preparation)] == ["broken_simulator:Broken"]
    assert read_status(folder / plan.runs[0].place).state == "failed"

    breaks.unlink()
    again = carry_out_plan(prepare(plan, folder), LocalExecutor(1))
    assert not again.failures
    assert not unfinished(preparation)
    assert "cores 1 threads 1" in failure.log.read_text()
    assert (os.sched_getaffinity(0), dict(os.environ)) == before, "only workers are limited"
    assert read_status(folder / plan.runs[0].place).attempt == 2


def test_shards_of_a_plan_make_the_whole(tmp_path):
    plan = plan_of((0, 1), total_steps=300)
    first, second = plan.runs
    preparation = prepare(plan, tmp_path)
    carry_out_plan(preparation, LocalExecutor(1), runs=[second])
    assert unfinished(preparation) == (first,)
    carry_out_plan(prepare(plan, tmp_path), LocalExecutor(1), runs=[first])
    assert unfinished(preparation) == ()
    assert [read_status(tmp_path / run.place).attempt for run in plan.runs] == [1, 1]


def test_a_full_disk_stops_everything_and_nothing_is_lost(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, errno\n"
        "real = os.fsync\n"
        "def fsync(number):\n"
        "    name = os.readlink(f'/proc/self/fd/{number}')\n"
        "    if 'checkpoint' in name or 'weights' in name:\n"
        "        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)\n"
        "    real(number)\n"
        "os.fsync = fsync\n"
    )
    plan = plan_of((0, 1), total_steps=300)
    folder = tmp_path / "experiment"
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [str(tmp_path), *sys.path])
        outcome = carry_out_plan(prepare(plan, folder), LocalExecutor(1))
    assert outcome.disk_full
    assert outcome.stopped
    assert [failure.name for failure in outcome.failures] == [plan.runs[0].place.as_posix()]
    assert "No space left on device" in outcome.failures[0].sentence
    assert not (folder / plan.runs[1].place).exists()
    assert not carry_out_plan(prepare(plan, folder), LocalExecutor(1)).failures
