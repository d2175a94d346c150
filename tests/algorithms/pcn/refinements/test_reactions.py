"""Random linear policies are tried where episodes are long."""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import Reactions, StickyActions
from pcn.algorithms.pcn.refinements.reactions import Reacted
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.trainer import Snapshot
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step

STEPS = 200


class Field(NamedTuple):
    moisture: Int[Array, " 1"]
    time: Int[Array, ""]


class Garden(AbstractCompiledEnvironment):
    """A field dries by one at each step and is watered by four; it grows while it is moist.

    Random watering floods it. Watering when it is nearly dry keeps it moist.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self, **changes):
        self.spec = replace(
            EnvironmentSpec(
                name="garden",
                objectives=(Objective("growth"), Objective("water")),
                observation_space=gym.spaces.Box(0, 1, (1,), np.float32),
                action_space=gym.spaces.Discrete(2),
                step_limit=STEPS,
                reference_point=(0.0, -float(STEPS)),
            ),
            **changes,
        )

    def reset(self, key):
        del key
        return Field(jnp.full(1, 5, jnp.int32), jnp.int32(0))

    def step(self, state, action, key):
        del key
        moist = (state.moisture[0] >= 2) & (state.moisture[0] <= 6)
        moisture = jnp.clip(state.moisture + 4 * action - 1, 0, 10)
        reward = jnp.stack([moist.astype(jnp.float32), -action.astype(jnp.float32)])
        return Step(Field(moisture, state.time + 1), reward, jnp.asarray(False))

    def observation(self, state):
        return state.moisture.astype(jnp.float32) / 10


CONFIG = PCNConfig(
    total_steps=200 * STEPS, warmup_episodes=8, evaluations=0, refinements=(Reactions(first=40),)
)


def trained(config=CONFIG, *, iterations=1, environment=None):
    trainer = PCNTrainer(environment or Garden(), config, seed=0)
    for _ in range(iterations):
        trainer.iterate()
    return trainer


@pytest.mark.slow
def test_reactions_keep_a_field_moist_that_random_actions_flood():
    with_them, without = (
        trained(replace(CONFIG, refinements=some), iterations=6)._training.dataset.archive()
        for some in (CONFIG.refinements, (StickyActions(),))
    )
    assert with_them.returns[:, 0].max() > 0.9 * STEPS
    assert without.returns[:, 0].max() < 0.6 * STEPS


@pytest.mark.slow
def test_first_reactions_take_no_more_than_their_share():
    trainer = PCNTrainer(Garden(), CONFIG, seed=0)
    trainer._warm_up()
    training = trainer._training
    warm_up = 8 * STEPS
    assert 0 < training.steps - warm_up <= Reactions().budget_share * CONFIG.total_steps
    assert len(training.states["Reactions"].weights) > 4


@pytest.mark.slow
def test_nothing_is_tried_where_random_episodes_are_short():
    few = replace(CONFIG, refinements=(Reactions(fewest_steps=STEPS + 1),))
    trainer = trained(few, iterations=2)
    assert len(trainer._training.states["Reactions"].weights) == 0
    early = replace(CONFIG, refinements=(Reactions(share_of_limit=1.1),))
    assert len(trained(early, iterations=2)._training.states["Reactions"].weights) == 0


def test_only_real_observations_that_follow_the_actions_alone():
    assert Reactions().applies_to(Garden().spec)
    assert not Reactions().applies_to(Garden(deterministic=False).spec)
    whole = gym.spaces.MultiDiscrete([11])
    assert not Reactions().applies_to(Garden(observation_space=whole).spec)
    assert not Reactions(most_numbers=1).applies_to(
        Garden(observation_space=gym.spaces.Box(0, 1, (2,))).spec
    )


@pytest.mark.slow
def test_a_restored_training_goes_on_as_before():
    trainer = trained(iterations=2)
    snapshot = trainer.snapshot()
    arrays = {name: np.array(array) for name, array in snapshot.arrays.items()}
    other = PCNTrainer(Garden(), trainer.config, seed=1)
    other.restore(Snapshot(arrays, snapshot.facts))
    for one in (trainer, other):
        one.iterate()
    states = [one._training.states["Reactions"] for one in (trainer, other)]
    assert all(isinstance(state, Reacted) and len(state.weights) for state in states)
    for name, array in states[0].to_arrays().items():
        np.testing.assert_array_equal(array, states[1].to_arrays()[name])
