"""How long the runs of an experiment take, from those that are finished."""

import json

import pytest

from made_runs import save_run
from pcn.errors import UserError
from pcn.experiments.speeds import Speeds
from pcn.experiments.sweep import sweep_plan


@pytest.fixture
def plan():
    return sweep_plan(["deep-sea-treasure"])


def test_a_finished_run_tells_the_speed_of_its_like(plan, tmp_path):
    save_run(tmp_path / plan.runs[0].place, [[1, 3]])  # 100 steps in 20 seconds
    speeds = Speeds(tmp_path, plan.runs)
    assert speeds.measured_here
    assert speeds.seconds(plan.runs[-1], 1000) == pytest.approx(200)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"steps": "many"}, "steps is 'many'"),
        ({"seconds": [1]}, "seconds is [1]"),
        ({"seconds": ...}, "seconds is missing"),
        ({"steps": ...}, "steps is missing"),
    ],
)
def test_a_finished_run_with_damaged_numbers_is_told(change, told, plan, tmp_path):
    path = save_run(tmp_path / plan.runs[0].place, [[1, 3]]) / "metrics.json"
    metrics = {**json.loads(path.read_text()), **change}
    path.write_text(json.dumps({name: given for name, given in metrics.items() if given != ...}))
    with pytest.raises(UserError) as refused:
        Speeds(tmp_path, plan.runs)
    assert str(refused.value) == f"{path} is damaged: {told}"
