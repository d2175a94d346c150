"""What every adapter does, on a source of our own: a counter that ends at five."""

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn import Objective
from pcn.envs.adapted.environment import AdaptedEnvironment
from pcn.envs.adapted.source import AbstractSource, Held, Outcome, as_arrays, as_in
from pcn.envs.finding import find_environment
from pcn.envs.registry import JAX_PACKAGE, JAX_PACKAGES, Entry
from pcn.errors import UserError


class Counter(AbstractSource):
    name = "Counter"
    observation_space = gym.spaces.Box(0, 9, (1,), np.float32)
    action_space = gym.spaces.Discrete(3)
    step_limit = 7

    def reset(self, key):
        return Held(jnp.int32(0), jnp.zeros(1))

    def step(self, inner, action, key):
        count = inner + action.astype(jnp.int32)
        held = Held(count, jnp.asarray(count, jnp.float32)[None])
        return Outcome(held, -1.0, count >= 5, jnp.asarray(False))


def rewards(state, action, following, reward):
    return jnp.stack([1.0 * (following - state), jnp.asarray(reward, jnp.float32)])


rewards.objectives = ("counted", Objective("time", "steps", "minimise"))


def adapted(**options):
    return AdaptedEnvironment.of(Counter(), name="toy:Counter", **{"rewards": rewards, **options})


def test_states_are_the_packages_and_rewards_are_the_users():
    environment = adapted(reference_point=(0, -8))
    environment.prepare()
    assert [one.name for one in environment.spec.objectives] == ["counted", "time"]
    assert environment.spec.step_limit == 7
    state = environment.reset(jax.random.key(0))
    first = environment.step(state, jnp.int32(2), jax.random.key(1))
    assert first.reward.tolist() == [2.0, -1.0]
    assert not first.terminated
    assert environment.observation(first.state).tolist() == [2.0]
    last = environment.step(
        first.state._replace(inner=jnp.int32(4)), jnp.int32(1), jax.random.key(2)
    )
    assert last.terminated


class Tap(Counter):
    """Actions are any number; beyond 3 the tap is open, and below 0 it is shut."""

    action_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float32)

    def step(self, inner, action, key):
        count = inner + jnp.clip(action[0], 0.0, 3.0)
        return Outcome(Held(count, count[None]), -1.0, count >= 5, jnp.asarray(False))

    def reset(self, key):
        return Held(jnp.float32(0), jnp.zeros(1))


def test_actions_without_bounds_are_used_within_those_that_are_given(monkeypatch):
    monkeypatch.setitem(JAX_PACKAGES, "gymnax", Entry("of a test", lambda _: Tap(), JAX_PACKAGE))
    arguments = {"rewards": f"{__name__}:rewards"}
    with pytest.raises(UserError, match=r"have no bounds: give .*action_low and action_high"):
        find_environment("gymnax:Tap", arguments, total_steps=1_000)
    bounds = {"action_low": (0.5,), "action_high": (2.0,)}
    found = find_environment("gymnax:Tap", arguments | bounds, total_steps=1_000)
    space = found.environment.spec.action_space
    assert (space.low.tolist(), space.high.tolist()) == ([0.5], [2.0])
    assert {name: found.arguments[name] for name in bounds} == bounds


def test_rewards_are_found_by_name_and_objectives_are_numbered_where_they_have_none():
    environment = adapted(rewards=f"{__name__}:unnamed")
    assert environment.spec.objective_names == ("objective_0", "objective_1", "objective_2")


def unnamed(state, action, following, reward):
    return jnp.zeros(3)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rewards": None}, "toy:Counter has a scalar reward: give a function"),
        ({"rewards": lambda *_: 1.0}, r"the rewards of toy:Counter have the shape \(\)"),
        ({"rewards": lambda state, *_: state.speed}, "the rewards of toy:Counter failed"),
        ({"reference_point": (0.0,)}, "reference_point must be 2 finite numbers"),
        ({"reference_point": (np.nan, 0.0)}, "reference_point must be 2 finite numbers, got"),
        ({"reference_point": (0.0, -np.inf)}, "reference_point must be 2 finite numbers, got"),
        ({"step_limit": 0}, "step_limit must be at least 1, got 0"),
        ({"step_limit": -5}, "step_limit must be at least 1, got -5"),
        ({"rewards": "no_such_module:f"}, "cannot find no_such_module:f"),
    ],
)
def test_what_does_not_fit_is_told_in_one_sentence(options, told):
    with pytest.raises(UserError, match=told):
        adapted(**options)


def test_observations_get_the_types_and_containers_of_their_space():
    space = gym.spaces.Dict(
        a=gym.spaces.MultiBinary(2), b=gym.spaces.Tuple([gym.spaces.Box(0, 1, (2, 2), np.float32)])
    )
    record = Held([True, False], (np.ones((2, 2), np.int64),))
    seen = as_in(space, {"a": record.inner, "b": record.observation})
    assert seen["a"].dtype == np.int8
    assert seen["b"][0].dtype == np.float32
    assert as_in(gym.spaces.Dict(inner=gym.spaces.MultiBinary(2)), record).keys() == {"inner"}


def test_states_keep_their_types():
    before = as_arrays({"time": 0, "place": 0.5})
    after = as_arrays({"time": 1.0, "place": 1}, before)
    assert {name: leaf.dtype for name, leaf in after.items()} == {
        name: leaf.dtype for name, leaf in before.items()
    }
