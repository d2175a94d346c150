"""A run that is killed and resumed ends in what it would have been."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import pcn
from pcn.serialisation.files import read_arrays

pytestmark = pytest.mark.slow

STEPS = 15_000
RUN = [sys.executable, "-m", "pcn"]


def start(*arguments):
    return subprocess.Popen(
        [*RUN, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def result(folder):
    """Everything in a run folder that must not depend on when it was interrupted."""
    arrays, _ = read_arrays(folder / "weights.npz")
    metrics = json.loads((folder / "metrics.json").read_text())
    for name in ("seconds", "cpu_seconds"):
        metrics.pop(name)
    header, *rows = (folder / "progress.csv").read_text().splitlines()
    column = header.split(",").index("seconds")
    progress = [row.split(",")[:column] + row.split(",")[column + 1 :] for row in rows]
    return arrays, metrics, (folder / "front.csv").read_text(), progress


def assert_same(one, other):
    assert one[0].keys() == other[0].keys()
    for name in one[0]:
        np.testing.assert_array_equal(one[0][name], other[0][name])
    assert one[1:] == other[1:]


def test_a_run_killed_again_and_again_ends_like_an_undisturbed_one(tmp_path):
    undisturbed = tmp_path / "undisturbed"
    pcn.train("deep-sea-treasure", seed=3, out=undisturbed, total_steps=STEPS)
    folder = tmp_path / "killed"
    options = ["--checkpoint-seconds", "0"]
    process = start(
        "train", "deep-sea-treasure", "--seed", 3, "--out", folder, "--total-steps", STEPS, *options
    )
    rng = np.random.default_rng(0)
    kills = 0
    while True:
        deadline = time.monotonic() + 60
        while not (folder / "checkpoint.npz").exists() and process.poll() is None:
            assert time.monotonic() < deadline, "no checkpoint within a minute"
            time.sleep(0.01)
        if kills < 2:
            time.sleep(rng.uniform(0, 0.5))
            process.send_signal(signal.SIGKILL)
        process.communicate()
        if (folder / "metrics.json").exists():
            break
        kills += 1
        process = start("resume", folder, *options)
        # Wait until the resumed process has saved something of its own.
        before = os.stat(folder / "checkpoint.npz").st_mtime_ns
        while os.stat(folder / "checkpoint.npz").st_mtime_ns == before and process.poll() is None:
            time.sleep(0.01)
    assert kills > 0
    assert_same(result(folder), result(undisturbed))


def test_a_run_killed_before_its_first_checkpoint_starts_over(tmp_path):
    reference, folder = tmp_path / "reference", tmp_path / "killed"
    pcn.train("deep-sea-treasure", seed=4, out=reference, total_steps=3_000)
    shutil.copytree(reference, folder)
    for name in ("checkpoint.npz", "metrics.json", "front.csv", "weights.npz", "progress.csv"):
        (folder / name).unlink()
    pcn.resume(folder)
    assert_same(result(folder), result(reference))


def test_a_damaged_checkpoint_is_told_and_nothing_is_overwritten(tmp_path):
    folder = tmp_path / "run"
    pcn.train("deep-sea-treasure", seed=0, out=folder, total_steps=500)
    (folder / "metrics.json").unlink()
    damaged = (folder / "checkpoint.npz").read_bytes()[:1000]
    (folder / "checkpoint.npz").write_bytes(damaged)
    with pytest.raises(pcn.UserError, match=r"checkpoint\.npz is damaged"):
        pcn.resume(folder)
    assert (folder / "checkpoint.npz").read_bytes() == damaged
