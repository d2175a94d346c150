import dataclasses
from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.ra.config import RAConfig
from pcn.algorithms.ra.train import RATrainer
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.walkroom import Walkroom
from pcn.errors import UserError

pytestmark = pytest.mark.slow

SMALL = RAConfig(total_steps=4_000, intervals=2, episodes_per_update=4)


class ChainState(NamedTuple):
    place: Int[Array, ""]


class Chain(AbstractCompiledEnvironment):
    """Every step costs one; action 0 ends the episode, and action 1 eight times in a row pays one.

    One random episode in 256 gets paid.
    """

    length = 8
    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self):
        self.spec = EnvironmentSpec(
            name="chain",
            objectives=(Objective("time", direction="minimise"), Objective("pay")),
            observation_space=gym.spaces.MultiDiscrete([self.length + 1], dtype=np.int32),
            action_space=gym.spaces.Discrete(2),
            step_limit=self.length,
            reference_point=(-10.0, -1.0),
        )

    def reset(self, key):
        del key
        return ChainState(jnp.int32(0))

    def step(self, state, action, key):
        del key
        place = state.place + action
        paid = place == self.length
        reward = jnp.stack([jnp.float32(-1.0), paid.astype(jnp.float32)])
        return Step(ChainState(place), reward, (action == 0) | paid)

    def observation(self, state):
        return state.place[None]


def trained(environment, config, seed=0):
    trainer = RATrainer(environment, config, seed=seed)
    while not trainer.done:
        trainer.iterate()
    return trainer.outcome()


@pytest.mark.parametrize("rule", ["adam", "natural"])
def test_the_concave_branch_is_missed_whatever_the_step(concave_fork, rule):
    config = RAConfig(total_steps=3_000, step_rule=rule, kl_bound=0.05)
    reached = {tuple(point) for point in trained(concave_fork, config).coverage_set.front.tolist()}
    assert reached == {(0.0, 4.0), (4.0, 0.0)}


def test_more_policies_than_there_is_memory_for_are_refused():
    with pytest.raises(UserError, match=r"RA with 352,025,629,371 policies .*fewer intervals"):
        RATrainer(Walkroom(9), RAConfig(intervals=100), seed=0)


def test_steps_are_counted_and_the_budget_holds_for_everything():
    trainer = RATrainer(DeepSeaTreasure(), SMALL, seed=0)
    before = 0
    while not trainer.done:
        progress = trainer.iterate()
        assert progress.steps == trainer.steps > before
        assert 0 <= progress.loss <= 1
        if progress.phase == "training":
            assert progress.steps < SMALL.total_steps
        before = progress.steps
    assert progress.phase == "executing"
    outcome = trainer.outcome()
    assert trainer.steps <= SMALL.total_steps
    assert outcome.facts["directions"] == 3
    assert len(outcome.arrays["directions"]) == len(outcome.coverage_set)


@pytest.mark.parametrize("total_steps", [2_000, 5_000, 20_000])
def test_policies_that_go_in_circles_do_not_exceed_a_small_budget(total_steps):
    trainer = RATrainer(DeepSeaTreasure(), RAConfig(total_steps=total_steps), seed=0)
    while not trainer.done:
        trainer.iterate()
    assert trainer.steps <= total_steps
    assert len(trainer.outcome().coverage_set) > 0


def test_policies_that_are_sure_stop(fork):
    config = RAConfig(
        total_steps=100_000, intervals=1, learning_rate=1.0, entropy_bonus=0.0,
        entropy_tolerance=0.2, stationarity_tolerance=0.0, evaluations=0,
    )  # fmt: skip
    trainer = RATrainer(fork, config, seed=0)
    updates = 0
    while not trainer.done:
        trainer.iterate()
        updates += 1
    assert RAConfig().stop_after < updates < 200
    assert trainer.steps < config.total_steps / 10
    assert trainer.outcome().facts["stopped"] == 2


def test_indecision_pays_at_first_and_costs_in_the_end(fork):
    # In the middle direction both branches are worth the same: only entropy tells them apart.
    config = RAConfig(
        total_steps=8_000, intervals=2, entropy_bonus=1.0, entropy_tolerance=0.0,
        stationarity_tolerance=0.0, evaluations=0,
    )  # fmt: skip
    trainer = RATrainer(fork, config, seed=0)
    while trainer.steps < config.total_steps / 2:
        trainer.iterate()
    assert 1.0 < trainer._mean_returns[1, 0] < 2.0
    while not trainer.done:
        trainer.iterate()
    assert trainer._mean_returns[1, 0] in (1.0, 2.0)


def test_a_policy_that_has_stopped_neither_learns_nor_costs_steps(fork):
    config = RAConfig(total_steps=100_000, intervals=1, evaluations=0, stationarity_tolerance=0.0)
    trainer = RATrainer(fork, config, seed=0)
    trainer._still_count[0] = RAConfig().stop_after
    before = np.asarray(trainer._learners.weights)
    trainer.iterate()
    after = np.asarray(trainer._learners.weights)
    assert trainer.steps == config.episodes_per_update  # every episode takes one step
    np.testing.assert_array_equal(after[0], before[0])
    assert not np.array_equal(after[1], before[1])


def test_opposed_objectives_are_pareto_stationary(fork):
    # On the fork what one objective gains the other loses: no policy can improve both.
    config = RAConfig(total_steps=100_000, intervals=2, stationarity_tolerance=0.05, evaluations=0)
    trainer = RATrainer(fork, config, seed=0)
    while not trainer.done:
        trainer.iterate()
    assert trainer.steps < config.total_steps / 10
    assert trainer.outcome().facts["stopped"] == 3


def test_a_reward_that_no_episode_has_met_yet_stops_no_policy():
    config = RAConfig(total_steps=40_000, intervals=1, evaluations=0)
    outcome = trained(Chain(), config)
    assert outcome.coverage_set.front.tolist() == [[-8.0, 1.0], [-1.0, 0.0]]


def test_broken_off_episodes_are_no_longer_than_the_horizon():
    trainer = RATrainer(DeepSeaTreasure(), dataclasses.replace(SMALL, horizon=3), seed=0)
    trainer.iterate()
    assert trainer.steps <= 3 * 3 * SMALL.episodes_per_update


def test_six_objectives_ask_for_a_number():
    with pytest.raises(UserError, match="needs a value for intervals"):
        ALGORITHMS["ra"].trainer(Walkroom(6), RAConfig(), seed=0)


def test_a_stochastic_environment_is_executed_several_times(coin):
    outcome = trained(coin, dataclasses.replace(SMALL, total_steps=2_000))
    assert outcome.coverage_set.deviation.any()
    np.testing.assert_allclose(outcome.coverage_set.executed.sum(axis=1), 10.0)
