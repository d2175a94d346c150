"""The printed runner acts like the policy in JAX, in a process that never imports JAX."""

import dataclasses
import json
import subprocess
import sys
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from benchmarks.onnx_steps import record, replay
from corridor import Corridor
from explored import shown
from made_runs import toy_spec
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.observations import PICTURE_SIDE, ObservationReader, picture_factor
from pcn.export import write_onnx
from pcn.export.networks import networks_of
from pcn.export.runner import _picture_lines
from pcn.runs.playing import play
from untrained import CONFIG, untrained_run


def assert_same_actions(run, folder, *, policy=None, indices=None):
    indices = range(len(run.coverage_set)) if indices is None else indices
    indices = indices if policy is None else [policy]
    record(run, indices, folder / "recorded.npz", whole=policy is None)
    files = write_onnx(run, folder / "exported.onnx", policy=policy)
    found = replay(files.runner, folder / "recorded.npz")
    assert found["different"] == 0
    assert found["steps"] >= len(indices)
    assert not found["jax"]
    assert not found["pcn"]
    return files


@dataclasses.dataclass
class Shown(AbstractEnvironment):
    """A Gymnasium environment as a run has it."""

    spec: object
    make: object

    def person_view(self, render_mode=None):
        return self.make()


class Warehouse(gym.Env):
    """Six steps of random rewards; the observation has named parts, one of them in parts again."""

    observation_space = gym.spaces.Dict(
        {
            "robot": gym.spaces.Box(-3, 3, (2,), np.float64),
            "load": gym.spaces.Tuple([gym.spaces.Discrete(4), gym.spaces.MultiBinary(2)]),
        }
    )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.time = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        self.time += 1
        reward = self.np_random.normal(size=2)
        return self.observation_space.sample(), reward, self.time == 6, False, {}


class Film(Warehouse):
    """The same with coloured pictures."""

    observation_space = gym.spaces.Box(0, 255, (48, 52, 3), np.uint8)


COMMANDS = [(3.0, -5.0, 9.0), (1.0, -2.0, 4.0), (0.5, -8.0, 12.0)]


def toy_run(make, actions=None, shown_space=None, **about):
    spec = dataclasses.replace(
        toy_spec(2),
        observation_space=make.observation_space,
        action_space=actions or gym.spaces.Discrete(5),
        **({} if shown_space is None else {"shown_space": shown_space, "frame_stack": 4}),
    )
    if shown_space is not None:
        small = gym.spaces.Box(0, 255, (4, 40, 40), np.uint8)
        spec = dataclasses.replace(spec, observation_space=small)
    return untrained_run("nowhere:Toy", commands=COMMANDS, environment=Shown(spec, make), **about)


def test_observations_of_named_parts_are_read_part_by_part(tmp_path):
    assert_same_actions(toy_run(Warehouse, gym.spaces.MultiDiscrete([2, 3])), tmp_path)


def test_pictures_are_reduced_and_stacked_as_in_training(tmp_path):
    assert_same_actions(toy_run(Film, shown_space=Film.observation_space), tmp_path)


class RealFilm(Warehouse):
    """The same with real numbers between 0 and 1 in the pictures."""

    observation_space = gym.spaces.Box(0, 1, (20, 20, 3), np.float32)


def test_pictures_of_real_numbers_are_reduced_as_in_training(tmp_path):
    assert_same_actions(toy_run(RealFilm, shown_space=RealFilm.observation_space), tmp_path)


@pytest.mark.parametrize(
    "space",
    [
        gym.spaces.Box(0, 1, (20, 20, 3), np.float32),
        gym.spaces.Box(0, 1, (20, 20), np.float32),
        gym.spaces.Box(0, 255, (20, 20, 1), np.float64),
        gym.spaces.Box(0, 255, (20, 20, 4), np.uint8),
        gym.spaces.Box(0, 1, (20, 20, 3), np.uint8),
    ],
    ids=str,
)
def test_the_lines_for_pictures_do_what_training_did(space):
    space.seed(0)
    seen = space.sample()
    pictures = {"side": PICTURE_SIDE, "frames": 2, "factor": picture_factor(space)}
    source = "\n".join(line.strip() for line in _picture_lines(pictures))
    names = {"observation": seen, "self": SimpleNamespace(frames=[]), "np": np, "Image": Image}
    exec(source, names)
    expected = ObservationReader(space, frame_stack=2).first(seen)
    np.testing.assert_array_equal(names["observation"], expected)
    assert expected.max() > 0


