"""Planning with counts: lucky episodes promise what no plan keeps."""

import dataclasses
from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int

import walked_trainings
from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import ExpectedReturns, Planning
from pcn.algorithms.pcn.refinements.planned.lessons import lessons_of
from pcn.algorithms.pcn.schedule import Schedule
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step
from pcn.nets.heads import action_head_for

SETTINGS = Planning(updates=1000, cycles=2, round=250, least_visits=1, rehearsals=0)
CONFIG = PCNConfig(
    total_steps=4_000,
    episodes_per_iteration=64,
    updates_per_iteration=8,
    capacity=40,
    evaluations=0,
    refinements=(SETTINGS,),
)
FRONT = np.array([[0.0, 2.0], [0.5, -0.5], [2.0, -1.0]])
"""By hand: over the bridge (0, -1), then (2, 0) or (0, 3). Through the river, half of the episodes
end with (0, -4) and half go on with (1, 0): (1.5, -2), which is dominated, and (0.5, -0.5)."""


class Bank(NamedTuple):
    """Before the river, or behind it."""

    place: Int[Array, " 1"]


class River(AbstractCompiledEnvironment):
    """A bridge costs a little; the river costs nothing, or everything. Then there is a choice."""

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self, **others):
        self.spec = EnvironmentSpec(
            name="river",
            objectives=(Objective("gold"), Objective("safety")),
            observation_space=gym.spaces.MultiDiscrete([6], dtype=np.int32),
            action_space=gym.spaces.Discrete(2),
            reference_point=(-10.0, -10.0),
            **{"step_limit": 10, "deterministic": False, **others},
        )

    def reset(self, key):
        del key
        return Bank(jnp.zeros(1, jnp.int32))

    def step(self, state, action, key):
        drowns = (action == 1) & jax.random.bernoulli(key)
        swims = jnp.where(drowns, jnp.array([0.0, -4.0]), jnp.array([1.0, 0.0]))
        crossing = jnp.where(action == 0, jnp.array([0.0, -1.0]), swims)
        choice = jnp.where(action == 0, jnp.array([2.0, 0.0]), jnp.array([0.0, 3.0]))
        behind = state.place[0] == 1
        reward = jnp.where(behind, choice, crossing)
        return Step(Bank(state.place + 1), reward, behind | drowns)

    def observation(self, state):
        return state.place

    def render(self, state):
        del state
        return np.zeros((8, 8, 3), np.uint8)


def explored(environment, *, num_batches=15, settings=SETTINGS):
    """A training that has seen random episodes."""
    return walked_trainings.explored(environment, CONFIG, settings, num_batches=num_batches)


def fitted(training, settings=SETTINGS):
    """Its plans, learnt by a network."""
    return walked_trainings.fitted(training, settings)


def test_it_is_for_stochastic_environments_with_discrete_actions():
    assert SETTINGS.applies_to(River().spec)
    assert not SETTINGS.applies_to(River(deterministic=True).spec)
    assert SETTINGS.handles(action_head_for(River().spec.action_space))
    assert not Planning(most_actions=1).handles(action_head_for(River().spec.action_space))


@pytest.mark.slow
def test_every_step_that_is_run_is_counted():
    training = explored(River(), num_batches=3)
    counts = SETTINGS.counts(training)
    assert counts.visits.sum() == training.steps
    assert counts.starts.sum() == 3 * 64


@pytest.mark.slow
def test_lucky_episodes_do_not_fool_it():
    training = explored(River())
    archive = training.dataset.archive().returns
    assert archive.tolist() == [[1.0, 3.0], [3.0, 0.0]]  # lucky swimmers
    contender = fitted(training).contender
    order = np.lexsort(contender.desired_returns.T[::-1])
    np.testing.assert_allclose(contender.desired_returns[order], FRONT, atol=0.15)
    assert not contender.follows_rewards
    batches = training.actor.execute(
        contender.policy,
        contender.desired_returns[order],
        contender.horizons[order],
        upper_bound=np.full(2, np.inf),
        key=np.array([5, 6], np.uint32),
        follows_rewards=False,
        executions=200,
    )
    returns = np.concatenate([batch.returns()[np.asarray(batch.real_mask)] for batch in batches])
    means = returns.reshape(200, 3, 2).mean(axis=0)
    np.testing.assert_allclose(means[[0, 2]], FRONT[[0, 2]])  # over the bridge: no chance at all
    np.testing.assert_allclose(means[1], FRONT[1], atol=4 * 3.75 / np.sqrt(200))


@pytest.mark.slow
def test_the_network_reaches_in_the_model_what_the_plans_promise():
    fitting = fitted(explored(River()))
    ready = fitting._ready
    np.testing.assert_allclose(
        ready.expected(fitting.contender.policy), ready.plans.vectors, atol=1e-6
    )


@pytest.mark.slow
def test_too_few_visits_are_not_planned_with():
    training = explored(River(), num_batches=1)
    assert SETTINGS.contender(training, np.zeros(2, np.uint32)) is not None
    strict = dataclasses.replace(SETTINGS, median_visits=50, raced_visits=50)
    assert strict.contender(training, np.zeros(2, np.uint32)) is None


