"""The stochastic environments of the laboratory against MO-Gymnasium's.

Each is compared twice. Where our episode says what chance decided, MO-Gymnasium is told to decide
the same and must then agree step by step. How often chance decides what is counted in thousands of
episodes and compared with the probability that MO-Gymnasium's code has; each count may be off by
3.9 standard errors (one correct count in 10,000 fails).
"""

import numpy as np
import pytest

from pcn.envs.laboratory.breakable_bottles import BreakableBottles
from pcn.envs.laboratory.fishwood import FishWood
from pcn.envs.laboratory.resource_gathering import ResourceGathering
from pcn.envs.laboratory.water_reservoir import RELEASES, STARTS, WaterReservoir
from pcn.errors import UserError
from side_by_side import assert_same, make_theirs, run_ours, run_theirs

QUANTILE = 3.891
"""Of the normal distribution: 1e-4 lies outside."""


class Told:
    """A generator of random numbers that says what it is told to."""

    def __init__(self):
        self.numbers = []

    def random(self):
        return self.numbers.pop(0)

    def normal(self, mean, deviation, size):
        assert (mean, deviation, size) == (40.0, 10.0, 1)
        return np.array([self.numbers.pop(0)])


def told(theirs, numbers):
    """Let MO-Gymnasium's environment draw these numbers."""
    theirs._np_random = Told()
    theirs._np_random.numbers = list(numbers)


def assert_share(hits, of, probability):
    """That an event of this probability happens so often is not unlikelier than 1e-4."""
    assert of > 500
    error = np.sqrt(probability * (1 - probability) / of)
    assert abs(hits / of - probability) < QUANTILE * error


def gatherer_scripts(rng, count):
    return rng.choice(4, (count, 100), p=[0.35, 0.2, 0.2, 0.25])


def test_resource_gathering_is_mo_gymnasium_s_where_the_enemies_decide_the_same():
    scripts = gatherer_scripts(np.random.default_rng(0), 1000)
    episodes = run_ours(ResourceGathering(), scripts)
    theirs = make_theirs("resource-gathering-v0")
    enemies = [[0, 3], [1, 2]]
    num_home = np.zeros(2)
    for number, script in enumerate(scripts):
        length = int(episodes.lengths[number])
        seen = [*episodes.observations[number, 1:length], episodes.last_observations[number]]
        met = sum(observation[:2].tolist() in enemies for observation in seen)
        killed = episodes.rewards[number, length - 1, 0] == -1
        told(theirs, [0.5] * (met - 1) + [0.05 if killed else 0.5] if met else [])
        assert_same(episodes, number, run_theirs(theirs, script))
        num_home += episodes.rewards[number, length - 1, 1:]
    assert num_home.min() > 0  # gold and diamond came home


def test_an_enemy_kills_one_visitor_in_ten():
    # Up to the gold by way of the enemy: the third step meets it; home by the same way.
    gold_and_back = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    scripts = np.tile(np.concatenate([gold_and_back, np.zeros(92, int)]), (20_000, 1))
    episodes = run_ours(ResourceGathering(), scripts)
    assert set(np.unique(episodes.lengths)) == {3, 5, 8}
    first = int((episodes.lengths == 3).sum())
    second = int((episodes.lengths == 5).sum())
    assert_share(first, 20_000, 0.1)
    assert_share(second, 20_000 - first, 0.1)


def as_vector(observation):
    """MO-Gymnasium's dictionary as one vector; more than one broken bottle counts as one."""
    dropped = np.minimum(np.asarray(observation["bottles_dropped"]), 1)
    names = ("location", "bottles_carrying", "bottles_delivered")
    numbers = [np.asarray(observation[name])[..., None] for name in names]
    return np.concatenate([*numbers, dropped], axis=-1)


def test_breakable_bottles_is_mo_gymnasium_s_where_the_same_bottles_break():
    rng = np.random.default_rng(0)
    scripts = rng.choice(3, (1000, 100), p=[0.35, 0.35, 0.3])
    # Home and back with two bottles, twice: random walks alone seldom deliver.
    trip = np.array([0, 0, 0, 0, 2, 2, 1, 1, 1, 1])
    scripts[500:, :20] = np.concatenate([trip, trip])
    episodes = run_ours(BreakableBottles(), scripts)
    seen = as_vector(episodes.observations)
    last = as_vector(episodes.last_observations)
    theirs = make_theirs("breakable-bottles-v0")
    num_broken = num_at_risk = 0
    for number, script in enumerate(scripts):
        length = int(episodes.lengths[number])
        states = np.concatenate([seen[number, :length], last[number][None]])
        # Where two bottles are carried and a cell between is left, chance decides.
        before, after = states[:-1], states[1:]
        at_risk = (before[:, 1] == 2) & (before[:, 0] % 4 != 0) & (script[:length] != 2)
        delivered = after[:, 2] - before[:, 2]
        # With one bottle delivered before, the second of two counts for nothing: only the litter
        # tells whether it broke.
        untold = at_risk & (after[:, 0] == 4) & (before[:, 2] == 1)
        littered = (after[:, 3:] > before[:, 3:]).any(axis=1)
        broke = np.where(untold, littered, before[:, 1] - after[:, 1] - delivered == 1) & at_risk
        told(theirs, np.where(broke, 0.05, 0.5)[at_risk])
        observations, rewards, terminated = run_theirs(theirs, script)
        assert len(rewards) == length
        assert terminated == episodes.terminated[number]
        np.testing.assert_array_equal(episodes.rewards[number, :length], rewards)
        np.testing.assert_array_equal(states, np.stack([as_vector(one) for one in observations]))
        num_broken += (broke & ~untold).sum()
        num_at_risk += (at_risk & ~untold).sum()
    assert episodes.terminated.sum() > 100
    assert_share(num_broken, num_at_risk, 0.1)


