"""Settings and toys that all tests share."""

import gc
import os
import shutil
import time
from contextlib import suppress
from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int

from pcn import configure_jax
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Front, Objective, Step
from ray_nodes import two_nodes

# Compiling takes most of the time of all tests, and their programs run for moments only. Less
# optimisation, older emitters and one piece of code per program take a third less CPU time.
QUICK_TO_COMPILE = (
    "--xla_backend_optimization_level=1",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
)
os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *QUICK_TO_COMPILE]).strip()

with pytest.MonkeyPatch.context() as _patch:
    # As the command line does, before any test makes an array; the cache's folder comes later.
    _patch.setenv("PCN_CACHE", "")
    configure_jax()
jax.config.update("jax_numpy_rank_promotion", "raise")
hypothesis.settings.register_profile("pcn", deadline=None)
hypothesis.settings.load_profile("pcn")


MOST_MAPS = 40_000
"""Memory maps of a process from which on compiled programs are forgotten."""
COUNTING_SECONDS = 5.0
"""How often memory maps are counted."""
MOST_PROGRAMS = 20_000
"""Compiled programs that are kept; a run of all tests makes a few thousand."""


def pytest_configure(config):
    """Begin anew once there are too many compiled programs, most of them of code long gone."""
    cache = getattr(config, "cache", None)
    if cache is not None and not hasattr(config, "workerinput"):
        folder = cache.mkdir("compiled")
        if len(os.listdir(folder)) > MOST_PROGRAMS:
            shutil.rmtree(folder)


@pytest.fixture(scope="session", autouse=True)
def rare_garbage_collections():
    """Look for garbage less often, and not among what was imported, which stays."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


@pytest.fixture(scope="session", autouse=True)
def shared_cache(request, tmp_path_factory):
    """Keep compiled programs in one folder, for processes that tests start and for next time."""
    cache = getattr(request.config, "cache", None)
    folder = tmp_path_factory.mktemp("compiled") if cache is None else cache.mkdir("compiled")
    patch = pytest.MonkeyPatch()
    patch.setenv("PCN_CACHE", str(folder))
    configure_jax()
    yield
    patch.undo()


@pytest.fixture(scope="session")
def maps_counted():
    """When the memory maps of this process were counted last."""
    return [time.perf_counter()]


@pytest.fixture(autouse=True)
def few_memory_maps(maps_counted):
    """Forget compiled programs before there are too many: each takes several memory maps.

    Linux gives a process 65,530 of them; beyond that, compiling ends in a segmentation fault.
    Counting them takes a while, so it is done every few seconds only: no more than some hundred
    programs are compiled in that time.
    """
    yield
    if time.perf_counter() - maps_counted[0] < COUNTING_SECONDS:
        return
    maps_counted[0] = time.perf_counter()
    with suppress(OSError), open("/proc/self/maps", "rb") as maps:
        if sum(1 for _ in maps) > MOST_MAPS:
            jax.clear_caches()
            gc.collect()


@pytest.fixture(scope="session")
def ray_cluster(tmp_path_factory):
    """A Ray cluster of two nodes; a test that kills one adds another."""
    with two_nodes(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


PLACES = gym.spaces.MultiDiscrete([6], dtype=np.int32)


def _spec(name, num_actions=2, observation_space=PLACES, **others):
    """What a toy says; as they look alike, one compiled update serves many of them."""
    return EnvironmentSpec(
        name=name,
        objectives=(Objective("objective 0"), Objective("objective 1")),
        observation_space=observation_space,
        action_space=gym.spaces.Discrete(num_actions),
        step_limit=10,
        reference_point=(-100.0, -100.0),
        **others,
    )


def _blank(state):
    del state
    return np.zeros((1, 1, 3), np.uint8)


class ForkState(NamedTuple):
    """Nothing but the place where the road forks."""

    place: Int[Array, " 1"]


class Fork(AbstractCompiledEnvironment):
    """One step, two actions: each branch has a reward that the other does not dominate."""

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self, observation_space=None):
        self.spec = _spec(
            "fork",
            observation_space=observation_space or PLACES,
            front=Front(np.array([[1.0, 3.0], [2.0, 1.0]]), "proven", "two branches"),
        )

    def reset(self, key):
        del key
        return ForkState(jnp.zeros(1, jnp.int32))

    def step(self, state, action, key):
        del key
        rewards = jnp.array([[1.0, 3.0], [2.0, 1.0]])
        return Step(ForkState(state.place + 1), rewards[action], jnp.asarray(True))

    def observation(self, state):
        discrete = isinstance(self.spec.observation_space, gym.spaces.Discrete)
        return state.place[0] if discrete else state.place

    def render(self, state):
        return _blank(state)


class ConcaveFork(AbstractCompiledEnvironment):
    """One step, three actions: the middle branch lies below the line between the others."""

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self):
        self.spec = _spec("concave-fork", num_actions=3)

    def reset(self, key):
        del key
        return ForkState(jnp.zeros(1, jnp.int32))

    def step(self, state, action, key):
        del key
        rewards = jnp.array([[0.0, 4.0], [1.5, 1.5], [4.0, 0.0]])
        return Step(ForkState(state.place + 1), rewards[action], jnp.asarray(True))

    def observation(self, state):
        return state.place

    def render(self, state):
        return _blank(state)


class CounterState(NamedTuple):
    """How often the button was pressed."""

    presses: Int[Array, ""]


class HiddenCounter(AbstractCompiledEnvironment):
    """Action 0 presses a button, action 1 pays one for each press and ends the episode.

    Every step costs one. The observation is always the same: presses look like loops.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self):
        self.spec = _spec("hidden-counter")

    def reset(self, key):
        del key
        return CounterState(jnp.int32(0))

    def step(self, state, action, key):
        del key
        pays = action == 1
        gain = jnp.where(pays, state.presses, 0).astype(jnp.float32)
        return Step(CounterState(state.presses + 1 - action), jnp.stack([gain, -1.0]), pays)

    def observation(self, state):
        del state
        return jnp.zeros(1, jnp.int32)

    def render(self, state):
        return _blank(state)


class CoinState(NamedTuple):
    """Tosses so far."""

    tosses: Int[Array, ""]


class Coin(AbstractCompiledEnvironment):
    """Five tosses of a coin, whatever one does: heads pays (2, 0) and tails (0, 2)."""

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self):
        self.spec = _spec("coin", deterministic=False)

    def reset(self, key):
        del key
        return CoinState(jnp.int32(0))

    def step(self, state, action, key):
        del action
        heads = jax.random.bernoulli(key)
        reward = jnp.where(heads, jnp.array([2.0, 0.0]), jnp.array([0.0, 2.0]))
        return Step(CoinState(state.tosses + 1), reward, state.tosses >= 4)

    def observation(self, state):
        return state.tosses[None]

    def render(self, state):
        return _blank(state)


@pytest.fixture(scope="session")
def fork():
    return Fork()


@pytest.fixture(scope="session")
def concave_fork():
    return ConcaveFork()


@pytest.fixture(scope="session")
def make_fork():
    """A fork with another observation space."""
    return Fork


@pytest.fixture(scope="session")
def hidden_counter():
    return HiddenCounter()


@pytest.fixture(scope="session")
def coin():
    return Coin()
