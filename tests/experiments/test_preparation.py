"""Before anything starts: every run is checked, and what is there already is compared."""

import shutil
import threading

import pytest

import pcn
from pcn.errors import UserError
from pcn.experiments.preparation import prepare
from pcn.experiments.sweep import sweep_plan
from pcn.serialisation.files import read_json, write_json
from sizes import tiny

TINY = {name: [value] for name, value in tiny("ra").items() if name != "total_steps"}


def plan_of(*, seeds=(0, 1), total_steps=150, environments=("deep-sea-treasure",), **grid):
    return sweep_plan(
        environments,
        algorithms=["ra"],
        seeds=seeds,
        grid={**TINY, **grid},
        total_steps=total_steps,
    )


def train(run, folder, **options):
    request = run.request
    return pcn.train(
        request.environment,
        algorithm=request.algorithm,
        seed=request.seed,
        out=folder / run.place,
        **request.hyperparameters,
        **options,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An experiment with a finished run and one that was stopped."""
    folder = tmp_path_factory.mktemp("experiment")
    plan = plan_of(seeds=(0, 1, 2))
    plan.write(folder)
    finished, begun, _ = plan.runs
    (folder / finished.place).parent.mkdir(parents=True)
    train(finished, folder)
    stop = threading.Event()
    stop.set()
    with pytest.raises(pcn.Stopped):
        train(begun, folder, stop=stop)
    return folder


@pytest.mark.slow
def test_finished_runs_are_kept_and_begun_ones_continued(folder):
    found = prepare(plan_of(seeds=(0, 1, 2)), folder)
    assert [run.request.seed for run in found.finished] == [0]
    assert [run.request.seed for run in found.begun] == [1]
    assert [run.request.seed for run in found.missing] == [1, 2]
    assert found.sentence == "The plan keeps 1 finished run, continues 1, begins 1."


@pytest.mark.slow
def test_a_changed_plan_says_what_it_keeps_and_what_it_leaves(folder):
    found = prepare(plan_of(seeds=(0, 3, 4)), folder)
    assert "The changed plan keeps 1 finished run, continues 0, begins 2, leaves 2" in (
        found.sentence
    )
    assert "seed-1" in found.sentence
    assert (folder / "plan.json").exists()


@pytest.mark.slow
def test_a_run_of_a_version_with_fewer_hyperparameters_is_kept(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "old")
    [path] = (tmp_path / "old").glob("runs/*/*/seed-0/config.json")
    content = read_json(path)
    assert content["config"].pop("damping") == 1e-3, "its default"
    write_json(path, content)
    assert len(prepare(plan_of(seeds=(0, 1)), tmp_path / "old").finished) == 1


@pytest.mark.slow
def test_a_run_with_other_settings_is_refused(folder):
    before = (folder / "plan.json").read_bytes()
    with pytest.raises(UserError, match=r"seed-0 has total_steps 150, the plan has 300: choose"):
        prepare(plan_of(total_steps=300), folder)
    assert (folder / "plan.json").read_bytes() == before


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"environments": ["deep-sea-treasure", "deep-see"]}, "no environment is called"),
        ({"discount": [0.9, 2.0]}, "discount must be above 0 and at most 1, got 2"),
        ({"width": ["wide"]}, "width must be of type int"),
        ({"total_steps": 0}, "total_steps must be at least 1"),
    ],
)
def test_what_cannot_be_trained_is_told_before_anything_is_written(given, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence):
        prepare(plan_of(**given), tmp_path / "experiment")
    assert not list(tmp_path.iterdir())
