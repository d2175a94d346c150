"""What every benchmark in the table must offer; new entries are picked up by themselves."""

import warnings

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import mo_gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from mo_gymnasium.wrappers import LinearReward

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.pcn.config import PRESETS, PCNConfig
from pcn.envs import BENCHMARKS, AbstractCompiledEnvironment, find_benchmark
from pcn.envs.gymnasium_ids import register_all
from pcn.errors import UserError
from pcn.pareto import non_dominated_mask
from pcn.runs.settings import Settings

names = pytest.mark.parametrize("name", BENCHMARKS)
compiled_names = pytest.mark.parametrize(
    "name",
    [
        name
        for name, entry in BENCHMARKS.items()
        if isinstance(entry.make(), AbstractCompiledEnvironment)
    ],
)


@pytest.fixture(scope="module", autouse=True)
def ids():
    register_all()


def gym_env(name, **options):
    return gym.make(f"pcn/{name}-v0", **options)


def play(env, seed, num_steps=150):
    """Everything that happens in a number of steps with random actions."""
    rng = np.random.default_rng(seed)
    env.action_space.seed(int(rng.integers(1000)))
    observation, _ = env.reset(seed=seed)
    history = [np.asarray(observation)]
    for _ in range(num_steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        history += [np.asarray(observation), np.asarray(reward), terminated, truncated]
        if terminated or truncated:
            history.append(np.asarray(env.reset()[0]))
    return history


@names
def test_the_name_finds_the_benchmark(name):
    benchmark = find_benchmark(name)
    assert benchmark is BENCHMARKS[name]
    # Members of a family share its name.
    assert name.startswith(benchmark.name)
    assert benchmark.make().spec.name.startswith(name)


@names
def test_every_algorithm_takes_what_the_benchmark_sets(name):
    benchmark = BENCHMARKS[name]
    assert set(benchmark.baselines) <= ALGORITHMS.keys() - {"pcn"}
    for algorithm, entry in ALGORITHMS.items():
        settings = {"total_steps": benchmark.total_steps}
        settings |= benchmark.settings_for(algorithm, "default")
        config = entry.config_class(**settings)
        assert config.total_steps >= benchmark.total_steps  # no baseline gets less than PCN


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(UserError, match=r"'deep-see'.*deep-sea-treasure"):
        find_benchmark("deep-see")


@names
def test_gymnasium_s_checker_has_no_complaints(name, monkeypatch):
    # The wrapper puts the same weights into every info, which the checker does not allow.
    weights = property(lambda self: self.own.copy(), lambda self, w: setattr(self, "own", w))
    monkeypatch.setattr(LinearReward, "w", weights, raising=False)
    env = LinearReward(gym_env(name, render_mode="rgb_array"))
    with warnings.catch_warnings():
        # It wants the environment without wrappers, but rewards that are single numbers.
        warnings.filterwarnings("ignore", message=".*is different from the unwrapped version.*")
        check_env(env)


@names
def test_mo_gymnasium_s_conventions_are_kept(name):
    env = mo_gymnasium.make(f"pcn/{name}-v0")
    spec = BENCHMARKS[name].make().spec
    reward_space = env.unwrapped.reward_space
    assert reward_space.shape == (spec.num_objectives,)
    assert env.unwrapped.reward_dim == spec.num_objectives
    observation, info = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert isinstance(info, dict)
    env.action_space.seed(0)
    for _ in range(100):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation)
        assert reward_space.contains(reward)
        assert reward.shape == (spec.num_objectives,)
        assert type(terminated) is type(truncated) is bool
        if terminated or truncated:
            env.reset()


@names
def test_the_same_seed_gives_the_same_episodes(name):
    first, second = play(gym_env(name), 3), play(gym_env(name), 3)
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


@names
def test_one_environment_started_twice_with_a_seed_repeats_itself(name):
    env = gym_env(name)
    for a, b in zip(play(env, 4), play(env, 4), strict=True):
        np.testing.assert_array_equal(a, b)


@names
def test_an_episode_that_does_not_end_is_truncated_at_the_step_limit(name):
    env = gym_env(name)
    limit = BENCHMARKS[name].make().spec.step_limit
    assert env.spec.max_episode_steps == limit


