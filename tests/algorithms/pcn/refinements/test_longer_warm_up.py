"""Warm-up goes on while random episodes have shown too little."""

import pytest

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import LongerWarmUp
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from scaled import Scaled
from sizes import tiny

pytestmark = pytest.mark.slow


def steps_of_warm_up(environment, **changes):
    """Steps after warm-up and one iteration, which is short."""
    config = PCNConfig.of(tiny("pcn"), {"total_steps": 4_000, "warmup_share": 0.01, **changes})
    trainer = PCNTrainer(environment, config, seed=0)
    trainer.iterate()
    return trainer.steps


def test_an_objective_that_has_not_moved_is_waited_for():
    """Treasures are worth nothing here, so that the objective is the same in every episode."""
    still = Scaled(DeepSeaTreasure(), (0.0, 1.0))
    hasty = steps_of_warm_up(still, **{"longer_warm_up.unmoved_share": 0.0})
    waited = steps_of_warm_up(still)
    longest = steps_of_warm_up(still, **{"longer_warm_up.unmoved_share": 0.6})
    assert waited >= 0.3 * 4_000
    assert longest >= 0.6 * 4_000
    assert hasty < waited < longest


def test_a_moving_objective_is_not_waited_for():
    assert steps_of_warm_up(DeepSeaTreasure()) < 0.3 * 4_000


def test_scouts_are_left_to_find_what_moves_an_objective(monkeypatch):
    """As if they explored in a deterministic environment: all other rules stay the same."""
    still = Scaled(DeepSeaTreasure(), (0.0, 1.0))
    monkeypatch.setattr(LongerWarmUp, "goes_further", lambda self, training: True)
    hasty = steps_of_warm_up(still, **{"longer_warm_up.unmoved_share": 0.0})
    assert steps_of_warm_up(still) == hasty
    assert steps_of_warm_up(still, **{"longer_warm_up.leaves_to_scouts": False}) > hasty
