"""What random episodes find out about an environment: within a budget, and right."""

import threading

import gymnasium as gym
import numpy as np
import pytest

from pcn.envs.evidence import Evidence
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import most_probe_steps, probe
from pcn.envs.reference_points import reference_point, rounded_down
from pcn.envs.step_limits import observed_limit, written_limit


class Road(gym.Env):
    """Ten steps of (1, -1) each, whatever one does; ends, limits and chance are for subclasses."""

    observation_space = gym.spaces.Discrete(1000)
    action_space = gym.spaces.Discrete(4)
    length = 10

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time, self.script = 0, []
        return 0, {}

    def reward(self):
        return np.array([1.0, -1.0])

    def step(self, action):
        self.time += 1
        self.script.append(int(action))
        return self.time % 1000, self.reward(), self.time == self.length, False, {}


class Endless(Road):
    length = None


class RareDice(Road):
    """Chance takes part only where the first two actions are both 3: in one script of sixteen."""

    def reward(self):
        lucky = self.script == [3, 3] and self.np_random.uniform() < 0.5
        return np.array([1.0 + lucky, -1.0])


class GlobalDice(Road):
    """Draws from NumPy's global generator, whatever the seed is."""

    def reward(self):
        return np.array([np.random.uniform(), -1.0])  # noqa: NPY002


