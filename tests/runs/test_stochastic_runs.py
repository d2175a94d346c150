"""Runs in a stochastic environment: what they report, evaluate and resume."""

import dataclasses

import numpy as np
import pytest

import pcn
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import BoundedCommands, Consolidation, ExpectedReturns
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.ra.config import RAConfig
from pcn.algorithms.ra.train import RATrainer
from pcn.cli.evaluate import Evaluate
from pcn.coverage import agreeing_mask
from tests.algorithms.pcn.refinements.test_expected_returns import Lottery

pytestmark = pytest.mark.slow

CONFIG = PCNConfig(
    total_steps=3_000,
    episodes_per_iteration=16,
    warmup_episodes=32,
    updates_per_iteration=8,
    capacity=40,
    evaluations=0,
    refinements=(
        BoundedCommands(), Consolidation(stochastic_updates=64), ExpectedReturns()
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "lottery"
    return pcn.train(Lottery(), config=CONFIG, seed=0, out=folder)


def test_all_steps_fit_into_the_budget(run):
    assert run.metrics["steps"] <= CONFIG.total_steps
    assert {"racing", "executing"} <= run.metrics["steps_by_phase"].keys()


def test_metrics_say_how_certain_the_hypervolume_is(run):
    executed = run.metrics["executed"]
    low, high = executed["hypervolume_interval"]
    assert low <= executed["hypervolume"] <= high
    assert executed["hypervolume"] <= executed["hypervolume_uncorrected"] + 1e-9
    assert executed["executions"]["least"] == run.coverage_set.executions.min()


def test_a_loaded_run_says_the_same(run):
    again = pcn.load(run.path)
    for field in dataclasses.fields(again.coverage_set):
        if field.name != "singles":
            one, other = (getattr(each.coverage_set, field.name) for each in (again, run))
            np.testing.assert_array_equal(one, other)
    assert again.metrics["executed"] == run.metrics["executed"]


def test_evaluating_with_another_seed_agrees_within_the_intervals(run):
    shares = []
    for seed in range(5, 9):
        coverage_set, metrics = run.execute(seed=seed)
        shares.append(agreeing_mask(run.coverage_set, coverage_set).mean())
        assert metrics["archive"] == run.metrics["archive"]
    assert np.mean(shares) >= 0.9


def test_every_policy_acts_with_its_own_network(run):
    loaded = pcn.load(run.path)
    for index in range(len(loaded.coverage_set)):
        policy = loaded.policy(index)
        action = policy.act(np.zeros(1, np.int32))
        buys = loaded.coverage_set.deviation[index].any()
        assert action == int(buys)  # a policy with any deviation buys tickets


def test_evaluate_shows_intervals(run, capsys):
    Evaluate(run.path, executions=30)()
    shown = capsys.readouterr().out
    assert "10 to 90 % money" in shown
    assert "±" in shown
    assert "with what chance adds" in shown
    assert "means differ from those of the training by no more" in shown


def test_an_ending_goes_on_exactly_where_it_was_interrupted():
    whole = PCNTrainer(Lottery(), CONFIG, seed=1)
    snapshots = []
    while not whole.done:
        whole.iterate()
        if whole._ending is not None:
            snapshots.append(whole.snapshot())
    phases = [("race" in one.facts["ending"], "final" in one.facts["ending"]) for one in snapshots]
    assert {(False, False), (True, False), (True, True)} <= set(phases)
    expected = whole.outcome()
    for place in (0, phases.index((True, False)) + 1, phases.index((True, True)) + 1):
        resumed = PCNTrainer(Lottery(), CONFIG, seed=1)
        resumed.restore(snapshots[min(place, len(snapshots) - 1)])
        while not resumed.done:
            resumed.iterate()
        outcome = resumed.outcome()
        assert resumed.steps == whole.steps
        assert outcome.facts == expected.facts
        for name, array in expected.arrays.items():
            np.testing.assert_array_equal(outcome.arrays[name], array)
        for name in ("requested", "executed", "executions", "network", "margin"):
            np.testing.assert_array_equal(
                getattr(outcome.coverage_set, name), getattr(expected.coverage_set, name)
            )


def test_ra_reports_executions_that_it_did_not_choose_by(monkeypatch):
    trainer = RATrainer(Lottery(), RAConfig(total_steps=3_000, intervals=2), seed=0)
    executions = []
    original = trainer._execute

    def remembered(weights, number, **options):
        found = original(weights, number, **options)
        executions.append(found[0])
        return found

    monkeypatch.setattr(trainer, "_execute", remembered)
    while not trainer.done:
        trainer.iterate()
    chosen_by, reported = executions[-2:]
    coverage_set = trainer.outcome().coverage_set
    np.testing.assert_array_equal(coverage_set.executed, reported.returns)
    assert chosen_by.num_policies == 3 >= reported.num_policies
    assert coverage_set.executions.tolist() == [20] * len(coverage_set)
    assert trainer.steps <= 3_000
