"""What compiled environments may leave out, and what is told when they contradict their spec."""

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
import pytest

from corridor import CLOSING_TIME, OWN_LIMIT, RIGHT, STAY, Corridor, CorridorState, mask_by_hand
from pcn.envs import ENVIRONMENTS, Step, find_environment
from pcn.envs.compiled import AbstractCompiledEnvironment
from pcn.errors import UserError


def test_masks_and_truncation_reach_gymnasium():
    env = Corridor().person_view()
    seen, info = env.reset(seed=0)
    place, ended = 0, False
    for time in range(OWN_LIMIT):
        assert seen.tolist() == [place, time]
        moves, work = mask_by_hand(place, time)
        assert [part.tolist() for part in info["action_mask"]] == [moves, work]
        assert env.action_space.contains(env.action_space.sample(mask=info["action_mask"]))
        assert not ended
        move = RIGHT if time in (0, CLOSING_TIME - 1) else STAY
        place += move - 1
        seen, _, terminated, truncated, info = env.step(np.array([move, 0]))
        assert not terminated
        ended = truncated
    assert ended


def test_a_mask_of_a_single_choice_is_one_vector(fork):
    class OneWay(type(fork)):
        def __init__(self):
            super().__init__()
            object.__setattr__(self.spec, "masked_actions", True)

        def action_mask(self, state):
            del state
            return jnp.array([False, True])

    _, info = OneWay().person_view().reset(seed=0)
    assert info["action_mask"].tolist() == [0, 1]
    assert info["action_mask"].dtype == np.int8


def test_without_masks_the_info_says_nothing(fork):
    assert fork.person_view().reset(seed=0)[1] == {}


def test_a_picture_is_only_missed_when_it_is_asked_for():
    env = Corridor().person_view("rgb_array")
    env.reset(seed=0)
    with pytest.raises(UserError, match="corridor has no picture"):
        env.render()


def test_masked_actions_need_a_mask(fork):
    class Forgetful(type(fork)):
        def __init__(self):
            super().__init__()
            object.__setattr__(self.spec, "masked_actions", True)

    with pytest.raises(UserError, match="has masked actions but no method `action_mask`"):
        Forgetful().prepare()


def test_the_view_of_a_person_is_truncated_at_the_step_limit():
    env = Corridor(step_limit=2).person_view()
    env.reset(seed=0)
    ends = [env.step(np.array([STAY, 0]))[2:4] for _ in range(2)]
    assert ends == [(False, False), (False, True)]


@pytest.mark.parametrize("name", [name for name in ENVIRONMENTS if "crossroad" not in name])
def test_our_own_environments_fit_their_specs(name):
    environment = find_environment(name, {}).environment
    assert isinstance(environment, AbstractCompiledEnvironment)
    environment.prepare()


class GrowingState(Corridor):
    def step(self, state, action, key):
        outcome = super().step(state, action, key)
        return outcome._replace(state=CorridorState(*(x.astype(float) for x in outcome.state)))


class IntegerRewards(Corridor):
    def step(self, state, action, key):
        outcome = super().step(state, action, key)
        return outcome._replace(reward=outcome.reward.astype(int))


class MissingObjective(Corridor):
    def step(self, state, action, key):
        outcome = super().step(state, action, key)
        return outcome._replace(reward=outcome.reward[:1])


class VectorFlag(Corridor):
    def step(self, state, action, key):
        outcome = super().step(state, action, key)
        return outcome._replace(terminated=outcome.terminated[None])


class Pair(Corridor):
    def step(self, state, action, key):
        return super().step(state, action, key)[:2]


class RealObservation(Corridor):
    def observation(self, state):
        return super().observation(state).astype(jnp.float32)


class ShortMask(Corridor):
    def action_mask(self, state):
        return super().action_mask(state)[:3]


class Failing(Corridor):
    def reset(self, key):
        raise RuntimeError("the map is missing")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (GrowingState, r"state after `step` must be .*int32\[\].*got.*float32\[\]"),
        (IntegerRewards, r"the reward must be float32\[2\], got int32\[2\]"),
        (MissingObjective, r"the reward must be float32\[2\], got float32\[1\]"),
        (VectorFlag, r"`terminated` must be bool\[\], got bool\[1\]"),
        (Pair, "`step` must return a `Step`"),
        (RealObservation, r"the observation must be int32\[2\], got float32\[2\]"),
        (ShortMask, r"the action mask must be bool\[5\], got bool\[3\]"),
        (Failing, "corridor failed in `reset`: .*the map is missing"),
    ],
)
def test_what_contradicts_the_spec_is_named(kind, said):
    with pytest.raises(UserError, match=said):
        kind().prepare()


def test_a_step_is_not_truncated_unless_it_says_so():
    assert Step(None, jnp.zeros(2), jnp.asarray(True)).truncated is False


def test_actions_without_bounds_are_refused_before_training(fork):
    class Continuous(type(fork)):
        def __init__(self):
            super().__init__()
            object.__setattr__(self.spec, "action_space", gym.spaces.Box(0, np.inf, (2,)))

    with pytest.raises(UserError, match="have no bounds"):
        Continuous().prepare()
