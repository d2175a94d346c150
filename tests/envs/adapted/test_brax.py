from importlib.util import find_spec
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from pcn.envs.adapted.brax import BraxSource, forward_height_control
from pcn.envs.adapted.environment import AdaptedEnvironment
from pcn.errors import UserError

pytestmark = pytest.mark.filterwarnings("ignore")  # what the package deprecates is its own matter
needs_brax = pytest.mark.skipif(find_spec("brax") is None, reason="brax is not installed")


class State(NamedTuple):
    """What the adapter reads of a state of brax, besides what it simulates."""

    metrics: dict[str, Array]


class Body:
    """An environment whose states have these metrics, as brax' have."""

    def __init__(self, *names):
        self.names = names

    def reset(self, key):
        return State({name: jax.random.normal(key) for name in self.names})


@pytest.mark.parametrize(
    ("metrics", "objectives"),
    [
        ((), None),
        (("x_position", "reward_survive"), None),  # one term is a scalar
        (("reward_survive", "x_position", "reward_ctrl"), ["ctrl", "survive"]),
    ],
)
def test_two_reward_terms_at_least_are_objectives(metrics, objectives):
    source = object.__new__(BraxSource)
    source._env = Body(*metrics)
    terms = source.own_rewards()
    if objectives is None:
        assert terms is None
        return
    assert [objective.name for objective in terms.objectives] == objectives
    state = source._env.reset(jax.random.key(0))
    expected = [state.metrics[f"reward_{name}"] for name in objectives]
    np.testing.assert_array_equal(terms(None, None, state, None), expected)


@needs_brax
@pytest.mark.slow
def test_reward_terms_are_the_objectives_and_add_up_to_the_reward():
    environment = AdaptedEnvironment.of(BraxSource("hopper"), name="brax:hopper")
    assert environment.spec.objective_names == ("ctrl", "forward", "healthy")
    state = environment.reset(jax.random.key(0))
    outcome = jax.jit(environment.step)(state, jnp.full(3, 0.5), jax.random.key(1))
    np.testing.assert_allclose(outcome.reward.sum(), outcome.state.inner.reward, rtol=1e-5)
    assert outcome.state.observation.shape == environment.spec.observation_space.shape


@needs_brax
def test_height_is_an_objective_of_the_hopper():
    environment = AdaptedEnvironment.of(
        BraxSource("hopper"), name="brax:hopper", rewards=forward_height_control
    )
    assert environment.spec.objective_names == ("forward", "height", "control")


@needs_brax
def test_an_environment_without_reward_terms_asks_for_a_function():
    with pytest.raises(UserError, match="has a scalar reward: give a function"):
        AdaptedEnvironment.of(BraxSource("inverted_pendulum"), name="brax:inverted_pendulum")


@needs_brax
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


def test_what_is_printed_while_brax_is_imported_is_not_shown(monkeypatch, capsys):
    def importing(name, *, extra):
        print(f"Failed to import something of {name} ({extra})")
        return SimpleNamespace(_envs={"ant": None})

    monkeypatch.setattr("pcn.envs.adapted.brax.optional_module", importing)
    with pytest.raises(UserError, match="there are: ant"):
        BraxSource("hopper")
    assert capsys.readouterr().out == ""
