"""Noise of known size is measured by playing the same actions again."""

from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import NoiseTolerance
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.pcn.training import Training
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step
from pcn.envs.deep_sea_treasure import DeepSeaTreasure

DEVIATION, STEPS = 0.3, 4
MEDIAN_DIFFERENCE = 0.954 * DEVIATION * np.sqrt(STEPS)
"""The difference of two normal numbers with deviation d is within 0.6745 d √2 half of the time."""


class Place(NamedTuple):
    time: Int[Array, " 1"]


class Noisy(AbstractCompiledEnvironment):
    """Four steps; the two actions gain in one objective each, the first one with normal noise."""

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self):
        self.spec = EnvironmentSpec(
            name="noisy",
            objectives=(Objective("one"), Objective("other")),
            observation_space=gym.spaces.MultiDiscrete([STEPS + 1], dtype=np.int32),
            action_space=gym.spaces.Discrete(2),
            step_limit=10,
            reference_point=(-9.0, -1.0),
            deterministic=False,
        )

    def reset(self, key):
        del key
        return Place(jnp.zeros(1, jnp.int32))

    def step(self, state, action, key):
        noise = DEVIATION * jax.random.normal(key)
        reward = jnp.stack([5.0 * (action == 0) + noise, (action == 1).astype(jnp.float32)])
        after = Place(state.time + 1)
        return Step(after, reward, after.time[0] == STEPS)

    def observation(self, state):
        return state.time


CONFIG = PCNConfig(
    total_steps=40_000, episodes_per_iteration=16, evaluations=0, updates_per_iteration=1
)


@pytest.fixture(scope="module")
def explored():
    """A training with some stored episodes."""
    settings = NoiseTolerance(repeats=40)
    config = PCNConfig(**{**vars(CONFIG), "refinements": (settings,)})
    trainer = PCNTrainer(Noisy(), config, seed=0)
    while trainer.steps < 9_000:
        trainer.iterate()
    return trainer._training


@pytest.mark.slow
def test_the_noise_of_each_objective_is_found(explored):
    noise = NoiseTolerance(repeats=200, steps_share=1.0).measure(explored)
    assert noise[0] == pytest.approx(MEDIAN_DIFFERENCE, rel=0.1)
    assert noise[1] == 0.0  # actions decide it alone


@pytest.mark.slow
def test_long_episodes_are_played_twice_and_what_cannot_be_played_changes_nothing(explored):
    # Of 40,000 steps 4 are allowed: not enough for four times four, but for a few played twice.
    rows, repeats = NoiseTolerance(episodes=3, steps_share=4 / 40_000)._played(explored)
    assert (len(rows.slots), repeats) == (1, 2)
    assert NoiseTolerance(episodes=3, steps_share=4 / 40_000).measure(explored) is not None
    assert NoiseTolerance(steps_share=2 / 40_000).measure(explored) is None


@pytest.mark.slow
def test_returns_within_the_noise_are_one_trade_off(explored):
    tolerance = explored.dataset.tolerances
    assert tolerance[0] == pytest.approx(MEDIAN_DIFFERENCE, rel=0.25)
    assert tolerance[1] < 0.01
    # Five trade-offs: one for each number of second actions, told apart by their exact objective.
    assert 3 <= len(explored.dataset.archive()) <= 8


@pytest.mark.slow
def test_the_tolerance_is_bounded_and_steps_are_limited(explored):
    before = explored.steps
    assert NoiseTolerance(steps_share=0.0).measure(explored) is None
    assert explored.steps == before
    NoiseTolerance(steps_share=0.01, episodes=1000).measure(explored)
    assert explored.steps - before <= 0.01 * CONFIG.total_steps


def test_it_is_left_out_where_the_same_actions_have_the_same_outcome():
    training = Training(DeepSeaTreasure(), CONFIG, (NoiseTolerance(),), seed=0)
    assert training.refinements == ()
