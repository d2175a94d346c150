"""Which runs are found, what they are called, and which are left out."""

import shutil

import pytest

from made_runs import save_run
from pcn import UserError
from pcn.experiments.comparison.finding import find_runs, run_folders


def names(entrants):
    return [(one.environment, one.label, one.seed) for one in entrants]


def test_runs_in_an_experiment_are_called_as_their_folders(tmp_path):
    for seed in (10, 9):
        place = tmp_path / "runs" / "walkroom-3" / "pcn-gate=film" / f"seed-{seed}"
        save_run(place, [[1, 3]], seed=seed)
    found, left_out = find_runs([tmp_path])
    assert names(found) == [("walkroom-3", "pcn-gate=film", seed) for seed in (9, 10)]
    assert left_out == []


def test_other_runs_are_called_by_their_settings_and_what_differs(tmp_path):
    refined = {"learning_rate": 0.1, "refinements": {"routes": {"beam": 5}, "standardise": {}}}
    plain = {"learning_rate": 0.1, "refinements": {"standardise": {}}}
    save_run(tmp_path / "a", [[1, 3]], hyperparameters=refined)
    save_run(tmp_path / "b", [[1, 3]], hyperparameters=plain)
    save_run(tmp_path / "c", [[1, 3]], preset="paper", hyperparameters={"learning_rate": 0.2})
    save_run(tmp_path / "d", [[1, 3]], algorithm="ra")
    found, _ = find_runs([tmp_path])
    assert [one.label for one in found] == [
        "pcn-routes=True", "pcn-routes=False", "pcn-paper", "ra",
    ]  # fmt: skip


def test_another_discount_is_another_environment(tmp_path):
    save_run(tmp_path / "a", [[1, 3]])
    save_run(tmp_path / "b", [[1, 3]], hyperparameters={"discount": 0.9})
    found, _ = find_runs([tmp_path])
    assert [one.environment for one in found] == ["toy", "toy (discount 0.9)"]


def test_a_run_that_is_named_twice_counts_once(tmp_path):
    save_run(tmp_path / "a", [[1, 3]])
    found, _ = find_runs([tmp_path, tmp_path / "a", tmp_path / "." / "a"])
    assert len(found) == 1


def test_unfinished_and_damaged_runs_are_left_out_with_a_line_each(tmp_path):
    whole = save_run(tmp_path / "whole", [[1, 3]])
    for name in ("unfinished", "cut", "empty", "numberless"):
        shutil.copytree(whole, tmp_path / name)
    (tmp_path / "unfinished" / "metrics.json").unlink()
    (tmp_path / "cut" / "front.csv").write_text("id,executed_gain\n0")
    (tmp_path / "empty" / "metrics.json").write_text("")
    (tmp_path / "numberless" / "metrics.json").write_text(
        '{"archive": {}, "executed": {}, "fidelity": {}, "policies": 1, "tolerances": [0, 0]}'
    )
    found, left_out = find_runs([tmp_path])
    assert [one.source.name for one in found] == ["whole"]
    assert len(left_out) == 4
    for name, line in zip(("cut", "empty", "numberless", "unfinished"), left_out, strict=True):
        assert f"/{name}" in line
        assert "\n" not in line


def test_a_place_without_runs_is_told(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        run_folders(tmp_path / "nothing")
    with pytest.raises(UserError, match="there is no run in"):
        run_folders(tmp_path)
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(UserError, match=r"neither a folder of runs nor a \.csv file"):
        run_folders(tmp_path / "notes.txt")


def test_only_the_folders_of_an_experiment_tell_environment_and_label(tmp_path):
    save_run(tmp_path / "runs" / "mine" / "first" / "a", [[1, 3]])
    save_run(tmp_path / "others" / "mine" / "first" / "seed-0", [[1, 3]], seed=1)
    entrants, _ = find_runs([tmp_path])
    assert len(entrants) == 2
    assert {(one.environment, one.label) for one in entrants}.isdisjoint({("mine", "first")})


def study(path, *, environment="toy", label="pcn", seeds=(0, 1)):
    """An experiment with a run of each seed."""
    for seed in seeds:
        save_run(path / "runs" / environment / label / f"seed-{seed}", [[1, 3]], seed=seed)
    return path


def test_runs_of_two_experiments_are_not_seeds_of_one_another(tmp_path):
    before, after = study(tmp_path / "before"), study(tmp_path / "after")
    study(after, label="ra", seeds=(0,))
    found, _ = find_runs([before, after])
    assert names(found) == [
        ("toy", "pcn (before)", 0), ("toy", "pcn (before)", 1),
        ("toy", "pcn (after)", 0), ("toy", "pcn (after)", 1),
        ("toy", "ra", 0),
    ]  # fmt: skip


def test_experiments_of_one_name_are_told_apart_by_the_folders_they_are_in(tmp_path):
    found, _ = find_runs([study(tmp_path / "old" / "study"), study(tmp_path / "new" / "study")])
    assert list(dict.fromkeys(one.label for one in found)) == ["pcn (old/study)", "pcn (new/study)"]


def test_a_run_beside_an_experiment_is_no_seed_of_it(tmp_path):
    save_run(tmp_path / "single", [[1, 3]])
    found, _ = find_runs([study(tmp_path / "study"), tmp_path / "single"])
    assert [one.label for one in found] == ["pcn (study)", "pcn (study)", "pcn"]
