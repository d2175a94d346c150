"""A real Ray cluster of two nodes on this machine: runs move, and end like undisturbed ones."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pcn.errors import UserError
from pcn.experiments.execution.cluster import RayExecutor
from pcn.experiments.execution.task import Began, Ended, Moved
from pcn.experiments.execution.uploads import Uploads
from pcn.experiments.experiment import carry_out_plan, unfinished
from pcn.experiments.preparation import prepare
from pcn.experiments.status import log_file, read_status
from quick_plans import QUICK, STEPS, assert_same, plan_of, train_alone
from refusals import refusal

SECONDS = 240
"""Long enough for a busy machine."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return train_alone(tmp_path_factory.mktemp("undisturbed"), (0, 1))


def raylet_of(run):
    """The process that has started the Ray worker which carries out a run."""
    [owner] = run.glob(".writer-*/owner.json")
    return parent_of(json.loads(owner.read_text())["pid"])


def parent_of(process):
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"PPid:\s+(\d+)", status)[1])


@pytest.mark.slow
def test_runs_of_a_killed_node_move_and_end_like_undisturbed_ones(
    ray_cluster, undisturbed, tmp_path
):
    plan, events, moved = plan_of((0, 1)), [], []
    deadline = time.monotonic() + SECONDS

    def tell(event):
        events.append(event)
        if isinstance(event, Moved) and not moved:
            moved.append(event.name)
            run = tmp_path / event.name
            while not (run / "checkpoint.npz").exists():
                assert time.monotonic() < deadline, "it takes too long"
                time.sleep(0.005)
            ray_cluster.kill(raylet_of(run))

    executor = RayExecutor(ray_cluster.address)
    assert executor.num_jobs == 2
    executor.check(tmp_path)
    outcome = carry_out_plan(prepare(plan, tmp_path), executor, tell=tell, checkpoint_seconds=0)
    ray_cluster.add()
    assert not outcome.failures
    endings = {run.place.as_posix(): [] for run in plan.runs}
    for event in events:
        if isinstance(event, Ended):
            endings[event.name].append(event.ending)
    assert endings.pop(moved[0]) == ["lost", "done"]
    assert list(endings.values()) == [["done"]], "the other one is not disturbed"
    run = tmp_path / moved[0]
    assert read_status(run).attempt == 2
    begun = [int(step.replace(",", "")) for step in re.findall(r"at step ([\d,]+)", log(run))]
    assert begun[0] == 0 < begun[1], "it continued, and did not begin anew"
    for planned in plan.runs:
        path = tmp_path / planned.place
        assert not list(path.glob(".writer-*"))
        assert_same(path, undisturbed / path.name)


@pytest.mark.slow
def test_uploaded_runs_of_a_killed_node_go_on_elsewhere(ray_cluster, undisturbed, tmp_path):
    uploads = Uploads(f"file://{tmp_path}/store")
    plan, killed = plan_of((0,)), []
    place = plan.runs[0].place
    deadline = time.monotonic() + SECONDS

    def tell(event):
        if isinstance(event, Moved) and not killed:
            while not uploads.newest():
                assert time.monotonic() < deadline, "it takes too long"
                time.sleep(0.005)
            uploads.fetch([event.name], tmp_path / "seen", finished=[])
            [process] = re.findall(r"in process (\d+)", log(tmp_path / "seen" / place))
            killed.append(parent_of(process))
            ray_cluster.kill(killed[0])

    executor = RayExecutor(ray_cluster.address)
    executor.check(tmp_path / "here", uploads.url)
    outcome = carry_out_plan(
        prepare(plan, tmp_path / "here"),
        executor,
        tell=tell,
        checkpoint_seconds=0,
        upload=uploads.url,
    )
    ray_cluster.add()
    assert killed
    assert not outcome.failures
    assert read_status(tmp_path / "here" / place).attempt == 2
    assert_same(tmp_path / "here" / place, undisturbed / place.name)


