import gymnasium as gym
import numpy as np
import pytest

from corridor import Corridor
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.to_gymnasium import CompiledGymEnv


@pytest.fixture(scope="module")
def env():
    return CompiledGymEnv(DeepSeaTreasure())


def test_stepping_before_a_reset_is_refused():
    with pytest.raises(gym.error.ResetNeeded, match="reset"):
        CompiledGymEnv(DeepSeaTreasure()).step(0)


def test_an_action_outside_the_space_is_refused_by_its_value(env):
    env.reset()
    with pytest.raises(ValueError, match=r"action 4 .*Discrete\(4\)"):
        env.step(4)


def test_an_unknown_render_mode_is_refused_by_its_value():
    with pytest.raises(ValueError, match="'human'"):
        CompiledGymEnv(DeepSeaTreasure(), render_mode="human")


def test_without_a_render_mode_there_is_no_picture(env):
    env.reset()
    assert env.render() is None


def test_a_stochastic_environment_follows_the_seed(coin):
    env = CompiledGymEnv(coin)

    def rewards(seed):
        env.reset(seed=seed)
        return np.array([env.step(0)[1] for _ in range(5)])

    np.testing.assert_array_equal(rewards(1), rewards(1))
    assert len({rewards(seed).tobytes() for seed in range(8)}) > 3


def test_an_episode_after_the_first_is_not_the_first_again(coin):
    env = CompiledGymEnv(coin)
    env.reset(seed=0)
    seen = set()
    for _ in range(8):
        seen.add(np.array([env.step(0)[1] for _ in range(5)]).tobytes())
        env.reset()
    assert len(seen) > 3


def test_an_environment_without_pictures_promises_none(env):
    assert env.metadata["render_modes"] == ["rgb_array"]
    assert CompiledGymEnv(Corridor()).metadata["render_modes"] == []
