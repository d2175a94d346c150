"""A replay that returns something else is told, once; one that does not costs little."""

import gymnasium as gym
import numpy as np
import pytest

import pcn
from pcn.algorithms.pcn.refinements.replay_check import ReplayCheck, Replayed
from pcn.errors import UserError
from sizes import tiny

pytestmark = pytest.mark.slow

LENGTH = 4


class Steady(gym.Env):
    """Four steps; each pays one of two objectives."""

    observation_space = gym.spaces.Discrete(LENGTH + 1)
    action_space = gym.spaces.Discrete(2)
    steps = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return 0, {}

    def prize(self):
        return 1.0

    def step(self, action):
        type(self).steps += 1
        self.time += 1
        reward = np.array([self.prize() * action, 1.0 - action])
        return self.time, reward, self.time == LENGTH, False, {}


class Lucky(Steady):
    """What the first objective pays is random."""

    def prize(self):
        return self.np_random.uniform()


def without_advice(sentences):
    """On a busy machine steps may take so long that workers are advised."""
    return [sentence for sentence in sentences if "--workers" not in sentence]


def trained(kind, **options):
    told = []
    run = pcn.train(
        kind,
        arguments={"deterministic": True},
        seed=0,
        report=told.append,
        **{**tiny("pcn"), "total_steps": 800, "evaluations": 0, **options},
    )
    noticed = [event.sentence for event in told if isinstance(event, pcn.Noticed)]
    return run, without_advice(noticed)


def test_chance_in_an_environment_that_is_said_to_have_none_is_told_once():
    run, told = trained(Lucky)
    assert len(told) == 1
    assert "give deterministic=False" in told[0]
    assert without_advice(run.metrics["notices"]) == told


def test_one_episode_is_replayed_however_long_it_is():
    # A ten-thousandth of 800 steps is less than one of four.
    _, told = trained(Lucky, refinements=(ReplayCheck(share=1e-4),))
    assert len(told) == 1
    assert trained(Lucky, refinements=(ReplayCheck(share=0.0),))[1] == []


def test_an_environment_that_keeps_its_word_is_told_nothing_and_every_step_counts():
    Steady.steps = 0
    run, told = trained(Steady)
    assert told == without_advice(run.metrics.get("notices", [])) == []
    assert run.metrics["steps"] == Steady.steps


def test_what_is_remembered_survives_a_checkpoint():
    state, again = Replayed(), Replayed()
    state.num_steps, state.differed = 17, True
    again.from_arrays(state.to_arrays())
    assert (again.num_steps, again.differed) == (17, True)


def test_more_than_all_steps_are_refused():
    with pytest.raises((UserError, ValueError), match="share"):
        ReplayCheck(share=1.5)