@pytest.mark.slow
def test_plans_race_beside_others_before_they_stand_for_them():
    training = explored(River(), num_batches=1)
    little = dataclasses.replace(SETTINGS, median_visits=10**6)
    assert not little.is_sound(training)
    assert little.contender(training, np.zeros(2, np.uint32)) is not None


@pytest.mark.slow
def test_little_is_enough_for_a_rehearsal():
    training = explored(River(), num_batches=1)
    few = dataclasses.replace(SETTINGS, median_visits=10**6, raced_visits=10**6)
    assert few.contender(training, np.zeros(2, np.uint32)) is None
    assert few.in_rehearsal().contender(training, np.zeros(2, np.uint32)) is not None


@pytest.mark.slow
def test_a_rehearsal_takes_unknown_states_for_similar_ones():
    """Nobody has acted in state 5: swimming leads there. It is most similar to state 1."""
    training = explored(River())
    counts = SETTINGS.counts(training)
    behind = counts.numbers()[counts.next_states, 0] == 1
    unknown = counts.num_states
    counts._leaves = [np.append(leaf, [[1.4]], axis=0) for leaf in counts._leaves]
    counts._prints = np.append(counts._prints, 2**63)
    counts.starts, counts.limits = np.append(counts.starts, 0), np.append(counts.limits, False)
    swum = behind & (counts.actions == 1) & ~counts.terminated
    counts._keys = counts._keys + ((unknown - counts.next_states) * swum << 2)
    cautious = SETTINGS.curriculum(training, counts)
    hopeful = SETTINGS.in_rehearsal().curriculum(training, counts)
    best = FRONT[:, 0].max()
    assert hopeful.vectors[:, 0].max() == pytest.approx(best, abs=0.3)
    assert (hopeful.model.next_states < unknown).all()
    assert (cautious.model.next_states == unknown).any()


@pytest.mark.slow
@pytest.mark.parametrize(("median_visits", "share"), [(1, 0.125), (10**6, 1.0)])
def test_the_exploring_network_gets_fewer_updates_where_plans_can_be_made(
    median_visits, share, monkeypatch
):
    told = []
    monkeypatch.setattr(Schedule, "collected", lambda self, steps, share=1.0: told.append(share))
    settings = dataclasses.replace(SETTINGS, median_visits=median_visits)
    trainer = PCNTrainer(River(), dataclasses.replace(CONFIG, refinements=(settings,)), seed=0)
    trainer.iterate()
    assert told == [1.0, share]  # random episodes, then those of the first iteration


@pytest.mark.slow
def test_a_step_of_the_archive_that_was_never_counted_has_no_visits():
    """Logged episodes are in the dataset, and were not run."""
    settings = dataclasses.replace(SETTINGS, fewest_steps=1)
    training = explored(River(), num_batches=0, settings=settings)
    episodes = walked_trainings.random_episodes(training)
    training.dataset.add(episodes)
    assert settings.visits_on_archive(training) > 0
    # As if nobody had ever swum, nor chosen safety: the last action of the last state is missing.
    counts = settings.counts(training)
    counts._clear()
    counts.add(eqx.tree_at(lambda batch: batch.actions, episodes, 0 * episodes.actions))
    assert settings.visits_on_archive(training) == 0


class Jackpot(River):
    """One decision: it pays 1 in five places, each as likely, and 9 in another, which is rare."""

    def reset(self, key):
        place_key, rare_key = jax.random.split(key)
        place = jax.random.randint(place_key, (1,), 0, 5)
        return Bank(jnp.where(jax.random.uniform(rare_key) < 0.01, 5, place))

    def step(self, state, action, key):
        won = jnp.where(state.place[0] == 5, 9.0, 1.0)
        return Step(state, jnp.stack([won, 0.0]) * (1 - action), jnp.array(True))


@pytest.mark.slow
def test_a_lucky_beginning_does_not_hide_that_all_others_are_known():
    training = explored(Jackpot(), num_batches=10)
    archive = training.dataset.archive()
    assert archive.rows.lengths.sum() < 30
    few = dataclasses.replace(SETTINGS, fewest_steps=1)
    assert few.visits_on_archive(training) < 20
    assert SETTINGS.visits_on_archive(training) > 40


@pytest.mark.slow
def test_nothing_is_planned_where_observations_do_not_repeat():
    training = explored(River(), num_batches=1)
    SETTINGS.counts(training).given_up = True
    assert SETTINGS.contender(training, np.zeros(2, np.uint32)) is None