def test_expected_rewards_are_deducted_where_they_are_random(tmp_path):
    files = assert_same_actions(toy_run(Warehouse, expects=True), tmp_path)
    assert "self.expected" in files.runner.read_text()


def test_policies_of_one_run_may_have_networks_and_rules_of_their_own(tmp_path):
    run = toy_run(Warehouse, networks=[0, 1, 0])
    run.weights["follows_rewards"] = np.array([True, False])
    rules = [rule["kind"] for rule in networks_of(run).rules]
    assert rules == ["rewards", "fixed"]
    assert_same_actions(run, tmp_path)


def test_masks_are_given_with_the_observation(tmp_path):
    run = untrained_run("corridor", commands=[(2, -3, 3), (5, -6, 6)], environment=Corridor())
    assert_same_actions(run, tmp_path)
    assert_same_actions(run, tmp_path, policy=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pcn", "mones", "ra"])
def test_trained_runs_of_every_algorithm(name, tmp_path):
    run = shown(name).acting
    assert_same_actions(run, tmp_path)
    assert_same_actions(run, tmp_path, policy=len(run.coverage_set) - 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("minecart", [(1.2, 0.1, -3.0, 40), (0.3, 0.9, -9.0, 55)]),
        ("crossroad", [(60.0, -30.0, 100), (20.0, -90.0, 100)]),
    ],
)
def test_networks_in_the_environments_that_ship(name, commands, tmp_path):
    pytest.importorskip("libsumo" if name == "crossroad" else "numpy")
    assert_same_actions(untrained_run(name, commands=commands), tmp_path)


LIVE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import mo_gymnasium
from exported_policy import Policy
environment = mo_gymnasium.make("deep-sea-treasure-v0")
totals = []
for index in json.loads(sys.argv[2]):
    policy, total, done = Policy(index), 0.0, False
    observation, _ = environment.reset(seed=0)
    while not done:
        observation, reward, terminated, truncated, _ = environment.step(policy.act(observation))
        policy.observe(reward)
        total, done = total + reward, terminated or truncated
    totals.append(total.tolist())
assert "jax" not in sys.modules
print(json.dumps(totals))
"""


@pytest.mark.slow
def test_the_runner_reaches_the_executed_returns_in_an_environment_of_others(tmp_path):
    run = shown("pcn-gymnasium").acting
    write_onnx(run, tmp_path / "exported.onnx")
    indices = list(range(len(run.coverage_set)))
    process = subprocess.run(
        [sys.executable, "-c", LIVE, str(tmp_path), json.dumps(indices)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    totals = json.loads(process.stdout)
    np.testing.assert_allclose(totals, run.coverage_set.executed, rtol=1e-5)
    np.testing.assert_allclose(totals[-1], play(run, indices[-1]).total, rtol=1e-5)


def test_a_command_of_ones_own_is_bounded_like_those_of_the_run(tmp_path, monkeypatch):
    run = toy_run(Warehouse)
    write_onnx(run, tmp_path / "own.onnx")
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__("own_policy")
    policy = module.Policy(1)
    assert policy.want.tolist() == [1.0, -2.0]
    policy.reset([9.0, -9.0], 7)
    assert policy.want.tolist() == [3.0, -9.0]  # nothing above 3 was seen
    assert policy.horizon == 7
    policy.observe([1.0, 1.0])
    assert policy.want.tolist() == [2.0, -10.0]
    assert policy.horizon == 6


def test_a_discounted_command_has_a_lower_bound_in_the_runner_too(tmp_path, monkeypatch):
    run = toy_run(Warehouse, config=dataclasses.replace(CONFIG, discount=0.5))
    run.weights["lower_bound"] = np.array([0.0, -12.0])
    assert_same_actions(run, tmp_path)
    write_onnx(run, tmp_path / "floored.onnx")
    monkeypatch.syspath_prepend(tmp_path)
    runner, policy = __import__("floored_policy").Policy(0), run.policy(0)
    for reward in ([2.0, 1.0], [5.0, -20.0], [0.1, -0.7]):
        policy.act(run.spec.observation_space.sample())
        for one in (runner, policy):
            one.observe(reward)
        left = policy.command.desired_return
        assert runner.want.tolist() == left.tolist()
        assert np.all(left >= run.weights["lower_bound"])


def test_real_actions_are_those_of_the_policy(tmp_path):
    """The graphs of the other heads have tests of their own; the runner treats all alike."""
    actions = gym.spaces.Box(np.float32([-2, 0.5]), np.float32([1, 9.5]))
    config = dataclasses.replace(CONFIG, continuous_head="bins")
    assert_same_actions(toy_run(Warehouse, actions, config=config), tmp_path)
