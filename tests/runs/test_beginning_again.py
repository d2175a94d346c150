"""A training that finds out that its environment is stochastic begins again."""

import json

import gymnasium as gym
import numpy as np
import pytest

import pcn
import pcn.runs.folder as folder_module
from pcn.algorithms.pcn.refinements.replay_check import ReplayCheck
from pcn.runs.folder import RunFolder
from pcn.runs.request import Request
from pcn.runs.run import load
from pcn.runs.settled import LEAST_LEFT
from pcn.runs.settling import settle
from sizes import tiny

pytestmark = pytest.mark.slow

BUDGET = 3_000
OPTIONS = {"total_steps": BUDGET, "evaluations": 2, "replay_check": ReplayCheck(share=0.1)}


class Mine(gym.Env):
    """A road that random walks seldom follow to its end, where the ore is random.

    Left and right foot have to take turns; digging ends the episode.
    """

    observation_space = gym.spaces.Discrete(9)
    action_space = gym.spaces.Discrete(3)
    steps = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.time = 0
        return 0, {}

    def step(self, action):
        type(self).steps += 1
        self.time += 1
        ore = 0.0
        if action == 2:
            ore = 0.2 * self.place if self.place < 6 else float(self.np_random.integers(1, 11))
        elif action == self.place % 2:
            self.place = min(8, self.place + 1)
        return self.place, np.array([ore, -1.0]), action == 2, self.time >= 30, {}


def trained(out=None, **options):
    sizes = {**tiny("pcn"), **OPTIONS}
    return pcn.train(Mine, seed=0, out=out, **{**sizes, **options})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The run, the steps that the environment counted, and the steps that were reported."""
    Mine.steps, reported = 0, []

    def report(event):
        if isinstance(event, pcn.Advanced):
            reported.append(event.steps)

    run = trained(tmp_path_factory.mktemp("mine") / "run", report=report)
    return run, Mine.steps, reported


def test_its_policies_are_executed_as_in_a_stochastic_environment(finished):
    run, _, _ = finished
    assert not run.spec.deterministic
    assert run.coverage_set.executions.min() > 1
    (notice,) = [one for one in run.metrics["notices"] if "begins again" in one]
    assert "seemed deterministic" in notice


def test_it_begins_with_the_episodes_that_were_found_and_with_random_ones():
    sizes = {**tiny("pcn"), "total_steps": BUDGET}
    settled = settle(Request(environment=Mine, hyperparameters=sizes))
    trainer = settled.fresh_trainer()
    for _ in range(3):
        before = trainer.iterate()
    settled = settled.as_stochastic(trainer.steps)
    again = settled.fresh_trainer()
    again.take_over(trainer)
    known, found = again.snapshot().arrays["rows.returns"], before.archive
    assert all((np.abs(known - point) < 1e-6).all(axis=1).any() for point in found)
    probed = again.steps
    again.iterate()
    assert again.steps > probed


def test_every_step_counts_and_the_budget_holds(finished):
    run, steps, reported = finished
    phases = run.metrics["steps_by_phase"]
    assert run.metrics["steps"] == sum(phases.values()) == steps <= BUDGET
    assert phases["abandoned"] > 0
    assert reported == sorted(reported)
    assert reported[-1] == steps


def test_the_folder_says_what_the_run_became(finished):
    run, _, _ = finished
    assert not load(run.path).spec.deterministic
    config = json.loads((run.path / "config.json").read_text())
    assert config["arguments"]["deterministic"] is False
    assert config["config"]["total_steps"] == BUDGET


def assert_same(run, other):
    np.testing.assert_array_equal(run.coverage_set.executed, other.coverage_set.executed)
    for name, array in run.weights.items():
        np.testing.assert_array_equal(array, other.weights[name])


def begun_again(event):
    return isinstance(event, pcn.Noticed) and "begins again" in event.sentence


def stopped_after_it(out):
    """The folder of a training that was stopped an iteration after it had begun again."""
    seen = []
    with pytest.raises(pcn.Stopped):
        pcn.train(
            Mine,
            seed=0,
            out=out,
            report=lambda event: seen.append(begun_again(event)),
            stop=lambda: any(seen),
            **{**tiny("pcn"), **OPTIONS},
        )
    return out


def test_stopped_afterwards_it_resumes_to_the_same_result(finished, tmp_path):
    folder = stopped_after_it(tmp_path / "run")
    resumed = pcn.resume(folder)
    assert_same(finished[0], resumed)
    assert resumed.metrics["steps_by_phase"] == finished[0].metrics["steps_by_phase"]


class Killed(BaseException):
    """Nothing in the package catches it."""


def killed_before_the_spec(monkeypatch):
    described = folder_module._described

    def describe(settings, spec, probe):
        if "abandoned" in probe:
            raise Killed
        return described(settings, spec, probe)

    monkeypatch.setattr(folder_module, "_described", describe)


def killed_before_the_config(monkeypatch):
    def complete(self, settings):
        raise Killed

    monkeypatch.setattr(RunFolder, "complete_beginning_again", complete)


def killed_before_the_checkpoint(monkeypatch):
    write_json = folder_module.write_json

    def write(path, content):
        write_json(path, content)
        if path.name == "config.json" and content["arguments"]["deterministic"] is False:
            raise Killed

    monkeypatch.setattr(folder_module, "write_json", write)


@pytest.mark.parametrize(
    "kill", [killed_before_the_spec, killed_before_the_config, killed_before_the_checkpoint]
)
def test_killed_while_the_folder_was_changed_it_ends_in_the_same_result(
    kill, finished, tmp_path, monkeypatch
):
    with monkeypatch.context() as patches:
        kill(patches)
        with pytest.raises(Killed):
            trained(tmp_path / "run")
    run = pcn.resume(tmp_path / "run")
    assert_same(finished[0], run)
    assert load(run.path).settings.arguments["deterministic"] is False
    assert not list(run.path.glob("*next*"))


def test_it_does_not_begin_again_with_little_left_nor_against_the_user():
    sizes = {**tiny("pcn"), "total_steps": BUDGET}
    settled = settle(Request(environment=Mine, hyperparameters=sizes))
    enough = int((1 - LEAST_LEFT) * BUDGET)
    assert settled.may_begin_again(enough)
    assert not settled.may_begin_again(enough + 1)
    said = {"deterministic": True}
    told = settle(Request(environment=Mine, arguments=said, hyperparameters=sizes))
    assert told.spec.deterministic
    assert not told.may_begin_again(enough)
    again = settled.as_stochastic(1_000)
    assert again.abandoned_steps + settled.probe["steps"] == 1_000
    assert not again.may_begin_again(enough)
