"""The vector reward in docs/environments.md is executed as it is printed there."""

import sys

import jax
import jax.numpy as jnp
import pytest

from doc_pages import blocks
from pcn.envs.finding import find_environment


@pytest.fixture
def my_rewards(tmp_path, monkeypatch):
    (code,) = blocks("docs/environments.md", "python")
    (tmp_path / "my_rewards.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    yield "my_rewards:pushes"
    sys.modules.pop("my_rewards", None)


def test_the_printed_reward_counts_steps_and_pushes(my_rewards):
    module, _, name = my_rewards.partition(":")
    pushes = getattr(__import__(module), name)
    rewards = [pushes(None, jnp.asarray(action), None, None).tolist() for action in range(3)]
    assert rewards == [[-1, -1, 0], [-1, 0, 0], [-1, 0, -1]]  # back, nothing, forward
    assert [objective.direction for objective in pushes.objectives] == ["minimise"] * 3


def test_the_printed_reward_of_2048_counts_points_and_moves(my_rewards):
    tiles = __import__(my_rewards.partition(":")[0]).tiles
    assert tiles(None, jnp.asarray(2), None, jnp.asarray(8.0)).tolist() == [8, -1]
    assert [one.name for one in tiles.objectives] == ["points", "moves"]


@pytest.mark.filterwarnings("ignore")  # what the package deprecates is its own matter
def test_the_printed_reward_makes_an_environment_of_three_objectives(my_rewards):
    pytest.importorskip("gymnax")
    given = {"rewards": my_rewards, "reference_point": (-201.0,) * 3, "deterministic": False}
    with jax.numpy_rank_promotion("allow"):
        environment = find_environment("gymnax:MountainCar-v0", given).environment
        environment.prepare()
    assert environment.spec.objective_names == ("time", "back", "forward")
