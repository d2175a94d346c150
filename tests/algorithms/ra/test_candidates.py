import numpy as np
import pytest

from pcn.algorithms.ra.candidates import Candidates
from pcn.algorithms.ra.config import RAConfig
from pcn.algorithms.ra.train import RATrainer


def candidates(executed, weight):
    executed = np.asarray(executed, dtype=np.float64)
    count = len(executed)
    return Candidates(
        weights=np.full((count, 2), weight),
        executed=executed,
        deviation=np.zeros_like(executed),
        sampled=executed + weight,
        lengths=np.full(count, weight),
    )


def test_each_direction_keeps_what_returned_more_in_it():
    mix = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    first = candidates([[3.0, 0.0], [3.0, 0.0], [3.0, 0.0]], 1.0)
    newer = candidates([[2.0, 9.0], [1.0, 3.0], [0.0, 0.0]], 2.0)
    kept = first.or_better(newer, mix)
    np.testing.assert_array_equal(kept.executed, [[3.0, 0.0], [1.0, 3.0], [0.0, 0.0]])
    # All that belongs to a candidate goes with it.
    np.testing.assert_array_equal(kept.lengths, [1.0, 2.0, 2.0])
    np.testing.assert_array_equal(kept.weights[:, 0], kept.lengths)
    np.testing.assert_array_equal(kept.sampled, kept.executed + kept.lengths[:, None])


def test_the_first_candidates_replace_those_that_were_never_executed():
    nobody = Candidates.none_yet(np.zeros((2, 2)), 2)
    first = candidates([[-9.0, 0.0], [0.0, -9.0]], 1.0)
    kept = nobody.or_better(first, np.eye(2))
    np.testing.assert_array_equal(kept.executed, first.executed)


@pytest.mark.slow
def test_a_policy_that_forgets_counts_as_it_was(fork):
    trainer = RATrainer(fork, RAConfig(total_steps=100_000, intervals=1), seed=0)
    for _ in range(40):
        trainer.iterate()
    reached = np.asarray(trainer._candidates(1, 1_000).executed)
    # As if the policies had changed places: each is now the worst in its direction.
    trainer._learners = type(trainer._learners)(
        trainer._learners.weights[::-1], trainer._learners.moments, trainer._learners.smoothed
    )
    np.testing.assert_array_equal(trainer._candidates(1, 1_000).executed, reached)


@pytest.mark.slow
def test_where_outcomes_are_random_nobody_looks_back(coin):
    trainer = RATrainer(coin, RAConfig(total_steps=10_000, intervals=1), seed=0)
    trainer.iterate()
    trainer._candidates(1, 1_000)
    assert np.all(np.isneginf(trainer._best.executed))
