"""Rewards, counters and observations of the crossroad, checked against hand-made schedules."""

import functools
import multiprocessing

import gymnasium as gym
import libsumo
import numpy as np
import pytest

import pcn
from pcn.envs import find_environment
from pcn.envs.crossroad import Crossroad
from pcn.envs.crossroad.environment import CELLS_BEFORE, STEP_LIMIT, reward_of
from pcn.envs.crossroad.variants import VARIANTS
from pcn.envs.from_gymnasium import describe
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe
from pcn.envs.worker_slots import WorkerSlots
from pcn.errors import UserError


@pytest.fixture
def make():
    made = []

    def make_and_keep(*arguments, **options):
        made.append(Crossroad(*arguments, **options))
        return made[-1]

    yield make_and_keep
    for environment in made:
        environment.close()


def every(number):
    """Switch in every `number`-th step; 0 is never."""
    return [int(number > 0 and step % number == number - 1) for step in range(STEP_LIMIT)]


def played(environment, actions, seed=0):
    observation, _ = environment.reset(seed=seed)
    observations, rewards = [observation], []
    for action in actions:
        observation, reward, terminated, truncated, _ = environment.step(action)
        assert not terminated
        assert not truncated
        observations.append(observation)
        rewards.append(reward)
    return np.array(observations), np.array(rewards, dtype=np.float64)


def test_rewards_by_hand():
    times = np.array([2.0, 4.0, 9.0])  # mean 5, variance (9 + 1 + 16) / 3
    np.testing.assert_allclose(reward_of(3, times, "mean"), [3, -5 / 100], rtol=1e-6)
    second = (-np.sqrt(26 / 3) / 10 + 0.9) / 9
    np.testing.assert_allclose(reward_of(3, times, "authors"), [1.8 / 9, second], rtol=1e-6)


def test_an_empty_crossroad_has_nobody_waiting():
    nobody = np.zeros(0)
    np.testing.assert_array_equal(reward_of(0, nobody, "mean"), [0, 0])
    np.testing.assert_allclose(reward_of(0, nobody, "authors"), [-1.2 / 9, 0.1], rtol=1e-6)


@pytest.mark.parametrize(
    ("number", "flow", "second"),
    [
        (0, 181, -168.6),
        (1, 70, -112.7),
        (10, 80, -106.1),
        (20, 123, -87.5),
        (30, 130, -84.8),
        (40, 129, -94.3),
    ],
)
def test_fixed_schedules_return_what_the_authors_crossroad_returns(make, number, flow, second):
    _, rewards = played(make("authors"), every(number))
    # Their net differs in detail, and with it the traffic that a seed draws.
    unscaled = rewards.sum(axis=0) * 9 + STEP_LIMIT * np.array([1.2, -0.9])
    assert unscaled[0] == pytest.approx(flow, abs=2)
    assert unscaled[1] == pytest.approx(second, rel=0.02)


def test_flow_and_waiting_equal_what_sumo_itself_knows_of_every_car(make):
    environment = make("mean")
    environment.reset()
    left = set()
    for step, action in enumerate(every(17)):
        _, reward, *_ = environment.step(action)
        roads = {name: libsumo.vehicle.getRoadID(name) for name in libsumo.vehicle.getIDList()}
        gone = {name for name, road in roads.items() if road.startswith("to_")}
        assert reward[0] == len(gone - left)
        left |= gone
        # A car departs in the second before it is first seen.
        times = [step - libsumo.vehicle.getDeparture(n) for n in roads if n not in gone]
        assert reward[1] == pytest.approx(-np.mean(times) / STEP_LIMIT, abs=1e-6)


def test_the_observation_shows_each_car_its_time_and_the_lights(make):
    observations, _ = played(make("mean"), every(20))
    cars, times, lights = observations[45]
    assert observations[0][:2].max() == 0  # the roads are empty at first
    assert set(np.unique(cars)) == {0, 255}
    assert np.all(times[cars == 0] == 0)
    # Steps 19 to 21 are yellow, then the vertical road is green until step 39.
    assert [int(observations[step][2, 0, 0]) for step in (19, 20, 21, 22, 23)] == [
        255, 150, 100, 50, 0,
    ]  # fmt: skip
    assert [int(observations[step][2, 4, 0]) for step in (22, 23, 39)] == [0, 255, 255]
    assert np.all(lights == lights[:, :1])
    # Before the first switch the queues of the vertical road grow from the lights backwards.
    queue = observations[19][:, 4:]
    assert np.all(queue[0, :, CELLS_BEFORE:] == 0)
    assert np.all(queue[1, :, CELLS_BEFORE - 2 : CELLS_BEFORE].max(axis=1) > 20)


