"""A state embedding of the user's own, by its class or by its name."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pcn
from pcn.errors import UserError

BUDGET = {"total_steps": 600, "consolidation": {"updates": 32}, "evaluations": 0}


class Depths(eqx.Module):
    """Looks at the row only, one weight vector for each."""

    rows: eqx.nn.Embedding

    def __init__(self, space, width, *, key):
        self.rows = eqx.nn.Embedding(int(space.nvec[0]), width, key=key)

    def __call__(self, observation):
        return self.rows(observation[0])


class Narrow(Depths):
    def __call__(self, observation):
        return super().__call__(observation)[:3]


class Wrong(Depths):
    def __call__(self, observation):
        return jnp.ones(4) @ observation["nowhere"]


def no_module(space, width, *, key):
    return [space, width, key]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "run"
    pcn.train("deep-sea-treasure", out=path, embedding=Depths, **BUDGET)
    return path


@pytest.mark.slow
def test_the_network_sees_what_the_module_sees(path):
    run = pcn.load(path)
    assert run.settings.config.embedding == f"{__name__}:Depths"
    assert run.weights["policy.embed_state.module.rows.weight"].shape == (11, 64)
    first = [run.policy(0).act(np.array([row, column])) for row, column in ((3, 3), (3, 4))]
    assert first[0] == first[1]  # columns are not looked at


@pytest.mark.slow
def test_a_recorded_run_acts_as_it_did(path):
    run = pcn.load(path)
    np.testing.assert_array_equal(run.execute()[0].executed, run.coverage_set.executed)


@pytest.mark.slow
def test_it_is_trained(path):
    fresh = Depths(pcn.load(path).environment().spec.observation_space, 64, key=jax.random.key(0))
    trained = pcn.load(path).weights["policy.embed_state.module.rows.weight"]
    assert not np.allclose(np.std(trained), np.std(fresh.rows.weight), rtol=1e-3)


@pytest.mark.parametrize(
    ("embedding", "sentence"),
    [
        (Narrow, "must embed an observation as 64 numbers"),
        (Wrong, "cannot embed an observation"),
        (no_module, "must make an Equinox module"),
        (int, "builtins:int cannot be made"),
        ("no_such_module:Depths", "cannot find no_such_module:Depths"),
    ],
)
def test_what_does_not_fit_is_told_before_training(embedding, sentence):
    with pytest.raises(UserError, match=sentence):
        pcn.train("deep-sea-treasure", embedding=embedding, **BUDGET)
