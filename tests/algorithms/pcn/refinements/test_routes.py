"""Routes that a model promises, played in the environment."""

import dataclasses

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fixed_lengths import PUT, WEIGHTS, every_return, knapsack, shelf
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import Routes
from pcn.algorithms.pcn.refinements.routes import promising, sticky
from pcn.algorithms.pcn.refinements.routing.routes_state import RoutesState
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.minecart import Minecart
from pcn.pareto import unique_front

ROUTES = Routes()
CONFIG = PCNConfig(
    total_steps=20_000,
    episodes_per_iteration=8,
    warmup_episodes=8,
    updates_per_iteration=1,
    evaluations=0,
    refinements=(ROUTES,),
)


def warmed_up(config=CONFIG, environment=None):
    environment = DeepSeaTreasure() if environment is None else environment
    trainer = PCNTrainer(environment, config, seed=0)
    trainer._warm_up()
    return trainer, trainer._training


def points(training):
    return {tuple(point) for point in training.dataset.archive().returns.round(6).tolist()}


def test_promises_that_add_most_come_first():
    front = np.array([[0.0, 10.0], [10.0, 0.0]])
    returns = np.array([[5.0, 0.0], [6.0, 6.0], [6.0, 6.1], [0.0, 11.0], [9.0, 2.0]])
    # Dominated: the first and, by the third, the second. The third is 6 better than either end.
    assert promising(returns, front, 0.0, 5).tolist()[0] == 2
    assert set(promising(returns, front, 0.0, 5).tolist()) == {2, 3, 4}
    assert set(promising(returns, front, 0.0, 1).tolist()) == {2, 3, 4}
    assert promising(returns[:0], front, 0.0, 5).tolist() == []
    assert promising(front, front, 0.0, 5).tolist() == []


def test_sticky_actions_are_of_the_space_and_repeat():
    rng = np.random.default_rng(0)
    drawn = np.concatenate([sticky(50, 3, rng) for _ in range(100)])
    assert set(drawn.tolist()) == {0, 1, 2}
    assert np.mean(drawn[1:] == drawn[:-1]) > 0.5  # a third if they were independent


def test_actions_of_several_parts_are_numbered_and_back():
    state = RoutesState(DeepSeaTreasure().spec)
    state._sizes = (2, 3)
    rows = np.array([[[0, 0], [1, 2]], [[0, 2], [1, 0]]])
    numbers = state.numbers_of(rows)
    assert numbers.tolist() == [[0, 5], [2, 3]]
    np.testing.assert_array_equal(state.rows_of(numbers), rows)


def test_only_where_the_same_actions_have_the_same_outcome():
    assert ROUTES.applies_to(DeepSeaTreasure().spec)
    assert not ROUTES.applies_to(Minecart(stochastic=True).spec)
    assert not Routes(most_actions=3).applies_to(DeepSeaTreasure().spec)
    assert not Routes(most_parts=1).applies_to(DeepSeaTreasure().spec)
    spec = DeepSeaTreasure().spec
    object.__setattr__(spec, "action_space", gym.spaces.Box(0, 1, (2,)))
    assert not ROUTES.applies_to(spec)


def test_small_pictures_are_learnt_from_within_a_limit_of_memory():
    spec = DeepSeaTreasure().spec
    few = RoutesState(spec).model._most_steps
    object.__setattr__(spec, "observation_space", gym.spaces.Box(0, 255, (3, 12, 12), np.uint8))
    assert ROUTES.applies_to(spec)
    assert 432 * RoutesState(spec).model._most_steps <= 25_600_000
    assert few == 200_000
    object.__setattr__(spec, "observation_space", gym.spaces.Box(0, 255, (3, 20, 20), np.uint8))
    assert not ROUTES.applies_to(spec)


@pytest.mark.slow
def test_routes_alone_find_the_whole_front():
    """Eight random episodes and what the model makes of them."""
    _, training = warmed_up()
    known = points(training)
    truth = {tuple(point) for point in DeepSeaTreasure().spec.front.returns.tolist()}
    assert not truth <= known
    for _ in range(40):
        ROUTES.after_exploring(training)
        training.runner.steps += 50  # as exploration would
    assert points(training) == truth


def assert_the_front_is_found(routes, training):
    """Forty searches find the whole front of Deep Sea Treasure, which was not known before."""
    truth = {tuple(point) for point in DeepSeaTreasure().spec.front.returns.tolist()}
    assert not truth <= points(training)
    for _ in range(40):
        routes.after_exploring(training)
        training.runner.steps += 50  # as exploration would
    assert points(training) == truth


class Fractions(DeepSeaTreasure):
    """Deep Sea Treasure whose row and column are shown as numbers from 0 to 1."""

    def __init__(self):
        super().__init__()
        space = gym.spaces.Box(0, 1, (2,), np.float32)
        object.__setattr__(self, "spec", dataclasses.replace(self.spec, observation_space=space))

    def observation(self, state):
        return super().observation(state) / np.float32(10.0)


