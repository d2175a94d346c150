import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pcn
from pcn.envs.adapted.environment import AdaptedEnvironment
from pcn.envs.adapted.gymnax import GymnaxSource
from pcn.envs.finding import find_environment
from pcn.errors import UserError

pytest.importorskip("gymnax")
pytestmark = pytest.mark.filterwarnings("ignore")  # what the package deprecates is its own matter


def pushes(state, action, following, reward):
    """Steps, and pushes in either direction."""
    return jnp.stack([jnp.asarray(reward, jnp.float32), -1.0 * (action != 1)])


NAME = "gymnax:MountainCar-v0"
GIVEN = {"rewards": f"{__name__}:pushes"}


def test_mountain_car_moves_as_gymnasiums_does():
    ours = AdaptedEnvironment.of(GymnaxSource("MountainCar-v0"), name=NAME, rewards=pushes)
    theirs = gym.make("MountainCar-v0").unwrapped
    theirs.reset(seed=0)
    state = ours.reset(jax.random.key(0))
    theirs.state = np.asarray(state.observation, np.float64)
    step = jax.jit(ours.step)
    for number, action in enumerate(np.random.default_rng(0).integers(3, size=150)):
        outcome = step(state, jnp.int32(action), jax.random.key(number))
        observation, _, terminated, _, _ = theirs.step(int(action))
        np.testing.assert_allclose(outcome.state.observation, observation, atol=1e-4)
        assert bool(outcome.terminated) == terminated
        assert outcome.reward.tolist() == [-1.0, -1.0 * (action != 1)]
        state = outcome.state


def test_the_limit_is_gymnaxs_and_what_it_does_not_say_is_found_out():
    found = find_environment(NAME, GIVEN, total_steps=4_000)
    spec = found.environment.spec
    assert spec.step_limit == 200
    assert not spec.deterministic  # it starts at a random place
    assert spec.reference_point[0] < -200
    assert found.arguments["reference_point"] == spec.reference_point
    again = find_environment(NAME, found.arguments, spec=spec)
    assert again.num_steps == 0
    assert again.environment.spec == spec


def test_a_name_that_gymnax_does_not_have_is_told_with_those_it_has():
    with pytest.raises(UserError, match="gymnax has no environment 'Car'; there are: CartPole-v1"):
        find_environment("gymnax:Car", GIVEN)


@pytest.mark.slow
def test_a_function_given_in_python_is_trained_with(tmp_path):
    tiny = {"total_steps": 4_000, "warmup_episodes": 8, "evaluations": 0}
    run = pcn.train(NAME, arguments={"rewards": pushes}, out=tmp_path / "run", **tiny)
    assert run.settings.arguments["rewards"] == f"{__name__}:pushes"
    assert run.metrics["steps"] <= 4_000
    loaded = pcn.load(tmp_path / "run")
    assert loaded.environment().spec == run.spec
