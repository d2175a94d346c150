"""Requests that need more memory than there is are answered by a sentence."""

import jax.numpy as jnp
import numpy as np
import pytest

from made_runs import made_run
from pcn.errors import UserError
from pcn.memory import telling_of_memory

INSTEAD = "there is not enough memory .*: give less$"


@pytest.mark.parametrize("zeros", [np.zeros, lambda size: jnp.zeros(size).block_until_ready()])
def test_an_array_that_does_not_fit_is_told(zeros):
    with pytest.raises(UserError, match=INSTEAD), telling_of_memory("give less"):
        zeros(1 << 45)


def test_other_errors_stay_as_they_are():
    with pytest.raises(RuntimeError, match="another one"), telling_of_memory("give less"):
        raise RuntimeError("another one")


def test_executions_that_do_not_fit_are_told(monkeypatch):
    class World:
        def close(self):
            pass

    run = made_run([[1, 3]], hyperparameters={"executions": 1})
    monkeypatch.setattr(type(run), "environment", lambda self: World())

    def execute(*arguments, executions, **options):
        return np.zeros((len(run.coverage_set), executions, 2))

    monkeypatch.setattr("pcn.algorithms.pcn.algorithm.PCN.execute", execute)
    with pytest.raises(UserError, match="give fewer executions"):
        run.execute(executions=1 << 42)
