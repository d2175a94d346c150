"""The units of rewards decide nothing: multiplied rewards give the same training, multiplied."""

import numpy as np
import pytest

import pcn
from corridor import FRONT, Corridor
from pcn.runs.playing import play
from scaled import Gamble, Scaled

pytestmark = pytest.mark.slow

EXACT = [(2.0**-20, 2.0**-20), (2.0**20, 2.0**-17)]
"""Powers of two change no digit of a number: what follows is the same bit for bit."""
ROUNDED = [(1e-6, 1e-6), (1e6, 1e6), (1e-6, 1e6), (3e-4, 7e3)]
SMALL = {
    "pcn": {
        "total_steps": 1_200,
        "episodes_per_iteration": 16,
        "warmup_episodes": 16,
        "width": 16,
        "consolidation.updates": 512,
        "consolidation.stochastic_updates": 512,
        "planning.updates": 512,
        "planning.rehearsal_updates": 128,
        "planning.round": 128,
        "evaluations": 2,
    },
    "mones": {"total_steps": 1_200, "population": 16, "final_draws": 16, "width": 0},
    "ra": {"total_steps": 2_000, "intervals": 4, "episodes_per_update": 4, "width": 0},
}


def trained(environment, factors, algorithm):
    scaled = Scaled(environment, factors)
    return pcn.train(scaled, algorithm=algorithm, seed=3, **SMALL[algorithm])


@pytest.fixture(scope="module")
def unscaled():
    """Trainings in the units that the environments came with, made when first needed."""
    runs = {}

    def train_once(kind, algorithm):
        if (kind, algorithm) not in runs:
            runs[kind, algorithm] = trained(kind(), (1.0, 1.0), algorithm)
        return runs[kind, algorithm]

    return train_once


def actions_of(run):
    """The actions of every policy, in one episode each."""
    episodes = [play(run, index) for index in range(len(run.coverage_set))]
    return [[step.action for step in episode.steps] for episode in episodes]


def assert_the_same(run, whole, factors, rtol):
    assert len(run.coverage_set) == len(whole.coverage_set)
    for name in ("requested", "executed", "deviation"):
        found, expected = getattr(run.coverage_set, name), getattr(whole.coverage_set, name)
        np.testing.assert_allclose(found / np.array(factors), expected, rtol=rtol, atol=rtol)
    np.testing.assert_array_equal(run.coverage_set.horizons, whole.coverage_set.horizons)
    found, expected = run.metrics["tolerances"], whole.metrics["tolerances"]
    np.testing.assert_allclose(np.array(found) / factors, expected, rtol=max(rtol, 1e-12))
    assert run.metrics["fidelity"] == pytest.approx(whole.metrics["fidelity"], abs=rtol)
    volume = run.metrics["executed"]["hypervolume"] / np.prod(factors)
    assert volume == pytest.approx(whole.metrics["executed"]["hypervolume"], rel=rtol + 1e-12)


@pytest.mark.parametrize(
    ("kind", "algorithm"), [(Corridor, "pcn"), *((Gamble, name) for name in SMALL)]
)
@pytest.mark.parametrize("factors", EXACT)
def test_powers_of_two_change_no_bit_of_the_weights(unscaled, kind, algorithm, factors):
    whole, run = unscaled(kind, algorithm), trained(kind(), factors, algorithm)
    assert_the_same(run, whole, factors, rtol=0.0)
    for name, array in whole.weights.items():
        if "command_scale" not in name and name != "upper_bound":
            np.testing.assert_array_equal(run.weights[name], array)


@pytest.mark.parametrize("factors", ROUNDED)
def test_any_units_give_the_same_policies(unscaled, factors):
    whole, run = unscaled(Corridor, "pcn"), trained(Corridor(), factors, "pcn")
    np.testing.assert_array_equal(whole.coverage_set.executed, FRONT)
    assert_the_same(run, whole, factors, rtol=1e-6)
    # Rounding, which differs between processors, may decide between ways of equal return.
    assert list(map(len, actions_of(run))) == list(map(len, actions_of(whole)))


@pytest.mark.parametrize("algorithm", SMALL)
@pytest.mark.parametrize("factors", ROUNDED[1:3])
def test_any_units_give_the_same_policies_where_outcomes_are_random(unscaled, algorithm, factors):
    whole, run = unscaled(Gamble, algorithm), trained(Gamble(), factors, algorithm)
    assert_the_same(run, whole, factors, rtol=1e-6)
