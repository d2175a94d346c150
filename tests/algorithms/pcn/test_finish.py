"""What a run offers at the end, where luck plays a part."""

import dataclasses
from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn import finish
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.consolidate import worth
from pcn.algorithms.pcn.finish import (
    CANDIDATES,
    CHECKING_SHARE,
    CHECKS,
    EXECUTING_SHARE,
    FEWEST,
    plausible_mask,
)
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step

CONFIG = PCNConfig(
    total_steps=2_000,
    episodes_per_iteration=16,
    warmup_episodes=32,
    updates_per_iteration=8,
    capacity=40,
    consolidation_updates=800,
    evaluations=0,
)


class Stall(NamedTuple):
    """In front of the lottery."""

    place: Int[Array, " 1"]


class Lottery(AbstractCompiledEnvironment):
    """Keep one's stake, (1, 1), or buy a ticket: one in twenty wins (10, 10)."""

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self):
        self.spec = EnvironmentSpec(
            name="lottery",
            objectives=(Objective("money"), Objective("joy")),
            observation_space=gym.spaces.MultiDiscrete([2], dtype=np.int32),
            action_space=gym.spaces.Discrete(2),
            step_limit=3,
            reference_point=(-1.0, -1.0),
            deterministic=False,
        )

    def reset(self, key):
        del key
        return Stall(jnp.zeros(1, jnp.int32))

    def step(self, state, action, key):
        prize = jnp.where(jax.random.uniform(key) < 0.05, 10.0, 0.0)
        gain = jnp.where(action == 0, 1.0, prize)
        return Step(Stall(state.place + 1), jnp.stack([gain, gain]), jnp.asarray(True))

    def observation(self, state):
        return state.place

    def render(self, state):
        del state
        return np.zeros((8, 8, 3), np.uint8)


@pytest.fixture(scope="module")
def trainer():
    trainer = PCNTrainer(Lottery(), CONFIG, seed=0)
    while not trainer.done:
        trainer.iterate()
    return trainer


def test_a_lucky_return_does_not_crowd_out_what_is_better_on_average(trainer):
    assert trainer._dataset.archive().returns.tolist() == [[10.0, 10.0]]  # luck
    outcome = trainer.outcome()
    assert outcome.archive.tolist() == [[10.0, 10.0]]
    coverage_set = outcome.coverage_set
    assert coverage_set.front.tolist() == [[1.0, 1.0]]
    assert coverage_set.deviation[coverage_set.front_mask].tolist() == [[0.0, 0.0]]


def test_means_are_told_apart_only_beyond_their_errors():
    returns = np.array([[2.0, 2.0], [1.0, 1.0], [1.0, 1.0], [0.0, 3.0]])
    deviation = np.array([[1.8, 1.8], [0.0, 0.0], [0.4, 0.4], [0.0, 0.0]])
    # With four executions the first is at least 1.1: better than the second, not the third.
    execution = Execution(returns, deviation, np.ones(4), 0)
    assert plausible_mask(execution, 4).tolist() == [True, False, True, True]
    assert plausible_mask(execution, 1).tolist() == [True, True, True, True]


def test_choosing_the_commands_takes_a_limited_number_of_steps(trainer):
    steps = trainer.outcome().facts["consolidation"]["steps"]
    # The first check is always made; here it takes one step for each of its executions.
    assert 0 < steps <= CHECKING_SHARE * CONFIG.total_steps


def test_worth_orders_executions_as_their_hypervolume_does():
    score = worth(np.zeros(2))

    def of(*returns):
        count = len(returns)
        return score(Execution(np.array(returns), np.zeros((count, 2)), np.ones(count), 0))

    assert of([0.0, 1.0]) == 0.0
    assert of([1.0, 1.0]) == 1.0
    assert of([1.0, 1.0]) < of([1.0, 3.0]) < of([1.0, 3.0], [2.0, 2.0])
    assert of([1e8, 1e8]) < of([1e8, 1e8 + 1])  # however large


class LongLottery(Lottery):
    """The same after 50 steps in the queue."""

    def __init__(self):
        super().__init__()
        self.spec = dataclasses.replace(
            self.spec,
            observation_space=gym.spaces.MultiDiscrete([51], dtype=np.int32),
            step_limit=60,
        )

    def step(self, state, action, key):
        last = super().step(state, action, key)
        served = state.place[0] == 49
        noise = jnp.where(action == 0, 0.001, 0.0) * state.place[0]
        return Step(last.state, jnp.where(served, last.reward, jnp.stack([noise, -noise])), served)


@pytest.fixture(scope="module")
def long_trainer():
    config = dataclasses.replace(CONFIG, total_steps=8_000, warmup_episodes=64, capacity=200)
    trainer = PCNTrainer(LongLottery(), config, seed=0)
    while not trainer.done:
        trainer.iterate()
    return trainer


def test_a_small_budget_is_not_outspent_by_choosing(long_trainer):
    candidates = long_trainer._dataset.candidates(CANDIDATES)
    assert len(candidates) == CANDIDATES > FEWEST  # there are enough to spend the budget on
    # 8 commands, 5 times, 50 steps each: with 64 the first check alone would take 16,000.
    steps = long_trainer.outcome().facts["consolidation"]["steps"]
    assert steps <= CHECKING_SHARE * long_trainer.config.total_steps


def test_a_small_budget_is_not_outspent_by_the_final_executions(long_trainer, monkeypatch):
    monkeypatch.setattr(finish, "plausible_mask", lambda execution, _: execution.returns[:, 0] < 99)
    assert len(long_trainer.outcome().coverage_set) == FEWEST
    monkeypatch.setattr(finish, "FEWEST", 1)
    # 20 times 50 steps for each of them.
    most = int(EXECUTING_SHARE * long_trainer.config.total_steps / 1_000)
    chosen_from = int(CHECKING_SHARE / CHECKS * long_trainer.config.total_steps / 250)
    assert len(long_trainer.outcome().coverage_set) == min(most, chosen_from) == 3
    monkeypatch.setattr(finish, "EXECUTING_SHARE", EXECUTING_SHARE / 2)
    assert len(long_trainer.outcome().coverage_set) == 2