@pytest.mark.slow
def test_a_url_that_a_node_cannot_use_is_refused(ray_cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sentence = r"the Ray node \S+ \(\S+\) cannot use file:///proc/self/cwd/store: finds something"
    with pytest.raises(UserError, match=sentence):
        RayExecutor(ray_cluster.address).check(tmp_path / "out", "file:///proc/self/cwd/store")


def log(run):
    return log_file(run).read_text()


def start(folder, address):
    options = [f"{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "pcn", "sweep", "deep-sea-treasure", "--algorithm", "ra"),
            *("--seeds", "0-1", "--total-steps", str(STEPS), "--set", *options),
            *("--ray", address, "--checkpoint-seconds", "0", "--out", str(folder)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_an_interrupted_command_saves_checkpoints_and_goes_on(ray_cluster, undisturbed, tmp_path):
    runs = [tmp_path / run.place for run in plan_of((0, 1)).runs]
    process = start(tmp_path, ray_cluster.address)
    deadline = time.monotonic() + SECONDS
    while not any((run / "checkpoint.npz").exists() for run in runs):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, told
    assert "interrupted; continue with `" in told
    assert "Traceback" not in told
    stopped = [run for run in runs if run.exists()]
    assert not any((run / "metrics.json").exists() for run in stopped), "the signal came too late"
    assert not any(list(run.glob(".writer-*")) for run in stopped), "others may write"
    assert {read_status(run).state for run in runs} == {"waiting"}

    process = start(tmp_path, ray_cluster.address)
    shown, told = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, told
    assert "2 of 2 runs are finished" in shown
    for run in runs:
        assert_same(run, undisturbed / run.name)


@pytest.mark.slow
def test_a_failure_of_a_run_is_told_and_not_tried_again(ray_cluster, tmp_path):
    plan, events = plan_of((0,), total_steps=300), []
    path = tmp_path / plan.runs[0].place
    preparation = prepare(plan, tmp_path)
    path.mkdir(parents=True)  # a folder that is no run
    outcome = carry_out_plan(preparation, RayExecutor(ray_cluster.address), tell=events.append)
    [failure] = outcome.failures
    assert failure.sentence in log(path)
    assert [type(event) for event in events] == [Began, Ended]
    assert unfinished(preparation) == plan.runs


@pytest.mark.slow
def test_a_folder_that_is_another_one_on_a_node_is_refused(ray_cluster, tmp_path, monkeypatch):
    # Each process has a working folder of its own, as each node may have a /tmp of its own.
    monkeypatch.chdir(tmp_path)
    folder = Path("/proc/self/cwd/experiment")
    sentence = (
        r"experiment is not shared by all nodes: the Ray node \S+ \(\S+\) does not see it; "
        r"choose an --out that every node sees under the same path, or have runs uploaded to one "
        r"place with --upload URL"
    )
    with pytest.raises(UserError, match=sentence):
        RayExecutor(ray_cluster.address).check(folder)
    assert list((tmp_path / "experiment").iterdir()) == [], "the probe is gone"


SWEEP = ("sweep", "deep-sea-treasure", "--total-steps", "300")


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("127.0.0.1:1", "no Ray cluster answers at 127.0.0.1:1: [Errno 111] Connection refused"),
        ("ray://127.0.0.1:1", "the address of a Ray cluster is auto or HOST:PORT, got"),
        ("nonsense", "the address of a Ray cluster is auto or HOST:PORT, got"),
        ("nowhere.invalid:6379", "no Ray cluster answers at nowhere.invalid:6379: "),
    ],
)
def test_a_wrong_address_is_told_in_one_sentence(address, sentence, capsys, tmp_path):
    pytest.importorskip("ray", reason="the extra pcn[ray] is not installed")
    folder = tmp_path / "experiment"
    assert sentence in refusal(capsys, *SWEEP, "--ray", address, "--out", folder)
    assert not folder.exists()


def test_without_ray_the_extra_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    sentence = refusal(capsys, *SWEEP, "--ray", "auto", "--out", tmp_path / "experiment")
    assert sentence == "pcn: ray is not installed: pip install 'pcn[ray]'"
