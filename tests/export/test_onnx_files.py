"""The files of an exported model, and what is refused before anything is written."""

import ast
import json
import sys
import unicodedata
from pathlib import Path

import onnx
import pytest

from explored import shown
from pcn.cli import main
from pcn.errors import UserError
from pcn.export import write_onnx
from pcn.export.onnx_files import OnnxFiles
from pcn.export.runner import is_for_another_model, runner_source


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    run = shown("pcn").acting
    return run, write_onnx(run, tmp_path_factory.mktemp("exported") / "deep-sea.onnx", policy=1)


def test_the_model_is_valid_and_has_a_batch_axis(exported):
    model = onnx.load(exported[1].model)
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version == 9
    assert [(one.domain, one.version) for one in model.opset_import] == [("", 17)]
    values = [*model.graph.input, *model.graph.output]
    assert {value.type.tensor_type.shape.dim[0].dim_param for value in values} == {"batch"}


def test_the_metadata_say_how_to_act(exported):
    run, files = exported
    model = onnx.load(files.model)
    (entry,) = model.metadata_props
    assert entry.key == "pcn"
    facts = json.loads(entry.value)
    assert facts["environment"] == "deep-sea-treasure"
    assert facts["discount"] == 1.0
    (policy,) = facts["policies"]
    assert policy["id"] == 1
    assert policy["desired_return"] == run.coverage_set.requested[1].tolist()
    assert policy["executed"] == run.coverage_set.executed[1].tolist()
    assert facts["networks"][0]["kind"] == "rewards"


def test_the_card_says_what_was_executed_and_with_what(exported):
    run, files = exported
    card = files.card.read_text()
    treasure, time = run.coverage_set.executed[1]
    assert f"| 1 | {treasure:g} | {time:g} | {treasure:g} | {time:g} | 1 |" in card
    assert "reference point" in card
    assert f"seed {run.settings.seed}" in card
    assert "discounted by 1." in card
    assert "64 greedy actions are equal" in card
    assert "taken to be deterministic" in card


def test_the_runner_is_short_and_can_be_imported(exported):
    assert exported[1].runner.name == "deep_sea_policy.py"
    lines = exported[1].runner.read_text().splitlines()
    assert "json" not in "".join(lines)  # the command stands in the file
    assert len([line for line in lines if line.strip()]) <= 22
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", ["3.onnx", "p-1.onnx", "größe.onnx", "x².onnx", "ﬁn.onnx"])
def test_every_name_makes_a_runner_that_can_be_imported(name):
    runner = OnnxFiles.beside(Path(name)).runner.stem
    assert runner.isidentifier()
    assert unicodedata.normalize("NFKC", runner) == runner


PLAIN = {
    "networks": [{"kind": "none"}], "pictures": None, "mask_size": 0, "policies": [{}],
    "observation": [], "action": {"shape": []},
}  # fmt: skip


@pytest.mark.parametrize("name", ['a"b.onnx', '"""', "back\\slash.onnx", "größe 😀.onnx"])
def test_a_runner_finds_a_model_of_any_name(name):
    source = runner_source(PLAIN, name)
    tree = ast.parse(source)
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert name in texts  # beside the runner, by this very name
    assert not is_for_another_model(source, name)
    assert is_for_another_model(source, "other.onnx")


def test_two_models_never_share_a_runner(tmp_path):
    """Their names differ in a character that no module's name can have."""
    runner = tmp_path / "p_1_policy.py"
    runner.write_text(runner_source(PLAIN, "p-1.onnx"))
    assert OnnxFiles.beside(tmp_path / "p_1.onnx").runner == runner
    with pytest.raises(UserError, match=r"p_1_policy\.py acts with another model than p_1\.onnx"):
        write_onnx(shown("pcn").acting, tmp_path / "p_1.onnx", policy=0)
    assert [path.name for path in tmp_path.iterdir()] == ["p_1_policy.py"]


def test_a_runner_of_an_older_version_is_known_by_its_model():
    first = '"""Written by pcn 0.2.0: acts with p.onnx; needs numpy and onnxruntime only."""'
    assert not is_for_another_model(first, "p.onnx")
    assert is_for_another_model(first, "q.onnx")


@pytest.mark.parametrize(
    ("name", "policy", "sentence"),
    [
        ("policy.pb", 0, "must end in .onnx"),
        ("nowhere/policy.onnx", 0, "is not a folder"),
        ("policy.onnx", 99, "there is no policy 99"),
        ("x" * 300 + ".onnx", 0, "name too long"),
        ("\0.onnx", 0, "null (byte|character)"),
        ("\udcff.onnx", 0, "cannot write"),
    ],
)
def test_what_cannot_be_written_is_told_in_a_sentence(name, policy, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence):
        write_onnx(shown("pcn").acting, tmp_path / name, policy=policy)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_a_place_without_a_name_is_told_in_a_sentence(name):
    with pytest.raises(UserError, match=r"must end in \.onnx"):
        write_onnx(shown("pcn").acting, name, policy=0)


def test_files_of_ones_own_are_not_overwritten(tmp_path):
    (tmp_path / "policy_card.md").write_text("my notes")
    with pytest.raises(UserError, match="was not written by pcn"):
        write_onnx(shown("pcn").acting, tmp_path / "policy.onnx", policy=0)
    assert (tmp_path / "policy_card.md").read_text() == "my notes"
    assert not (tmp_path / "policy.onnx").exists()


def test_without_the_extra_a_sentence_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UserError, match=r"pip install 'pcn\[onnx\]'"):
        write_onnx(shown("pcn").acting, tmp_path / "policy.onnx", policy=0)


def test_the_command_writes_three_files_and_prints_the_runner(tmp_path, capsys):
    path = shown("pcn").run.path
    main(["export", str(path), "--policy", "2", "--onnx", str(tmp_path / "picked.onnx")])
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"picked.onnx", "picked_policy.py", "picked_card.md"}
    printed = capsys.readouterr().out
    assert (tmp_path / "picked_policy.py").read_text().strip() in printed


def test_the_command_asks_what_to_write(capsys):
    with pytest.raises(SystemExit):
        main(["export", str(shown("pcn").run.path)])
    assert "what should be written?" in capsys.readouterr().err
