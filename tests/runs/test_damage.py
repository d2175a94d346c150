"""Files of a run that are damaged, foreign or changed: one sentence names the file."""

import errno
import io
import json
import os
import pickle
import re
import shutil
import zipfile

import numpy as np
import pytest

import pcn
from made_runs import evaluations, save_run
from pcn.errors import UserError
from pcn.runs.folder import CHECKPOINT, CHECKPOINT_BEFORE, RunFolder
from pcn.serialisation.files import read_arrays, write_arrays
from sizes import tiny

TRAINER = {"steps": 7}
RECORD = {"rows": [], "seconds": 1.0}


@pytest.fixture
def folder(tmp_path):
    """A finished run with weights."""
    path = save_run(tmp_path / "run", [[1, -1], [2, -3]], progress=evaluations((10, 1.0, 0.5)))
    claimed = RunFolder.open(path).claim(take_over=True)
    claimed.write_weights({"weight": np.arange(3.0)})
    claimed.write_metrics(RunFolder.open(path).read_metrics()[0])
    claimed.release()
    return path


def checkpointed(path, *steps):
    """The run's folder with a checkpoint for each of these numbers of steps."""
    claimed = RunFolder.open(path).claim()
    for number in steps:
        content = {"trainer": {"steps": number}, "record": RECORD}
        claimed.write_checkpoint(content, {"array": np.arange(5.0)})
    return claimed


def changed(path, **changes):
    """Change a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def refusal(path):
    """The one sentence with which a run is refused."""
    with pytest.raises(UserError) as error:
        pcn.load(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_run_as_it_was_written_is_read(folder):
    run = pcn.load(folder)
    assert "files" not in run.metrics
    np.testing.assert_array_equal(run.weights["weight"], [0, 1, 2])


@pytest.mark.parametrize("name", ["config.json", "spec.json", "front.csv", "progress.csv"])
def test_files_of_two_runs_do_not_go_together(name, folder, tmp_path):
    other = save_run(
        tmp_path / "other", [[1, -1], [2, -4]], seed=1, progress=evaluations((10, 1.0, 0.4)),
        name="elsewhere",
    )  # fmt: skip
    shutil.copy(other / name, folder / name)
    assert re.search(
        rf"{name} does not belong to .*metrics\.json: it was changed, or is of another",
        refusal(folder),
    )


def test_weights_of_another_run_are_refused_where_they_are_read(folder):
    write_arrays(folder / "weights.npz", {"weight": np.arange(4.0)})
    assert re.search(r"weights\.npz does not belong to", refusal(folder))
    assert len(pcn.load(folder, weights=False).coverage_set) == 2


def test_line_ends_may_change(folder):
    front = folder / "front.csv"
    front.write_bytes(front.read_bytes().replace(b"\n", b"\r\n"))
    assert len(pcn.load(folder).coverage_set) == 2


def test_runs_of_earlier_versions_have_no_fingerprints(folder):
    metrics = json.loads((folder / "metrics.json").read_text())
    del metrics["files"]
    (folder / "metrics.json").write_text(json.dumps(metrics))
    assert len(pcn.load(folder).coverage_set) == 2


WRONG = {
    "a word for a hypervolume": {"executed": {"hypervolume": "much", "cardinality": 1}},
    "no hypervolume": {"archive": {"cardinality": 1}},
    "a list for a metric": {"executed": {"hypervolume": [1], "cardinality": 1}},
    "NaN": {"archive": {"hypervolume": float("nan"), "cardinality": 1}},
    "no fidelity": {"fidelity": {"distance": 1}},
    "half a policy": {"policies": 1.5},
    "negative steps": {"steps": -1},
    "words for steps": {"steps": "many"},
    "a word for seconds": {"seconds": "long"},
    "one tolerance": {"tolerances": 1},
    "a word for tolerances": {"tolerances": ["a", "b"]},
    "a word for phases": {"steps_by_phase": "none"},
    "a list of files": {"files": [1]},
    "a list for a version": {"made_with": {"pcn": [1]}},
    "a word for those that were stopped": {"stopped": "many"},
}


@pytest.mark.parametrize("name", ["format", "environment", "seed", "config"])
def test_settings_that_lack_something_are_refused_with_the_run_and_the_name(name, folder):
    content = json.loads((folder / "config.json").read_text())
    del content[name]
    (folder / "config.json").write_text(json.dumps(content))
    assert refusal(folder) == f"{folder}: config.json is damaged: {name} is missing"


@pytest.mark.parametrize("seed", [-1, "one"])
def test_a_seed_that_cannot_be_is_refused(seed, folder):
    changed(folder / "config.json", seed=seed)
    assert refusal(folder) == f"{folder}: config.json is damaged: seed is {seed!r}"


@pytest.mark.parametrize("name", WRONG)
def test_metrics_of_wrong_types_are_refused(name, folder):
    changed(folder / "metrics.json", **WRONG[name])
    assert re.search(r"metrics\.json is damaged: ", refusal(folder))


@pytest.mark.parametrize("value", ["many", "nan", "inf", "-5", ""])
@pytest.mark.parametrize("column", ["steps", "executed_hypervolume", "executed_cardinality"])
def test_progress_of_wrong_types_is_refused(value, column, folder):
    header, row = (folder / "progress.csv").read_text().splitlines()
    cells = dict(zip(header.split(","), row.split(","), strict=True)) | {column: value}
    (folder / "progress.csv").write_text(f"{header}\n{','.join(cells.values())}\n")
    assert re.search(rf"progress\.csv is damaged: {column} is ", refusal(folder))


def test_json_that_nests_too_deeply_is_refused(folder):
    (folder / "metrics.json").write_text("[" * 100_000)
    assert re.search(r"metrics\.json is damaged", refusal(folder))


def test_a_link_that_leads_out_is_refused(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere.csv"
    (folder / "front.csv").rename(elsewhere)
    (folder / "front.csv").symlink_to(elsewhere)
    assert re.search(r"front\.csv is a link that leads out of the run", refusal(folder))


def npz(**members):
    """An archive with these members."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return content.getvalue()


