"""Laws that every metric listed in `METRICS` obeys."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.metrics import METRICS, Problem
from pcn.pareto import non_dominated_mask

num_objectives = st.shared(st.integers(1, 4), key="objectives")
grid = st.integers(-2, 6).map(float)
return_sets = arrays(np.float64, st.tuples(st.integers(1, 8), num_objectives), elements=grid)
fronts = arrays(np.float64, st.tuples(st.integers(1, 5), num_objectives), elements=grid)

quick = settings(max_examples=15, deadline=None)
every_metric = pytest.mark.parametrize("name", METRICS)
SEE_DOMINATED_POINTS = {"front_share"}  # whatever is closest
# A point that dominates another one takes its place, and may be further from the known front.
SEE_THE_FRONT_ALONE = {"cardinality", "epsilon", "epsilon_mean", "igd"}


AVERAGES = {"gini"}  # over the front: an unfair point that dominates a fair one raises it


def measure(name, returns, front):
    size = returns.shape[1]
    problem = Problem(np.full(size, -1.0), front=front, ideal=np.full(size, 6.0), one_unit=True)
    return METRICS[name](returns, problem)


def improvement(name, before, after):
    return after - before if METRICS[name].higher_is_better else before - after


@every_metric
@given(returns=return_sets, front=fronts, seed=st.integers(0, 99))
@quick
def test_the_order_of_points_does_not_matter(name, returns, front, seed):
    shuffled = np.random.default_rng(seed).permutation(returns)
    assert measure(name, shuffled, front) == pytest.approx(measure(name, returns, front))


@every_metric
@given(returns=return_sets, front=fronts)
@quick
def test_duplicates_change_nothing(name, returns, front):
    doubled = np.concatenate([returns, returns[:2]])
    assert measure(name, doubled, front) == pytest.approx(measure(name, returns, front))


@every_metric
@given(returns=return_sets, front=fronts, data=st.data())
@quick
def test_a_dominated_point_changes_nothing_or_is_closer(name, returns, front, data):
    worse = returns[:1].copy()
    worse[0, data.draw(st.integers(0, returns.shape[1] - 1))] -= 1
    before = measure(name, returns, front)
    after = measure(name, np.concatenate([returns, worse]), front)
    if name in SEE_DOMINATED_POINTS:
        assert improvement(name, before, after) >= -1e-12
    else:
        assert after == pytest.approx(before)


@pytest.mark.parametrize("name", sorted(METRICS.keys() - SEE_THE_FRONT_ALONE - AVERAGES))
@given(returns=return_sets, more=return_sets, front=fronts)
@quick
def test_another_point_never_makes_it_worse(name, returns, more, front):
    both = np.concatenate([returns, more])
    assert improvement(name, measure(name, returns, front), measure(name, both, front)) >= -1e-9


@pytest.mark.parametrize("name", sorted(METRICS.keys() - AVERAGES))
@given(points=return_sets)
@quick
def test_the_true_front_is_at_least_as_good_as_a_part_of_it(name, points):
    front = points[non_dominated_mask(points)]
    part = front[:1]
    assert improvement(name, measure(name, part, front), measure(name, front, front)) >= -1e-9


@every_metric
def test_a_single_point_is_measured(name):
    point = np.array([[2.0, 3.0]])
    assert np.isfinite(measure(name, point, np.array([[2.0, 4.0], [3.0, 3.0]])))


@every_metric
def test_inputs_are_left_as_they_are(name):
    returns, front = np.array([[2.0, 3.0], [3.0, 1.0]]), np.array([[2.0, 4.0], [3.0, 3.0]])
    measure(name, returns, front)
    assert returns.tolist() == [[2, 3], [3, 1]]
    assert front.tolist() == [[2, 4], [3, 3]]


@every_metric
def test_a_metric_says_what_it_needs(name):
    metric, bare = METRICS[name], Problem(np.zeros(2))
    assert metric.measurable_on(Problem(np.zeros(2), front=np.ones((1, 2)), one_unit=True))
    if metric.measurable_on(bare):
        assert np.isfinite(metric(np.ones((1, 2)), bare))
    else:
        with pytest.raises(ValueError, match="this metric needs"):
            metric(np.ones((1, 2)), bare)


def test_the_ideal_of_a_known_front_is_its_best_in_each_objective():
    front = np.array([[1.0, 4.0], [3.0, 2.0]])
    assert Problem(np.zeros(2), front=front).known_ideal.tolist() == [3, 4]
    given_ideal = Problem(np.zeros(2), front=front, ideal=np.array([9.0, 9.0]))
    assert given_ideal.known_ideal.tolist() == [9, 9]


def test_of_two_distributions_the_fairer_one_has_the_better_gini():
    equal, unequal = np.array([[3.0, 3.0]]), np.array([[6.0, 0.0]])
    front = np.array([[6.0, 6.0]])
    assert improvement("gini", measure("gini", unequal, front), measure("gini", equal, front)) > 0
