import gymnasium as gym
import pytest

from pcn.envs import ENVIRONMENTS
from pcn.envs.gymnasium_ids import register_all


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_registering_again_changes_nothing(name):
    register_all()
    before = gym.registry[f"pcn/{name}-v0"]
    register_all()
    assert gym.registry[f"pcn/{name}-v0"] is before


def test_the_render_mode_reaches_the_environment():
    register_all()
    env = gym.make("pcn/deep-sea-treasure-v0", render_mode="rgb_array")
    assert env.unwrapped.render_mode == "rgb_array"
