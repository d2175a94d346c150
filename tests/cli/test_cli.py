"""The commands, as a new user types them."""

import csv
import json
import re
import shutil
import sys

import numpy as np
import pytest
from PIL import Image

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.pcn.config import PCNConfig
from pcn.cli import main
from pcn.cli.main import COMMANDS
from pcn.cli.options import algorithm_options, environment_options, with_values
from pcn.figures.progress import progress_figure
from pcn.runs import load
from refusals import refusal
from sizes import quick

OTHERS = [name for name in ALGORITHMS if name != "pcn"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "dst"
    main(
        ["train", "deep-sea-treasure", "--seed", "1", "--out", str(folder), "--total-steps", "3000"]
    )
    return folder


@pytest.mark.slow
def test_training_writes_every_file_and_says_what_to_type_next(run, capsys):
    written = {path.name for path in run.iterdir()}
    assert written == {
        "config.json", "spec.json", "progress.csv", "front.csv", "metrics.json", "weights.npz",
        "checkpoint.npz",
    }  # fmt: skip
    main(["evaluate", str(run)])
    shown = capsys.readouterr().out
    assert "executed" in shown
    assert f"pcn play {run} --policy 0" in shown


@pytest.mark.slow
def test_the_files_hold_what_the_documentation_promises(run):
    metrics = json.loads((run / "metrics.json").read_text())
    assert 2000 <= metrics["steps"] <= 3000
    assert {"hypervolume", "epsilon", "epsilon_mean", "cardinality"} <= metrics["executed"].keys()
    assert metrics["archive"].keys() == metrics["executed"].keys()
    assert metrics["fidelity"].keys() == {"exact", "distance"}
    with (run / "front.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= metrics["executed"]["cardinality"]
    assert {"id", "requested_treasure", "requested_time", "requested_horizon",
            "executed_treasure", "executed_time"} <= rows[0].keys()  # fmt: skip
    config = json.loads((run / "config.json").read_text())
    assert (config["environment"], config["seed"]) == ("deep-sea-treasure", 1)
    assert config["config"]["total_steps"] == 3000


@pytest.mark.slow
def test_play_shows_each_step_and_saves_a_film(run, capsys, tmp_path):
    film = tmp_path / "play.gif"
    main(["play", str(run), "--policy", "1", "--save", str(film)])
    shown = capsys.readouterr().out
    steps = int(shown.split("Executed")[1].split(" in ")[1].split()[0])
    with Image.open(film) as picture:
        assert picture.n_frames == steps + 1
    assert "Wrote" in shown
    assert "--save play.gif" in shown.partition("Next:")[2]


@pytest.mark.slow
def test_plot_writes_the_format_asked_for(run, tmp_path):
    for ending, magic in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        path = tmp_path / f"front{ending}"
        main(["plot", str(run), "--out", str(path)])
        assert path.read_bytes().startswith(magic)


@pytest.mark.slow
def test_progress_is_drawn_as_what_is_missing_from_the_known_front(run, tmp_path):
    path = tmp_path / "progress.png"
    main(["plot", str(run), str(run), "--progress", "--out", str(path)])
    assert path.read_bytes().startswith(b"\x89PNG")
    loaded = load(run)
    figure = progress_figure([loaded])
    archive, executed = figure.axes[0].get_lines()
    last = loaded.metrics["executed"]["hypervolume"]
    volumes = [evaluation.executed_hypervolume for evaluation in loaded.progress] + [last]
    np.testing.assert_allclose(22855 - executed.get_ydata(), volumes, atol=1e-3)
    assert len(archive.get_xdata()) == len(loaded.progress) + 1


@pytest.mark.slow
def test_plot_says_which_runs_it_wants(run, capsys):
    assert "Name its folder" in refusal(capsys, "plot")
    main(["plot", str(run), str(run), "--out", str(run.parent / "both.png")])
    assert (run.parent / "both.png").exists()


def test_envs_lists_every_environment(capsys):
    main(["envs"])
    shown = capsys.readouterr().out
    assert "deep-sea-treasure" in shown
    assert "proven, 10 points" in shown
    assert "authors' values" not in shown


def test_envs_shows_what_recipes_change_and_why(capsys):
    main(["envs", "minecart", "--verbose"])
    shown = capsys.readouterr().out
    for algorithm in ALGORITHMS:
        assert f"{algorithm}, default preset" in shown
    assert "learning_rate = 0.001  the authors' values" in shown
    assert "total_steps = 10000000  the paper's budget for PCN" in shown
    assert "walkroom" not in shown
    assert "no environment is called 'mine'" in refusal(capsys, "envs", "mine")


def test_a_wrong_name_is_answered_with_the_right_ones(capsys, tmp_path):
    out = tmp_path / "out"
    assert "deep-sea-treasure" in refusal(capsys, "train", "deep-see", "--out", out)
    assert "default, paper, authors" in refusal(
        capsys, "train", "deep-sea-treasure", "--preset", "best", "--out", out
    )
    assert "pcn" in refusal(
        capsys, "train", "deep-sea-treasure", "--algorithm", "ppo", "--out", out
    )
    assert "envs, check, train" in refusal(capsys, "trian")
    assert not out.exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--total-steps", "0"),
        ("--discount", "1.5"),
        ("--learning-rate", "-1"),
        ("--capacity", "0"),
        ("--archive-fraction", "2"),
        ("--seed", "-1"),
    ],
)
def test_an_impossible_value_is_named_and_nothing_is_written(capsys, tmp_path, option, value):
    out = tmp_path / "out"
    sentence = refusal(capsys, "train", "deep-sea-treasure", "--out", out, option, value)
    assert option.strip("-").replace("-", "_") in sentence
    assert value in sentence
    assert not out.exists()


