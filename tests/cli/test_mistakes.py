"""Mistakes that newcomers make: one sentence, which names the next step."""

import pytest

from refusals import refusal


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A folder that holds the folder of a run, as `runs/dst`; the test works beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "dst").mkdir(parents=True)
    (tmp_path / "runs" / "dst" / "config.json").write_text("{}")
    return "runs"


@pytest.mark.parametrize("command", ["evaluate", "plot", "explore", "report"])
def test_the_folder_of_all_runs_is_told_from_a_run(command, runs, capsys):
    assert refusal(capsys, command, runs) == (
        "pcn: runs is not a run: it has no config.json; it holds runs, so name one of them: "
        "runs/dst"
    )


def test_a_folder_without_runs_says_how_runs_are_made(runs, tmp_path, capsys):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("")
    assert "; `pcn train` creates runs" in refusal(capsys, "evaluate", "other")


@pytest.mark.parametrize(
    "arguments",
    [
        ("plot", "runs/dst", "--out", "nowhere/front.png"),
        ("report", "runs/dst", "--out", "nowhere/front.html"),
        ("play", "runs/dst", "--policy", "0", "--save", "nowhere/play.gif"),
    ],
)
def test_a_folder_that_is_missing_is_told_before_any_work(arguments, runs, capsys):
    sentence = refusal(capsys, *arguments)
    assert (
        sentence == f"pcn: cannot write {arguments[-1]}: nowhere is not a folder; create it first"
    )


@pytest.mark.parametrize(
    ("arguments", "next_step"),
    [
        (["trian", "deep-sea-treasure"], "perhaps train was meant"),
        (["train", "deep-sea-tresure"], "perhaps deep-sea-treasure was meant"),
        (["train", "walkroom-1"], "perhaps one of walkroom-2 to walkroom-9 was meant; `pcn envs`"),
        (["envs", "walkroom-12"], "perhaps one of walkroom-2 to walkroom-9 was meant"),
        (["train", "minecart-v99"], "perhaps minecart-v0 was meant"),
        (["train", "deep-sea-treasure", "--learning-rat", "1"], "perhaps --learning-rate"),
        (["train", "deep-sea-treasure", "--algorithm", "ppo"], "there are: pcn, mones, ra"),
        (["train", "no_such_module:Env"], "work in the folder of no_such_module.py"),
        (["train", "--from-dataset", "log.npz"], "give a run's folder, an npz file or"),
        (["compare", "nowhere"], "which `pcn train` creates"),
        (["sweep", "fishwood", "--seeds", "5-2", "--out", "study"], "no seed: write 2-5"),
        (["sweep", "fishwood", "--seeds", "0-999999999999", "--out", "study"], "than 1,000,000"),
        (["sweep", "fishwood", "--out", "runs/dst"], "is the folder of a run; choose another"),
        (["train", "walkroom", "--objectives", "0"], "walkroom has 2 to 10 objectives, got 0"),
        (["train", "deep-sea-treasure", "--preset", ""], "pcn has no preset ''; it has: default"),
        (
            ["train", "minecart", "--algorithm", "ra", "--preset", "paper"],
            "ra has no preset 'paper'",
        ),
        (["train", "minecart", "--width", "1000000000"], "give less of them"),
        (["train", "minecart", "--hidden-layers", "100000000000"], "give less of them"),
        (["train", "minecart", "--updates-per-iteration", "10000000000"], "at most 1000000000"),
        (["reproduce", "table3"], "no experiment is called 'table3'; there are: table1"),
    ],
)
def test_a_sentence_names_the_next_step(arguments, next_step, runs, capsys):
    assert next_step in refusal(capsys, *arguments)
