"""Constants and waves are tried where actions are real numbers."""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import BreakingOff, Rhythms, StickyActions
from pcn.algorithms.pcn.refinements.rhythms import Played
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.trainer import Snapshot
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step
from pcn.nets.heads import CategoricalHead, LevelsHead
from pcn.rollout import ScriptedAgent
from sizes import tiny

STEPS = 24


class Time(NamedTuple):
    steps: Int[Array, " 1"]


class Swing(AbstractCompiledEnvironment):
    """Pushes with the beat of a swing bring height, those against it take some; all cost force.

    Six pushes are taken at every step, for 24 steps. Height is only what goes beyond a fifth of the
    most that is possible: a random walk has none.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self):
        self.spec = EnvironmentSpec(
            name="swing",
            objectives=(Objective("height"), Objective("force")),
            observation_space=gym.spaces.MultiDiscrete([STEPS + 1], dtype=np.int32),
            action_space=gym.spaces.Box(-1.0, 1.0, (6,)),
            step_limit=STEPS,
            reference_point=(-7 * STEPS, -7.0 * STEPS),
            deterministic=False,
        )

    def reset(self, key):
        del key
        return Time(jnp.zeros(1, jnp.int32))

    def step(self, state, action, key):
        del key
        beat = jnp.sin(2 * jnp.pi * state.steps[0] / 8)
        reward = jnp.stack([jnp.sum(action * beat), -jnp.sum(action**2)])
        after = Time(state.steps + 1)
        return Step(after, reward, after.steps[0] == STEPS)

    def observation(self, state):
        return state.steps


class Rope(Swing):
    """Whoever pushes falls. So random episodes have a step or two, and standing still has 400."""

    def __init__(self):
        super().__init__()
        self.spec = replace(
            self.spec,
            observation_space=gym.spaces.MultiDiscrete([401], dtype=np.int32),
            step_limit=400,
        )

    def step(self, state, action, key):
        step = super().step(state, action, key)
        return step._replace(terminated=jnp.any(jnp.abs(action) > 0.5))


def config(**values):
    return PCNConfig.of(tiny("pcn"), {"total_steps": 4_000, "capacity": 60}, values)


def warmed_up(**values):
    trainer = PCNTrainer(Swing(), config(**values), seed=0)
    trainer._warm_up()
    return trainer


def head(low=-1.0, high=1.0, levels=11):
    return LevelsHead.for_space(gym.spaces.Box(low, high, (2,)), levels)


def test_constants_are_the_middle_zero_and_both_bounds_each_once():
    rhythms = Rhythms()
    actions = rhythms.actions(rhythms.constants(head(-1.0, 3.0, 9)), head(-1.0, 3.0, 9), 3)
    assert actions.shape == (4, 3, 2)
    assert set(np.unique(actions[:, 0])) == {1.0, 0.0, -1.0, 3.0}
    assert (actions == actions[:, :1, :1]).all()
    assert len(rhythms.constants(head())) == 3  # the middle is zero
    assert len(rhythms.constants(head(1.0, 2.0))) == 3  # zero lies outside: it is the lower bound


def test_a_wave_goes_up_and_down_in_the_levels_of_the_head_and_stays_in_the_box():
    wave = np.array([[np.log(4), 0.0, 0.5, 1.0, 1.0, 0.0, np.pi / 2]])
    actions = Rhythms().actions(wave, head(), 5)[0]
    np.testing.assert_allclose(actions[:, 0], [0, 1, 0, -1, 0], atol=1e-6)
    # The other part has its middle at .5 and begins at its top, which the bound cuts off; .5 and
    # -.5 lie between two of the levels, which are .2 apart.
    np.testing.assert_allclose(actions[[0, 2], 1], [1.0, -0.5], atol=0.11)
    assert set(np.round(actions[:, 1] * 5, 4)) <= set(range(-5, 6))
    assert np.abs(actions).max() <= 1


def test_changed_waves_stay_near_and_in_range():
    rhythms, rng = Rhythms(), np.random.default_rng(0)
    waves = rhythms.random(500, 2, rng)
    changed = rhythms.changed(waves, rng)
    assert not np.any(changed == waves, axis=1).all()
    assert np.abs(changed[:, 1:3]).max() <= 1
    assert changed[:, 3:5].min() >= 0
    assert changed[:, 0].min() >= np.log(rhythms.shortest)
    assert np.median(np.abs(changed - waves)[:, 1:5]) < 0.2


@pytest.mark.slow
def test_standing_still_is_known_after_the_warm_up_though_no_random_walk_finds_it():
    assert warmed_up()._training.dataset.rows.returns[:, 1].max() == 0
    without = warmed_up(rhythms=False)
    assert without._training.dataset.rows.returns[:, 1].max() < -10


@pytest.mark.slow
def test_waves_take_no_more_than_their_share_of_the_budget():
    rest = {"sticky_actions": False, "longer_warm_up": False}
    few = warmed_up(**rest, **{"rhythms.budget_share": 0.02}).steps
    none = warmed_up(**rest, rhythms=False).steps
    assert 0 < few - none <= 0.02 * 4_000 + STEPS


@pytest.mark.slow
def test_waves_that_last_longer_than_random_episodes_keep_to_the_budget(monkeypatch):
    lengths = set()

    def agent(script, *others):
        lengths.add(script.shape[1])
        return ScriptedAgent(script, *others)

    monkeypatch.setattr("pcn.algorithms.pcn.refinements.rhythms.ScriptedAgent", agent)
    trainer = PCNTrainer(Rope(), config(**{"rhythms.budget_share": 0.05}), seed=0)
    rhythms = next(one for one in trainer._training.refinements if isinstance(one, Rhythms))
    trainer._training.schedule.measure(1.0)
    rhythms.after_warming_up(trainer._training)
    assert 0 < trainer.steps <= 0.05 * 4_000
    assert lengths == {400}  # another length would be compiled anew


@pytest.mark.slow
def test_waves_that_another_return_dominates_are_forgotten():
    trainer = warmed_up()
    training = trainer._training
    played = training.states["Rhythms"]
    assert isinstance(played, Played)
    archive = training.dataset.archive().returns
    assert len(played.waves) == len(played.returns) == len(played.horizons) > 0
    (rhythms,) = (one for one in training.refinements if isinstance(one, Rhythms))
    worst = archive.min(axis=0) - 1
    played.add(played.waves[:1], worst[None], np.array([float(STEPS)]))
    rhythms.after_exploring(training)
    assert len(played.waves) > 0
    assert not np.any(np.all(played.returns == worst, axis=1))


def test_only_several_real_numbers_have_waves():
    assert Rhythms().handles(head())
    assert not Rhythms().handles(LevelsHead.for_space(gym.spaces.Box(-1.0, 1.0, (1,))))
    assert not Rhythms().handles(CategoricalHead((3, 3)))


@pytest.mark.slow
def test_an_interrupted_training_ends_as_others_do():
    def trained(trainer):
        while not trainer.done:
            trainer.iterate()
        return trainer.outcome()

    refinements = (Rhythms(waves_per_number=1), StickyActions(), BreakingOff())
    settings = config(total_steps=1_500, refinements=refinements)
    expected = trained(PCNTrainer(Swing(), settings, seed=3))
    stopped = PCNTrainer(Swing(), settings, seed=3)
    for _ in range(3):
        stopped.iterate()
    first = stopped.snapshot()
    again = PCNTrainer(Swing(), settings, seed=3)
    again.restore(Snapshot({**first.arrays}, first.facts))
    outcome = trained(again)
    for name, array in expected.arrays.items():
        np.testing.assert_array_equal(outcome.arrays[name], array)


@pytest.mark.slow
def test_more_height_is_found_by_waves():
    def best(**values):
        trainer = PCNTrainer(Swing(), config(**values), seed=0)
        for _ in range(6):
            trainer.iterate()
        return trainer._training.dataset.archive().returns[:, 0].max()

    assert best() > 1.3 * best(rhythms=False)
