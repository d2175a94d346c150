"""Fitted planning on a slope whose best ways are known by hand."""

import dataclasses

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import walked_trainings
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.network import fresh_head
from pcn.algorithms.pcn.refinements import ExpectedRewards, FittedPlanning, Planning
from pcn.algorithms.pcn.training import Training
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step

SETTINGS = FittedPlanning(
    updates=1000, cycles=2, round=250, rehearsals=0, nodes=60, weights=8, fewest_steps=200
)
CONFIG = PCNConfig(
    total_steps=4_000,
    episodes_per_iteration=64,
    updates_per_iteration=8,
    capacity=40,
    evaluations=0,
    refinements=(SETTINGS,),
)
STEPS = np.array([0.11, 0.26])
ENERGY = np.array([1.0, 3.0])


class Slope(AbstractCompiledEnvironment):
    """Up a slope from somewhere near its foot: walk slowly, or run for more energy."""

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self, **others):
        self.spec = EnvironmentSpec(
            name="slope",
            objectives=(Objective("time"), Objective("energy")),
            **{
                "observation_space": gym.spaces.Box(0.0, 2.0, (1,), np.float32),
                "action_space": gym.spaces.Discrete(2),
                "step_limit": 20,
                "reference_point": (-21.0, -61.0),
                "deterministic": False,
                **others,
            },
        )

    def reset(self, key):
        return jax.random.uniform(key, (1,), maxval=0.4)

    def step(self, state, action, key):
        del key
        share = jnp.reshape(action, ())  # 0 walks, 1 runs; a real number is something between
        place = state + STEPS[0] + (STEPS[1] - STEPS[0]) * share
        reward = jnp.stack([-1.0, -(ENERGY[0] + (ENERGY[1] - ENERGY[0]) * share)])
        return Step(place, reward, place[0] >= 1.0)

    def observation(self, state):
        return state

    def render(self, state):
        del state
        return np.zeros((8, 8, 3), np.uint8)


def by_hand(action):
    """What always walking or always running returns, from all beginnings alike."""
    starts = (np.arange(10_000) + 0.5) / 10_000 * 0.4
    steps = np.ceil((1.0 - starts) / STEPS[action]).mean()
    return np.array([-steps, -ENERGY[action] * steps])


def explored(environment, settings=SETTINGS, *, num_batches=8):
    """A training that has seen random episodes."""
    return walked_trainings.explored(environment, CONFIG, settings, num_batches=num_batches)


def fitted(training, settings=SETTINGS):
    """Its plans, learnt by a network."""
    return walked_trainings.fitted(training, settings)


@pytest.mark.parametrize(
    "others",
    [
        {"deterministic": True},
        {"observation_space": gym.spaces.Box(0.0, 1.0, (3,), np.float32)},
        {"observation_space": gym.spaces.Discrete(5)},
        {"masked_actions": True},
    ],
)
def test_it_is_for_chance_and_few_real_numbers(others):
    assert SETTINGS.applies_to(Slope().spec)
    assert not SETTINGS.applies_to(Slope(**others).spec)


WIDE = Slope(action_space=gym.spaces.Box(-1.0, 1.0, (2,), np.float32))
"""Two numbers with the default of 11 levels have 121 combinations."""


@pytest.mark.parametrize(
    ("kind", "most"), [(Planning, "most_actions"), (FittedPlanning, "most_options")]
)
def test_it_judges_the_head_that_the_network_has(kind, most):
    def handles(most_options, **choice):
        return kind(**{most: most_options}).handles(fresh_head(WIDE.spec, PCNConfig(**choice)))

    assert handles(121)
    assert not handles(120)
    assert handles(25, action_levels=5)
    assert not handles(121, action_levels=12)
    assert not handles(121, continuous_head="gaussian")  # nothing to choose between


