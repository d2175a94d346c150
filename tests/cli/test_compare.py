"""`pcn compare`, as a user types it."""

import pytest

import pcn
from made_runs import save_run
from pcn.cli import main


def refusal(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["compare", *map(str, arguments)])
    assert stop.value.code == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith("pcn: ")
    assert "\n" not in error
    return error


@pytest.fixture
def runs(tmp_path):
    front = [[1, 3], [2, 2], [3, 1]]
    for seed in range(2):
        save_run(tmp_path / "runs" / f"a-{seed}", front, front=front, seed=seed)
        save_run(tmp_path / "runs" / f"b-{seed}", [[1, 3]], front=front, seed=seed, algorithm="ra")
    return tmp_path / "runs"


def test_a_folder_and_a_file_are_compared_printed_and_drawn(runs, tmp_path, capsys):
    (tmp_path / "theirs.csv").write_text("gain,cost 0\n3,1\n")
    out = tmp_path / "out"
    main(["compare", str(runs), str(tmp_path / "theirs.csv"), "--out", str(out)])
    shown = " ".join(capsys.readouterr().out.split())
    assert "hypervolume from (0, 0); I_eps and I_eps_mean against the proven front" in shown
    assert "hypervolume pcn 2 6 6 6" in shown  # seeds, mean, IQM, archive
    assert "hypervolume theirs 1 3 3 –" in shown  # noqa: RUF001
    assert "pcn ra 1" in shown
    assert "union front: 3 points, hypervolume 6" in shown
    assert "pcn 3 1 6 1" in shown  # (2, 2) is its own: without it the others have 5
    for name in (
        "metrics",
        "hypervolume-steps",
        "hypervolume-seconds",
        "improvement",
        "union-front",
    ):
        assert {f"{name}.png", f"{name}.csv"} <= {path.name for path in (out / "toy").iterdir()}


def test_runs_that_are_left_out_are_named_and_the_others_compared(runs, tmp_path, capsys):
    (runs / "a-1" / "metrics.json").unlink()
    main(["compare", str(runs), "--out", str(tmp_path / "out")])
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "a-1 is not finished" in captured.err
    assert "union front" in captured.out


def test_what_cannot_be_compared_is_told_in_one_sentence(runs, tmp_path, capsys):
    assert "which runs?" in refusal(capsys)
    assert "does not exist" in refusal(capsys, tmp_path / "nothing")
    (tmp_path / "bad.csv").write_text("gain\n1\n")
    assert "bad.csv has 1 objectives" in refusal(capsys, runs, tmp_path / "bad.csv")
    alone = refusal(capsys, tmp_path / "bad.csv")
    assert "name a run of the same environment" in alone
    point = refusal(capsys, runs, "--reference-point", "1", "2", "3", "--out", tmp_path / "out")
    assert "has 3 numbers, toy has 2 objectives" in point
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_what_was_trained_is_compared_with_its_own_metrics(tmp_path, capsys):
    for seed in range(2):
        pcn.train("deep-sea-treasure", seed=seed, total_steps=600, out=tmp_path / f"dst-{seed}")
    main(["compare", str(tmp_path), "--out", str(tmp_path / "out")])
    capsys.readouterr()
    rows = (tmp_path / "out" / "deep-sea-treasure" / "runs.csv").read_text().splitlines()
    header = rows[0].split(",")
    for seed, row in enumerate(rows[1:]):
        metrics = pcn.load(tmp_path / f"dst-{seed}").metrics
        told = dict(zip(header, row.split(","), strict=True))
        assert float(told["executed_hypervolume"]) == metrics["executed"]["hypervolume"]
        assert float(told["archive_epsilon"]) == metrics["archive"]["epsilon"]
        assert metrics["cpu_seconds"] > 0
        assert metrics["made_with"]["pcn"] == pcn.__version__
