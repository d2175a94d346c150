"""What one policy of PCN needs of a run's arrays."""

import numpy as np
import pytest

from pcn.algorithms.pcn.algorithm import PCN
from pcn.coverage import CoverageSet

ARRAYS = {
    "policy.head.weight": np.array([1.0]),
    "policy.command_scale": np.array([2.0]),
    "policy_1.head.weight": np.array([3.0]),
    "policy_1.command_scale": np.array([4.0]),
    "upper_bound": np.array([5.0, 6.0]),
    "follows_rewards": np.array([True, False]),
}


@pytest.mark.parametrize(("index", "weight", "follows"), [(0, 1.0, True), (1, 3.0, False)])
def test_the_network_of_the_policy_becomes_the_only_one(index, weight, follows):
    returns = np.zeros((2, 2))
    coverage_set = CoverageSet(returns, np.ones(2), returns, returns, network=np.array([0, 1]))
    taken = PCN().arrays_of(ARRAYS, coverage_set, index)
    assert taken.keys() == {
        "policy.head.weight", "policy.command_scale", "upper_bound", "follows_rewards",
    }  # fmt: skip
    assert taken["policy.head.weight"] == weight
    assert taken["policy.command_scale"] == weight + 1
    assert taken["follows_rewards"].tolist() == [follows]
    assert taken["upper_bound"].tolist() == [5.0, 6.0]
    assert coverage_set.taking(index).network.tolist() == [0]
