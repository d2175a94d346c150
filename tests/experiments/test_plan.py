"""A plan is data: it survives its file, names every run once, and can be shared out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcn.errors import UserError
from pcn.experiments.paper import paper_plan
from pcn.experiments.plan import Plan, PlannedRun, label_of, shard_of
from pcn.experiments.sweep import sweep_plan
from pcn.runs.request import Request


def test_a_plan_survives_its_file(tmp_path):
    plan = sweep_plan(
        ["walkroom", "module:Name"],
        algorithms=["pcn", "ra"],
        seeds=[3, 1],
        grid={"command_scale": [(1.0, 2.0, 0.1)], "objectives": [2, 3], "discount": [0.9]},
        total_steps=500,
    )
    plan.write(tmp_path)
    assert Plan.read(tmp_path) == plan


def test_a_damaged_plan_is_told(tmp_path):
    plan = paper_plan("dst")
    with pytest.raises(UserError, match="format 99"):
        Plan.from_json({**plan.to_json(), "format": 99})
    with pytest.raises(UserError, match="damaged: KeyError"):
        Plan.from_json({**plan.to_json(), "runs": [{"group": "a"}]})


@pytest.mark.parametrize(
    ("name", "value"),
    [("name", 3), ("preset", 0), ("scale", float("inf")), ("scale", True), ("runs", {"a": 1})],
)
def test_a_value_of_a_wrong_type_is_named(name, value):
    plan = {**paper_plan("dst").to_json(), name: value}
    with pytest.raises(UserError, match=f"the plan is damaged: {name} is "):
        Plan.from_json(plan)


@pytest.mark.parametrize(
    ("name", "value"),
    [("seed", "a"), ("environment", None), ("hyperparameters", []), ("algorithm", 1)],
)
def test_a_request_with_a_value_of_a_wrong_type_is_named(name, value):
    plan = paper_plan("dst").to_json()
    plan["runs"][1]["request"][name] = value
    with pytest.raises(UserError, match=f"the plan is damaged: {name} of run 1 is "):
        Plan.from_json(plan)


@pytest.mark.parametrize("run", [None, 5, "a", {"request": None}, {"label": 3}])
def test_a_run_that_is_none_is_named(run):
    plan = paper_plan("dst").to_json()
    plan["runs"][2] = run
    with pytest.raises(UserError, match=r"the plan is damaged: .* of run 2 is "):
        Plan.from_json(plan)


def test_two_runs_in_one_place_are_refused():
    run = PlannedRun.of("a", "b", Request(environment="a"))
    with pytest.raises(UserError, match="2 runs for runs/a/b/seed-0"):
        Plan(name="twice", runs=(run, run))


def test_names_with_slashes_are_one_folder():
    run = PlannedRun.of("ALE/Pong-v5", label_of("pcn", "default", {"embedding": "m:C"}), Request(
        environment="ALE/Pong-v5", seed=7,
    ))  # fmt: skip
    assert run.place.parts == ("runs", "ALE-Pong-v5", "pcn-embedding=m-C", "seed-7")


@given(st.integers(1, 12))
def test_shards_share_out_every_run_once(count):
    runs = paper_plan("dst").runs
    shards = [shard_of(runs, f"{number}/{count}") for number in range(1, count + 1)]
    names = [run.place for shard in shards for run in shard]
    assert sorted(names) == sorted(run.place for run in runs)
    sizes = [len(shard) for shard in shards]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "-1/2", "1/2/3", ""])
def test_a_wrong_shard_is_told(shard):
    with pytest.raises(UserError, match="a shard is i/n"):
        shard_of(paper_plan("dst").runs, shard)
