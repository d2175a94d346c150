"""The final executions, with episodes whose lengths are known beforehand."""

import functools
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pcn.algorithms.execution import nth_key
from pcn.algorithms.pcn.executing import Executing, notices_of_stopped
from pcn.algorithms.pcn.rows import Archive, Rows
from pcn.algorithms.pcn.training import Training
from pcn.envs.finding import find_environment
from untrained import random_policy

STEP_LIMIT = 20


class Known(Training):
    """A training whose commands take known numbers of steps; what is run is written down."""

    steps_left = 0

    def __init__(self, lengths, steps_left, batch_size=3):
        self.lengths, self.steps_left = np.array(lengths), steps_left
        self.limits, self.keys = [], []
        self.spec = SimpleNamespace(step_limit=STEP_LIMIT, num_objectives=2)
        self.config = SimpleNamespace(discount=1.0)
        self.actor = SimpleNamespace(batch_size=batch_size, run=self.run)

    def upper_bound(self):
        return np.full(2, np.inf)

    def lower_bound(self):
        return None

    def run(self, policy, returns, horizons, *, key, count, most_steps, **_):
        self.keys.append(np.asarray(key).tolist())
        commands = returns[:, 0].astype(int)
        taken = np.minimum(self.lengths[commands], most_steps)
        self.limits += list(
            zip(commands[:count].tolist(), most_steps[:count].tolist(), strict=True)
        )
        self.steps_left -= int(taken[:count].sum())
        return SimpleNamespace(
            ended=self.lengths[commands] <= most_steps,
            lengths=taken,
            returns=lambda discount: np.stack([commands, -taken], axis=1).astype(np.float64),
        )


@functools.cache
def policy():
    return random_policy(find_environment("deep-sea-treasure", {}).environment.spec)


def begun(training, horizons):
    """Commands that are told apart by their desired returns."""
    numbers, count = np.arange(len(horizons), dtype=np.float64), len(horizons)
    returns = np.stack([numbers, numbers], axis=1)
    rows = Rows(np.zeros(count, np.int32), np.array(horizons), returns, returns, returns)
    return Executing(training, policy(), Archive(rows), key=np.zeros(2, np.uint32))


def executed(lengths, horizons, steps_left, batch_size=3):
    training = Known(lengths, steps_left, batch_size)
    executing = begun(training, horizons)
    while not executing.done:
        executing.iterate()
    return training, executing


commands = st.lists(
    st.tuples(st.integers(1, STEP_LIMIT), st.integers(1, STEP_LIMIT)), min_size=1, max_size=8
)


@given(commands, st.integers(0, 200), st.integers(1, 4))
def test_no_more_steps_are_taken_than_are_left(chosen, steps_left, batch_size):
    lengths, horizons = zip(*chosen, strict=True)
    training, executing = executed(lengths, horizons, steps_left, batch_size)
    assert training.steps_left >= 0
    for command in np.flatnonzero(executing.ended_mask):
        taken = executing.execution.taking(np.array([command]))
        assert taken.lengths.tolist() == [lengths[command]]
        assert taken.episode_returns.tolist() == [[command, -lengths[command]]]


@given(commands, st.integers(0, 200), st.integers(1, 4))
def test_commands_that_keep_their_horizon_are_executed_where_all_horizons_fit_beside_one_episode(
    chosen, steps_left, batch_size
):
    lengths, horizons = zip(*chosen, strict=True)
    _, executing = executed(lengths, horizons, steps_left + STEP_LIMIT + sum(horizons), batch_size)
    keeping = np.array(lengths) <= np.array(horizons)
    assert executing.ended_mask[keeping].all()


@given(commands, st.integers(1, 4))
def test_with_enough_steps_nothing_is_stopped_and_nothing_runs_twice(chosen, batch_size):
    lengths, horizons = zip(*chosen, strict=True)
    training, executing = executed(lengths, horizons, STEP_LIMIT * len(chosen), batch_size)
    assert executing.ended_mask.all()
    assert training.steps_left == STEP_LIMIT * len(chosen) - sum(lengths)
    assert sorted(training.limits) == [(command, STEP_LIMIT) for command in range(len(chosen))]


