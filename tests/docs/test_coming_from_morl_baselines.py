"""The same task in both libraries, as docs/coming-from-morl-baselines.md prints it."""

import ast

import numpy as np
import pytest

from doc_pages import blocks

THEIRS, OURS = blocks("docs/coming-from-morl-baselines.md", "python")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what MO-Gymnasium deprecates is its own matter
def test_our_block_trains_and_runs_the_policy_that_is_nearest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(OURS.replace("100_000", "1_500"), names)
    requested = names["run"].coverage_set.requested[names["index"]]
    distances = np.abs(names["run"].coverage_set.executed - [16.0, -9.0])
    assert len(requested) == distances.shape[1] == 2
    assert names["done"]


def test_their_block_trains_on_the_same_environment_for_as_many_steps():
    theirs, ours = ast.dump(ast.parse(THEIRS)), ast.dump(ast.parse(OURS))
    for shared in ("deep-sea-treasure-concave-v0", "Constant(value=100000)"):
        assert shared in theirs
        assert shared in ours


@pytest.mark.slow
def test_their_block_runs_where_morl_baselines_is_installed(monkeypatch, tmp_path):
    pytest.importorskip("morl_baselines")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(THEIRS.replace("100_000", "1_500"), names)
    assert names["agent"].global_step >= 1_500