@pytest.mark.slow
def test_real_numbers_on_a_grid_lead_to_the_whole_front_like_whole_ones():
    _, training = warmed_up(environment=Fractions())
    assert_the_front_is_found(ROUTES, training)


@pytest.mark.slow
def test_continuous_observations_are_given_up_at_once():
    environment = Minecart()
    assert ROUTES.applies_to(environment.spec)
    _, training = warmed_up(environment=environment)
    state, steps = training.states["Routes"], training.steps
    assert state.continuous
    random_state = training.rng.bit_generator.state
    ROUTES.after_exploring(training)
    assert (training.steps, training.rng.bit_generator.state) == (steps, random_state)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "length"),
    [(knapsack(), len(WEIGHTS)), (shelf(), PUT)],
    ids=["truncated", "clock"],
)
def test_routes_alone_find_the_front_of_episodes_of_fixed_length(environment, length):
    """Few random episodes, and what the model makes of them: all returns are known by trying."""
    _, training = warmed_up(environment=environment)
    truth = every_return(environment, length)
    truth = {tuple(point) for point in truth[unique_front(truth)].tolist()}
    assert not truth <= points(training)
    for _ in range(40):
        ROUTES.after_exploring(training)
        training.runner.steps += 50  # as exploration would
    assert points(training) == truth


@pytest.mark.slow
def test_routes_take_their_share_of_steps_and_no_more():
    _, training = warmed_up()
    state = training.states["Routes"]
    for _ in range(10):
        ROUTES.after_exploring(training)
        assert state.steps <= ROUTES.steps_share * training.steps
    assert 0 < state.steps < training.steps
    assert training.exploring_steps_left >= 0


@pytest.mark.slow
def test_every_step_teaches_the_model():
    _, training = warmed_up()
    state = training.states["Routes"]
    assert state.num_seen == training.steps
    assert len(state.model) + state.model.num_repeated == training.steps


@pytest.mark.slow
def test_a_restored_training_goes_on_as_before():
    trainer, training = warmed_up()
    ROUTES.after_exploring(training)
    snapshot = trainer.snapshot()
    other = PCNTrainer(DeepSeaTreasure(), CONFIG, seed=1)
    other.restore(snapshot)
    for one in (trainer, other):
        ROUTES.after_exploring(one._training)
    assert trainer.steps == other.steps
    np.testing.assert_array_equal(
        training.dataset.archive().returns, other._training.dataset.archive().returns
    )
    mine, its = training.states["Routes"].to_arrays(), other._training.states["Routes"].to_arrays()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, its[name], err_msg=name)


@pytest.mark.slow
class MaskedTreasure(DeepSeaTreasure):
    """Moves that lead nowhere are forbidden."""

    def __init__(self):
        super().__init__()
        object.__setattr__(self, "spec", dataclasses.replace(self.spec, masked_actions=True))

    def action_mask(self, state):
        def moves(action):
            after = self.step(state, action, jax.random.PRNGKey(0)).state
            return jnp.any(self.observation(after) != self.observation(state))

        return jax.vmap(moves)(jnp.arange(4))


@pytest.mark.slow
def test_what_masks_forbid_is_learnt_and_the_whole_front_is_found():
    routes = Routes(judged_after=1, repeated=0.0)
    config = dataclasses.replace(CONFIG, refinements=(routes,))
    _, training = warmed_up(config, environment=MaskedTreasure())
    assert_the_front_is_found(routes, training)
    state = routes._state(training)
    predicted = state.model.predict(np.tile(state.start, (4, 1)), np.arange(4))
    assert predicted.known.tolist() == [False, True, False, True]  # neither up nor left


def test_where_steps_do_not_repeat_nothing_is_searched_and_learning_ends():
    never = Routes(repeated=1.0, judged_after=1, given_up_after=10)
    trainer, training = warmed_up(dataclasses.replace(CONFIG, refinements=(never,)))
    state, before = training.states["Routes"], training.steps
    never.after_exploring(training)
    assert (training.steps, state.work) == (before, 0)
    seen = state.num_seen
    assert len(state.model) >= 10
    trainer._explore()
    assert training.steps > before
    assert state.num_seen == seen


@pytest.mark.slow
def test_searches_that_bring_nothing_become_rare():
    _, training = warmed_up()
    state = training.states["Routes"]
    for _ in range(60):
        ROUTES.after_exploring(training)
        training.runner.steps += 50
    work, steps = state.work, training.steps
    assert state.fruitless > 0  # the whole front is known by now
    for _ in range(10):
        ROUTES.after_exploring(training)
        training.runner.steps += 50
    assert state.work - work < ROUTES.work_per_step * (training.steps - steps)
