"""Changed episodes are played under other chance, and whatever comes of it is stored."""

from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Array, Float, Int

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import StickyActions, StochasticVariations
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.pcn.training import Training
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.nets.heads import action_head_for

SETTINGS = StochasticVariations()
DRAW = action_head_for(gym.spaces.Discrete(4)).changed_row
LIMIT, FAR = 40, 12


class Spot(NamedTuple):
    time: Int[Array, ""]
    place: Float[Array, ""]


class Road(AbstractCompiledEnvironment):
    """A road with a random start; left, stay and right. The prize far to the right ends it.

    Time and moves cost 1 each. A random walk seldom gets there; the same actions from another
    start mostly do.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self):
        self.spec = EnvironmentSpec(
            name="road",
            objectives=(Objective("time"), Objective("moves")),
            observation_space=gym.spaces.Box(-np.inf, np.inf, (2,)),
            action_space=gym.spaces.Discrete(3),
            step_limit=LIMIT,
            reference_point=(-LIMIT - 1.0, -LIMIT - 1.0),
            deterministic=False,
        )

    def reset(self, key):
        return Spot(jnp.int32(0), jax.random.uniform(key))

    def step(self, state, action, key):
        del key
        after = Spot(state.time + 1, state.place + action - 1.0)
        arrived = after.place >= FAR
        reward = jnp.stack([jnp.where(arrived, 0.0, -1.0), -(action != 1).astype(jnp.float32)])
        return Step(after, reward, arrived, after.time >= LIMIT)

    def observation(self, state):
        return jnp.stack([state.time.astype(jnp.float32), state.place])


CONFIG = PCNConfig(
    total_steps=12_000,
    episodes_per_iteration=8,
    warmup_episodes=40,
    updates_per_iteration=1,
    evaluations=0,
    refinements=(SETTINGS,),
)


def script(*actions):
    return np.asarray(actions, np.int32)[:, None]


scripts = st.lists(st.integers(0, 3), min_size=1, max_size=12).map(lambda made: script(*made))


@given(scripts, st.integers(0, 10_000))
def test_edits_stay_within_the_action_space_and_never_empty_a_script(original, seed):
    kept = original.copy()
    changed = SETTINGS.edited(original, DRAW, np.random.default_rng(seed))
    assert len(changed) >= 1
    assert changed.dtype == original.dtype
    assert np.all((changed >= 0) & (changed < 4))
    np.testing.assert_array_equal(original, kept)


def test_one_edit_changes_segments_of_all_lengths():
    """Lengths are uniform in their logarithm: 1 as often as 2 and 3 together, 4 to 7, 8 to 15."""
    settings, rng = StochasticVariations(more_edits=0.0), np.random.default_rng(0)
    original = script(*[0] * 64)
    grown = [len(settings.edited(original, DRAW, rng)) - 64 for _ in range(8_000)]
    added = np.array([more for more in grown if more > 0])
    assert added.max() == 32  # half of 64
    doublings = np.bincount(np.floor(np.log2(added)).astype(int))[:5]
    assert np.all(np.abs(doublings / len(added) - np.log(2) / np.log(33)) < 0.05)
    assert min(grown) >= -32


def test_edits_replace_add_drop_and_move():
    settings, rng = StochasticVariations(more_edits=0.0), np.random.default_rng(1)
    original = [0, 1, 2, 3, 0, 1]
    made = {tuple(settings.edited(script(*original), DRAW, rng)[:, 0]) for _ in range(4_000)}
    assert (3, 3, 3, 3, 0, 1) in made  # three replaced by one action, held on
    assert (0, 1, 2, 2, 2, 2, 3, 0, 1) in made  # three added
    assert (0, 1, 1) in made  # three dropped
    assert (1, 2, 3, 0, 0, 1) in made  # one moved


def test_some_keep_their_actions_and_some_end_as_another():
    rng = np.random.default_rng(2)
    one, other = script(*[0] * 9), script(*[1] * 9)
    settings = StochasticVariations(unchanged=0.5, crossed=0.5)
    made = [settings.varied(one, other, DRAW, rng)[:, 0] for _ in range(400)]
    same = np.mean([len(actions) == 9 and not actions.any() for actions in made])
    crossed = [actions for actions in made if 0 < actions.sum() < len(actions)]
    assert 0.4 < same < 0.65  # a cut at the end changes nothing either
    assert all(np.all(np.diff(actions) >= 0) for actions in crossed)  # zeros, then ones


def warmed_up(environment, settings=SETTINGS, seed=0):
    config = PCNConfig(**{**vars(CONFIG), "refinements": (settings, StickyActions())})
    trainer = PCNTrainer(environment, config, seed=seed)
    trainer._warm_up()
    return trainer._training


def arrivals(training):
    return int((training.dataset.rows.returns[:, 0] > -LIMIT + 0.5).sum())


@pytest.mark.slow
def test_variations_alone_bring_more_arrivals_from_other_starts():
    training = warmed_up(Road())
    before = arrivals(training)
    assert before < 12  # of 40 random walks
    steps, stored = training.steps, len(training.dataset)
    for _ in range(12):
        SETTINGS.after_exploring(training)
    played = len(training.dataset) - stored
    assert training.steps > steps + played  # every step is counted
    assert arrivals(training) - before > 0.3 * played
    starts = np.asarray(training.dataset.store.observations)[training.dataset.rows.slots, 0, 1]
    assert len(np.unique(starts)) == len(training.dataset)


def test_nothing_is_done_in_deterministic_environments():
    assert Training(DeepSeaTreasure(), CONFIG, (SETTINGS,), seed=0).refinements == ()
    assert Training(Road(), CONFIG, (SETTINGS,), seed=0).refinements == (SETTINGS,)
