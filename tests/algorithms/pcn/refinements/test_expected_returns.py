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
from pcn.algorithms.pcn.refinements import (
    BoundedCommands,
    Consolidation,
    ExpectedReturns,
    StickyActions,
)
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


@pytest.mark.slow
def test_the_budget_holds_for_everything(trainer):
    assert trainer.steps <= CONFIG.total_steps
    race = trainer.outcome().facts["race"]
    assert 0 < race["steps"] <= trainer._ending._race._most_steps
    # One step for each execution.
    assert race["steps"] == race["executions"]


@pytest.mark.slow
def test_what_is_reported_was_not_used_to_choose(trainer):
    ending, coverage_set = trainer._ending, trainer.outcome().coverage_set
    race, final = ending._race.execution, ending._final.execution
    assert trainer.steps - race.num_steps - final.num_steps >= 0.6 * CONFIG.total_steps
    assert coverage_set.executions.sum() == len(final.policies)
    assert coverage_set.executions.min() >= 1


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


@pytest.mark.slow
def test_long_episodes_leave_room_for_few_commands(long_trainer):
    candidates = long_trainer._training.dataset.candidates(SETTINGS.candidates)
    assert len(candidates) == SETTINGS.candidates > SETTINGS.fewest
    # 16 executions of 50 steps for two networks: half of the race's 1,200 steps hold none.
    assert len(long_trainer._training.commands()) == SETTINGS.fewest
    assert long_trainer.steps <= long_trainer.config.total_steps
    assert len(long_trainer.outcome().coverage_set) >= 1


def drawn(means, counts, deviation, seed=0):
    """An execution of normal returns around the given means."""
    rng = np.random.default_rng(seed)
    policies = np.repeat(np.arange(len(means)), counts)
    returns = np.asarray(means)[policies] + deviation * rng.normal(size=(len(policies), 2))
    return Execution(len(means), policies, returns, np.full(len(policies), 10))


def test_what_is_clearly_dominated_is_not_offered():
    means = [[0.0, 4.0], [2.0, 2.0], [4.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    execution = drawn(means, 64, 0.01)
    chosen = SETTINGS.chosen(execution, executions=20, most_steps=100_000)
    # Of the two that are alike, one is offered; the fourth is dominated by both of them.
    assert sorted(chosen.tolist()) in ([0, 1, 2], [0, 2, 4])


def test_no_more_is_offered_than_can_be_executed():
    angles = np.linspace(0, np.pi / 2, 30)
    execution = drawn(10 * np.stack([np.cos(angles), np.sin(angles)], 1), 16, 0.01)
    every = SETTINGS.chosen(execution, executions=20, most_steps=100_000)
    assert len(every) == 30
    assert SETTINGS.fewest_executions == 6
    some = SETTINGS.chosen(execution, executions=20, most_steps=750)  # 60 steps for each
    assert some.tolist() == every[:12].tolist()
    assert {0, 29} <= set(some.tolist())  # the best of each objective come first
    least = SETTINGS.chosen(execution, executions=20, most_steps=0)
    assert len(least) == SETTINGS.fewest
