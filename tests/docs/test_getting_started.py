"""The Python blocks of docs/getting-started.md are executed one after the other."""

import numpy as np
import pytest

from doc_pages import blocks


@pytest.mark.slow
def test_what_is_printed_trains_loads_draws_and_measures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks("docs/getting-started.md", "python"):
        exec(block.replace("20_000", "3_000"), names)
    run, other = names["run"], names["other"]
    assert run.path is not None
    assert run.settings.config.total_steps == 3_000
    assert (other.path, other.settings.config.action_noise) == (None, 0.2)
    assert names["hypervolume"](run.coverage_set.executed, np.array([0.0, -200.0])) > 0
    made = {path.name for path in tmp_path.glob("*.png")}
    assert made == {"front.png", "fronts.png", "progress.png"}
