"""Slots on a real Ray cluster of two nodes: like worker processes, also when a node is killed."""

import os
import random
import re
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import sleep

import gymnasium as gym
import numpy as np
import pytest

import pcn
from pcn.envs.from_gymnasium import GymnasiumEnvironment, describe
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe
from pcn.envs.ray_slots import RaySlots
from pcn.envs.slots import Script
from pcn.errors import UserError
from pcn.runs.events import Advanced

pytestmark = pytest.mark.slow


class Tumbling(gym.Env):
    """Ten steps whose observations are drawn from the process's global generators.

    A file named after the process tells where the instance lives. With `unrepeatable`, rewards
    differ from one process to the next.
    """

    observation_space = gym.spaces.Box(-9, 9, (2,), np.float64)
    action_space = gym.spaces.Discrete(3)

    def __init__(self, folder, unrepeatable=False):
        (Path(folder) / str(os.getpid())).touch()
        self.unrepeatable = unrepeatable

    def _seen(self):
        return np.array([random.gauss(0, 1), self.sum + np.random.normal()])  # noqa: NPY002

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = self.sum = 0
        return self._seen(), {}

    def step(self, action):
        self.time += 1
        self.sum += int(action) / 3
        more = os.getpid() if self.unrepeatable else random.random()
        reward = np.array([self.sum - more, float(action) + more])
        return self._seen(), reward, False, self.time >= 10, {}


def slots_of(workers, folder, num_slots=2, **options):
    environment = GymnasiumEnvironment.from_source(
        GymnasiumSource("tumbling", partial(Tumbling, folder, **options)),
        Probe((-100.0, -100.0), False, False, 10),
        num_slots=num_slots,
        workers=workers,
    )
    return environment.slots()


def raylets(folder):
    """The node that each process with an instance is on, by the process."""
    found = {}
    for path in folder.iterdir():
        if path.name != str(os.getpid()) and Path("/proc", path.name).exists():
            found[path.name] = int(raylet_of(path.name))
    return found


def raylet_of(process):
    """The process of the node that has started a process, or one of its ancestors."""
    while True:
        status = Path("/proc", process, "status").read_text()
        if status.startswith("Name:\traylet"):
            return process
        process = re.search(r"PPid:\s+(\d+)", status)[1]


def lose_node(cluster, folder, raylet):
    """Kill a node with the instances on it, which would live on for a moment otherwise."""
    instances = [int(process) for process, parent in raylets(folder).items() if parent == raylet]
    cluster.kill(raylet)
    for process in instances:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@pytest.fixture
def address(ray_cluster, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", ray_cluster.address)


def happenings(slots, disturb):
    """All that two slots answer: a whole script, some steps, a disturbance, more steps."""
    scripts = {slot: Script(slot, np.full((10, 1), slot), obeys_masks=False) for slot in (0, 1)}
    played = slots.play(scripts)
    found = [[*played[slot].rewards, played[slot].last_observation] for slot in (0, 1)]
    found += slots.reset({0: 5, 1: 6}).values()
    for time in range(9):
        if time == 4:
            disturb()
        found += slots.step({0: time % 3, 1: (time + 1) % 3}).values()
    slots.close()
    return found


def test_slots_of_a_killed_node_go_on_as_if_nothing_had_happened(ray_cluster, address, tmp_path):
    expected = happenings(slots_of(True, tmp_path), lambda: None)
    folder = tmp_path / "ray"
    folder.mkdir()

    def kill_a_node():
        before = raylets(folder)
        assert len(set(before.values())) == 2, "each node has one of the slots"
        lose_node(ray_cluster, folder, min(before.values()))

    found = happenings(slots_of("ray", folder), kill_a_node)
    ray_cluster.add()
    assert len(list(folder.iterdir())) == 4, "one here to look at, two slots, and a new one"
    np.testing.assert_equal(found, expected)


def test_an_episode_that_cannot_be_run_again_is_told(ray_cluster, address, tmp_path):
    slots = slots_of("ray", tmp_path, unrepeatable=True)
    slots.reset({0: 5, 1: 6})
    slots.step({0: 1, 1: 1})
    [*_, process] = raylets(tmp_path)
    os.kill(int(process), signal.SIGKILL)
    with pytest.raises(UserError, match="took another course when it was run again"):
        slots.step({0: 1, 1: 1})
    assert slots.closed


def test_a_training_on_a_cluster_that_loses_a_node_equals_one_on_worker_processes(
    ray_cluster, address, tmp_path
):
    make = partial(Tumbling, tmp_path)
    known = {"environments": 2, "step_limit": 10, "reference_point": (-100.0, -100.0)}
    known |= {"deterministic": False, "masked_actions": False}
    killed = []

    def report(event):
        if isinstance(event, Advanced) and not killed:
            killed.append(max(raylets(tmp_path).values()))
            lose_node(ray_cluster, tmp_path, killed[0])

    options = {"algorithm": "ra", "total_steps": 1_000, "intervals": 2, "episodes_per_update": 2}
    options |= {"evaluations": 2}
    here = pcn.train(make, arguments={**known, "workers": True}, **options)
    there = pcn.train(make, arguments={**known, "workers": "ray"}, report=report, **options)
    ray_cluster.add()
    assert killed
    for name, value in here.weights.items():
        np.testing.assert_array_equal(there.weights[name], value)
    np.testing.assert_array_equal(there.coverage_set.executed, here.coverage_set.executed)


def test_a_process_that_dies_is_replaced_while_others_of_its_node_are_in_the_middle_of_episodes(
    ray_cluster, address, tmp_path
):
    def course(slots, disturb):
        found = [*slots.reset({slot: slot for slot in range(4)}).values()]
        found += slots.step(dict.fromkeys(range(4), 1)).values()
        disturb()
        found += slots.reset({0: 9}).values()
        found += slots.step(dict.fromkeys(range(4), 2)).values()
        slots.close()
        return found

    folder = tmp_path / "ray"
    folder.mkdir()

    def kill_the_processes_of_a_node():
        at = raylets(folder)
        assert sorted(at.values()).count(min(at.values())) == 2, "two slots on each node"
        for process, raylet in at.items():
            if raylet == min(at.values()):
                os.kill(int(process), signal.SIGKILL)

    expected = course(slots_of(True, tmp_path, num_slots=4), lambda: None)
    found = course(slots_of("ray", folder, num_slots=4), kill_the_processes_of_a_node)
    np.testing.assert_equal(found, expected)


def test_an_environment_of_a_script_that_nodes_do_not_have_is_made_on_them(ray_cluster, address):
    slots = of_a_script(lambda: None)
    slots.reset({0: 0})
    np.testing.assert_array_equal(slots.step({0: 1})[0][1], [1, -1])
    slots.close()


def test_a_simulator_of_a_script_that_hangs_is_given_up(ray_cluster, address, monkeypatch):
    slots = of_a_script(lambda: sleep(3600), answer_seconds=1.0)
    slots.reset({0: 0})
    monkeypatch.setattr("pcn.envs.ray_slots.ACTOR_SECONDS", 1.0)
    with pytest.raises(UserError, match=r"still: .* has not answered for 2 s and was ended"):
        slots.step({0: 1})
    assert slots.closed


def of_a_script(delay, **options):
    """One slot of an environment that no node can import."""

    class Still(gym.Env):
        observation_space, action_space = gym.spaces.Discrete(2), gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return 0, {}

        def step(self, action):
            delay()
            return 1, np.array([1.0, -1.0]), True, False, {}

    spec = describe(GymnasiumSource("still", Still), Probe((0.0, -2.0), True, False, 1))
    return RaySlots(Still, spec, 1, **options)
