"""`pcn explore` and `pcn report`, as a user types them."""

import signal
import subprocess
import sys
import urllib.request

import pytest

from made_runs import save_run
from pcn.cli import main
from refusals import refusal


@pytest.fixture
def folder(tmp_path):
    return save_run(tmp_path / "run", [[1, -3], [2, -5]])


@pytest.mark.parametrize("command", ["explore", "report"])
def test_what_cannot_be_shown_is_told_in_one_sentence(command, folder, tmp_path, capsys):
    assert "which run?" in refusal(capsys, command)
    (tmp_path / "empty").mkdir()
    assert "is an empty folder" in refusal(capsys, command, tmp_path / "empty")
    (folder / "metrics.json").unlink()
    assert "is not finished; continue it with" in refusal(capsys, command, folder)


def test_options_that_make_no_sense_are_told(folder, tmp_path, capsys):
    assert "--port must be from 0 to 65535" in refusal(capsys, "explore", folder, "--port", 70_000)
    assert "--out must end in .html" in refusal(capsys, "report", folder, "--out", "front.png")
    assert "--rollouts must be a number, all or none, got some" in refusal(
        capsys, "report", folder, "--rollouts", "some"
    )
    nowhere = tmp_path / "nowhere" / "front.html"
    assert "cannot write" in refusal(
        capsys, "report", folder, "--rollouts", "none", "--out", nowhere
    )


def test_without_the_extra_explore_names_it_and_report_works(folder, tmp_path, capsys, monkeypatch):
    for module in ("starlette", "uvicorn"):
        monkeypatch.setitem(sys.modules, module, None)
    assert "pip install 'pcn[explore]'" in refusal(capsys, "explore", folder, "--no-browser")
    main(["report", str(folder), "--rollouts", "none", "--out", str(tmp_path / "front.html")])
    assert "Wrote" in capsys.readouterr().out
    assert (tmp_path / "front.html").stat().st_size > 1000


@pytest.mark.slow
def test_the_page_is_served_until_ctrl_c(folder):
    with subprocess.Popen(
        [sys.executable, "-m", "pcn", "explore", str(folder), "--no-browser"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            first = process.stdout.readline()
            assert first.startswith("The page is at http://127.0.0.1:")
            with urllib.request.urlopen(first.split()[-1], timeout=20) as answer:
                assert b"<html" in answer.read()
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)
            # `communicate` would lose what came together with the first line.
            rest, errors = process.stdout.read(), process.stderr.read()
        finally:
            process.kill()
    assert process.returncode == 0
    assert "has no weights.npz: its front is shown" in errors
    assert "pcn report" in rest
    assert "pcn play" not in rest  # nothing can act
    assert "Ctrl-C ends it." in rest
    assert rest.endswith("Closed.\n")
