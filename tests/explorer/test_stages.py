"""Environments that hang or end their process, executed for the page: it goes on without them."""

import json
import shutil
import sys
import threading
from time import sleep

import pytest
from starlette.testclient import TestClient

from explored import KEPT
from pcn.cli import main
from pcn.errors import UserError
from pcn.explorer.explorer import Explorer
from pcn.explorer.report_rollouts import execute_chosen
from pcn.explorer.requests import PolicyRequest
from pcn.explorer.server import application
from pcn.explorer.shown_runs import open_runs
from pcn.explorer.stage import ExecutionError
from pcn.explorer.thread_stage import ThreadStage

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*precision lowered")]

MODULE = """
import os, time
from pathlib import Path
import gymnasium as gym
import mo_gymnasium

class Moody(gym.Wrapper):
    def __init__(self, render_mode=None):
        super().__init__(mo_gymnasium.make("deep-sea-treasure-v0", render_mode=render_mode))

    def step(self, action):
        here = Path(__file__).parent
        print("this must not get between the answers")
        while (here / "hang").exists():
            (here / "hangs").touch()
            time.sleep(0.02)
        if (here / "die").exists():
            os._exit(3)
        return super().step(action)
"""
PATIENCE = 120.0
"""Seconds: a process imports JAX, perhaps on a busy machine."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a run whose environment does what files beside its module say."""
    (tmp_path / "moody.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "moody", raising=False)  # that of another test
    shutil.copytree(KEPT / "pcn-gymnasium", tmp_path / "run")
    config = tmp_path / "run" / "config.json"
    settings = json.loads(config.read_text())
    config.write_text(json.dumps({**settings, "environment": "moody:Moody"}))
    return tmp_path


def explorer_of(place, **options):
    return Explorer(*open_runs([place / "run"]), answer_seconds=PATIENCE, **options)


def test_a_step_that_hangs_is_ended_and_others_are_answered_meanwhile(place):
    explorer = explorer_of(place)
    client = TestClient(application(explorer, token="t", host="127.0.0.1"), "http://127.0.0.1")

    def answered(policy):
        asked = {"run": 0, "policy": policy}
        return client.post("/api/rollout", json=asked, headers={"X-Token": "t"})

    first = answered(0)
    assert first.status_code == 200
    (place / "hang").touch()
    explorer._answer_seconds = 3.0
    told = []
    waiting = threading.Thread(target=lambda: told.append(answered(1)))
    waiting.start()
    while not (place / "hangs").exists():
        assert waiting.is_alive()
    assert answered(0).json() == first.json()  # it was executed before
    assert client.get("/api/document", headers={"X-Token": "t"}).status_code == 200
    zipped = client.post("/api/export", json={"run": 0, "policy": 1}, headers={"X-Token": "t"})
    assert zipped.status_code == 200
    waiting.join()
    assert told[0].status_code == 400
    assert told[0].json()["error"] == (
        "The environment moody:Moody did not answer within 3 seconds, so the rollout was stopped."
    )
    explorer._answer_seconds = PATIENCE
    (place / "hang").unlink()
    assert answered(1).json()["policy"] == 1  # a new process has taken its place
    (place / "die").touch()
    died = answered(2)
    assert died.status_code == 422
    assert died.json()["error"] == (
        "The policy could not be executed: its process ended, exit code 3"
    )
    explorer.close()


def test_closing_does_not_wait_for_a_step_that_hangs(place):
    explorer = explorer_of(place)
    (place / "hang").touch()
    waiting = threading.Thread(target=lambda: refused(explorer))
    waiting.start()
    while not (place / "hangs").exists():
        assert waiting.is_alive()
    process = explorer._stages.on_disk._process
    explorer.close()
    waiting.join()
    assert process.returncode is not None


def refused(explorer):
    with pytest.raises(ExecutionError):
        explorer.rollout(PolicyRequest(0, 0))


def test_a_thread_that_hangs_is_told_and_can_come_back(place):
    """As in a notebook, where the run may exist in its process only."""
    explorer = explorer_of(place, own_process=False)
    assert explorer.rollout(PolicyRequest(0, 0))["policy"] == 0
    explorer._answer_seconds = 0.1
    (place / "hang").touch()
    with pytest.raises(UserError, match="nothing more can be executed before it does"):
        explorer.rollout(PolicyRequest(0, 1))
    with pytest.raises(UserError, match="An earlier rollout hangs in its environment"):
        explorer.rollout(PolicyRequest(0, 2))
    (place / "hang").unlink()
    explorer._stages.on_disk._thread.join()
    explorer._answer_seconds = PATIENCE
    assert explorer.rollout(PolicyRequest(0, 1))["policy"] == 1
    explorer.close()


def test_a_thread_is_done_once_it_has_answered(place, monkeypatch):
    """However long the thread itself lives on after its answer."""

    def answered_late(answers, work):
        answers.put(work())
        sleep(0.5)

    monkeypatch.setattr("pcn.explorer.thread_stage._answer", answered_late)
    explorer = explorer_of(place, own_process=False)
    assert [explorer.rollout(PolicyRequest(0, policy))["policy"] for policy in (0, 1)] == [0, 1]
    explorer.close()


def test_closing_while_a_thread_ends_is_no_error():
    stage = ThreadStage()

    class Ending(threading.Thread):
        def join(self, timeout=None):
            super().join(timeout)
            stage._thread = None  # as `execute` does once it has the thread's answer

    ending = stage._thread = Ending(target=lambda: None)
    ending.start()
    stage.close()
    assert not ending.is_alive()
    assert stage._thread is None


def test_a_report_gives_up_an_environment_that_hangs_and_goes_on_without_it(place):
    (place / "hang").touch()
    runs, _ = open_runs([place / "run"])
    missing = []
    assert execute_chosen(runs, 2, on_missing=missing.append, answer_seconds=5.0) == {}
    assert missing == [
        "the report has 0 of 2 rollouts of run: The environment moody:Moody did not answer "
        "within 5 seconds, so the rollout was stopped."
    ]  # once: the second policy would hang as well


def test_a_report_is_written_without_a_policy_whose_environment_dies(place, capsys):
    (place / "die").touch()
    out = place / "front.html"
    main(["report", str(place / "run"), "--rollouts", "1", "--out", str(out)])
    told = capsys.readouterr().err.strip()
    assert told.startswith("pcn: the report has 0 of 1 rollouts of run: policy ")
    assert told.endswith(" could not be executed: its process ended, exit code 3")
    assert "\n" not in told
    assert out.read_text(encoding="utf-8").count('id="rollouts">{}</script>') == 1
