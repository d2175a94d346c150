"""What every environment in the table must offer; new entries are picked up by themselves."""

import subprocess
import sys
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

from pcn.checks import fits
from pcn.envs import ENVIRONMENTS, AbstractCompiledEnvironment, find_environment
from pcn.envs.gymnasium_ids import register_all
from pcn.envs.registry import GYMNASIUM
from pcn.errors import UserError
from pcn.pareto import non_dominated_mask


def made(name):
    return find_environment(name, {}).environment


names = pytest.mark.parametrize("name", ENVIRONMENTS)
compiled_names = pytest.mark.parametrize(
    "name",
    [name for name in ENVIRONMENTS if isinstance(made(name), AbstractCompiledEnvironment)],
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
    history = jax.tree.leaves(observation)
    for _ in range(num_steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        history += [*jax.tree.leaves(observation), np.asarray(reward), terminated, truncated]
        if terminated or truncated:
            history += jax.tree.leaves(env.reset()[0])
    return history


@names
def test_the_name_finds_the_environment(name):
    found = find_environment(name, {})
    # Walkrooms say in their name which they are.
    assert found.environment.spec.name.startswith(name)
    assert found.arguments.keys() == ENVIRONMENTS[name].parameters.keys()
    assert (found.num_episodes, found.num_steps) == (0, 0)
    assert ENVIRONMENTS[name].summary


@pytest.mark.parametrize(
    "parameters", [*(entry.parameters for entry in ENVIRONMENTS.values()), GYMNASIUM]
)
def test_every_argument_has_a_fitting_default_and_help(parameters):
    for item in parameters.values():
        assert fits(item.default, item.kind)
        assert item.help.endswith(".")


def test_reading_the_table_imports_neither_jax_nor_an_environment():
    code = (
        "import sys; from pcn.envs.registry import ENVIRONMENTS; "
        "print([name for name in sys.modules if name.split('.')[0] in ('jax', 'libsumo') "
        "or name.startswith('pcn.envs.') and name.split('.')[2] not in "
        "('registry', 'gymnasium_ids')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(UserError, match=r"'deep-see'.*deep-sea-treasure"):
        find_environment("deep-see", {})


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("walkroom", {"objective": 3}, r"takes no argument 'objective'; there are: objectives, s"),
        ("walkroom", {"objectives": "3"}, "objectives must be of type int, got '3'"),
        ("walkroom", {"objectives": 1}, "walkroom has 2 to 10 objectives, got 1"),
        ("minecart", {"size": 3}, "minecart takes no arguments, got size"),
        ("deep-sea-treasure-v0", {"environments": 0}, "environments must be at least 1, got 0"),
        ("deep-sea-treasure-v0", {"frame_stack": 0}, "frame_stack must be at least 1, got 0"),
        ("deep-sea-treasure-v0", {"step_limit": -5}, "step_limit must be at least 1, got -5"),
        ("deep-sea-treasure-v0", {"reference_point": (1.0,)}, "must be 2 finite numbers"),
    ],
)
def test_an_environment_says_which_arguments_it_takes(name, arguments, told):
    with pytest.raises(UserError, match=told):
        find_environment(name, arguments)


@pytest.mark.slow
@names
def test_gymnasium_s_checker_has_no_complaints(name, monkeypatch):
    # The wrapper puts the same weights into every info, which the checker does not allow.
    weights = property(lambda self: self.own.copy(), lambda self, w: setattr(self, "own", w))
    monkeypatch.setattr(LinearReward, "w", weights, raising=False)
    env = LinearReward(gym_env(name, render_mode="rgb_array"))
    with warnings.catch_warnings():
        # It wants the environment without wrappers, but rewards that are single numbers.
        warnings.filterwarnings("ignore", message=".*is different from the unwrapped version.*")
        # Numbers are arrays without axes here, and a level of water has no upper end.
        warnings.filterwarnings("ignore", message=".*should be an int or np.int64.*")
        warnings.filterwarnings("ignore", message=".*maximum value is infinity.*")
        check_env(env)


@pytest.mark.slow
@names
def test_mo_gymnasium_s_conventions_are_kept(name):
    env = mo_gymnasium.make(f"pcn/{name}-v0")
    spec = made(name).spec
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


@pytest.mark.slow
@names
def test_the_same_seed_gives_the_same_episodes_in_this_environment_and_in_another(name):
    env = gym_env(name)
    first = play(env, 3)
    for again in (play(env, 3), play(gym_env(name), 3)):
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(a, b)


@names
def test_an_episode_that_does_not_end_is_truncated_at_the_step_limit(name):
    env = gym_env(name)
    limit = made(name).spec.step_limit
    assert env.spec.max_episode_steps == limit


@compiled_names
def test_pure_functions_give_what_the_spec_promises(name):
    environment = made(name)
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


@pytest.mark.slow
@compiled_names
def test_a_deterministic_environment_ignores_its_keys(name):
    environment = made(name)
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
    spec = made(name).spec
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
    listed = gym_env(name).unwrapped.pareto_front(gamma=spec.front.discount)
    np.testing.assert_array_equal(np.stack(listed), front)
    with pytest.raises(ValueError, match=f"known for gamma={spec.front.discount:g}, not for 0.8"):
        gym_env(name).unwrapped.pareto_front(gamma=0.8)


@pytest.mark.slow
@names
def test_a_picture_is_rgb_and_changes_with_the_state(name):
    env = gym_env(name, render_mode="rgb_array")
    first, _ = env.reset(seed=0)
    before = env.render()
    env.action_space.seed(0)
    seen = first
    while all(jax.tree.leaves(jax.tree.map(np.array_equal, seen, first))):  # some lead nowhere
        seen, *_ = env.step(env.action_space.sample())
    after = env.render()
    for picture in (before, after):
        assert picture.dtype == np.uint8
        assert picture.ndim == 3
        assert picture.shape == (*before.shape[:2], 3)
    assert not np.array_equal(before, after)


def test_where_time_is_no_objective_the_claimed_front_is_discounted():
    # The diamond alone, as the environment itself counts it: ten steps.
    claimed = made("resource-gathering-v0").spec.front
    assert np.abs(claimed.returns - [0.0, 0.0, 0.9**10]).max(axis=1).min() < 1e-9