class Scattered(Road):
    """Begins somewhere else under each seed, and is deterministic from there."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return int(self.np_random.integers(1000)), {}


class Wrapper(gym.Wrapper):
    pass


def probed(kind, **options):
    return probe(GymnasiumSource(kind.__name__, kind), **options)


@pytest.mark.parametrize("total_steps", [1, 10, 1_500, 100_000])
@pytest.mark.parametrize("kind", [Road, Endless, RareDice, Scattered])
def test_a_budget_is_a_budget(kind, total_steps):
    found = probed(kind, total_steps=total_steps)
    assert 1 <= found.num_steps <= most_probe_steps(total_steps) <= max(1, 0.2 * total_steps)
    assert len(found.reference_point) == 2
    assert found.step_limit <= max(total_steps // 100, 100)


def test_a_rare_chance_is_found_by_many_scripts():
    found = probed(RareDice, total_steps=100_000)
    assert not found.deterministic
    assert found.evidence.num_differing == 1
    assert found.evidence.seed_respected is True
    steady = probed(Road, total_steps=100_000)
    assert steady.deterministic
    assert steady.evidence.num_compared == 200
    assert steady.evidence.seed_respected is None


class Weather(Road):
    """Random from the second step on, with episodes as long as the whole probe."""

    def step(self, action):
        return 0, np.array([self.np_random.normal(), -1.0]), False, False, {}


@pytest.mark.parametrize("step_limit", [None, 1000])
def test_chance_is_found_even_if_an_episode_could_take_all_steps(step_limit):
    found = probed(Weather, total_steps=20_000, step_limit=step_limit)
    assert found.evidence.num_compared >= 1
    assert not found.deterministic


def test_an_end_by_chance_is_chance():
    class Coin(Road):
        """Each step pays the same, and is the last one half of the time."""

        def step(self, action):
            return 0, np.array([1.0, -1.0]), bool(self.np_random.random() < 0.5), False, {}

    assert not probed(Coin, step_limit=1).deterministic


def test_infos_need_not_be_copied():
    class Locked(Road):
        def reset(self, *, seed=None, options=None):
            observation, _ = super().reset(seed=seed)
            return observation, {"handle": threading.Lock()}

    assert probed(Locked, total_steps=1_000).deterministic


def test_comparing_all_counts_how_many_differ():
    found = probed(GlobalDice, compare_all=True)
    assert found.evidence.num_compared == found.evidence.num_differing == 20


def test_a_seed_that_is_ignored_is_noticed():
    assert probed(GlobalDice).evidence.seed_respected is False


def test_first_states_are_compared_without_a_step():
    found = probed(Scattered, total_steps=100_000)
    assert not found.deterministic
    assert found.evidence.first_states_differ
    assert found.evidence.num_compared == 0
    assert found.evidence.seed_respected is True
    assert found.evidence.determinism_summary == "episodes begin differently under other seeds"


def test_what_is_known_is_not_looked_for():
    found = probed(RareDice, deterministic=True)
    assert found.deterministic
    assert found.num_episodes == 20
    assert found.evidence.determinism_summary == "no episode was compared"


def test_evidence_is_told_in_numbers():
    told = Evidence(num_compared=40, num_differing=3).determinism_summary
    assert told.startswith("3 of 40 sequences")


def test_limits_are_found_wherever_they_are_written():
    assert written_limit(Road()) is None
    limited = Wrapper(gym.wrappers.TimeLimit(Wrapper(Road()), 77))
    assert written_limit(limited) == (77, "TimeLimit._max_episode_steps")
    own = Road()
    own.max_steps = 55
    assert written_limit(Wrapper(own)) == (55, "Road.max_steps")
    assert written_limit(gym.wrappers.TimeLimit(own, 99)).steps == 55  # the first to end it
    own.max_steps = None
    assert written_limit(own) is None
    named = gym.make("CartPole-v1")
    assert written_limit(named).steps == 500


def test_limits_that_are_written_nowhere_are_observed():
    assert observed_limit([30, 30], [12], 10**6).steps == 30
    assert observed_limit([12], [50, 31], 10**5) == (
        1000,
        "ours: none is known",
    )  # it left a region
    assert observed_limit([5, 9, 30], [], 1_500).steps == 60
    assert observed_limit([], [12, 15], 1_500).steps == 30  # twice what was seen
    assert observed_limit([], [12, 15], 50_000).steps == 500  # a hundred episodes in the budget
    assert observed_limit([], [12, 15], 10**7).steps == 1000
    assert observed_limit([], [6, 6, 6], 10**7).steps == 60  # all of one length
    assert observed_limit([], [], None).steps == 1000


class Brief(Road):
    """Its first action says whether it ends after one, two, three or four steps."""

    def step(self, action):
        self.length = 1 + int([*self.script, action][0])
        return super().step(action)


def test_costs_are_followed_to_a_guessed_limit_only_where_random_episodes_do_not_end():
    assert probed(Endless).reference_point[1] < -900  # of 1,000 steps, which is our guess
    assert -45 < probed(Brief).reference_point[1] < -35  # ten times the longest
    assert probed(Brief, step_limit=1000).reference_point[1] < -900


def point(*episodes, ends=True, step_limit=10, gains=None):
    """The reference point of episodes, each a list of rewards."""
    arrays = [np.array(rewards, dtype=np.float64) for rewards in episodes]
    none = np.zeros(arrays[0].shape[1], dtype=bool)
    return reference_point(
        arrays,
        [ends] * len(arrays),
        step_limit=step_limit,
        never_negative=none if gains is None else np.array(gains),
    )


@pytest.mark.parametrize("value", [-100.1, -200.2, -0.0499, 57.3, 0.0, -1e-7, 123456.7])
@pytest.mark.parametrize("extent", [1e-13, 1e-6, 0.3, 1.0, 250.0, 1e7])
def test_rounding_never_comes_nearer(value, extent):
    result = rounded_down(value, extent)
    assert result <= value + 1e-9 * extent
    assert value - result <= max(0.1 * extent * (1 + 1e-9), 1e-12 * abs(value))


def test_a_tenth_of_the_spread_is_the_margin():
    # By hand: returns (4, 7) and (14, -3); what only gains begins at zero, so the spreads are 14
    # and 10 and the point is (-1.4, -4), in whole numbers (-2, -4). One step each, which ends the
    # episode: no rate of spending is seen.
    assert point([[4.0, 7.0]], [[14.0, -3.0]]) == (-2.0, -4.0)


def test_costs_are_followed_to_the_step_limit():
    # A step costs one, the end nothing; an episode of three steps spends 2, one of ten steps 10.
    short = [[0.0, -1.0], [0.0, -1.0], [5.0, 0.0]]
    found = point(short, short[1:], step_limit=10)
    assert found[1] <= -10
    assert found[1] > -12
    longer = point(short, short[1:], step_limit=200)
    assert -210 < longer[1] < -200


def test_a_penalty_that_ends_the_episode_comes_once():
    death = [[0.0, 0.0], [0.0, 0.0], [0.0, -1.0]]
    alive = [[0.0, 0.0], [1.0, 0.0]]
    assert -1.2 < point(death, alive, step_limit=1000)[1] < -1


def test_a_rare_large_cost_is_no_cost_of_every_step():
    crash = [[0.0, -1.0]] * 98 + [[0.0, -1000.0]] + [[1.0, 0.0]]
    found = point(crash, crash, step_limit=100)
    assert found[1] > -100 * 1000 / 10
    assert found[1] < -1098


def test_a_declared_gain_begins_at_zero():
    assert point([[3.0, 1.0]], [[5.0, 2.0]], gains=[True, True])[0] < 0
    assert point([[3.0, -1.0]], [[5.0, 2.0]])[0] < 0  # never seen to be negative


def test_constant_objectives_have_a_point_below_them():
    found = point([[0.0, 7.0, -4.0]], [[0.0, 7.0, -4.0]])
    assert found[0] < 0
    assert found[1] < 0  # what only gains can be done without
    assert found[2] < -4


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3, 1e6])
def test_powers_of_ten_change_the_unit_of_the_point_and_nothing_else(factor):
    rng = np.random.default_rng(0)
    episodes = [rng.normal(size=(5, 3)) * [1.0, 30.0, 0.01] - [0, 0, 5] for _ in range(8)]
    plain = point(*episodes)
    scaled = point(*[rewards * factor for rewards in episodes])
    np.testing.assert_allclose(np.array(scaled) / factor, plain, rtol=1e-9)
