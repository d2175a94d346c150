import dataclasses

import gymnasium as gym
import numpy as np
import pytest

from pcn.envs import find_environment
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.spec import EnvironmentSpec
from pcn.serialisation.files import read_json, write_json


def test_a_reference_point_of_another_length_is_refused():
    spec = DeepSeaTreasure().spec
    with pytest.raises(ValueError, match=r"reference_point has 3 objectives.*has 2"):
        dataclasses.replace(spec, reference_point=(0.0, 0.0, 0.0))


def test_objectives_are_counted_and_named_in_the_order_of_the_reward():
    spec = DeepSeaTreasure().spec
    assert spec.num_objectives == 2
    assert spec.objective_names == ("treasure", "time")


@pytest.mark.parametrize("name", ["deep-sea-treasure", "minecart-stochastic", "walkroom-3"])
def test_a_spec_survives_a_file(name, tmp_path):
    spec = find_environment(name, {}).environment.spec
    write_json(tmp_path / "spec.json", spec.to_json())
    back = EnvironmentSpec.from_json(read_json(tmp_path / "spec.json"))
    assert back == spec
    assert back.name == spec.name
    assert back.objectives == spec.objectives
    assert back.action_names == spec.action_names
    if spec.front is not None:
        assert (back.front.status, back.front.source) == (spec.front.status, spec.front.source)
        np.testing.assert_array_equal(back.front.returns, spec.front.returns)


def test_what_policies_see_and_what_is_shown_both_survive_a_file(tmp_path):
    shown = gym.spaces.Box(0, 255, (20, 30, 3), np.uint8)
    spec = dataclasses.replace(
        DeepSeaTreasure().spec,
        observation_space=gym.spaces.Box(0, 255, (3, 40, 40), np.uint8),
        shown_space=shown,
        frame_stack=3,
        front=None,
    )
    write_json(tmp_path / "spec.json", spec.to_json())
    back = EnvironmentSpec.from_json(read_json(tmp_path / "spec.json"))
    assert (back, back.shown_space, back.frame_stack) == (spec, shown, 3)
    assert back != dataclasses.replace(spec, frame_stack=2)
    assert back != dataclasses.replace(spec, shown_space=None)


def test_specs_are_equal_if_compiled_code_cannot_tell_them_apart():
    spec = DeepSeaTreasure().spec
    other = dataclasses.replace(spec, name="another map", front=None)
    assert (other, hash(other)) == (spec, hash(spec))
    assert other.to_json() != spec.to_json()
    assert dataclasses.replace(spec, step_limit=7) != spec


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("step_limit", []), ("step_limit", 0), ("step_limit", True), ("deterministic", "yes"),
        ("masked_actions", None), ("reference_point", [0.0, "a"]), ("name", 3),
        ("frame_stack", 1.5),
    ],
)  # fmt: skip
def test_a_value_of_a_wrong_type_is_named(name, value):
    content = {**DeepSeaTreasure().spec.to_json(), name: value}
    with pytest.raises(ValueError, match=name):
        EnvironmentSpec.from_json(content)
