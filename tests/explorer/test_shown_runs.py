"""Opening runs: what can be shown is shown, and what cannot is told in one sentence."""

from pathlib import Path

import pytest

from explored import KEPT
from made_runs import save_run, toy_spec
from pcn.errors import UserError
from pcn.explorer.shown_runs import first_folder, missing_part, open_runs
from pcn.figures.labels import refuse_different_environments
from pcn.runs.run import load

FRONT = [[1, -3], [2, -5]]


def refusal(*paths):
    with pytest.raises(UserError) as refused:
        open_runs(paths)
    told = str(refused.value)
    assert "\n" not in told
    return told


def test_runs_are_named_by_the_shortest_ends_of_their_folders_that_differ(tmp_path):
    paths = [tmp_path / study / "seed-0" for study in ("pcn", "ra")]
    for path in paths:
        save_run(path, FRONT)
    assert [one.name for one in open_runs(paths[:1])[0]] == ["seed-0"]
    assert [one.name for one in open_runs(paths)[0]] == ["pcn/seed-0", "ra/seed-0"]
    assert len(open_runs([paths[0], paths[0]])[0]) == 1


def test_runs_of_two_environments_are_refused_by_name(tmp_path):
    save_run(tmp_path / "a", FRONT)
    save_run(tmp_path / "b", FRONT, spec=toy_spec(2, name="other"))
    assert refusal(tmp_path / "a", tmp_path / "b") == (
        "runs of one environment can be explored together, got toy and other"
    )


def test_other_objectives_of_the_same_environment_are_refused(tmp_path):
    save_run(tmp_path / "a", FRONT)
    save_run(tmp_path / "b", [[1, -3, 0]])
    assert "have different objectives: gain, cost 0 and gain, cost 0, cost 1" in refusal(
        tmp_path / "a", tmp_path / "b"
    )


def test_other_discounts_are_refused(tmp_path):
    save_run(tmp_path / "a", FRONT)
    save_run(tmp_path / "b", FRONT, hyperparameters={"discount": 0.9})
    told = "the runs of toy have returns with different discounts: 1 and 0.9"
    assert refusal(tmp_path / "a", tmp_path / "b") == told
    with pytest.raises(UserError, match=r"runs with different discounts: 0\.9, 1"):
        refuse_different_environments([load(tmp_path / name, weights=False) for name in "ab"])


def test_an_unfinished_run_says_how_to_go_on_and_the_others_are_shown(tmp_path):
    save_run(tmp_path / "whole", FRONT)
    save_run(tmp_path / "half", FRONT)
    (tmp_path / "half" / "metrics.json").unlink()
    assert f"half is not finished; continue it with `pcn resume {tmp_path / 'half'}`" in refusal(
        tmp_path / "half"
    )
    runs, left_out = open_runs([tmp_path / "whole", tmp_path / "half"])
    assert [one.name for one in runs] == ["whole"]
    assert len(left_out) == 1
    assert "half is not finished" in left_out[0]


@pytest.mark.parametrize("file", ["config.json", "spec.json", "front.csv", "metrics.json"])
def test_a_damaged_run_says_which_file(tmp_path, file):
    save_run(tmp_path / "run", FRONT)
    (tmp_path / "run" / file).write_text("{")
    assert f"{file} is damaged" in refusal(tmp_path / "run")


def test_an_empty_folder_and_one_that_is_missing(tmp_path):
    assert "is an empty folder; `pcn train` creates runs" in refusal(tmp_path)
    assert "is not a folder" in refusal(tmp_path / "nothing")


def test_a_run_without_its_environment_is_shown_and_says_why_it_cannot_be_watched(tmp_path):
    save_run(tmp_path / "run", FRONT)
    (tmp_path / "run" / "weights.npz").write_bytes(b"")
    ((one,), left_out) = open_runs([tmp_path / "run"])
    assert left_out == []
    assert one.why_not_watched == (
        "The environment nowhere:Nothing is not installed here (no module nowhere): "
        "its front is shown, but policies cannot be watched."
    )


def test_a_run_without_weights_says_so(tmp_path):
    ((one,), _) = open_runs([save_run(tmp_path / "run", FRONT)])
    assert "has no weights.npz" in one.why_not_watched


def test_what_is_missing_is_found_without_importing_anything():
    assert missing_part("deep-sea-treasure") is None
    assert missing_part("deep-sea-treasure-v0") is None
    assert missing_part("no-such-thing-v0") == "no such Gymnasium id"
    assert missing_part("json:JSONDecoder") is None
    assert missing_part("json:make.<locals>.Env") == "it was defined in a function"


def test_only_policies_with_commands_can_be_asked():
    asked = {name: open_runs([KEPT / name])[0][0].why_not_asked for name in ("pcn", "ra")}
    assert asked["pcn"] is None
    assert asked["ra"].startswith("Policies of RA take no command")


def test_the_first_folder_is_that_of_the_first_run_shown_as_it_was_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_run(tmp_path / "finished", [[1, -3]])
    named = [Path("missing"), Path("finished")]
    runs, left_out = open_runs(named)
    assert len(left_out) == 1
    assert first_folder(named, runs) == Path("finished")
