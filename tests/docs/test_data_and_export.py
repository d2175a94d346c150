"""What docs/data-and-export.md prints is executed as it stands there."""

import re
from pathlib import Path

import numpy as np
import pytest

from explored import shown
from pcn.export import write_onnx

PAGE = (Path(__file__).parents[2] / "docs" / "data-and-export.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("name", "policy"), [("dst", 2), ("all", None)])
def test_the_runner_is_used_as_printed(name, policy, tmp_path, monkeypatch):
    (block,) = [block for block in BLOCKS if f"from {name}_policy" in block]
    run = shown("pcn").acting
    write_onnx(run, tmp_path / f"{name}.onnx", policy=policy)
    monkeypatch.syspath_prepend(tmp_path)
    known = {"observation": np.array([0, 0]), "reward": np.array([0.0, -1.0])}
    exec(block, known)
    if policy is not None:
        assert known["action"] == run.policy(policy).act(np.array([0, 0]))
    else:
        assert known["policy"].want.tolist() == [20.0, -12.0]


@pytest.mark.slow
def test_a_dataset_is_written_and_learned_from_as_printed(tmp_path, monkeypatch, capsys):
    (block,) = [block for block in BLOCKS if "np.savez" in block]
    monkeypatch.chdir(tmp_path)
    known = {}
    exec(block, known)
    # By hand: 0 + 5 in two steps, 1 in one step, and 0 + 2 in two steps, which is dominated.
    np.testing.assert_array_equal(known["run"].coverage_set.requested, [[1, -1], [5, -2]])
    assert "NOT EXECUTED" in capsys.readouterr().out


def test_the_page_and_the_reader_have_the_same_arrays():
    from pcn.datasets import npz

    words = set(re.findall(r"`(\w+)`", npz.__doc__)) - {"NAME"}
    assert len(words) > 10
    assert words <= set(re.findall(r"`(\w+)`", PAGE))
