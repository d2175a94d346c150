"""Scouts go to what was hardly tried."""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import LoopErasure, Planning, Scouting
from pcn.algorithms.pcn.refinements.planned.scout import Scout, observation_print
from pcn.algorithms.pcn.refinements.scouting import Scouted, allowed_actions
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step
from pcn.nets.heads import CategoricalHead
from pcn.planning.counting import TransitionCounts

LENGTH = 10
SETTINGS = Scouting(share=0.5, num_goals=8)
CONFIG = PCNConfig(
    total_steps=8_000,
    episodes_per_iteration=4,
    updates_per_iteration=4,
    capacity=20,
    evaluations=0,
    refinements=(Planning(rehearsals=0, cycles=1, updates=100), SETTINGS),
)


class Place(NamedTuple):
    place: Int[Array, " 1"]


class Corridor(AbstractCompiledEnvironment):
    """One action of four goes on, the others go back to the beginning; sometimes nothing happens.

    Random actions get to the end in one of 4^10 tries.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self, **others):
        self.spec = EnvironmentSpec(
            name="corridor",
            objectives=(Objective("gold"), Objective("time")),
            observation_space=gym.spaces.MultiDiscrete([LENGTH + 1], dtype=np.int32),
            action_space=gym.spaces.Discrete(4),
            step_limit=40,
            reference_point=(-1.0, -41.0),
            **{"deterministic": False, **others},
        )

    def reset(self, key):
        del key
        return Place(jnp.zeros(1, jnp.int32))

    def step(self, state, action, key):
        right = (7 * state.place[0] + 3) % 4
        after = jnp.where(action == right, state.place + 1, 0)
        after = jnp.where(jax.random.bernoulli(key, 0.1), state.place, after)
        end = after[0] == LENGTH
        return Step(
            Place(after), jnp.where(end, jnp.array([1.0, -1.0]), jnp.array([0.0, -1.0])), end
        )

    def observation(self, state):
        return state.place

    def render(self, state):
        del state
        return np.zeros((8, 8, 3), np.uint8)


def trained(environment, config, seed=0):
    """A trainer when exploration is over."""
    trainer = PCNTrainer(environment, config, seed=seed)
    while trainer._training.exploring_steps_left > 0 and not trainer.done:
        trainer.iterate()
    return trainer


@pytest.mark.slow
def test_scouts_get_to_the_end_of_a_corridor_where_random_actions_do_not():
    furthest = {}
    for name, refinements in {
        "with": CONFIG.refinements,
        "without": CONFIG.refinements[:1],
    }.items():
        trainer = trained(Corridor(), replace(CONFIG, refinements=refinements))
        counts = trainer._training.refinements[0].counts(trainer._training)
        furthest[name] = int(counts.observations.max())
    assert furthest["with"] == LENGTH
    assert furthest["without"] < LENGTH


@pytest.mark.slow
def test_loops_are_cut_out_of_what_scouts_bring(monkeypatch):
    """Their random steps afterwards would teach a network to wander."""
    stored = []
    cut = LoopErasure.before_storing

    def cutting(self, training, episodes):
        stored.append(len(episodes.lengths))
        return cut(self, training, episodes)

    monkeypatch.setattr(LoopErasure, "before_storing", cutting)
    refinements = (LoopErasure(), *CONFIG.refinements)
    trained(Corridor(), replace(CONFIG, total_steps=2_000, refinements=refinements))
    assert SETTINGS.num_scouts in stored


@pytest.mark.slow
def test_their_steps_are_a_share_of_all_and_survive_a_checkpoint(monkeypatch):
    taken, send = [], Scouting._send

    def sending(self, training, *others):
        before = training.steps
        sent = send(self, training, *others)
        taken.append(training.steps - before)
        return sent

    monkeypatch.setattr(Scouting, "_send", sending)
    settings = Scouting(share=0.2)
    trainer = trained(Corridor(), replace(CONFIG, refinements=(Planning(rehearsals=0), settings)))
    training = trainer._training
    assert 0.1 * training.steps < sum(taken) <= 0.22 * training.steps
    state = settings.state_in(training, Scouted)
    assert sum(taken) <= state.steps <= 0.22 * training.steps
    again = Scouted()
    again.from_arrays(state.to_arrays())
    assert again.steps == state.steps


def test_it_is_off_where_nothing_is_counted():
    assert not SETTINGS.applies_to(Corridor(deterministic=True).spec)
    alone = PCNTrainer(Corridor(), replace(CONFIG, refinements=(SETTINGS,)), seed=0)
    assert SETTINGS.counts(alone._training) is None
    trainer = PCNTrainer(Corridor(), CONFIG, seed=0)
    counts = trainer._training.refinements[0].counts(trainer._training)
    counts.given_up = True
    assert SETTINGS.counts(trainer._training) is None


@pytest.mark.parametrize("wrong", [{"share": 1.5}, {"noise": -0.1}, {"num_goals": 0}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Scouting(**wrong)


def test_a_mask_of_several_choices_allows_what_all_of_them_allow():
    counts = TransitionCounts(np.zeros(1, np.int32), (2, 3), 2, mask_size=5)
    assert allowed_actions(TransitionCounts(np.zeros(1, np.int32), (2, 3), 2)) is None
    counts.masks = np.array([[True, False, True, True, False]])
    assert allowed_actions(counts).tolist() == [[True, True, False, False, False, False]]


def test_it_is_off_where_masks_leave_out_parts_of_an_action():
    """A mask of a choice beside a real number has entries for the choice only."""
    config = replace(CONFIG, refinements=(Planning(rehearsals=0), SETTINGS))
    training = PCNTrainer(Corridor(), config, seed=0)._training
    counts = training.refinements[0].counts(training)
    counts._prints = np.zeros(1, np.uint64)  # as if one state had been seen
    assert SETTINGS.counts(training) is counts
    counts.masks = np.ones((1, 3), bool)
    assert SETTINGS.counts(training) is None
    counts.masks = np.ones((1, 4), bool)
    assert SETTINGS.counts(training) is counts


def test_observations_have_different_numbers():
    places = np.stack(np.meshgrid(*[np.arange(9)] * 4), axis=-1).reshape(-1, 4)
    prints = jax.vmap(observation_print)(jnp.asarray(places, jnp.float32))
    assert len(np.unique(prints)) == len(places)
    parts = {"at": jnp.asarray(places[:, :2], jnp.int32), "has": jnp.asarray(places[:, 2:] > 4)}
    prints = jax.vmap(observation_print)(parts)
    assert len(np.unique(prints)) == 9 * 9 * 4


def scout(**others):
    """On the way from 0 over 1 to 2, where action 3 is to be tried."""
    prints = np.asarray(jax.vmap(observation_print)(jnp.arange(3)[:, None]))
    order = np.argsort(prints)
    actions = np.array([[1], [2], [3]], np.int32)[order][None]
    given = {"noise": np.zeros((), np.float32), "arrived": np.array(False), **others}
    return Scout(
        action_head=CategoricalHead((4,)),
        prints=prints[order],
        actions=actions,
        goals=np.argsort(order)[2:].astype(np.int32),
        way=np.zeros((), np.int32),
        **given,
    )


def drawn_actions(agent, place, mask=None):
    keys = jax.random.split(jax.random.key(0), 64)
    act = jax.vmap(lambda key: agent.act(jnp.array([place]), key, mask))
    return set(np.asarray(act(keys))[:, 0].tolist())


def test_a_scout_follows_its_way_and_acts_at_random_elsewhere_and_afterwards():
    assert [drawn_actions(scout(), place) for place in range(3)] == [{1}, {2}, {3}]
    assert drawn_actions(scout(), 7) == {0, 1, 2, 3}
    assert drawn_actions(scout(arrived=np.array(True)), 0) == {0, 1, 2, 3}
    assert drawn_actions(scout(noise=np.ones((), np.float32)), 0) == {0, 1, 2, 3}
    assert drawn_actions(scout(), 0, jnp.array([True, False, True, False])) == {0, 2}


@pytest.mark.parametrize(
    ("place", "action", "arrived"), [(2, 3, True), (2, 1, False), (1, 2, False)]
)
def test_a_scout_has_arrived_once_it_has_tried_what_it_came_for(place, action, arrived):
    after = scout().having_acted(jnp.array([place]), jnp.array([action]))
    assert bool(after.arrived) == arrived
    assert after.observing(jnp.array([action]), jnp.zeros(2)) is after


@pytest.mark.slow
def test_scouting_ends_where_scouts_see_so_much_that_counting_is_given_up():
    planning = replace(CONFIG.refinements[0], most_states=LENGTH // 2)
    trainer = trained(Corridor(), replace(CONFIG, refinements=(planning, SETTINGS)))
    training = trainer._training
    assert planning.counts(training).given_up
    assert SETTINGS.state_in(training, Scouted).steps > 0
