import dataclasses

import numpy as np
import pytest

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.mones.config import MONESConfig
from pcn.algorithms.mones.train import MONESTrainer
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.minecart import Minecart
from pcn.errors import UserError
from pcn.pareto import unique_front

pytestmark = pytest.mark.slow

SMALL = MONESConfig(total_steps=4_000, population=8, final_draws=12)


def trained(environment, config, seed=0):
    trainer = MONESTrainer(environment, config, seed=seed)
    while not trainer.done:
        trainer.iterate()
    return trainer.outcome()


def test_deep_sea_treasure_is_complete_with_pcn_s_budget():
    environment = DeepSeaTreasure()
    front = trained(environment, MONESConfig(total_steps=100_000), seed=100).coverage_set.front
    np.testing.assert_array_equal(front[unique_front(front)], environment.spec.front.returns)


@pytest.mark.parametrize(
    ("covariance", "fitness"), [("diagonal", "hypervolume"), ("full", "crowding")]
)
def test_all_branches_of_a_concave_fork_are_found(concave_fork, covariance, fitness):
    config = MONESConfig(total_steps=1_500, covariance=covariance, fitness=fitness)
    reached = {tuple(point) for point in trained(concave_fork, config).coverage_set.front.tolist()}
    assert reached == {(0.0, 4.0), (1.5, 1.5), (4.0, 0.0)}


def test_steps_are_counted_and_the_final_draws_are_part_of_the_budget():
    trainer = MONESTrainer(DeepSeaTreasure(), SMALL, seed=0)
    before = 0
    while not trainer.done:
        progress = trainer.iterate()
        assert progress.steps == trainer.steps > before
        assert 0 <= progress.loss <= 1
        assert len(unique_front(progress.archive)) == len(progress.archive) > 0
        if progress.phase == "training":
            assert progress.steps < SMALL.total_steps
        before = progress.steps
    assert progress.phase == "executing"
    assert trainer.steps <= SMALL.total_steps
    outcome = trainer.outcome()
    assert 0 < outcome.facts["final_draws"] <= SMALL.final_draws
    np.testing.assert_array_equal(outcome.coverage_set.requested, outcome.coverage_set.executed)


def test_draws_that_go_in_circles_do_not_exceed_a_small_budget():
    """Two hundred final draws of two hundred steps each would take eight times as much."""
    trainer = MONESTrainer(DeepSeaTreasure(), MONESConfig(total_steps=5_000), seed=0)
    while not trainer.done:
        trainer.iterate()
    assert 4_000 < trainer.steps <= 5_000
    assert len(trainer.outcome().coverage_set) > 1


def test_a_budget_without_a_step_for_each_draw_is_refused():
    with pytest.raises(UserError, match="total_steps=60 is too small: 30 steps are left for 50 "):
        MONESTrainer(DeepSeaTreasure(), MONESConfig(total_steps=60), seed=0).iterate()


def test_evaluations_are_what_a_generation_reached():
    trainer = MONESTrainer(DeepSeaTreasure(), dataclasses.replace(SMALL, evaluations=3), seed=0)
    seen = []
    while not trainer.done:
        progress = trainer.iterate()
        if progress.execution is not None:
            seen.append(progress.execution)
    assert 1 <= len(seen) <= 3


def test_draws_become_greedy():
    trainer = MONESTrainer(DeepSeaTreasure(), SMALL, seed=0)
    assert trainer._sharpness() == 1.0
    trainer._runner.steps = SMALL.total_steps // 4
    assert 1.0 < trainer._sharpness() < np.inf
    trainer._runner.steps = SMALL.total_steps // 2
    assert trainer._sharpness() == np.inf
    greedy = dataclasses.replace(SMALL, initial_sharpness=None)
    assert MONESTrainer(DeepSeaTreasure(), greedy, seed=0)._sharpness() == np.inf


def test_a_full_covariance_of_many_weights_is_refused():
    config = MONESConfig(covariance="full")
    with pytest.raises(UserError, match=r"678 weights .* 500"):
        ALGORITHMS["mones"].trainer(Minecart(), config, seed=0)


def test_a_stochastic_environment_is_executed_several_times(coin):
    outcome = trained(coin, dataclasses.replace(SMALL, total_steps=2_000, episodes_per_draw=3))
    assert outcome.coverage_set.deviation.any()
    np.testing.assert_allclose(outcome.coverage_set.executed.sum(axis=1), 10.0)


def test_final_draws_leave_most_of_the_budget_to_training(coin):
    config = dataclasses.replace(SMALL, total_steps=2_000, executions=20)
    trainer = MONESTrainer(coin, config, seed=0)
    trainer.iterate()
    # Every episode takes 5 steps: a quarter of the budget is 8 episodes of each of 12 draws.
    assert trainer._final_executions == 8
    assert not trainer.done
    scarce = MONESTrainer(coin, dataclasses.replace(config, total_steps=60), seed=0)
    scarce.iterate()
    assert scarce._final_executions == 1
