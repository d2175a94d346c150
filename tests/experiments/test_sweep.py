"""A sweep: every combination once, and what nobody has is refused."""

import pytest

from pcn.errors import UserError
from pcn.experiments.sweep import grid_in, seeds_in, sweep_plan


def labels(plan):
    return sorted({(run.group, run.label) for run in plan.runs})


def test_every_combination_is_there_once():
    plan = sweep_plan(
        ["deep-sea-treasure", "minecart"],
        algorithms=["pcn", "ra"],
        seeds=range(3),
        grid={"learning_rate": [0.001, 0.003], "discount": [1, 0.9]},
    )
    assert len(plan.runs) == 2 * 2 * 3 * 2 * 2
    assert ("minecart", "ra-learning-rate=0.003-discount=0.9") in labels(plan)


def test_an_option_of_one_algorithm_varies_only_that_one():
    plan = sweep_plan(["deep-sea-treasure"], algorithms=["pcn", "ra"], grid={"capacity": [10, 20]})
    assert [label for _, label in labels(plan)] == ["pcn-capacity=10", "pcn-capacity=20", "ra"]


def test_arguments_go_to_the_environment():
    plan = sweep_plan(["walkroom"], grid={"objectives": [3], "capacity": [10]}, total_steps=100)
    request = plan.runs[0].request
    assert request.arguments == {"objectives": 3}
    assert request.hyperparameters == {"total_steps": 100, "capacity": 10}


def test_a_preset_is_for_those_who_have_it():
    plan = sweep_plan(["minecart"], algorithms=["pcn", "mones"], preset="paper")
    assert [label for _, label in labels(plan)] == ["mones", "pcn-paper"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"algorithms": ["sac"]}, "no algorithm is called 'sac'; there are: pcn"),
        ({"preset": "papier"}, "pcn has no preset 'papier'; it has: default"),
        ({"grid": {"learning_rat": [1]}}, "has an option 'learning_rat'; .*learning_rate"),
        ({"grid": {"capacity": [1, 1]}}, "2 runs for .*pcn-capacity=1/seed-0"),
        ({"grid": {"capacity": []}}, "the plan has no runs"),
    ],
)
def test_what_cannot_be_planned_is_told(given, sentence):
    with pytest.raises(UserError, match=sentence):
        sweep_plan(["deep-sea-treasure"], **given)


def test_values_are_read_as_python_has_them():
    texts = ["learning-rate=1e-3", "command-scale=(1,2),(3,4)", "capacity=1e3", "a=true,None,word"]
    assert grid_in(texts) == {
        "learning_rate": [0.001],
        "command_scale": [(1, 2), (3, 4)],
        "capacity": [1000],
        "a": [True, None, "word"],
    }


@pytest.mark.parametrize("texts", [["a"], ["=1"], ["a="], ["a=1", "a=2"]])
def test_a_wrong_assignment_is_told(texts):
    with pytest.raises(UserError, match="--set"):
        grid_in(texts)


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "1,1", "4-2", "0-2,1"])
def test_wrong_seeds_are_told(text):
    with pytest.raises(UserError, match="seeds"):
        seeds_in(text)