@given(commands, st.integers(1, 4))
def test_one_command_at_least_comes_to_its_end(chosen, batch_size):
    lengths, horizons = zip(*chosen, strict=True)
    _, executing = executed(lengths, horizons, STEP_LIMIT, batch_size)
    assert executing.ended_mask.any()


def test_stopped_commands_are_executed_again_from_the_beginning():
    training, executing = executed([15, 2], [4, 2], steps_left=30)
    assert training.limits == [(1, 3), (0, 6), (0, 20)]
    assert executing.execution.policies.tolist() == [1, 0]
    assert training.steps_left == 30 - 6 - 2 - 15


def test_a_command_for_which_there_are_too_few_steps_has_no_return():
    training, executing = executed([15, 2, 3], [4, 2, 3], steps_left=12)
    assert training.limits == [(1, 2), (2, 3), (0, 4)]
    assert executing.ended_mask.tolist() == [False, True, True]
    assert executing.execution.counts.tolist() == [0, 1, 1]


def test_steps_for_one_whole_execution_are_not_shared_by_two():
    training, executing = executed([1, 12, 12], [1, 2, 2], steps_left=19)
    assert training.limits == [(0, 1), (1, 2), (2, 2), (1, 14), (2, 2)]
    assert executing.ended_mask.tolist() == [True, True, False]


def test_where_steps_are_too_few_short_commands_come_first():
    _, executing = executed([9, 2], [9, 2], steps_left=5)
    assert executing.ended_mask.tolist() == [False, True]


def test_commands_that_were_stopped_are_told_and_only_those():
    assert notices_of_stopped(0, 5) == []
    (some,), (all_of_them,) = notices_of_stopped(2, 5), notices_of_stopped(5, 5)
    assert some.startswith("2 of 5 commands")
    assert some.endswith("are not offered")
    assert all_of_them.endswith("no policy is offered as executed")


def test_a_command_that_needs_all_steps_that_are_left_gets_no_more():
    training, executing = executed([9], [4], steps_left=4)
    assert training.limits == [(0, 4)]
    assert training.steps_left == 0
    assert not executing.ended_mask.any()


def test_the_last_steps_go_to_a_command_that_has_not_run_before_one_that_was_stopped():
    _, executing = executed([3, 9, 4], [3, 4, 4], steps_left=11, batch_size=1)
    assert executing.ended_mask.tolist() == [True, False, True]


def test_the_batches_of_executions_have_the_first_random_numbers_each_its_own():
    training, _ = executed([2, 2, 2], [2, 2, 2], steps_left=100, batch_size=1)
    key = np.zeros(2, np.uint32)
    assert training.keys == [np.asarray(nth_key(key, batch)).tolist() for batch in range(3)]


@given(commands, st.integers(0, 100), st.integers(0, 6))
def test_interrupted_executions_go_on_as_if_nothing_had_happened(chosen, steps_left, when):
    lengths, horizons = zip(*chosen, strict=True)
    training, whole = executed(lengths, horizons, steps_left)
    stopped = Known(lengths, steps_left)
    first = begun(stopped, horizons)
    for _ in range(when):
        if not first.done:
            first.iterate()
    second = begun(stopped, horizons)
    second.restore(*first.snapshot())
    while not second.done:
        second.iterate()
    assert stopped.limits == training.limits
    assert second.execution.lengths.tolist() == whole.execution.lengths.tolist()


def test_checkpoints_of_earlier_versions_say_what_the_first_commands_returned():
    executing = begun(Known([1, 2, 3], 100), [1, 2, 3])
    arrays = {"executing.returns": np.array([[0.0, -1.0]]), "executing.lengths": np.array([1])}
    executing.restore(arrays, {"num_batches": 1})
    while not executing.done:
        executing.iterate()
    assert executing.execution.policies.tolist() == [0, 1, 2]
    assert executing.execution.lengths.tolist() == [1, 2, 3]