@compiled_names
def test_pure_functions_give_what_the_spec_promises(name):
    environment = BENCHMARKS[name].make()
    spec = environment.spec
    state = eqx.filter_jit(environment.reset)(jax.random.key(0))
    observation = jax.tree.map(np.asarray, environment.observation(state))
    assert spec.observation_space.contains(observation)
    action = jnp.asarray(spec.action_space.sample())
    step = eqx.filter_jit(environment.step)(state, action, jax.random.key(1))
    assert step.reward.shape == (spec.num_objectives,)
    assert step.reward.dtype == jnp.float32
    assert step.terminated.shape == ()
    assert jax.tree.structure(step.state) == jax.tree.structure(state)
    for before, after in zip(jax.tree.leaves(state), jax.tree.leaves(step.state), strict=True):
        assert (before.shape, before.dtype) == (after.shape, after.dtype)


@compiled_names
def test_a_deterministic_environment_ignores_its_keys(name):
    environment = BENCHMARKS[name].make()
    if not environment.spec.deterministic:
        pytest.skip("stochastic")
    step = eqx.filter_jit(environment.step)
    rng = np.random.default_rng(0)
    first, second = (environment.reset(jax.random.key(seed)) for seed in (0, 1))
    environment.spec.action_space.seed(0)
    for _ in range(30):
        action = jnp.asarray(environment.spec.action_space.sample())
        keys = [jax.random.key(int(n)) for n in rng.integers(1 << 30, size=2)]
        one, other = step(first, action, keys[0]), step(second, action, keys[1])
        assert eqx.tree_equal(one, other)
        if one.terminated:
            break
        first, second = one.state, other.state


@names
def test_the_front_fits_the_environment(name):
    spec = BENCHMARKS[name].make().spec
    assert len(spec.reference_point) == spec.num_objectives
    assert len(set(spec.objective_names)) == spec.num_objectives
    if isinstance(spec.action_space, gym.spaces.Discrete) and spec.action_names:
        assert len(spec.action_names) == spec.action_space.n
    if spec.front is None:
        pytest.skip("no front is known")
    front = spec.front.returns
    assert front.shape[1] == spec.num_objectives
    assert non_dominated_mask(front).all()
    assert len(np.unique(front, axis=0)) == len(front)
    assert np.all(front >= spec.reference_point)
    assert spec.front.source
    listed = gym_env(name).unwrapped.pareto_front(gamma=1.0)
    np.testing.assert_array_equal(np.stack(listed), front)
    with pytest.raises(ValueError, match="gamma=1"):
        gym_env(name).unwrapped.pareto_front(gamma=0.9)


@names
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_builds_a_config(name, preset):
    benchmark = BENCHMARKS[name]
    assert set(benchmark.settings) <= set(PRESETS)
    own = benchmark.settings.get(preset, {})
    changes = {"total_steps": benchmark.total_steps, **PRESETS[preset], **own}
    config = PCNConfig(**changes)
    for field, value in changes.items():
        assert getattr(config, field) == value


@names
def test_a_picture_is_rgb_and_changes_with_the_state(name):
    env = gym_env(name, render_mode="rgb_array")
    first, _ = env.reset(seed=0)
    before = env.render()
    env.action_space.seed(0)
    seen = first
    while np.array_equal(seen, first):  # some actions lead nowhere
        seen, *_ = env.step(env.action_space.sample())
    after = env.render()
    for picture in (before, after):
        assert picture.dtype == np.uint8
        assert picture.ndim == 3
        assert picture.shape == (*before.shape[:2], 3)
    assert not np.array_equal(before, after)


def test_where_time_is_no_objective_a_discount_makes_the_trade_off():
    benchmark = find_benchmark("resource-gathering-v0")
    for algorithm in ALGORITHMS:
        assert Settings.of("resource-gathering-v0", algorithm=algorithm).config.discount == 0.9
    assert "no trade-off" in benchmark.why
    # The diamond alone, as the environment itself counts it: ten steps.
    claimed = benchmark.make().spec.front
    assert np.abs(claimed.returns - [0.0, 0.0, 0.9**10]).max(axis=1).min() < 1e-9
