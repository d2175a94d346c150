"""PCN on continuous and mixed actions, in worlds whose fronts are known."""

import numpy as np
import pytest

from continuous_worlds import GearAndForce, TwoSides
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.trainer import Snapshot
from sizes import tiny

pytestmark = pytest.mark.slow


def trained(trainer):
    while not trainer.done:
        trainer.iterate()
    return trainer.outcome()


def small(**values):
    return PCNConfig.of(tiny("pcn"), {"total_steps": 1_500, "consolidation.updates": 64}, values)


def test_two_actions_of_one_return_are_not_averaged():
    front = trained(
        PCNTrainer(TwoSides(), PCNConfig(total_steps=1_500), seed=100)
    ).coverage_set.front
    assert front[:, 1].min() >= -1.001  # the mean of two sides would bring less than -5
    np.testing.assert_allclose(front.sum(axis=1), 0, atol=1e-6)
    assert front[:, 0].min() <= 0.31
    assert front[:, 0].max() == pytest.approx(1, abs=0.01)


def test_mixed_actions_learn_both_branches():
    outcome = trained(PCNTrainer(GearAndForce(), small(), seed=100))
    assert set(map(tuple, outcome.coverage_set.front.tolist())) == GearAndForce.FRONT


def test_densities_train_and_stay_in_the_box():
    outcome = trained(PCNTrainer(TwoSides(), small(continuous_head="bins"), seed=0))
    assert (np.abs(outcome.coverage_set.executed) <= 6).all()
    assert np.isfinite(outcome.coverage_set.executed).all()


def test_an_interrupted_training_ends_as_others_do():
    def snapshot_at(iterations):
        trainer = PCNTrainer(GearAndForce(), small(), seed=3)
        for _ in range(iterations):
            trainer.iterate()
        return trainer

    whole = snapshot_at(0)
    expected = trained(whole)
    first = snapshot_at(2).snapshot()
    again = PCNTrainer(GearAndForce(), small(), seed=3)
    again.restore(Snapshot({**first.arrays}, first.facts))
    outcome = trained(again)
    for name, array in expected.arrays.items():
        np.testing.assert_array_equal(outcome.arrays[name], array)
    np.testing.assert_array_equal(outcome.coverage_set.executed, expected.coverage_set.executed)
