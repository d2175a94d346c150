"""Packages that bring short names: one is installed into a folder that Python looks into."""

import sys

import pytest

import pcn
from pcn.cli.main import main
from pcn.envs.entry_points import installed_names
from pcn.envs.finding import find_environment
from pcn.errors import UserError

MODULE = '''
import gymnasium as gym
import numpy as np


class Fork(gym.Env):
    """Left pays in one objective, right in the other."""

    observation_space = gym.spaces.Discrete(1)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, np.array([1.0 - action, 1.0 * action]), True, False, {}
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """What an installer leaves behind: the module, and a folder that says what it brings."""
    (tmp_path / "somebodys_fork.py").write_text(MODULE)
    about = tmp_path / "somebodys_fork-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-fork\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[pcn.environments]\n"
        "somebodys-fork = somebodys_fork:Fork\n"
        "somebodys-gone = somebodys_fork:Gone\n"
        "deep-sea-treasure = somebodys_fork:Fork\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("somebodys_fork", None)


@pytest.mark.usefixtures("installed")
def test_an_installed_package_brings_its_short_name():
    assert installed_names()["somebodys-fork"] == "somebodys_fork:Fork"
    found = find_environment("somebodys-fork", {}, total_steps=1_000)
    assert found.environment.spec.num_objectives == 2
    assert found.environment.spec.name == "somebodys-fork"


@pytest.mark.usefixtures("installed")
def test_our_names_stay_ours():
    assert find_environment("deep-sea-treasure", {}).environment.spec.step_limit > 1


@pytest.mark.usefixtures("installed")
def test_a_name_behind_which_there_is_nothing_is_told_and_unknown_names_list_the_installed(capsys):
    with pytest.raises(UserError, match="cannot find somebodys_fork:Gone"):
        find_environment("somebodys-gone", {})
    with pytest.raises(UserError, match=r"there are: .*somebodys-fork"):
        find_environment("nothing-like-it", {})
    main(["envs", "deep-sea-treasure"])
    assert "somebodys-fork" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_a_short_name_is_trained_on_and_found_again(tmp_path):
    run = pcn.train("somebodys-fork", total_steps=500, out=tmp_path / "run")
    assert run.settings.environment == "somebodys-fork"
    coverage_set, _ = pcn.load(tmp_path / "run").execute()
    assert sorted(coverage_set.executed.tolist()) == [[0.0, 1.0], [1.0, 0.0]]