def test_only_what_counts_may_be_done(make):
    environment = make()
    _, info = environment.reset()
    masks = [info["action_mask"].tolist()]
    for _ in range(5):
        masks.append(environment.step(1)[4]["action_mask"].tolist())
    assert masks == [[1, 1], [1, 0], [1, 0], [1, 0], [1, 1], [1, 0]]


def test_traffic_is_the_same_in_each_episode_unless_it_is_asked_to_be_fresh(make):
    actions = every(20)
    same = [played(make("mean"), actions, seed)[1].sum(axis=0) for seed in (0, 1)]
    np.testing.assert_array_equal(*same)
    fresh = make("mean", fresh_traffic=True)
    first, second = (played(fresh, actions, seed)[0] for seed in (0, 1))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(played(fresh, actions, 0)[0], first)
    fresh.reset()
    following = np.array([fresh.step(action)[0] for action in actions])
    assert not np.array_equal(following, first[1:])  # the next episode is another one


def test_wrong_use_is_refused(make):
    with pytest.raises(gym.error.ResetNeeded, match="step"):
        make().step(0)
    with pytest.raises(gym.error.ResetNeeded, match="render"):
        make(render_mode="rgb_array").render()
    environment = make()
    environment.reset()
    with pytest.raises(ValueError, match=r"action 2 .*Discrete\(2\)"):
        environment.step(2)
    assert environment.render() is None
    with pytest.raises(ValueError, match="'human'"):
        Crossroad(render_mode="human")


def test_episodes_are_the_same_in_every_process(make):
    rng = np.random.default_rng(0)
    actions = rng.integers(2, size=40).tolist()
    here = played(make(fresh_traffic=True), actions, seed=5)
    spec = find_environment("crossroad-stochastic", {}).environment.spec
    slots = WorkerSlots(functools.partial(Crossroad, fresh_traffic=True), spec, 2)
    first = slots.reset({0: 5, 1: 5})
    seen = {slot: [first[slot][0]] for slot in (0, 1)}
    rewards = {slot: [] for slot in (0, 1)}
    for action in actions:
        for slot, (observation, reward, *_) in slots.step({0: action, 1: action}).items():
            seen[slot].append(observation)
            rewards[slot].append(reward)
    slots.close()
    for slot in (0, 1):
        np.testing.assert_array_equal(seen[slot], here[0])
        np.testing.assert_array_equal(rewards[slot], here[1])


@pytest.mark.slow
def test_a_run_whose_worker_is_killed_says_so_and_resumes_to_the_same_result(tmp_path):
    options = {
        "total_steps": 1_600, "warmup_episodes": 4, "longer_warm_up": False, "width": 8,
        "episodes_per_iteration": 4, "evaluations": 0, "consolidation": False,
        "checkpoint_seconds": 0.0, "arguments": {"simulators": 2},
    }  # fmt: skip

    def kill(report):
        if report.steps >= 1_000:
            multiprocessing.active_children()[0].kill()

    whole = pcn.train("crossroad", out=tmp_path / "whole", **options)
    with pytest.raises(UserError, match=r"a worker process died.*pcn resume"):
        pcn.train("crossroad", out=tmp_path / "killed", report=kill, **options)
    resumed = pcn.resume(tmp_path / "killed")
    np.testing.assert_array_equal(resumed.coverage_set.executed, whole.coverage_set.executed)


def test_how_many_simulators_run_is_an_argument():
    environment = find_environment("crossroad", {"simulators": 3}).environment
    assert environment.num_slots == 3
    with pytest.raises(UserError, match="simulators must be at least 1, got 0"):
        find_environment("crossroad", {"simulators": 0})


@pytest.mark.parametrize("name", VARIANTS)
def test_the_spec_says_what_an_instance_says(name):
    environment = find_environment(name, {}).environment
    spec = environment.spec
    probe = Probe(spec.reference_point, spec.deterministic, spec.masked_actions, spec.step_limit)
    assert describe(GymnasiumSource(name, environment._make), probe) == spec
