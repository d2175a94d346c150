import dataclasses

import pytest

from pcn.envs.deep_sea_treasure import DeepSeaTreasure


def test_a_reference_point_of_another_length_is_refused():
    spec = DeepSeaTreasure().spec
    with pytest.raises(ValueError, match=r"reference_point has 3 objectives.*has 2"):
        dataclasses.replace(spec, reference_point=(0.0, 0.0, 0.0))


def test_objectives_are_counted_and_named_in_the_order_of_the_reward():
    spec = DeepSeaTreasure().spec
    assert spec.num_objectives == 2
    assert spec.objective_names == ("treasure", "time")
