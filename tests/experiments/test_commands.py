"""The commands of an experiment and of its runs, as one would type them."""

from made_runs import made_run
from pcn.experiments.commands import experiment_command, train_command


def planned(group, seed, *, algorithm="pcn", preset="default", **hyperparameters):
    request = {
        "environment": group, "arguments": {}, "algorithm": algorithm, "preset": preset,
        "hyperparameters": hyperparameters, "seed": seed,
    }  # fmt: skip
    return {"group": group, "request": request, "run": f"runs/{group}/{algorithm}/seed-{seed}"}


def test_a_reproduction_is_told_with_its_seeds_where_all_parts_have_as_many():
    runs = [planned("dst", seed) for seed in (1000, 1001)]
    plan = {"name": "table1", "preset": "paper", "scale": 0.01, "runs": runs}
    assert experiment_command(plan) == (
        "pcn reproduce table1 --preset paper --scale 0.01 --seeds 2 --first-seed 1000"
    )
    more = {"name": "all", "preset": None, "scale": 1.0, "runs": [*runs, planned("walk", 1000)]}
    assert experiment_command(more) == "pcn reproduce all --first-seed 1000"


def test_a_sweep_is_told_with_its_grid():
    runs = [
        planned("dst", seed, algorithm=algorithm, total_steps=500, gate=gate, command_scale=[1, 2])
        for seed in (0, 1, 5)
        for algorithm in ("pcn", "ra")
        for gate in ("film", "sigmoid")
    ]
    assert experiment_command({"name": "sweep", "preset": None, "scale": 1.0, "runs": runs}) == (
        "pcn sweep dst --algorithm pcn,ra --seeds 0-1,5 --total-steps 500 "
        "--set gate=film,sigmoid 'command-scale=(1,2)'"
    )


def test_a_run_is_told_with_what_was_requested_and_at_least_its_steps():
    run = made_run([[1, 3]], algorithm="ra", seed=7)
    start = "pcn train nowhere:Nothing --seed 7 --algorithm ra"
    assert train_command(run, {}) == f"{start} --total-steps 100"
    request = {"arguments": {"room_seed": 3}, "hyperparameters": {"command_scale": [1, 2]}}
    assert train_command(run, request) == f"{start} --room-seed 3 --command-scale 1 2"
    paper = made_run([[1, 3]], preset="paper")
    assert "--preset paper" in train_command(paper, {})
