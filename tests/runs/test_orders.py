"""Runs of other orders than Pareto's: what they record, and what is read from their folders."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import pcn
from pcn import CoverageSet, Objective, PCNConfig
from pcn.algorithms.pcn.refinements import BoundedCommands, ExpectedReturns
from pcn.errors import UserError
from pcn.experiments.comparison.comparison import compare
from pcn.experiments.comparison.tables import printed_table, summaries
from pcn.explorer.document import document_of
from pcn.explorer.shown_runs import ShownRun
from pcn.figures.front import front_figure
from pcn.pareto import ORDERS, PARETO, LambdaLorenz, Lorenz, Stochastic
from pcn.runs.measures import metrics_of
from pcn.single_returns import SingleReturns
from tests.algorithms.pcn.refinements.test_expected_returns import Lottery
from tests.made_runs import made_run, toy_spec

RETURNS = [[0.0, 9.0], [4.0, 4.0], [1.0, 5.0], [9.0, 0.0]]
SPEC = replace(
    toy_spec(front=RETURNS), objectives=(Objective("one", "kg"), Objective("other", "kg"))
)


def run_of(order, **about):
    run = made_run(RETURNS, spec=SPEC, hyperparameters={"dominance": order.name}, **about)
    coverage_set = replace(run.coverage_set, order=order)
    measured = metrics_of(coverage_set, SPEC)
    run.coverage_set = coverage_set
    run.metrics = {**run.metrics, "dominance": order.to_json(), **measured}
    return run


@pytest.mark.parametrize("name", ORDERS)
def test_a_run_remembers_its_order(name, tmp_path):
    run_of(ORDERS[name]()).save(tmp_path / "run")
    loaded = pcn.load(tmp_path / "run", weights=False)
    assert loaded.coverage_set.order == ORDERS[name]()
    fair = ORDERS[name]().needs_one_unit
    assert loaded.coverage_set.front_mask.tolist() == [True, True, not fair, True]
    assert loaded.metrics["executed"]["cardinality"] == (3 if fair else 4)
    # The third point of the known front does not count in a fair order, so all of it was found.
    assert loaded.metrics["executed"]["front_share"] == 1.0
    assert loaded.metrics["executed"]["worst_off"] == 4


def test_the_table_the_plot_and_the_page_name_the_order(tmp_path):
    run = run_of(LambdaLorenz(0.25))
    run.save(tmp_path / "run")
    with (tmp_path / "run" / "front.csv").open() as file:
        assert [row["lambda_lorenz_non_dominated"] for row in csv.DictReader(file)] == list("1101")
    title = front_figure(run).axes[0].get_title()
    assert "3 lambda-lorenz-non-dominated policies" in title
    assert "3 of 3 points of the proven front" in title
    shown = [ShownRun("fair", run), ShownRun("usual", run_of(PARETO))]
    orders = [one["order"] for one in document_of(shown, live=False)["runs"]]
    assert orders == ["lambda-lorenz (weight 0.25)", None]


def test_an_order_that_is_not_known_is_told_in_one_sentence(tmp_path):
    run_of(Lorenz()).save(tmp_path / "run")
    path = tmp_path / "run" / "metrics.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "dominance": {"order": "new"}}))
    with pytest.raises(UserError, match=r"metrics.json is damaged: there is no order 'new'"):
        pcn.load(tmp_path / "run", weights=False)


def test_runs_of_different_orders_are_compared_by_paretos(tmp_path):
    run_of(Lorenz(), seed=0).save(tmp_path / "fair")
    run_of(PARETO, seed=0).save(tmp_path / "usual")
    (comparison,), _ = compare([tmp_path])
    assert comparison.labels == ["pcn-dominance=lorenz", "pcn-dominance=pareto"]
    assert "different orders (lorenz, pareto)" in comparison.notes[0]
    assert all(one["executed"]["cardinality"] == 4 for one in comparison.measured)
    _, rows = printed_table(comparison, summaries(comparison))
    assert {"Sen welfare", "Gini index", "worst-off"} <= {row[0] for row in rows}


def test_runs_of_one_order_are_compared_by_it(tmp_path):
    for seed in range(2):
        run_of(Lorenz(), seed=seed).save(tmp_path / str(seed))
    (comparison,), _ = compare([tmp_path])
    assert comparison.notes == ()
    assert comparison.measured_against == "the proven front (3 points, lorenz-non-dominated of 4)"
    assert all(one["executed"]["cardinality"] == 3 for one in comparison.measured)


def test_a_front_of_distributions_is_read_back_from_the_table(tmp_path):
    singles = SingleReturns(
        (np.full((10, 2), 5.0), np.repeat([[0.0, 0.0], [9.0, 9.0]], 5, axis=0), np.zeros((10, 2)))
    )
    measured = CoverageSet.measured(
        singles.means, np.ones(3), singles, tolerances=1e-3, order=Stochastic()
    )
    assert measured.front_mask.tolist() == [True, True, False]
    run = made_run(singles.means, spec=SPEC)
    run.coverage_set = measured
    run.metrics |= {"dominance": Stochastic().to_json(), **metrics_of(measured, SPEC)}
    assert run.metrics["executed"]["cardinality"] == 2
    run.save(tmp_path / "run")
    loaded = pcn.load(tmp_path / "run", weights=False).coverage_set
    assert loaded.front_mask.tolist() == [True, True, False]


TINY = PCNConfig(
    total_steps=3_000, episodes_per_iteration=16, warmup_episodes=32, updates_per_iteration=8,
    capacity=40, evaluations=1, refinements=(BoundedCommands(), ExpectedReturns()),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "order"), [("walkroom-3", "lorenz"), (Lottery(), "stochastic")]
)
def test_a_training_in_another_order_offers_what_is_best_in_it(environment, order, tmp_path):
    config = replace(TINY, dominance=order)
    run = pcn.train(environment, config=config, seed=0, out=tmp_path / "run")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["dominance"] == ORDERS[order]().to_json()
    assert run.settings.hyperparameters["dominance"] == order
    coverage_set = pcn.load(tmp_path / "run").coverage_set
    np.testing.assert_array_equal(coverage_set.front_mask, run.coverage_set.front_mask)
    if order == "lorenz":  # every return of the archive is requested
        requested = coverage_set.requested
        assert Lorenz().non_dominated_mask(requested).all()
        assert metrics["archive"]["cardinality"] == len(requested)