def test_a_scale_of_the_wrong_length_is_refused_before_anything_is_written(capsys, tmp_path):
    out = tmp_path / "out"
    sentence = refusal(
        capsys, "train", "deep-sea-treasure", "--out", out, "--command-scale", "1", "2"
    )
    assert "command_scale has 2 numbers, expected 3" in sentence
    assert not out.exists()


@pytest.mark.slow
def test_an_existing_folder_is_never_overwritten(run, capsys):
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    assert "exists already" in refusal(capsys, "train", "deep-sea-treasure", "--out", run)
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


@pytest.mark.slow
def test_a_damaged_spec_is_told(run, capsys, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    (copy / "spec.json").write_text('{"format": 2}')
    assert "spec.json is damaged" in refusal(capsys, "plot", copy)


@pytest.mark.slow
def test_commands_refuse_what_is_no_finished_run(run, capsys, tmp_path):
    assert "not a folder" in refusal(capsys, "evaluate", tmp_path / "nothing")
    assert "not a run" in refusal(capsys, "evaluate", tmp_path)
    assert "there is no policy 99" in refusal(capsys, "play", run, "--policy", 99)
    assert "finished already" in refusal(capsys, "resume", run)
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    (unfinished / "config.json").write_text((run / "config.json").read_text())
    assert "pcn resume" in refusal(capsys, "evaluate", unfinished)
    (unfinished / "config.json").write_text("{")
    assert "damaged" in refusal(capsys, "evaluate", unfinished)
    (unfinished / "config.json").write_text('{"format": 999}')
    assert "format 999" in refusal(capsys, "resume", unfinished)


@pytest.mark.slow
def test_a_damaged_front_is_told(run, capsys, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in run.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    (copy / "front.csv").write_text("id,a\n1\n")
    assert "front.csv is damaged" in refusal(capsys, "evaluate", copy)
    (copy / "front.csv").write_bytes((run / "front.csv").read_bytes())
    (copy / "weights.npz").write_bytes(b"PK not a zip")
    assert "weights.npz is damaged" in refusal(capsys, "play", copy, "--policy", 0)


@pytest.fixture(scope="module")
def other_runs(tmp_path_factory):
    """A short run of each of the other algorithms."""
    folder = tmp_path_factory.mktemp("others")
    common = ["train", "deep-sea-treasure", "--total-steps", "3000"]
    for name in OTHERS:
        options = [f"--{key.replace('_', '-')}={value}" for key, value in quick(name).items()]
        main([*common, "--algorithm", name, "--out", str(folder / name), *options])
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_runs_of_every_algorithm_serve_every_command(other_runs, name, capsys, tmp_path):
    run = other_runs / name
    config = json.loads((run / "config.json").read_text())
    assert config["algorithm"] == name
    main(["evaluate", str(run)])
    assert "hypervolume" in capsys.readouterr().out
    main(["play", str(run), "--policy", "0"])
    shown = capsys.readouterr().out
    assert "Executed" in shown
    assert "command" not in shown  # these policies take none
    main(["plot", str(run), "--out", str(tmp_path / "front.png")])
    assert (tmp_path / "front.png").exists()
    assert "finished already" in refusal(capsys, "resume", run)


def test_help_lists_every_option_with_its_default(capsys):
    with pytest.raises(SystemExit):
        main(["train", "deep-sea-treasure", "--help-all"])
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for option in (*algorithm_options().values(), *environment_options().values()):
        assert option.flag in shown
    assert "every algorithm's options" in shown
    assert "ra options" in shown
    assert f"(default: {PCNConfig().capacity})" in shown
    assert "pcn envs --verbose" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_no_help_says_that_a_default_is_none(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help-all"])
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert f"usage: pcn {command}" in shown
    assert not re.search(r"\(default:[^)]*None", shown)


def test_no_option_is_both_an_algorithm_s_and_an_environment_s():
    assert not algorithm_options().keys() & environment_options().keys()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["ENV", "--workers"], ["ENV", "--workers", "True"]),
        (["--workers", "ENV"], ["--workers", "True", "ENV"]),
        (["--no-workers", "ENV"], ["--workers", "False", "ENV"]),
        (["ENV", "--workers", "ray"], ["ENV", "--workers", "ray"]),
        (["ENV", "--workers=ray"], ["ENV", "--workers=ray"]),
        (["ENV", "--deterministic", "True"], ["ENV", "--deterministic", "True"]),
    ],
)
def test_a_switch_that_also_takes_a_word_gets_its_value(given, expected):
    assert with_values(given, environment_options()) == expected


