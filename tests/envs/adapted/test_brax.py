import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.envs.adapted.brax import BraxSource, forward_height_control
from pcn.envs.adapted.environment import AdaptedEnvironment
from pcn.errors import UserError

pytest.importorskip("brax")
pytestmark = pytest.mark.filterwarnings("ignore")  # what the package deprecates is its own matter


@pytest.mark.slow
def test_reward_terms_are_the_objectives_and_add_up_to_the_reward():
    environment = AdaptedEnvironment.of(BraxSource("hopper"), name="brax:hopper")
    assert environment.spec.objective_names == ("ctrl", "forward", "healthy")
    state = environment.reset(jax.random.key(0))
    outcome = jax.jit(environment.step)(state, jnp.full(3, 0.5), jax.random.key(1))
    np.testing.assert_allclose(outcome.reward.sum(), outcome.state.inner.reward, rtol=1e-5)
    assert outcome.state.observation.shape == environment.spec.observation_space.shape


def test_height_is_an_objective_of_the_hopper():
    environment = AdaptedEnvironment.of(
        BraxSource("hopper"), name="brax:hopper", rewards=forward_height_control
    )
    assert environment.spec.objective_names == ("forward", "height", "control")


def test_an_environment_without_reward_terms_asks_for_a_function():
    with pytest.raises(UserError, match="has a scalar reward: give a function"):
        AdaptedEnvironment.of(BraxSource("inverted_pendulum"), name="brax:inverted_pendulum")


@pytest.mark.parametrize(
    ("name", "backend", "told"),
    [
        ("horse", "spring", "brax has no environment 'horse'"),
        ("hopper", "steam", "backend 'steam'"),
    ],
)
def test_names_that_brax_does_not_have_are_told(name, backend, told):
    with pytest.raises(UserError, match=told):
        BraxSource(name, backend)
