"""Numbers that only count steps: counts are pooled over time where time does not matter."""

import numpy as np

from pcn.planning.clocks import PooledCounts, last_states, pooled_over_time
from pcn.planning.counting import TransitionCounts
from pcn.planning.estimation import estimated_model
from random_walks import episodes_of

LIMIT, PLACES = 10, 4


def counted(*, seed=0, num_episodes=300, bonus=0.0, clock=True):
    """Counts of walks on a ring that are truncated after ten steps.

    Action 0 stays with probability 0.7, action 1 goes on; a reward is noise and the place. `bonus`
    is paid in later steps only.
    """
    rng = np.random.default_rng(seed)
    places = np.zeros((num_episodes, LIMIT + 1), np.int64)
    actions = rng.integers(2, size=(num_episodes, LIMIT))
    for time in range(LIMIT):
        moves = (actions[:, time] == 1) | (rng.random(num_episodes) > 0.7)
        places[:, time + 1] = (places[:, time] + moves) % PLACES
    times = np.broadcast_to(np.arange(LIMIT + 1), places.shape) / LIMIT
    other = times if clock else rng.integers(3, size=places.shape)
    shown = np.stack([places, other], axis=2).astype(np.float32)
    rewards = places[:, :-1] + rng.normal(size=actions.shape) + bonus * (times[:, :-1] > 0.5)
    counts = TransitionCounts(np.zeros(2, np.float32), (2,), 1)
    counts.add(
        episodes_of(
            shown[:, :-1],
            actions[:, :, None].astype(np.int32),
            rewards[:, :, None].astype(np.float32),
            np.full(num_episodes, LIMIT, np.int32),
            np.zeros(num_episodes, bool),
            real_mask=np.ones(num_episodes, bool),
            last_observations=shown[:, -1],
        )
    )
    return counts


def test_steps_in_one_situation_are_pooled_whenever_they_were_taken():
    counts = counted()
    pooled = pooled_over_time(counts)
    assert isinstance(pooled, PooledCounts)
    shown = counts.observations
    for state, action in ((0, 0), (5, 1)):
        here = shown[state, 0]
        everywhere = (shown[counts.states, 0] == here) & (counts.actions == action)
        own = (pooled.states == state) & (pooled.actions == action)
        assert pooled.visits[own].sum() == counts.visits[everywhere].sum()
        np.testing.assert_allclose(pooled.sums[own].sum(), counts.sums[everywhere].sum())
        # Time goes on by one step.
        steps = shown[pooled.next_states[own], 1] - shown[state, 1]
        np.testing.assert_allclose(steps, 1 / LIMIT, atol=1e-6)


def test_nothing_is_pooled_where_rewards_depend_on_the_time():
    counts = counted(bonus=1.0)
    assert pooled_over_time(counts) is counts


def test_nothing_is_pooled_without_a_clock():
    counts = counted(clock=False)
    assert pooled_over_time(counts) is counts


def test_a_few_steps_tell_that_there_is_no_clock(monkeypatch):
    counts = counted(clock=False)

    def never(counts):
        raise AssertionError("it takes long to tell which ends are real")

    monkeypatch.setattr(TransitionCounts, "terminated", property(never))
    assert pooled_over_time(counts) is counts


def test_chance_alone_seldom_looks_like_the_time():
    pooled = [pooled_over_time(counted(seed=seed)) for seed in range(20)]
    assert sum(isinstance(one, PooledCounts) for one in pooled) >= 19


def test_a_time_limit_that_is_observed_is_no_unknown_state():
    """Nobody ever acts in the last state, and nothing is lost there."""
    for clock in (True, False):
        counts = counted(clock=clock, num_episodes=40)
        over = last_states(counts)
        assert over.any() == clock
        if clock:
            settings = {"least_visits": 1, "errors": 2.5, "unknown": np.array([-1e6])}
            model = estimated_model(counts, discount=1.0, over=over, **settings)
            assert model.rewards.min() > -100.0
