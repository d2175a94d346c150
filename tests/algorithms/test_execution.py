import numpy as np

from pcn.algorithms.execution import Execution
from pcn.episodes import Episodes


def episodes(rewards, real):
    """Episodes of one objective and two steps each; those that are not real fill up the batch."""
    rewards = np.array(rewards, np.float32)[:, :, None]
    count = len(rewards)
    return Episodes(
        np.zeros((count, 2, 1), np.float32),
        np.zeros((count, 2, 1), np.int32),
        rewards,
        np.full(count, 2, np.int32),
        np.ones(count, bool),
        real_mask=np.array(real),
    )


def test_batches_hold_all_policies_once_and_then_all_once_more():
    batches = [
        episodes([[1, 2], [3, 4]], [True, True]),
        episodes([[5, 6], [7, 8]], [True, True]),
        episodes([[9, 10], [11, 12]], [True, True]),
    ]
    execution = Execution.of(batches, executions=2, discount=0.5)  # three policies
    assert execution.policies.tolist() == [0, 1, 2, 0, 1, 2]
    assert execution.counts.tolist() == [2, 2, 2]
    first, *_ = execution.singles.by_policy
    np.testing.assert_allclose(first, [[1 + 2 / 2], [7 + 8 / 2]])
    # Means of 2 and 11, of 5 and 14, of 8 and 17.
    np.testing.assert_allclose(execution.returns, [[6.5], [9.5], [12.5]])
    assert execution.num_steps == 12


def test_padding_is_no_execution():
    batches = [episodes([[1, 2], [3, 4]], [True, True]), episodes([[5, 6], [5, 6]], [True, False])]
    execution = Execution.of(batches, executions=1, discount=1.0)
    np.testing.assert_allclose(execution.returns, [[3], [7], [11]])
    assert execution.lengths.tolist() == [2, 2, 2]


def test_the_horizon_of_a_policy_is_the_mean_length_of_its_episodes():
    none = Execution.none(3, 1)
    table = none.adding(np.array([0, 1, 1]), np.zeros((3, 1)), np.array([7, 2, 4]))
    assert table.horizons.tolist() == [7.0, 3.0, 0.0]
    assert table.num_steps == 13