def test_workers_on_a_cluster_name_the_extra_or_the_address(capsys, tmp_path, monkeypatch):
    command = ["train", "deep-sea-treasure-v0", "--total-steps", 300, "--out", tmp_path / "run"]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "ray", None)  # as if it were not installed
        sentence = refusal(capsys, *command, "--workers", "ray")
    assert sentence == "pcn: ray is not installed: pip install 'pcn[ray]'"
    pytest.importorskip("ray", reason="the extra pcn[ray] is not installed")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    sentence = refusal(capsys, *command, "--workers", "ray")
    assert "no Ray cluster answers at 127.0.0.1:1" in sentence
    assert not (tmp_path / "run").exists()


def test_an_option_of_others_is_answered_with_its_owners(capsys):
    sentence = refusal(
        capsys, "train", "deep-sea-treasure", "--algorithm", "mones", "--capacity", 9
    )
    assert "--capacity is an option of pcn, not of mones" in sentence
    assert "option of ra, not of pcn" in refusal(capsys, "train", "minecart", "--horizon=9")
    sentence = refusal(capsys, "train", "minecart", "--no-workers")
    assert "crossroad-stochastic and Gymnasium environments, not of minecart" in sentence
    sentence = refusal(capsys, "train", "deep-sea-treasure-v0", "--simulators", 3)
    assert "crossroad-authors and crossroad-stochastic, not of deep-sea-treasure-v0" in sentence


