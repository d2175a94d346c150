"""Racing in a small stochastic environment, with networks that were never trained."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.contender import Contender, Entries
from pcn.algorithms.pcn.network import fresh_policy
from pcn.algorithms.pcn.racing import Racing, Rules
from pcn.algorithms.pcn.training import Training
from pcn.pareto import PARETO

KEY = np.array([5, 6], np.uint32)
CONFIG = PCNConfig(episodes_per_iteration=16, capacity=8, refinements=())
RULES = Rules(first=4, growth=2, largest=32, confidence=0.9, indifference=0.0, drops=True)
STEPS = 5  # of every episode of the coin


@pytest.fixture(scope="module")
def training(coin):
    return Training(coin, CONFIG, (), seed=0)


@pytest.fixture(scope="module")
def entries(training):
    contenders = [
        Contender(
            fresh_policy(training.spec, CONFIG, np.array([0, seed], np.uint32)),
            np.random.default_rng(seed).uniform(0, 10, (3, 2)),
            np.full(3, float(STEPS)),
            follows_rewards=seed > 0,
        )
        for seed in range(2)
    ]
    return Entries.of(contenders)


def race(training, entries, most_steps=10_000, rules=RULES):
    return Racing(training, entries, rules, most_steps=most_steps, key=KEY)


def finish(racing):
    while not racing.done:
        racing.iterate()
    return racing


class Written(Training):
    """Runs nothing: writes down which execution of which horizon each batch has."""

    def __init__(self, batch_size, total_steps=10_000):
        self.spec = SimpleNamespace(step_limit=STEPS, num_objectives=2)
        self.config = SimpleNamespace(discount=1.0, total_steps=total_steps)
        self.dataset = SimpleNamespace(order=PARETO)
        self.runner = SimpleNamespace(steps=0)
        self.actor = SimpleNamespace(batch_size=batch_size, run=self.run)
        self.batches = []

    def upper_bound(self):
        return np.full(2, np.inf)

    def lower_bound(self):
        return None

    def run(self, policy, desired_returns, horizons, *, count, numbers, **_):
        self.batches.append([(int(horizons[one]), int(numbers[one])) for one in range(count)])
        self.runner.steps += count * STEPS
        returns = desired_returns + numbers[:, None] % 3
        return SimpleNamespace(
            ended=np.ones(len(returns), bool),
            lengths=np.full(len(returns), STEPS),
            returns=lambda discount: returns,
        )


class Noisy(Written):
    """Returns that differ so much by chance that no command can be ranked against another one."""

    def run(self, policy, desired_returns, horizons, *, numbers, **given):
        episodes = super().run(policy, desired_returns, horizons, numbers=numbers, **given)
        random = np.random.default_rng([len(self.batches), *KEY])
        returns = desired_returns + random.normal(0, 100, desired_returns.shape)
        episodes.returns = lambda discount: returns
        return episodes


class Dawdling(Written):
    """Some executions of commands of horizon 4 go on to the step limit."""

    def __init__(self, long_ones):
        super().__init__(batch_size=8)
        self.spec.step_limit = 10 * STEPS
        self.long_ones = long_ones

    def run(self, policy, desired_returns, horizons, *, count, numbers, most_steps, **given):
        long = (horizons == 4) & np.isin(numbers, self.long_ones)
        lengths = np.where(long, self.spec.step_limit, STEPS)
        taken = np.minimum(lengths, most_steps)
        before = self.runner.steps
        episodes = super().run(
            policy, desired_returns, horizons, count=count, numbers=numbers, **given
        )
        self.runner.steps = before + int(taken[:count].sum())
        episodes.ended, episodes.lengths = taken == lengths, taken
        return episodes


LONG_RULES = Rules(
    first=8, growth=1, largest=8, confidence=0.9, indifference=0.0, drops=False, patience=2.0
)


@pytest.fixture(scope="module")
def dawdlers(entries):
    """Three commands; the first has a horizon of 4."""
    contender = dataclasses.replace(
        entries.contenders[0],
        desired_returns=np.array([[0.0, 9.0], [5.0, 5.0], [9.0, 0.0]]),
        horizons=np.array([4.0, 5.0, 5.0]),
    )
    return Entries.of([contender])


@pytest.mark.parametrize("long_ones", [(3,), (0, 5), (7,), (2, 6)])
def test_rare_episodes_that_do_not_end_count_as_they_are_at_the_step_limit(dawdlers, long_ones):
    racing = finish(race(Dawdling(long_ones), dawdlers, rules=LONG_RULES))
    assert racing.left.all()
    assert racing.execution.counts.tolist() == [8, 8, 8]
    lengths = racing.execution.lengths[racing.execution.policies == 0]
    assert np.flatnonzero(lengths == 10 * STEPS).tolist() == list(long_ones)
    # Executions are compared number by number: each is in its place.
    expected = dawdlers.desired_returns[0] + np.arange(8)[:, None] % 3
    np.testing.assert_array_equal(racing.execution.singles.by_policy[0], expected)


@pytest.mark.parametrize(("long_ones", "most_steps"), [((0, 1, 2, 5), 10_000), ((3,), 130)])
def test_commands_that_are_often_stuck_or_cost_too_much_leave_the_race(
    dawdlers, long_ones, most_steps
):
    """15 executions of five steps and one of ten leave 45 of 130 steps; the next may take 50."""
    racing = finish(race(Dawdling(long_ones), dawdlers, most_steps, LONG_RULES))
    assert racing.broken_off.tolist() == [True, False, False]
    assert racing.left.tolist() == [False, True, True]
    assert racing.num_steps <= most_steps


def test_an_interrupted_race_remembers_whose_episodes_go_on_to_the_step_limit(dawdlers):
    whole = finish(race(Dawdling((2,)), dawdlers, rules=LONG_RULES))
    training = Dawdling((2,))
    first = race(training, dawdlers, rules=LONG_RULES)
    first.iterate()
    resumed = race(training, dawdlers, rules=LONG_RULES)
    resumed.restore(*first.snapshot())
    assert finish(resumed).num_steps == whole.num_steps
    assert resumed.left.all()


@pytest.mark.parametrize(
    ("steps_after", "fewest", "most"),
    # Eight commands of five steps, and six executions of each: 240 steps are enough for all.
    [(240, 8, 8), (90, 3, 4), (0, 1, 4)],
)
def test_the_undecided_stay_as_long_as_they_can_be_executed_later(
    entries, steps_after, fewest, most
):
    contender = dataclasses.replace(
        entries.contenders[0], desired_returns=np.zeros((8, 2)), horizons=np.full(8, float(STEPS))
    )
    rules = dataclasses.replace(RULES, first=4, final_executions=6, confidence=0.999)
    race_steps = 8 * 4 * STEPS + 20  # the second round has no room for half of them
    training = Noisy(batch_size=16, total_steps=race_steps + steps_after)
    racing = finish(race(training, Entries.of([contender]), race_steps, rules))
    assert fewest <= racing.left.sum() <= most


@pytest.mark.parametrize(
    ("most_steps", "third"),
    [(120, [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3), (3, 3)]), (80, [(1, 1), (2, 1), (3, 1)])],
)
def test_networks_take_turns_only_where_too_few_steps_are_left_for_all(entries, most_steps, third):
    training = Written(batch_size=6)
    rules = dataclasses.replace(RULES, largest=4, drops=False)
    # Together they are expected to take 21 steps, 84 in four executions of each.
    told = dataclasses.replace(entries, horizons=np.arange(1.0, 7.0))
    finish(race(training, told, most_steps, rules))
    assert training.batches[2] == third


def test_entries_keep_commands_with_their_networks(entries):
    assert entries.network.tolist() == [0, 0, 0, 1, 1, 1]
    some = entries.taking(np.array([5, 3]))
    assert len(some.contenders) == 1
    assert some.contenders[0] is entries.contenders[1]
    assert some.network.tolist() == [0, 0]
    np.testing.assert_array_equal(some.desired_returns, entries.desired_returns[[5, 3]])


@pytest.mark.slow
def test_every_command_is_executed_first_and_the_undecided_more_often(training, entries):
    # No action changes the toss: all returns are the same, and after 16 of them one is enough.
    assert finish(race(training, entries)).execution.counts.tolist() == [16] * 6
    patient = dataclasses.replace(RULES, identical_after=1_000)
    counts = finish(race(training, entries, rules=patient)).execution.counts
    assert counts.tolist() == [RULES.largest] * 6


@pytest.mark.slow
@pytest.mark.parametrize("most_steps", [0, 4, 5, 33, 119, 120, 300])
def test_steps_are_never_more_than_given(training, entries, most_steps):
    before = training.steps
    racing = finish(race(training, entries, most_steps))
    assert training.steps - before == racing.num_steps == racing.execution.num_steps
    # Episodes may take up to the step limit, ten: as many are run as are sure to fit.
    assert racing.num_steps <= most_steps
    if 10 <= most_steps <= 120:
        assert racing.num_steps > most_steps - 10 - STEPS
    counts = racing.execution.counts
    if racing.num_steps < 6 * STEPS * RULES.first:
        assert np.ptp(counts) <= 1  # no command waits for another one


@pytest.mark.slow
@pytest.mark.parametrize("drops", [True, False])
def test_networks_take_turns_where_steps_are_short(training, entries, drops):
    # Twelve episodes are affordable, and six commands of two networks want four each.
    most_steps = 11 * STEPS + training.spec.step_limit
    rules = dataclasses.replace(RULES, drops=drops)
    racing = finish(race(training, entries, most_steps=most_steps, rules=rules))
    assert racing.execution.counts.tolist() == [2] * 6


@pytest.mark.slow
def test_where_nothing_may_be_dropped_one_episode_is_tried_with_the_steps_there_are(
    training, entries
):
    rules = Rules(
        first=2, growth=1, largest=2, confidence=0.9, indifference=0.0, drops=False
    )  # fmt: skip
    assert finish(race(training, entries, 0, rules)).num_steps == 0
    broken_off = finish(race(training, entries, STEPS - 1, rules))
    assert broken_off.num_steps == STEPS - 1
    assert not broken_off.left.any()
    # An episode may take ten steps, but this one takes no more than there are: the shortest.
    shorter = dataclasses.replace(entries, horizons=np.array([5.0, 3.0, 5.0, 4.0, 4.0, 4.0]))
    one = finish(race(training, shorter, STEPS, rules))
    assert one.execution.counts.tolist() == [0, 1, 0, 0, 0, 0]
    assert one.num_steps == STEPS
    assert finish(race(training, entries, 1_000, rules)).execution.counts.tolist() == [2] * 6


@pytest.mark.slow
def test_executions_of_equal_number_meet_the_same_randomness(training, entries):
    # Twice the same network and command: each of its executions is the same.
    twins = Entries.of([entries.contenders[0], entries.contenders[0]])
    rules = Rules(
        first=20, growth=1, largest=20, confidence=0.9, indifference=0.0, drops=False
    )  # fmt: skip
    singles = finish(race(training, twins, rules=rules)).execution.singles.by_policy
    for one, other in zip(singles[:3], singles[3:], strict=True):
        np.testing.assert_array_equal(one, other)
    # Executions of different number do not.
    assert len(np.unique(singles[0], axis=0)) > 2


@pytest.mark.slow
def test_without_shared_randomness_every_execution_meets_its_own(training, entries):
    twins = Entries.of([entries.contenders[0], entries.contenders[0]])
    rules = Rules(
        first=20, growth=1, largest=20, confidence=0.9, indifference=0.0, drops=False,
        shares_randomness=False,
    )  # fmt: skip
    singles = finish(race(training, twins, rules=rules)).execution.singles.by_policy
    for one, other in zip(singles[:3], singles[3:], strict=True):
        assert not np.array_equal(one, other)


@pytest.mark.slow
def test_an_interrupted_race_goes_on_exactly(training, entries):
    whole = finish(race(training, entries))
    for stop_after in (1, 3, 5):
        first = race(training, entries)
        for _ in range(stop_after):
            first.iterate()
        arrays, facts = first.snapshot()
        resumed = race(training, entries, most_steps=1)
        resumed.restore(arrays, facts)
        finish(resumed)
        assert resumed.num_steps == whole.num_steps
        np.testing.assert_array_equal(resumed.left, whole.left)
        for name, array in whole.execution.to_arrays("x").items():
            np.testing.assert_array_equal(resumed.execution.to_arrays("x")[name], array)


@pytest.mark.slow
def test_commands_whose_episodes_do_not_end_leave_the_race(training, entries):
    rules = Rules(
        first=4, growth=2, largest=8, confidence=0.9, indifference=0.0, drops=True, patience=0.5
    )
    racing = finish(race(training, entries, rules=rules))
    assert racing.broken_off.all()
    assert not racing.left.any()
    assert racing.num_steps == 6 * 3 * rules.first  # three steps, half of five rounded up
