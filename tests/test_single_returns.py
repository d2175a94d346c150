import numpy as np
import pytest
from scipy import stats

from pcn.single_returns import SingleReturns, margins_of


def lottery(rng, num_policies, executions, chance, prize=10.0):
    """Policies that win a prize now and then, and what each of them is worth."""
    wins = rng.random((num_policies, executions, 1)) < chance
    return SingleReturns(tuple(prize * wins.astype(float))), prize * chance


def test_counts_means_and_quantiles_are_those_of_each_policy():
    singles = SingleReturns.of_episodes(
        np.array([[1.0, 0.0], [5.0, 1.0], [3.0, 0.0], [5.0, 3.0], [2.0, 0.0]]),
        np.array([0, 1, 0, 1, 0]),
        2,
    )
    assert singles.counts.tolist() == [3, 2]
    assert singles.means.tolist() == [[2.0, 0.0], [5.0, 2.0]]
    np.testing.assert_allclose(singles.deviation, [[1, 0], [0, np.sqrt(2)]])
    assert singles.widest.tolist() == [2.0, 2.0]
    np.testing.assert_allclose(singles.quantiles(0.5), [[2.0, 0.0], [5.0, 2.0]])


def test_the_margin_of_many_normal_returns_is_the_textbook_one():
    # 1.96 standard errors of 2 / sqrt(400) = 0.1.
    margins = margins_of(np.array([400]), np.array([[2.0]]), np.zeros(1), 0.95)
    np.testing.assert_allclose(margins, [[0.196]], rtol=0.01)


@pytest.mark.parametrize(("freedom", "quantile"), [(3, 3.182), (9, 2.262), (29, 2.045)])
def test_the_margin_of_few_follows_students_table(freedom, quantile):
    deviation = np.array([[np.sqrt(freedom + 1)]])  # a standard error of 1
    margins = margins_of(np.array([freedom + 1]), deviation, np.zeros(1), 0.95)
    np.testing.assert_allclose(margins, [[quantile]], rtol=0.02)


def test_the_margin_errs_by_the_next_term_of_fishers_expansion():
    freedom, z = 200, stats.norm.ppf(0.975)
    margins = margins_of(np.array([freedom + 1]), np.sqrt([[freedom + 1.0]]), np.zeros(1), 0.95)
    # Abramowitz and Stegun, 26.7.5: the fourth term, which is the first that is left out.
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    error = stats.t.ppf(0.975, freedom) - margins[0, 0]
    assert error * freedom**4 == pytest.approx(fourth, abs=0.1)


@pytest.mark.parametrize("executions", [10, 20, 60, 200])
def test_a_rare_prize_that_nobody_saw_is_within_the_interval(executions):
    singles, truth = lottery(np.random.default_rng(0), 2_000, executions, 0.05)
    covered = np.abs(singles.means - truth) <= singles.margins()
    assert covered.mean() > 0.93
    # Without the rule of three, policies that have not won yet would claim certainty.
    never = singles.deviation[:, 0] == 0
    assert np.all(singles.margins()[never] > 0)
    if executions <= 20:
        assert never.mean() > 0.3


def test_an_objective_without_chance_has_no_margin():
    rng = np.random.default_rng(1)
    singles = SingleReturns(tuple(np.stack([rng.normal(size=9), np.full(9, k)], 1) for k in (1, 2)))
    assert singles.margins()[:, 1].tolist() == [0.0, 0.0]
    assert np.all(singles.margins()[:, 0] > 0)
