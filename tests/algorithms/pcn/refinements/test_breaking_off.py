"""Episodes that go on and on are broken off, more often as training proceeds."""

import dataclasses

import numpy as np
import pytest

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import BreakingOff
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.pcn.training import Training
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.walkroom import Walkroom

CONFIG = PCNConfig(
    total_steps=4_000, episodes_per_iteration=8, warmup_episodes=8, updates_per_iteration=2
)


@pytest.mark.slow
def test_broken_off_episodes_cost_their_steps_and_are_not_stored():
    config = dataclasses.replace(CONFIG, refinements=(BreakingOff(horizons=1.0),))
    trainer = PCNTrainer(DeepSeaTreasure(), config, seed=0)
    while not trainer.done:
        trainer.iterate()
    arrays = trainer.snapshot().arrays
    lengths, returns = arrays["rows.lengths"], arrays["rows.returns"]
    # What is stored ended at a treasure or at the real limit of 200 steps.
    assert np.all((returns[:, 0] > 0) | (lengths == 200))


def test_less_than_the_desired_horizon_is_refused():
    with pytest.raises(ValueError, match=r"horizons must be at least 1, got 0\.5"):
        BreakingOff(horizons=0.5)


def shares_of_limited(training, steps):
    shares = []
    for training.runner.steps in steps:
        limits = [BreakingOff().most_steps(np.array([3.0, 7.0]), training) for _ in range(2_000)]
        assert {tuple(limit) for limit in limits} <= {(200, 200), (4 * 3 + 1, 4 * 7 + 1)}
        shares.append(np.mean([limit[0] != 200 for limit in limits]))
    return shares


def test_it_happens_more_and_more_often_but_never_always():
    training = Training(DeepSeaTreasure(), CONFIG, (), seed=0)
    shares = shares_of_limited(training, (0, 2_000, 4_000))
    np.testing.assert_allclose(shares, [0, 0.5, 0.9], atol=0.03)


def test_it_happens_more_often_where_full_episodes_are_dear():
    training = Training(DeepSeaTreasure(), CONFIG, (), seed=0)
    training.schedule.affordable_share = 0.2
    shares = shares_of_limited(training, (0, 2_000, 4_000))
    np.testing.assert_allclose(shares, [0.8, 0.9, 0.98], atol=0.03)


@pytest.mark.slow
def test_evaluations_take_at_most_a_tenth_of_the_steps():
    config = dataclasses.replace(CONFIG, total_steps=20_000, evaluations=1_000)
    trainer = PCNTrainer(Walkroom(3, size=8), config, seed=0)
    evaluated = 0
    while not trainer.done:
        progress = trainer.iterate()
        if progress.execution is not None:
            evaluated += 1
    facts = trainer.snapshot().facts
    assert evaluated > 0
    # The last one was allowed by the archive's horizons; a failing command may take longer.
    assert facts["evaluation_steps"] <= config.evaluation_share * facts["steps"] + 200
