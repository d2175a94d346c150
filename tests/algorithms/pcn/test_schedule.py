"""The rules that divide a budget, on numbers that are easy to check by hand."""

import dataclasses

import pytest

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.schedule import FEWEST_EPISODES, MOST_EPISODES, UPDATES_AT_ONCE, Schedule
from pcn.envs.deep_sea_treasure import DeepSeaTreasure

SPEC = DeepSeaTreasure().spec  # deterministic, at most 200 steps
CONFIG = PCNConfig(total_steps=100_000, iterations=100, refinements=())


def schedule(spec=SPEC, **changes):
    return Schedule(dataclasses.replace(CONFIG, **changes), spec)


@pytest.mark.parametrize(
    ("total_steps", "mean_length", "expected"),
    [
        (100_000, 30.0, 32),  # 33 episodes fit into a hundredth of the budget
        (100_000, 60.0, 16),
        (100_000, 1_000.0, FEWEST_EPISODES),
        (10_000_000, 30.0, MOST_EPISODES),
        (1_000, 30.0, FEWEST_EPISODES),
    ],
)
def test_an_iteration_is_a_share_of_the_budget(total_steps, mean_length, expected):
    one = schedule(total_steps=total_steps)
    one.measure(mean_length)
    assert one.num_episodes == expected


def test_a_given_number_of_episodes_is_kept():
    one = schedule(episodes_per_iteration=10)
    one.measure(1_000.0)
    assert (one.num_episodes, one.affordable_share) == (10, 1.0)


def test_the_affordable_share_tells_how_many_iterations_fit():
    one = schedule(total_steps=100_000)
    one.measure(1_000.0)  # an iteration of 8 episodes takes 8,000 steps: 12.5 of 100 fit
    assert one.affordable_share == pytest.approx(0.125)
    one.measure(30.0)
    assert one.affordable_share == 1.0


STOCHASTIC = dataclasses.replace(SPEC, deterministic=False)


def test_updates_follow_the_steps_and_none_is_lost():
    one = schedule(STOCHASTIC, updates_per_step=0.1)
    made = 0
    for _ in range(50):
        one.collected(101)
        number = one.next_updates()
        assert number % UPDATES_AT_ONCE == 0
        made += number
    assert 50 * 101 * 0.1 - UPDATES_AT_ONCE < made <= 50 * 101 * 0.1


def test_a_large_budget_has_no_more_updates_than_allowed():
    one = schedule(STOCHASTIC, total_steps=10_000_000, updates_per_step=0.1, most_updates=50_000)
    one.collected(10_000_000)
    assert one.next_updates() == 50_000 // UPDATES_AT_ONCE * UPDATES_AT_ONCE


@pytest.mark.parametrize(("mean_length", "expected"), [(10.0, 2_500), (500.0, 1_000)])
def test_where_outcomes_are_certain_updates_follow_episodes(mean_length, expected):
    one = schedule(updates_per_episode=0.25, fewest_updates=1_000)
    one.measure(mean_length)
    one.collected(100_000)  # 10,000 episodes, or 200
    assert one.next_updates() == expected // UPDATES_AT_ONCE * UPDATES_AT_ONCE


def test_a_given_number_of_updates_does_not_depend_on_steps():
    one = schedule(updates_per_iteration=10)
    assert [one.next_updates() for _ in range(2)] == [10, 10]


def test_what_is_kept_for_the_end():
    one = schedule(ending_share=0.3, ending_executions=3)
    assert one.ending_steps(100) == 300
    assert one.ending_steps(50_000) == 30_000
    one.num_stuck = 4  # of up to 200 steps each
    assert one.ending_steps(100) == 300 + 800
    one.num_stuck = 40  # for these a twentieth of all steps at most
    assert one.ending_steps(100) == 300 + 5_000
    stochastic = schedule(STOCHASTIC, ending_share=0.3)
    assert stochastic.ending_steps(100) == 30_000


@pytest.mark.parametrize("steps_left", [1, 7, 150, 199, 800, 10_000])
def test_a_batch_never_takes_more_than_is_left(steps_left):
    one = schedule()
    one.measure(50.0)
    batch = one.batch(16, steps_left)
    assert 1 <= batch.count <= 16
    assert batch.count * batch.most_steps <= steps_left or batch.most_steps == 200
    assert batch.most_steps <= 200
    if steps_left >= 800:
        assert batch.count == 16


def test_it_goes_on_from_a_checkpoint():
    one, other = schedule(), schedule()
    one.measure(700.0)
    one.collected(333)
    one.num_stuck = 3
    other.from_json(one.to_json())
    assert vars(other) == vars(one)


def test_a_share_of_the_updates_is_never_below_the_fewest():
    one = schedule(STOCHASTIC, updates_per_step=0.2, fewest_updates=1_000)
    one.collected(10_000, share=0.25)
    assert one.next_updates() == 496  # a quarter of 2,000, in whole calls of 16
    one = schedule(STOCHASTIC, updates_per_step=0.2, fewest_updates=10_000)
    one.collected(10_000, share=0.25)  # 10,000 in 100,000 steps are one in ten
    assert one.next_updates() == 992


def test_before_anything_was_collected_nothing_is_due_and_episodes_may_be_as_long_as_they_can():
    one = schedule(STOCHASTIC, updates_per_step=0.1, fewest_updates=0)
    assert one.mean_length == STOCHASTIC.step_limit
    assert one.next_updates() == 0
    one.collected(10 * UPDATES_AT_ONCE - 5)  # half an update too few
    assert one.next_updates() == 0
    one.collected(5)
    assert one.next_updates() == UPDATES_AT_ONCE
