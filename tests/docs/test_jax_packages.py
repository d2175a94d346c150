"""The vector reward in docs/environments.md is executed as it is printed there."""

import re
import sys
from pathlib import Path

import jax
import pytest

from pcn.envs.finding import find_environment

PAGE = Path(__file__).parents[2] / "docs" / "environments.md"
pytest.importorskip("gymnax")
pytestmark = pytest.mark.filterwarnings("ignore")  # what the package deprecates is its own matter


@pytest.fixture
def my_rewards(tmp_path, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    code = next(block for block in blocks if "my_rewards.py" in block)
    (tmp_path / "my_rewards.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    yield "my_rewards:pushes"
    sys.modules.pop("my_rewards", None)


def test_the_printed_reward_makes_an_environment_of_three_objectives(my_rewards):
    given = {"rewards": my_rewards, "reference_point": (-201.0,) * 3, "deterministic": False}
    with jax.numpy_rank_promotion("allow"):
        environment = find_environment("gymnax:MountainCar-v0", given).environment
        environment.prepare()
    assert environment.spec.objective_names == ("time", "back", "forward")