def test_fishwood_is_mo_gymnasium_s_where_chance_decides_the_same():
    rng = np.random.default_rng(0)
    scripts = rng.integers(0, 2, (100, 200))
    episodes = run_ours(FishWood(), scripts)
    theirs = make_theirs("fishwood-v0")
    for number, script in enumerate(scripts):
        gained = np.asarray(episodes.rewards[number]).any(axis=1)
        told(theirs, np.where(gained, 0.0, 0.95))
        assert_same(episodes, number, run_theirs(theirs, script))
    assert (episodes.lengths == 200).all()
    in_woods = np.asarray(episodes.observations)[:, :, 0] == 1
    for objective, here, probability in ((0, ~in_woods, 0.1), (1, in_woods, 0.9)):
        gained = np.asarray(episodes.rewards)[:, :, objective] == 1
        assert not gained[~here].any()
        assert_share(gained[here].sum(), here.sum(), probability)


def test_fishwood_s_front_is_what_its_policies_return():
    front = FishWood(fish_probability=0.3, wood_probability=0.5).spec.front.returns
    # Never fish: 200 pieces of wood at .5. Always: the first step is in the woods all the same.
    assert front[0] == pytest.approx([0, 100])
    assert front[-1] == pytest.approx([0.3 * 199, 0.5])
    assert len(front) == 200


@pytest.mark.parametrize("probability", [0.0, 1.1])
def test_fishwood_refuses_what_is_no_probability(probability):
    with pytest.raises(UserError, match="probabilities"):
        FishWood(fish_probability=probability)


@pytest.fixture(scope="module")
def reservoir():
    rng = np.random.default_rng(0)
    scripts = rng.integers(0, len(RELEASES), (2000, 100))
    scripts[1000:] = np.minimum(scripts[1000:], 5)  # fills the reservoir
    episodes = run_ours(WaterReservoir(), scripts)
    levels = np.asarray(episodes.observations, np.float64)[:, :, 0]
    last = np.asarray(episodes.last_observations, np.float64)
    return scripts, episodes, np.concatenate([levels, last], axis=1)


def released(scripts, levels):
    """What is released: never more than there is, and at least what is above 100."""
    return np.clip(10.0 * scripts, np.maximum(levels[:, :-1] - 100, 0), levels[:, :-1])


def test_the_reservoir_is_mo_gymnasium_s_where_it_rains_the_same(reservoir):
    scripts, episodes, levels = reservoir
    inflows = levels[:, 1:] - levels[:, :-1] + released(scripts, levels)
    for number in [*range(40), *range(1000, 1040)]:
        theirs = make_theirs("water-reservoir-v0", initial_state=levels[number, :1])
        theirs.reset()
        told(theirs, inflows[number])
        for time, action in enumerate(scripts[number]):
            seen, reward, terminated, truncated, _ = theirs.step(np.array([10.0 * action]))
            assert not terminated
            assert truncated == (time == 99)
            # Single precision; theirs adds in double precision before it rounds.
            np.testing.assert_allclose(seen[0], levels[number, time + 1], atol=2e-4)
            ours = np.asarray(episodes.rewards[number, time])
            np.testing.assert_allclose(reward, ours, atol=2e-4)
    assert (np.asarray(episodes.lengths) == 100).all()
    assert not np.asarray(episodes.terminated).any()


def test_rain_and_starts_are_distributed_as_in_mo_gymnasium(reservoir):
    scripts, _, levels = reservoir
    theirs = make_theirs("water-reservoir-v0")
    np.testing.assert_allclose(STARTS, theirs.s_init, rtol=1e-6)
    for start in STARTS:
        starts_here = np.abs(levels[:, 0] - start) < 1e-3
        assert_share(starts_here.sum(), len(levels), 0.1)
    kept = levels[:, :-1] - released(scripts, levels)
    # A negative level becomes 0; where it cannot be, the inflow itself is seen.
    rain = (levels[:, 1:] - kept)[kept > 20]
    assert len(rain) > 10_000
    for limit, below in ((20, 0.022750), (30, 0.158655), (40, 0.5), (50, 0.841345), (60, 0.977250)):
        assert_share((rain < limit).sum(), len(rain), below)
