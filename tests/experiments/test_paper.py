"""The paper's experiments: which runs, with how many steps."""

from collections import Counter

import pytest

from pcn.errors import UserError
from pcn.experiments.paper import EXPERIMENTS, LEAST_STEPS, paper_plan
from pcn.runs.settling import settle


def steps(plan):
    """Steps by group and label."""
    return {(run.group, run.label): run.request.hyperparameters["total_steps"] for run in plan.runs}


def test_table_1_has_three_environments_four_rows_and_five_seeds():
    plan = paper_plan("table1")
    counts = Counter((run.group, run.label) for run in plan.runs)
    environments = ("deep-sea-treasure", "minecart", "crossroad-authors")
    rows = ("pcn", "pcn-paper", "mones", "ra")
    assert counts == {(group, label): 5 for group in environments for label in rows}


def test_budgets_are_those_that_the_results_were_made_with():
    # docs/results/baselines.md and the pages of each environment
    found = steps(paper_plan("all"))
    assert found["deep-sea-treasure", "mones"] == 500_000
    assert found["deep-sea-treasure", "ra"] == 1_300_000
    assert found["minecart", "pcn"] == 10_000_000
    assert found["crossroad-authors", "ra"] == 600_000
    assert found["walkroom-5", "ra"] == 7_150_000
    assert found["walkroom-9", "pcn"] == 100 * 9 * (300 + 100 * 9)
    assert found["walkroom-9", "mones"] == 10 * found["walkroom-9", "pcn"]


def test_walkroom_has_a_room_for_every_seed_and_ra_up_to_five_objectives():
    plan = paper_plan("walkroom")
    counts = Counter((run.group, run.label) for run in plan.runs)
    assert set(counts.values()) == {20}
    assert {group for group, label in counts if label == "ra"} == {
        f"walkroom-{number}" for number in range(2, 6)
    }
    assert len(counts) == 8 + 8 + 4
    for run in plan.runs:
        assert run.request.arguments["room_seed"] == run.request.seed
        assert run.group == f"walkroom-{run.request.arguments['objectives']}"


def test_scaling_multiplies_steps_down_to_a_least_number():
    whole, scaled = steps(paper_plan("all")), steps(paper_plan("all", scale=0.001))
    for key, number in whole.items():
        assert scaled[key] == max(round(number / 1000), LEAST_STEPS)


def test_seeds_and_preset_are_chosen():
    plan = paper_plan("dst", seeds=2, first_seed=7, preset="authors")
    assert plan.seeds == (7, 8)
    assert {run.label for run in plan.runs} == {"pcn-authors", "mones", "ra"}


@pytest.mark.parametrize("what", EXPERIMENTS)
def test_runs_are_begun_seed_by_seed(what):
    seeds = [run.request.seed for run in paper_plan(what).runs]
    assert seeds == sorted(seeds)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"what": "table2"}, "no experiment is called 'table2'; there are: table1, dst"),
        ({"what": "dst", "preset": "ours"}, "no preset is called 'ours'"),
        ({"what": "dst", "scale": 0}, "scale must be above 0"),
        ({"what": "dst", "scale": float("nan")}, "scale must be above 0"),
        ({"what": "dst", "seeds": 0}, "seeds must be at least 1"),
        ({"what": "dst", "first_seed": -1}, "first_seed must not be negative"),
    ],
)
def test_what_cannot_be_planned_is_told(given, sentence):
    with pytest.raises(UserError, match=sentence):
        paper_plan(**given)


@pytest.mark.parametrize("run", paper_plan("dst", seeds=1).runs, ids=lambda run: run.label)
def test_what_is_planned_can_be_settled(run):
    settings = settle(run.request).settings
    assert settings.config.total_steps == run.request.hyperparameters["total_steps"]
