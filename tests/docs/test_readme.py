"""The README's Python block is executed as it is printed there."""

import re
from pathlib import Path

import numpy as np
import pytest

from pcn.envs.deep_sea_treasure import DeepSeaTreasure

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.slow
def test_the_python_block_trains_and_plays_what_it_says(tmp_path, monkeypatch, capsys):
    (block,) = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(block.replace("seed=0)  #", "seed=0, total_steps=10_000)  #"), names)
    assert names["run"].settings.config.total_steps == 10_000
    front = DeepSeaTreasure().spec.front.returns
    np.testing.assert_array_equal(names["run"].coverage_set.executed, front)
    assert capsys.readouterr().out.count("\n") == len(front)  # one row per policy
    # The policy that was picked found its treasure: the last reward is that of the last step.
    assert names["terminated"]
    np.testing.assert_array_equal(names["reward"], [front[3][0], -1.0])
    assert list(tmp_path.iterdir()) == []