def npy(array):
    content = io.BytesIO()
    np.save(content, array, allow_pickle=True)
    return content.getvalue()


def test_arrays_that_swell_are_not_unpacked(tmp_path):
    bomb = npz(weight=npy(np.zeros(10_000_000)), __facts__=npy(np.frombuffer(b"{}", np.uint8)))
    assert len(bomb) < 200_000
    (tmp_path / "weights.npz").write_bytes(bomb)
    with pytest.raises(UserError, match=r"is damaged: .*compressed"):
        read_arrays(tmp_path / "weights.npz")


def test_a_header_that_promises_more_than_there_is_is_refused(tmp_path):
    write_arrays(tmp_path / "a.npz", {"weight": np.zeros(100)})
    content = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(content.replace(b"(100,), }      ", b"(10**12,), }   "))
    with pytest.raises(UserError, match="is damaged"):
        read_arrays(tmp_path / "a.npz")


def test_pickles_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("weight.npy", npy(np.array([{"a": 1}], dtype=object)))
        archive.writestr("__facts__.npy", npy(np.frombuffer(b"{}", np.uint8)))
    with pytest.raises(UserError, match="is damaged"):
        read_arrays(tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes(pickle.dumps({"weight": 1}))
    with pytest.raises(UserError, match="is damaged"):
        read_arrays(tmp_path / "b.npz")


TAMPERED = {
    "shorter": lambda arrays, facts: arrays.update(array=arrays["array"][:-1]),
    "other numbers": lambda arrays, facts: arrays.update(array=arrays["array"] + 1),
    "another type": lambda arrays, facts: arrays.update(array=arrays["array"].astype(np.float32)),
    "another name": lambda arrays, facts: arrays.update(more=np.zeros(1)),
    "negative steps": lambda arrays, facts: facts["trainer"].update(steps=-7),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_checkpoint_that_was_changed_is_refused_though_its_checksums_fit(name, folder):
    claimed = checkpointed(folder, 7)
    path = folder / CHECKPOINT
    assert claimed.read_checkpoint(path)[1:] == (TRAINER, RECORD)
    arrays, facts = read_arrays(path)
    TAMPERED[name](arrays, facts)
    write_arrays(path, arrays, **facts)
    with pytest.raises(UserError, match="is damaged: its content is not what was written"):
        claimed.read_checkpoint(path)


def test_the_checkpoint_before_the_last_one_is_kept_until_the_end(folder):
    claimed = checkpointed(folder, 5, 6, 7)
    kept = [claimed.read_checkpoint(path)[1]["steps"] for path in claimed.checkpoints()]
    assert kept == [7, 6]
    claimed.write_metrics(claimed.read_metrics()[0])
    assert not (folder / CHECKPOINT_BEFORE).exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 5}, "seed is 5 and was 0"),
        ({"pcn": "9.9"}, "pcn is '9.9' and was"),
        ({"config": {"discount": 0.5}}, r"config\.discount is 0\.5 and was 1\.0"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(change, told, folder):
    claimed = checkpointed(folder, 7)
    changed(folder / "config.json", **change)
    with pytest.raises(UserError, match=f"other settings than those in config.json: .*{told}"):
        claimed.read_checkpoint(folder / CHECKPOINT)


SETTINGS = {**tiny("pcn"), "total_steps": 600}


def result(path):
    return {
        name: (path / name).read_bytes() for name in ("weights.npz", "front.csv", "config.json")
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "undisturbed"
    pcn.train("deep-sea-treasure", out=path, **SETTINGS)
    return path


def interrupted(path, *, after):
    """A training that was stopped after some iterations, with two checkpoints."""
    iterations = iter(range(100))
    with pytest.raises(pcn.Stopped):
        pcn.train(
            "deep-sea-treasure",
            out=path,
            checkpoint_seconds=0,
            stop=lambda: next(iterations) >= after,
            **SETTINGS,
        )
    return path


@pytest.mark.slow
def test_a_damaged_checkpoint_falls_back_to_the_one_before_it(undisturbed, tmp_path):
    path = interrupted(tmp_path / "run", after=3)
    (path / CHECKPOINT).write_bytes((path / CHECKPOINT).read_bytes()[:500])
    told = []
    run = pcn.resume(path, report=told.append)
    notes = [event.sentence for event in told if isinstance(event, pcn.Noticed)]
    assert re.search(r"checkpoint\.npz is damaged: .*; the checkpoint before it is used", notes[0])
    assert run.metrics["notices"] == notes
    assert result(path) == result(undisturbed)


@pytest.mark.slow
def test_a_run_of_an_algorithm_that_there_is_none_of_does_not_go_on(tmp_path):
    interrupted(tmp_path / "run", after=1)
    changed(tmp_path / "run" / "config.json", algorithm="")
    with pytest.raises(UserError, match="no algorithm is called ''"):
        pcn.resume(tmp_path / "run")


@pytest.mark.slow
def test_a_run_begun_with_another_version_says_so(tmp_path, monkeypatch):
    path = interrupted(tmp_path / "run", after=1)
    monkeypatch.setattr("pcn.runs.settling.__version__", "99.0")
    told = []
    pcn.resume(path, report=told.append)
    notes = [event.sentence for event in told if isinstance(event, pcn.Noticed)]
    assert re.search(r"begun with pcn .* and goes on with 99\.0", notes[0])


@pytest.mark.slow
def test_a_folder_that_vanishes_loses_nothing(undisturbed, tmp_path):
    path = tmp_path / "run"
    vanished, notes = [], []

    def report(event):
        if isinstance(event, pcn.Noticed):
            notes.append(event.sentence)
        if isinstance(event, pcn.Advanced) and not vanished:
            shutil.rmtree(path)
            vanished.append(True)

    pcn.train("deep-sea-treasure", out=path, report=report, checkpoint_seconds=0, **SETTINGS)
    assert notes == [f"{path} had vanished; it was made again, and nothing is lost"]
    assert result(path) == result(undisturbed)
    pcn.load(path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(0, 12, 2))
def test_a_disk_that_is_full_at_some_write_loses_nothing(
    number, undisturbed, tmp_path, monkeypatch
):
    path = tmp_path / "run"
    count = iter(range(10_000))

    def fsync(descriptor):
        if next(count) >= number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fsync)
        with pytest.raises(UserError, match="No space left on device"):
            pcn.train("deep-sea-treasure", out=path, checkpoint_seconds=0, **SETTINGS)
    if path.exists():
        pcn.resume(path)
    else:  # it was full before the run had a folder
        pcn.train("deep-sea-treasure", out=path, **SETTINGS)
    assert result(path) == result(undisturbed)
    assert not list(path.glob(".*")), "something temporary was left"
