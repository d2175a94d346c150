"""What the page may ask for, and nothing else."""

import pytest

from made_runs import made_run
from pcn.errors import UserError
from pcn.explorer.requests import (
    CommandRequest,
    PolicyRequest,
    read_policy_request,
    read_rollout_request,
)
from pcn.explorer.shown_runs import ShownRun

RUNS = [ShownRun("run", made_run([[1, -3], [2, -5]]))]


def test_a_policy_and_a_command_are_understood():
    assert read_rollout_request({"run": 0, "policy": 1}, RUNS) == PolicyRequest(0, 1, 0)
    asked = {"run": 0, "desired_return": [1, -4.5], "horizon": 10, "seed": 3}
    assert read_rollout_request(asked, RUNS) == CommandRequest(0, (1.0, -4.5), 10.0, 3)
    assert read_rollout_request({"run": 0, "desired_return": [1, 2]}, RUNS).horizon is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "must be a JSON object"),
        ([0, 1], "must be a JSON object"),
        ({"run": 0}, "policy must be a whole number from 0 to 1"),
        ({"run": 1, "policy": 0}, "run must be a whole number from 0 to 0"),
        ({"run": -1, "policy": 0}, "run must be"),
        ({"run": True, "policy": 0}, "run must be"),
        ({"run": "../../etc", "policy": 0}, "run must be"),
        ({"run": 0, "policy": 2}, "policy must be"),
        ({"run": 0, "policy": 0.5}, "policy must be"),
        ({"run": 0, "policy": "0"}, "policy must be"),
        ({"run": 0, "policy": 0, "seed": -1}, "seed must be"),
        ({"run": 0, "policy": 0, "seed": 2**31}, "seed must be"),
        ({"run": 0, "policy": 0, "path": "/etc"}, "no field 'path'"),
        ({"run": 0, "desired_return": [1]}, "desired_return must be 2 numbers"),
        ({"run": 0, "desired_return": [1, "2"]}, "desired_return must be"),
        ({"run": 0, "desired_return": [1, float("nan")]}, "desired_return must be"),
        ({"run": 0, "desired_return": [1, 1e300]}, "desired_return must be"),
        ({"run": 0, "desired_return": [1, 10**400]}, "desired_return must be"),
        ({"run": 0, "desired_return": [1, True]}, "desired_return must be"),
        ({"run": 0, "desired_return": {}}, "desired_return must be"),
        ({"run": 0, "desired_return": [1, 2], "horizon": 0}, "horizon must be a number from 1"),
        ({"run": 0, "desired_return": [1, 2], "horizon": 11}, "from 1 to 10"),
        ({"run": 0, "desired_return": [1, 2], "policy": 0}, "no field 'policy'"),
    ],
)
def test_everything_else_is_refused_in_a_sentence(content, told):
    with pytest.raises(UserError, match=told):
        read_rollout_request(content, RUNS)


def test_a_policy_is_taken_away_by_its_number_only():
    with pytest.raises(UserError, match="no field 'desired_return'"):
        read_policy_request({"run": 0, "desired_return": [1, 2]}, RUNS)
