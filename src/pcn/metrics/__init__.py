"""Indicators of a set of returns, one per file; `METRICS` is the list of them.

Returns are [point, objective] and every objective is maximised. Each indicator can be called
by itself with exactly what it needs, or through `METRICS` in one way: `metric(returns, problem)`.
"""

import numpy as np
from jaxtyping import Float

from pcn.metrics.cardinality import cardinality
from pcn.metrics.epsilon import epsilon, epsilon_mean, epsilons
from pcn.metrics.expected_utility import expected_utility
from pcn.metrics.fairness import gini, sen_welfare, worst_off
from pcn.metrics.fidelity import Fidelity, fidelity, reached_mask
from pcn.metrics.front_share import found_mask, front_share
from pcn.metrics.hypervolume import hypervolume, pygmo_for
from pcn.metrics.igd import igd
from pcn.metrics.maximum_utility_loss import maximum_utility_loss
from pcn.metrics.noisy_hypervolume import NoisyHypervolume, noisy_hypervolume
from pcn.metrics.problem import Metric, Problem
from pcn.pareto import rounded, unique_front

__all__ = [
    "METRICS",
    "Fidelity",
    "Metric",
    "NoisyHypervolume",
    "Problem",
    "cardinality",
    "epsilon",
    "epsilon_mean",
    "epsilons",
    "expected_utility",
    "fidelity",
    "found_mask",
    "front_share",
    "gini",
    "hypervolume",
    "igd",
    "maximum_utility_loss",
    "noisy_hypervolume",
    "pygmo_for",
    "reached_mask",
    "sen_welfare",
    "worst_off",
]


def _eum(returns: Float[np.ndarray, "point objective"], problem: Problem) -> float:
    """The usual expected utility metric: linear users, returns without scaling."""
    zeros = np.zeros_like(problem.reference_point)
    return expected_utility(returns, zeros, zeros + 1, family="linear")


def _mul(returns: Float[np.ndarray, "point objective"], problem: Problem) -> float:
    """The usual maximum utility loss: linear users, returns without scaling."""
    zeros = np.zeros_like(problem.reference_point)
    return maximum_utility_loss(returns, problem.known_front, zeros, zeros + 1, family="linear")


def _non_dominated(
    returns: Float[np.ndarray, "point objective"], problem: Problem
) -> Float[np.ndarray, "kept objective"]:
    """The coverage set among returns: no user chooses a dominated return, however close it is."""
    return returns[problem.order.non_dominated_mask(returns)]


def _mean_gini(returns: Float[np.ndarray, "point objective"], problem: Problem) -> float:
    """The mean Gini index of the distinct non-dominated returns."""
    tolerances = problem.known_tolerances
    front = returns[problem.order.non_dominated_mask(returns, tolerances)]
    distinct = front[unique_front(rounded(front, tolerances))]
    return float(gini(problem.gains(distinct)).mean())


METRICS: dict[str, Metric] = {
    "hypervolume": Metric(
        lambda returns, problem: hypervolume(returns, problem.reference_point),
        higher_is_better=True,
    ),
    "expected_utility": Metric(
        lambda returns, problem: expected_utility(
            returns, problem.reference_point, problem.known_ideal
        ),
        higher_is_better=True,
        needs="ideal",
    ),
    "eum": Metric(_eum, higher_is_better=True),
    "cardinality": Metric(
        lambda returns, problem: cardinality(
            returns, tolerances=problem.known_tolerances, order=problem.order
        ),
        higher_is_better=True,
    ),
    "epsilon": Metric(
        lambda returns, problem: epsilon(_non_dominated(returns, problem), problem.known_front),
        higher_is_better=False,
        needs="front",
    ),
    "epsilon_mean": Metric(
        lambda returns, problem: epsilon_mean(
            _non_dominated(returns, problem), problem.known_front
        ),
        higher_is_better=False,
        needs="front",
    ),
    "igd": Metric(
        lambda returns, problem: igd(_non_dominated(returns, problem), problem.known_front),
        higher_is_better=False,
        needs="front",
    ),
    "front_share": Metric(
        lambda returns, problem: front_share(
            returns, problem.known_front, tolerances=problem.known_tolerances
        ),
        higher_is_better=True,
        needs="front",
    ),
    "mul": Metric(_mul, higher_is_better=False, needs="front"),
    "gini": Metric(_mean_gini, higher_is_better=False, needs="one_unit"),
    "sen_welfare": Metric(
        lambda returns, problem: float(sen_welfare(problem.gains(returns)).max()),
        higher_is_better=True,
        needs="one_unit",
    ),
    "worst_off": Metric(
        lambda returns, problem: float(worst_off(problem.gains(returns)).max()),
        higher_is_better=True,
        needs="one_unit",
    ),
}
