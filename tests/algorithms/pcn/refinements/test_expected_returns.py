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
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.ending import Ending
from pcn.algorithms.pcn.refinements import (
    BoundedCommands,
    Consolidation,
    ExpectedReturns,
    StickyActions,
    expected_returns,
)
from pcn.algorithms.pcn.refinements.consolidation import mean_hypervolume
from pcn.algorithms.pcn.refinements.expected_returns import plausible_mask
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step

CONFIG = PCNConfig(
    total_steps=2_000,
    episodes_per_iteration=16,
    warmup_episodes=32,
    updates_per_iteration=8,
    capacity=40,
    evaluations=0,
    refinements=(
        BoundedCommands(), StickyActions(), Consolidation(updates=800), ExpectedReturns()
    ),
)  # fmt: skip
SETTINGS = ExpectedReturns()


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


@pytest.mark.slow
def test_a_lucky_return_does_not_crowd_out_what_is_better_on_average(trainer):
    assert trainer._training.dataset.archive().returns.tolist() == [[10.0, 10.0]]  # luck
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


@pytest.mark.slow
def test_choosing_the_commands_takes_a_limited_number_of_steps(trainer):
    steps = trainer.outcome().facts["consolidation"]["steps"]
    # The first check is always made; here it takes one step for each of its executions.
    assert 0 < steps <= SETTINGS.checking_share * CONFIG.total_steps


def test_the_score_orders_executions_as_their_hypervolume_does():
    score = mean_hypervolume(np.zeros(2))

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


def offered(trainer, **changes):
    """How many commands the training would offer with other settings, and what choosing cost."""
    training = trainer._training
    settings = dataclasses.replace(SETTINGS, **changes)
    before, training.refinements = training.refinements, (settings,)
    ending = Ending(training)
    while not ending.done:
        ending.iterate()
    training.refinements = before
    return len(ending.coverage_set())


@pytest.mark.slow
def test_a_small_budget_is_not_outspent_by_choosing(long_trainer):
    candidates = long_trainer._training.dataset.candidates(SETTINGS.candidates)
    # There are enough to spend the budget on.
    assert len(candidates) == SETTINGS.candidates > SETTINGS.fewest
    # 8 commands, 5 times, 50 steps each: with 64 the first check alone would take 16,000.
    steps = long_trainer.outcome().facts["consolidation"]["steps"]
    assert steps <= SETTINGS.checking_share * long_trainer.config.total_steps


@pytest.mark.slow
def test_a_small_budget_is_not_outspent_by_the_final_executions(long_trainer, monkeypatch):
    everything = lambda execution, _: execution.returns[:, 0] < 99  # noqa: E731
    monkeypatch.setattr(expected_returns, "plausible_mask", everything)
    assert offered(long_trainer) == SETTINGS.fewest
    # 20 times 50 steps for each of them.
    total = long_trainer.config.total_steps
    most = int(SETTINGS.executing_share * total / 1_000)
    chosen_from = int(SETTINGS.checking_share / SETTINGS.checks * total / 250)
    assert offered(long_trainer, fewest=1) == min(most, chosen_from) == 3
    half = SETTINGS.executing_share / 2
    assert offered(long_trainer, fewest=1, executing_share=half) == 2
