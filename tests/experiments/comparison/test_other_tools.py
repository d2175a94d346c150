"""Returns of other tools in CSV files: read as they are, or refused in a sentence."""

import pytest

from made_runs import save_run, toy_spec
from pcn import UserError
from pcn.experiments.comparison.comparison import compare
from pcn.experiments.comparison.other_tools import read_returns

SPECS = {"toy": toy_spec()}


def write(path, text):
    path.write_text(text)
    return path


def test_without_more_columns_a_file_is_one_coverage_set_called_like_it(tmp_path):
    (found,) = read_returns(write(tmp_path / "gpi.csv", "cost 0,gain\n-3,1\n-4,2\n"), SPECS)
    assert (found.environment, found.label, found.seed) == ("toy", "gpi", 0)
    assert found.returns.tolist() == [[1, -3], [2, -4]]  # in the environment's order


def test_algorithms_seeds_and_environments_are_told_apart(tmp_path):
    specs = {**SPECS, "other": toy_spec(name="other")}
    text = (
        "environment,algorithm,seed,gain,cost 0\n"
        "toy,a,0,1,2\ntoy,a,1,3,4\ntoy,b,0,5,6\nother,a,0,7,8\ntoy,a,0,9,10\n"
    )
    found = read_returns(write(tmp_path / "file.csv", text), specs)
    assert [(one.environment, one.label, one.seed, one.returns.tolist()) for one in found] == [
        ("toy", "a", 0, [[1, 2], [9, 10]]),
        ("toy", "a", 1, [[3, 4]]),
        ("toy", "b", 0, [[5, 6]]),
        ("other", "a", 0, [[7, 8]]),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("gain,cost 0\n", "has no rows"),
        ("gain,gain\n1,2\n", "two columns of the same name"),
        ("gain,price\n1,2\n", "must have the objectives of toy as columns, gain, cost 0; it has"),
        ("gain,cost 0,cost 1\n1,2,3\n", "has 3 objectives .* toy has 2: gain, cost 0"),
        ("gain,cost 0\n1,nan\n", "line 2: cost 0 must be a finite number, got 'nan'"),
        ("gain,cost 0\n1,2\n1,\n", "line 3: cost 0 must be a finite number, got ''"),
        ("gain,cost 0\n1,much\n", "got 'much'"),
        ("gain,cost 0,seed\n1,2,x\n", "seed must be a whole number, got 'x'"),
        ("environment,gain,cost 0\nelsewhere,1,2\n", "no run is of 'elsewhere'; there are: toy"),
        ("gain,cost 0\n1\n", "its rows have different lengths"),
        ("", "is damaged"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path, text, sentence):
    with pytest.raises(UserError, match=sentence) as refused:
        read_returns(write(tmp_path / "file.csv", text), SPECS)
    assert "\n" not in str(refused.value)


def test_a_file_that_fits_several_environments_has_to_say_which(tmp_path):
    specs = {**SPECS, "other": toy_spec(name="other")}
    path = write(tmp_path / "file.csv", "gain,cost 0\n1,2\n")
    with pytest.raises(UserError, match="add a column `environment` that says one of toy, other"):
        read_returns(path, specs)


def test_a_file_with_a_run_s_returns_has_its_metrics(tmp_path):
    front = [[1, 3], [2, 2], [4, 1]]
    save_run(tmp_path / "run", [[1, 3], [2, 1]], front=front)
    path = write(tmp_path / "same.csv", "gain,cost 0\n1,3\n2,1\n")
    (comparison,), _ = compare([tmp_path / "run", path])
    run, file = comparison.measured
    assert comparison.labels == ["pcn", "same"]
    assert file["executed"] == run["executed"]
    assert "archive" not in file


def test_a_label_that_a_run_has_is_told_apart(tmp_path):
    save_run(tmp_path / "run", [[1, 3]])
    path = write(tmp_path / "theirs.csv", "algorithm,gain,cost 0\npcn,1,2\n")
    (comparison,), _ = compare([tmp_path / "run", path])
    assert comparison.labels == ["pcn", "pcn (theirs.csv)"]


ROWS = "algorithm,seed,gain,cost 0\ngpi,{},1,2\n"


def test_two_files_with_the_same_seed_of_a_label_are_told_apart(tmp_path):
    run = save_run(tmp_path / "run", [[1, 3]])
    files = [write(tmp_path / name, ROWS.format(0)) for name in ("old.csv", "new.csv")]
    (comparison,), _ = compare([run, *files])
    assert comparison.labels == ["pcn", "gpi", "gpi (new.csv)"]
    (tmp_path / "more").mkdir()
    again = write(tmp_path / "more" / "old.csv", ROWS.format(0))
    (comparison,), _ = compare([run, files[0], again])
    assert comparison.labels == ["pcn", "gpi", "gpi (more/old.csv)"]


def test_files_with_other_seeds_of_a_label_belong_together(tmp_path):
    run = save_run(tmp_path / "run", [[1, 3]])
    files = [write(tmp_path / f"{seed}.csv", ROWS.format(seed)) for seed in (0, 1)]
    (comparison,), _ = compare([run, *files, files[0]])
    assert [(one.label, one.seed) for one in comparison.entrants] == [
        ("pcn", 0), ("gpi", 0), ("gpi", 1),
    ]  # fmt: skip