@pytest.mark.slow
def test_an_interrupted_fitting_goes_on_exactly_where_it_was():
    training = explored(River())
    key = np.array([0, 1], np.uint32)
    fitting = SETTINGS.contender(training, key)
    for _ in range(3):
        fitting.iterate()
    arrays, facts = fitting.snapshot()
    training.actor.run(  # counting goes on in between
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


@pytest.mark.slow
def test_lessons_are_what_the_plans_do_and_how_likely_they_get_there():
    training = explored(River())
    fitting = SETTINGS.contender(training, np.array([0, 1], np.uint32))
    fitting.iterate()
    plans, counts = fitting._ready.plans, SETTINGS.counts(training)
    head = training.learner.policy.action_head
    lessons, chances = lessons_of(plans, counts, head, least_probability=0.0, most_places=99)
    places = counts.observations[:, 0]
    found = {
        (int(lessons.plans[row]), int(places[lessons.states[row]]), int(lessons.times[row])): (
            int(lessons.actions[row, 0]),
            chances[row],
        )
        for row in range(len(chances))
    }
    # Plans in the order of FRONT: bridge and safety, river and safety, bridge and gold.
    assert {key: action for key, (action, _) in found.items()} == {
        (0, 0, 0): 0, (0, 1, 1): 1, (1, 0, 0): 1, (1, 1, 1): 1, (2, 0, 0): 0, (2, 1, 1): 0,
    }  # fmt: skip
    assert found[1, 1, 1][1] == pytest.approx(0.5, abs=0.1)
    assert found[0, 1, 1][1] == 1.0
    _, likely = lessons_of(plans, counts, head, least_probability=0.0, most_places=2)
    assert likely.tolist() == [1.0] * 5  # the swimmers' second step is the least likely


@pytest.mark.slow
def test_a_model_that_executions_confirm_is_believed():
    fitting = fitted(explored(River()))
    contender = fitting.contender
    assert fitting.num_steps > 0
    np.testing.assert_allclose(contender.expected, contender.desired_returns, atol=1e-6)
    np.testing.assert_allclose(
        np.sort(contender.expected_steps), [1.5, 2, 2], atol=0.1
    )  # half of those who swim drown at once


@pytest.mark.slow
def test_a_model_that_executions_contradict_is_not():
    training = explored(River())
    fitting = SETTINGS.contender(training, np.array([0, 1], np.uint32))
    while not fitting._fitted:
        fitting.iterate()
    fitting._reached = fitting._reached + np.array([0.0, 1.0])  # everything is said to be better
    fitting.iterate()
    assert fitting.done
    assert fitting.contender.expected is None


@pytest.mark.slow
@pytest.mark.parametrize(("better", "believed"), [(0.01, True), (0.5, False)])
def test_an_error_far_below_the_range_of_stored_returns_is_none(monkeypatch, better, believed):
    """Over the bridge to the gold: nothing is random, and there is no range to compare with."""
    training = explored(River())
    fitting = SETTINGS.contender(training, np.array([0, 1], np.uint32))
    while not fitting._fitted:
        fitting.iterate()
    only = np.flatnonzero(fitting._reached[:, 0] == 2.0)
    assert len(only) == 1
    monkeypatch.setattr(fitting, "_useful", lambda: only)
    fitting._reached = fitting._reached + np.array([0.0, better])
    fitting.iterate()
    assert (fitting.contender.expected is not None) == believed


class Endless(River):
    """Nobody gets across: episodes end at the step limit only."""

    def step(self, state, action, key):
        step = super().step(state, action, key)
        return Step(state, step.reward, jnp.asarray(False))


@pytest.mark.slow
def test_trials_are_broken_off_long_before_the_step_limit():
    training = explored(River(step_limit=100))
    # Plans take 1.5 to 2 steps, so four times as many are 8 at most.
    fitting = SETTINGS.contender(training, np.array([0, 1], np.uint32))
    while not fitting._fitted:
        fitting.iterate()
    fitting._settings = dataclasses.replace(SETTINGS, trial_share=15 / training.steps_left)
    training.runner.environment = Endless(step_limit=100)
    fitting.iterate()
    assert fitting.done
    assert fitting._confirmed is False  # the model says that they end
    assert 8 * 6 <= fitting.num_steps <= 15 / 1.5 * 8


def test_beside_a_confirmed_model_only_what_is_clearly_better_is_offered():
    """Four executions each of one that is worse, one that may be better, and one that is."""
    expected = np.array([[0.0, 10.0], [10.0, 0.0]])
    singles = np.array([[[4, -1], [5, -1]], [[8, 8], [14, -20]], [[6, 7], [5, 6]]], np.float64)
    returns = np.concatenate([singles, singles], axis=1).swapaxes(0, 1).reshape(12, 2)
    execution = Execution.of_episodes(returns, np.full(12, 3), 4)
    assert ExpectedReturns().adding(execution, expected).tolist() == [2]


@pytest.mark.slow
def test_plans_are_rehearsed_and_counts_survive_a_checkpoint():
    settings = dataclasses.replace(SETTINGS, rehearsals=2, rehearsal_updates=250)
    config = dataclasses.replace(CONFIG, refinements=(settings,))
    trainer = PCNTrainer(River(), config, seed=0)
    while trainer._training.exploring_steps_left > 200:
        trainer.iterate()
    training = trainer._training
    assert training.states["Planning"].rehearsals == 2
    again = PCNTrainer(River(), config, seed=1)
    again.restore(trainer.snapshot())
    assert again._training.states["Planning"].rehearsals == 2
    counts, restored = settings.counts(training), settings.counts(again._training)
    np.testing.assert_array_equal(restored.visits, counts.visits)
    assert counts.visits.sum() == training.steps
