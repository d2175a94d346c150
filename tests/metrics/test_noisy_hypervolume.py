from importlib import import_module

import numpy as np
import pytest
from scipy import stats

from pcn.metrics import hypervolume, noisy_hypervolume
from pcn.single_returns import SingleReturns


def front(rng, num_policies, num_objectives):
    """Policies on a sphere, so that none dominates another."""
    points = np.abs(rng.normal(size=(num_policies, num_objectives)))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def noise(rng, kind, shape):
    """Mean zero and deviation one; the second kind is a prize in one of ten executions."""
    if kind == "normal":
        return rng.normal(size=shape)
    return ((rng.random(shape) < 0.1) - 0.1) / 0.3


def estimates(rng, num_objectives, kind, executions, spread, num_draws=12):
    """Estimated over true hypervolume of several draws, and how many intervals hold the truth."""
    reference = np.full(num_objectives, -0.5)
    values, uncorrected, held = [], [], []
    for _ in range(num_draws):
        true = front(rng, 30, num_objectives)
        shape = (30, executions, num_objectives)
        singles = SingleReturns(tuple(true[:, None] + spread * noise(rng, kind, shape)))
        truth = hypervolume(true, reference)
        found = noisy_hypervolume(singles, reference, rng=rng)
        values.append(found.value / truth)
        uncorrected.append(found.uncorrected / truth)
        held.append(found.low <= truth <= found.high)
    return np.array(values), np.array(uncorrected), np.array(held)


@pytest.mark.parametrize("num_objectives", [2, 3, 4])
@pytest.mark.parametrize("kind", ["normal", "prize"])
def test_the_correction_comes_closer_to_the_truth(num_objectives, kind):
    values, uncorrected, held = estimates(
        np.random.default_rng(num_objectives), num_objectives, kind, executions=20, spread=0.5
    )
    assert uncorrected.mean() > 1.08  # the bias: chance counts as hypervolume
    assert abs(values.mean() - 1) < 0.6 * (uncorrected.mean() - 1)
    assert np.abs(values - 1).mean() < 0.8 * np.abs(uncorrected - 1).mean()
    assert held.mean() >= 0.6


def test_many_executions_need_no_correction():
    values, uncorrected, _ = estimates(
        np.random.default_rng(0), 2, "normal", executions=400, spread=0.05, num_draws=4
    )
    np.testing.assert_allclose(values, 1, atol=0.005)
    np.testing.assert_allclose(uncorrected, 1, atol=0.005)


def test_policies_that_always_return_the_same_are_measured_exactly():
    singles = SingleReturns((np.tile([1.0, 3.0], (5, 1)), np.tile([2.0, 2.0], (3, 1))))
    found = noisy_hypervolume(singles, np.zeros(2))
    assert found.value == found.uncorrected == 5.0
    np.testing.assert_allclose([found.low, found.high], 5.0)


def test_the_same_executions_give_the_same_estimate():
    rng = np.random.default_rng(3)
    singles = SingleReturns(tuple(rng.normal(5, 1, size=(count, 2)) for count in (1, 2, 7, 8)))
    assert noisy_hypervolume(singles, np.zeros(2)) == noisy_hypervolume(singles, np.zeros(2))


def test_halves_are_drawn_at_random():
    """Executions that go well and badly in turn are no more uncertain than in another order."""
    singles = SingleReturns((np.tile([[3.0, 3.0], [1.0, 1.0]], (10, 1)),))
    found = noisy_hypervolume(singles, np.zeros(2))
    assert found.uncorrected == 4.0
    # Halves of ten pairs deviate by the square root of 1/10; all odd ones would be 3, not 2.
    assert found.value > 3.5


@pytest.mark.parametrize("executions", [3, 10])
def test_the_interval_of_one_policy_is_that_of_its_mean(executions):
    """The second objective is 1 in every execution, so the hypervolume is the mean of the first."""
    rng = np.random.default_rng(executions)
    first = rng.normal(20, 1, executions)
    singles = SingleReturns((np.column_stack([first, np.ones(executions)]),))
    found = [noisy_hypervolume(singles, np.zeros(2), rng=rng) for _ in range(150)]
    margin = np.sqrt(np.mean([((one.high - one.low) / 2) ** 2 for one in found]))
    np.testing.assert_allclose(margin, stats.norm.ppf(0.975) * stats.sem(first), rtol=0.04)


def test_the_interval_divides_by_the_number_of_resamples_minus_one(monkeypatch):
    """Two resamples of the values 2 and 4 have a deviation of the square root of 2, not of 1."""
    module = import_module("pcn.metrics.noisy_hypervolume")
    monkeypatch.setattr(module, "NUM_RESAMPLES", 2)
    drawn = iter([np.array([[2.0, 1.0]]), np.array([[4.0, 1.0]])])
    monkeypatch.setattr(module, "_weighted_means", lambda *_: next(drawn))
    found = noisy_hypervolume(SingleReturns((np.full((4, 2), [9.0, 1.0]),)), np.zeros(2))
    np.testing.assert_allclose(found.high - found.value, 1.959964 * np.sqrt(2), rtol=1e-6)
