"""A policy that is taken away is a run of its own."""

import io
import zipfile

import numpy as np
import pytest

import pcn
from explored import shown
from pcn.cli import main
from pcn.explorer.export import zipped_policy
from pcn.runs.playing import play


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pcn", "mones", "ra", "pcn-gymnasium"])
def test_the_folder_is_loaded_and_played_like_the_policy_that_was_picked(name, tmp_path, capsys):
    run = shown(name).acting
    index = len(run.coverage_set) - 1
    content = zipped_policy(run, index, name="mine")
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert all(entry.startswith("mine/") for entry in file.namelist())
        file.extractall(tmp_path)
    taken = pcn.load(tmp_path / "mine")
    assert len(taken.coverage_set) == 1
    np.testing.assert_array_equal(taken.coverage_set.executed[0], run.coverage_set.executed[index])
    assert taken.metrics["taken_from"] == {"run": name, "policy": index}
    steps = [
        [step.action for step in play(one, at).steps] for one, at in ((taken, 0), (run, index))
    ]
    assert steps[0] == steps[1]
    main(["play", str(tmp_path / "mine"), "--policy", "0"])
    said = capsys.readouterr().out
    assert ("as requested" if run.takes_commands else "as in training") in said


@pytest.mark.slow
def test_the_same_policy_is_the_same_file():
    run = shown("mones").acting
    assert zipped_policy(run, 0, name="a") == zipped_policy(run, 0, name="a")
