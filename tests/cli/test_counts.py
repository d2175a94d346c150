"""How many environments the commands construct, and how many episodes they play beforehand."""

import pytest
from mo_gymnasium.envs.deep_sea_treasure.deep_sea_treasure import DeepSeaTreasure

import pcn.envs.deep_sea_treasure
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.cli import main
from pcn.nets.policy import ConditionedPolicy


@pytest.fixture
def counts(monkeypatch):
    """Constructions and episodes of MO-Gymnasium's Deep Sea Treasure, from now on."""
    count = {"constructed": 0, "episodes": 0}
    construct, reset = DeepSeaTreasure.__init__, DeepSeaTreasure.reset

    def counted_construct(self, *arguments, **options):
        count["constructed"] += 1
        construct(self, *arguments, **options)

    def counted_reset(self, *arguments, **options):
        count["episodes"] += 1
        return reset(self, *arguments, **options)

    monkeypatch.setattr(DeepSeaTreasure, "__init__", counted_construct)
    monkeypatch.setattr(DeepSeaTreasure, "reset", counted_reset)
    return count


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "run"
    main(["train", "deep-sea-treasure-v0", "--total-steps", "500", "--out", str(path)])
    return path


@pytest.mark.slow
def test_training_constructs_one_environment_per_slot_and_one_more(counts, tmp_path, monkeypatch):
    before_training = []
    iterate = PCNTrainer.iterate

    def watched(trainer):
        before_training.append(dict(counts))
        return iterate(trainer)

    monkeypatch.setattr(PCNTrainer, "iterate", watched)
    main(["train", "deep-sea-treasure-v0", "--environments", "5", "--total-steps", "500",
          "--out", str(tmp_path / "run")])  # fmt: skip
    # One probe: eight first states, and the random episodes that fit into a share of the steps.
    assert before_training[0]["constructed"] == 1
    assert 8 < before_training[0]["episodes"] < 8 + 100
    # The slots that are needed, five at most, and nothing to show the result.
    assert 1 < counts["constructed"] <= 1 + 5


def test_help_makes_and_imports_no_environment(counts, monkeypatch, capsys):
    monkeypatch.delattr(pcn.envs.deep_sea_treasure, "DeepSeaTreasure")  # making one would fail
    for name in ("deep-sea-treasure-v0", "deep-sea-treasure"):
        with pytest.raises(SystemExit) as stop:
            main(["train", name, "--help"])
        assert stop.value.code == 0
    assert counts == {"constructed": 0, "episodes": 0}


@pytest.mark.slow
def test_playing_constructs_one_environment_and_one_network(folder, counts, monkeypatch):
    networks = []
    construct = ConditionedPolicy.__init__
    monkeypatch.setattr(
        ConditionedPolicy,
        "__init__",
        lambda self, *given, **options: networks.append(construct(self, *given, **options)),
    )
    main(["play", str(folder), "--policy", "0"])
    assert counts == {"constructed": 1, "episodes": 1}
    assert len(networks) <= 1  # none where a network of this form was traced before


@pytest.mark.slow
def test_resuming_constructs_nothing_but_the_slots(folder, counts, tmp_path):
    for name in ("config.json", "spec.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    main(["resume", str(tmp_path)])
    assert 1 <= counts["constructed"] <= 16


@pytest.mark.slow
def test_plotting_constructs_nothing(folder, counts, tmp_path):
    main(["plot", str(folder), "--out", str(tmp_path / "front.png")])
    assert counts == {"constructed": 0, "episodes": 0}