def test_ra_says_what_many_objectives_would_cost(capsys, tmp_path):
    sentence = refusal(
        capsys, "train", "walkroom-6", "--algorithm", "ra", "--out", tmp_path / "out"
    )
    assert "1,287 policies" in sentence
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_whole_numbers_may_be_typed_in_powers_of_ten(tmp_path, capsys):
    folder = tmp_path / "run"
    main(["train", "walkroom", "--objectives", "2e0", "--total-steps", "1e3", "--algorithm", "ra",
          "--intervals", "2e0", "--episodes-per-update", "2", "--out", str(folder)])  # fmt: skip
    config = json.loads((folder / "config.json").read_text())
    assert (config["arguments"]["objectives"], config["config"]["total_steps"]) == (2, 1000)
    with pytest.raises(SystemExit):
        main(["train", "deep-sea-treasure", "--total-steps", "1.5", "--out", str(tmp_path / "no")])
    assert "not a whole number" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_an_option_may_be_set_to_nothing(tmp_path):
    folder = tmp_path / "run"
    main(["train", "deep-sea-treasure", "--algorithm", "mones", "--patience", "None",
          "--final-draws", "10", "--total-steps", "1000", "--out", str(folder)])  # fmt: skip
    assert json.loads((folder / "config.json").read_text())["config"]["patience"] is None


@pytest.mark.slow
def test_probing_is_told_before_it_begins_and_in_the_files(tmp_path, capsys):
    folder = tmp_path / "run"
    main(["train", "deep-sea-treasure-v0", "--total-steps", "500", "--out", str(folder)])
    before, after = capsys.readouterr().out.splitlines()[:2]
    spec = json.loads((folder / "spec.json").read_text())
    metrics = json.loads((folder / "metrics.json").read_text())
    assert spec["probe"]["steps"] <= 100  # a fifth of so few steps
    assert before.startswith("Probing deep-sea-treasure-v0 with random episodes, at most 100 steps")
    told = f"{spec['probe']['episodes']} random episodes, {spec['probe']['steps']:,} steps"
    assert f"probed with {told}: deterministic (0 of" in after
    assert metrics["probe"] == spec["probe"]
    assert metrics["steps_by_phase"]["probing"] == spec["probe"]["steps"] > 0
    assert metrics["steps"] == sum(metrics["steps_by_phase"].values())


@pytest.mark.slow
def test_resuming_says_what_is_resumed(run, tmp_path, capsys):
    unfinished = tmp_path / "unfinished"
    shutil.copytree(run, unfinished)
    (unfinished / "metrics.json").unlink()
    main(["resume", str(unfinished)])
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "Resuming pcn on deep-sea-treasure (default preset, seed 1)"


@pytest.mark.slow
def test_a_reference_point_that_nothing_beats_is_noted(tmp_path, capsys):
    main(
        ["train", "deep-sea-treasure-v0", "--reference-point", "200", "0", "--total-steps", "500",
         "--out", str(tmp_path / "run")]
    )  # fmt: skip
    shown = " ".join(capsys.readouterr().out.split())
    assert "no return beats the reference point (200, 0) in every objective" in shown


@pytest.mark.slow
def test_the_value_of_an_option_is_not_taken_for_the_environment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["train", "--total-steps", "1000", "--out", "minecart", "deep-sea-treasure"])
    config = json.loads((tmp_path / "minecart" / "config.json").read_text())
    assert config["environment"] == "deep-sea-treasure"
    assert config["config"]["capacity"] == PCNConfig().capacity


@pytest.mark.slow
def test_the_environment_may_follow_a_flag(tmp_path):
    folder = tmp_path / "run"
    options = ["--total-steps=1000", f"--out={folder}", "--no-variations", "deep-sea-treasure"]
    main(["train", *options])
    assert (
        "variations"
        not in json.loads((folder / "config.json").read_text())["config"]["refinements"]
    )
