"""`pcn reproduce` and `pcn sweep`, as a new user types them."""

import shlex
from pathlib import Path

import pytest

from pcn.cli import main
from pcn.cli.experiments import show_outcome
from pcn.experiments.execution.task import Began, Ended, Moved
from pcn.experiments.experiment import Failure, Outcome
from pcn.experiments.overview import Overview
from pcn.experiments.paper import paper_plan
from pcn.experiments.plan import Plan
from pcn.experiments.preparation import prepare
from refusals import refusal


def test_a_dry_run_shows_the_plan_and_an_estimate_and_writes_nothing(capsys, tmp_path):
    folder = tmp_path / "experiment"
    main(["reproduce", "dst", "--dry-run", "--jobs", "2", "--out", str(folder)])
    shown = capsys.readouterr().out
    assert ["deep-sea-treasure", "ra", "1,300,000", "5", "0"] in [
        line.split()[:5] for line in shown.splitlines()
    ]
    assert "20 runs: about " in shown
    assert "with 2 at once" in shown
    assert "a table that was measured" in shown
    assert not folder.exists()


def test_the_estimate_follows_from_steps_and_speeds(tmp_path):
    plan = paper_plan("minecart", seeds=1)
    ra = Plan(name="ra", runs=tuple(run for run in plan.runs if run.label == "ra"))
    overview = Overview(prepare(ra, tmp_path), ra.runs, jobs=1)
    whole = overview.seconds_left
    # The table's speed of RA on Minecart, after compiling.
    assert whole == pytest.approx(6 + 20_000_000 / 270e3)
    [name] = [run.place.as_posix() for run in ra.runs]
    overview(Began(name))
    overview(Moved(name, 5_000_000, 20_000_000, "training"))
    assert overview.seconds_left == pytest.approx(whole * 0.75)
    overview(Ended(name, "failed", "it broke"))
    assert (overview.seconds_left, overview.waiting, overview.failed) == (0, 0, [name])


def test_a_shard_shows_its_part_alone(capsys, tmp_path):
    options = ["sweep", "deep-sea-treasure", "--seeds", "0-4", "--dry-run"]
    main([*options, "--shard", "2/2", "--out", str(tmp_path / "experiment")])
    assert "2 runs: about" in capsys.readouterr().out


def test_a_sweep_of_what_was_never_measured_says_so(capsys, tmp_path):
    main(["sweep", "fruit-tree", "--dry-run", "--out", str(tmp_path / "experiment")])
    said = capsys.readouterr().out
    assert "how long they take is not known yet" in said
    assert "about unknown" not in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reproduce", "table2"], "no experiment is called 'table2'"),
        (["reproduce", "dst", "--preset", "ours"], "no preset is called 'ours'"),
        (["reproduce", "dst", "--scale", "2"], "scale must be above 0 and at most 1"),
        (["reproduce", "dst", "--jobs", "0"], "jobs must be at least 1"),
        (["reproduce", "dst", "--shard", "3/2"], "a shard is i/n"),
        (["sweep", "deep-see"], "no environment is called 'deep-see'"),
        (["sweep", "minecart", "--algorithm", "pcn,sac"], "no algorithm is called 'sac'"),
        (["sweep", "minecart", "--seeds", "a"], "seeds are numbers"),
        (["sweep", "minecart", "--set", "learning-rat=1"], "has an option 'learning_rat'"),
        (["sweep", "minecart", "--set", "capacity=0"], "capacity must be at least 1"),
        (["sweep", "minecart", "--set", "capacity=many"], "capacity must be of type int"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence_and_nothing_is_written(
    arguments, sentence, capsys, tmp_path
):
    folder = tmp_path / "experiment"
    assert sentence in refusal(capsys, *arguments, "--out", folder)
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_told(capsys, tmp_path):
    (tmp_path / "file").touch()
    told = refusal(capsys, "sweep", "minecart", "--out", tmp_path / "file" / "experiment")
    assert "cannot create" in told


def test_the_command_that_tries_again_is_quoted(capsys, monkeypatch):
    words = ["sweep", "minecart", "--set", "a=[1, 2]", "--out", "my study"]
    monkeypatch.setattr("sys.argv", ["pcn", *words])
    failed = Failure("runs/x/pcn/seed-0", "it broke", Path("log.txt"))
    with pytest.raises(SystemExit):
        show_outcome(Outcome(failures=[failed]))
    command = capsys.readouterr().err.split("`")[1]
    assert shlex.split(command) == ["pcn", *words]
