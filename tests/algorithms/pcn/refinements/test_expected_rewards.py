"""A network for expected returns finds what lucky episodes hide, and keeps away where none are."""

from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float, Int

from contending import executed, explored
from pcn.algorithms.pcn.agent import ConditionedAgent
from pcn.algorithms.pcn.config import PRESETS, PCNConfig
from pcn.algorithms.pcn.network import expectations_of, fresh_policy, saved_policy
from pcn.algorithms.pcn.refinements import ExpectedRewards, Standardise
from pcn.command import Command
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step
from pcn.serialisation.arrays import named_arrays

SETTINGS = ExpectedRewards(
    updates=600, policy_updates=512, rounds=1, round_updates=256, round_share=0.2, recent=64
)
CONFIG = PCNConfig(
    total_steps=4_000,
    width=32,
    episodes_per_iteration=16,
    warmup_episodes=64,
    updates_per_iteration=4,
    capacity=40,
    evaluations=0,
    refinements=(Standardise(), SETTINGS),
)


class Stand(NamedTuple):
    """Where the player stands, and what of it is seen."""

    place: Int[Array, ""]
    seen: Float[Array, " 2"]


class Tickets(AbstractCompiledEnvironment):
    """Walk to the stall, then keep one's stake, (1, 1), or buy a ticket.

    One ticket in ten wins (5, 5): the mean is (.5, .5), but winners look better than savers. What
    is seen never repeats.
    """

    spec: EnvironmentSpec = eqx.field(static=True)
    chance: float = eqx.field(static=True)

    def __init__(self, chance=0.1):
        self.chance = chance
        self.spec = EnvironmentSpec(
            name="tickets",
            objectives=(Objective("money"), Objective("joy")),
            observation_space=gym.spaces.Box(-9, 9, (2,), np.float32),
            action_space=gym.spaces.Discrete(2),
            step_limit=3,
            reference_point=(-1.0, -1.0),
            deterministic=False,
        )

    def _at(self, place, key):
        return Stand(place, jnp.array([1.0, 0.0]) * place + 0.1 * jax.random.normal(key, (2,)))

    def reset(self, key):
        return self._at(jnp.int32(0), key)

    def step(self, state, action, key):
        chance_key, seen_key = jax.random.split(key)
        wins = jax.random.uniform(chance_key) < self.chance
        paid = jnp.where(action == 1, 5.0 * wins, 1.0)
        reward = jnp.where(state.place == 1, paid, 0.0)
        return Step(self._at(state.place + 1, seen_key), jnp.full(2, reward), state.place == 1)

    def observation(self, state):
        return state.seen


@pytest.fixture(scope="module")
def finished():
    training = explored(Tickets(), CONFIG)._training
    fitting = SETTINGS.contender(training, np.array([3, 4], np.uint32))
    while not fitting.done:
        fitting.iterate()
    return training, fitting


@pytest.mark.slow
def test_savers_are_found_although_winners_look_better(finished):
    training, fitting = finished
    assert training.dataset.archive().returns.max() == 5.0  # what PCN asks for: a winning ticket
    contender = fitting.contender
    assert np.all(contender.desired_returns < 2.0)  # nobody expects 5
    returns = executed(training, contender, 200)
    assert returns.max() < 1.1  # as much as 200 tickets may bring by chance
    asked = contender.desired_returns.mean(axis=1)
    best = int(np.argmin(np.abs(asked - 1.0)))
    np.testing.assert_allclose(returns[best], [1.0, 1.0], atol=0.05)


@pytest.mark.slow
def test_a_fitting_goes_on_from_a_snapshot_and_its_network_survives_a_file(finished):
    training, fitting = finished
    again = SETTINGS.contender(training, np.array([3, 4], np.uint32))
    for _ in range(3):
        again.iterate()
    arrays, facts = again.snapshot()
    restored = SETTINGS.contender(training, np.array([3, 4], np.uint32))
    restored.restore(arrays, facts)
    while not restored.done:
        restored.iterate()
    one = named_arrays(fitting.contender.policy, "policy")
    other = named_arrays(restored.contender.policy, "policy")
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name])
    saved = saved_policy(training.spec, CONFIG, one)
    for name, array in named_arrays(saved, "policy").items():
        np.testing.assert_array_equal(array, one[name])


@pytest.mark.slow
def test_where_nothing_is_random_there_is_no_contender():
    training = explored(Tickets(chance=1.0), CONFIG)._training  # every ticket wins
    assert SETTINGS.contender(training, np.array([3, 4], np.uint32)) is None


def test_presets_of_the_paper_do_not_have_it():
    for name in ("paper", "authors"):
        refinements = PCNConfig.of(PRESETS[name]).refinements
        assert not any(isinstance(one, ExpectedRewards) for one in refinements)
    assert any(isinstance(one, ExpectedRewards) for one in PCNConfig().refinements)


def test_commands_change_by_what_is_expected_while_acting():
    key = np.array([5, 6], np.uint32)
    policy = fresh_policy(Tickets().spec, CONFIG, key)
    expectations = eqx.tree_at(
        lambda one: (one.random_rewards, one.random_ends),
        expectations_of(policy, key),
        (jnp.array([True, False]), jnp.array(True)),
    )
    seen, action, reward = jnp.array([0.3, 0.4]), jnp.array([1], jnp.int32), jnp.array([7.0, 0.5])
    number = lambda value: jnp.asarray(value, jnp.float32)  # noqa: E731
    agent = ConditionedAgent(
        policy=policy.expecting(expectations),
        command=Command(jnp.array([2.0, 3.0]), number(2.0)),
        noise=number(0.0),
        repeat=number(0.0),
        last_action=action,
        greedy=jnp.asarray(True),
        discount=number(0.9),
        upper_bound=jnp.array([0.0, 0.0]),
        follows_rewards=jnp.asarray(False),
        expected=jnp.asarray(expectations.nothing()),
    )
    mean, end = expectations.raw(seen, action)
    after = agent.having_acted(seen, action).observing(action, reward).command
    divisor = 0.9 * (1 - end)
    np.testing.assert_allclose(
        after.desired_return, [(2.0 - mean[0]) / divisor, (3.0 - 0.5) / divisor], rtol=1e-5
    )
    assert after.desired_horizon == 1.0