@pytest.mark.slow
def test_a_training_asks_about_its_own_head():
    settings = (Planning(most_actions=121), FittedPlanning(most_options=121))
    config = PCNConfig(refinements=(), action_levels=12)
    training = Training(WIDE, config, settings, seed=0)
    assert training.refinements == ()
    counted = "144 combinations of levels are more than can be counted (121)"
    assert training.notices == [f"planning is off: {counted}"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("actions", "tolerance"),
    [(gym.spaces.Discrete(2), 0.2), (gym.spaces.Box(0.0, 1.0, (1,), np.float32), 0.35)],
)
def test_the_network_does_what_is_best_from_wherever_it_begins(actions, tolerance):
    training = explored(Slope(action_space=actions))
    assert len(SETTINGS.seen(training)) == training.steps
    contender = fitted(training).contender
    assert not contender.follows_rewards
    batches = training.actor.execute(
        contender.policy,
        contender.desired_returns,
        contender.horizons,
        upper_bound=np.full(2, np.inf),
        key=np.array([5, 6], np.uint32),
        follows_rewards=False,
        executions=200,
    )
    returns = np.concatenate([batch.returns()[np.asarray(batch.real_mask)] for batch in batches])
    means = returns.reshape(200, len(contender), 2).mean(axis=0)
    # The last run of a runner may be a step instead, which only saves energy.
    assert means[:, 0].max() == pytest.approx(by_hand(1)[0], abs=tolerance)
    assert means[means[:, 0].argmax(), 1] >= by_hand(1)[1] - 0.3
    assert means[:, 1].max() == pytest.approx(by_hand(0)[1], abs=tolerance)


@pytest.mark.slow
def test_an_amount_that_the_model_does_not_know_counts_as_the_nearest_known_one():
    """A network that is a level off is not lost: whoever only knows walking sees it walk."""
    training = explored(Slope(action_space=gym.spaces.Box(0.0, 1.0, (1,), np.float32)))
    ready = SETTINGS.curriculum(training, SETTINGS.seen(training))
    known = ready.model.known.copy()
    known[:, 1:] = False
    ready.model = dataclasses.replace(ready.model, known=known)
    expected = ready.expected(training.learner.policy)
    np.testing.assert_allclose(expected, np.tile(by_hand(0), (len(expected), 1)), atol=1.0)


@pytest.mark.slow
def test_an_interrupted_fitting_goes_on_exactly_where_it_was():
    training = explored(Slope())
    fitting = SETTINGS.contender(training, np.array([0, 1], np.uint32))
    for _ in range(3):
        fitting.iterate()
    arrays, facts = fitting.snapshot()
    training.actor.run(  # more steps are seen in between
        training.learner.policy,
        np.zeros((64, 2)),
        np.ones(64),
        upper_bound=np.full(2, np.inf),
        key=training.next_key(),
    )
    again = SETTINGS.contender(training, np.array([8, 9], np.uint32))
    again.restore(arrays, facts)
    for one in (fitting, again):
        while not one.done:
            one.iterate()
    assert eqx.tree_equal(fitting.contender.policy, again.contender.policy)
    np.testing.assert_array_equal(
        fitting.contender.desired_returns, again.contender.desired_returns
    )


def test_a_few_steps_are_not_planned_with():
    training = explored(Slope(), dataclasses.replace(SETTINGS, fewest_steps=10_000), num_batches=1)
    strict = training.refinements[0]
    assert strict.contender(training, np.zeros(2, np.uint32)) is None


def test_where_observations_repeat_it_is_left_to_counting(monkeypatch):
    training = explored(Slope(), num_batches=2)
    assert SETTINGS.is_sound(training)
    training.refinements = (*training.refinements, Planning())
    monkeypatch.setattr(Planning, "is_sound", lambda self, training: True)
    assert not SETTINGS.is_sound(training)


def test_expected_rewards_are_left_to_it():
    training = explored(Slope(), num_batches=2)
    assert ExpectedRewards().is_left_to_others(training)
