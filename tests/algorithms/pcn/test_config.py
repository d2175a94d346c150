import dataclasses
import json

import pytest

from pcn.algorithms.pcn.config import PRESETS, PCNConfig

BAD = {
    "total_steps": [0, -1],
    "width": [0],
    "batch_size": [0],
    "updates_per_iteration": [0],
    "warmup_episodes": [0],
    "episodes_per_iteration": [0],
    "capacity": [0, -5],
    "executions": [0],
    "hidden_layers": [-1],
    "warmup_front": [-1],
    "action_noise": [-0.1, 1.5],
    "crowded_below": [-0.1],
    "duplicate_penalty": [-1e-5],
    "return_tolerance": [-1e-3],
    "evaluations": [-1],
    "consolidation_updates": [-1],
    "learning_rate": [0.0, -1e-3, float("nan")],
    "command_spread": [0.0],
    "discount": [0.0, -0.5, 1.01, float("nan")],
    "archive_fraction": [-0.25, 1.5],
    "command_scale": [(0.1, 0.0), (-1.0, 1.0), ()],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD.items() for v in values])
def test_a_bad_value_is_refused_by_name_and_value(name, value):
    with pytest.raises(ValueError, match=name) as caught:
        PCNConfig(**{name: value})
    assert str(value) in str(caught.value)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_builds_and_changes_what_it_says(preset):
    config = PCNConfig(**PRESETS[preset])
    default = PCNConfig()
    for field in dataclasses.fields(PCNConfig):
        expected = PRESETS[preset].get(field.name, getattr(default, field.name))
        assert getattr(config, field.name) == expected


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_repeats_no_default(preset):
    default = PCNConfig()
    for name, value in PRESETS[preset].items():
        assert getattr(default, name) != value


def test_the_paper_s_preset_has_nothing_the_paper_does_not():
    config = PCNConfig(**PRESETS["paper"])
    assert config.gate == "sigmoid"
    assert (config.width, config.hidden_layers, config.discount) == (64, 1, 1.0)
    assert config.archive_fraction == config.action_noise == 0
    assert config.consolidation_updates == config.warmup_front == config.horizon_offset == 0
    for name in ("erase_loops", "sticky_actions", "store_evaluations", "bound_commands"):
        assert not getattr(config, name)
    assert config.sample_by == "transition"
    assert (config.crowded_below, config.capacity) == (0.2, 200)


def test_the_authors_preset_has_their_settings():
    config = PCNConfig(**PRESETS["authors"])  # REFERENCE, section 3
    assert config.learning_rate == 1e-2
    assert config.batch_size == 256
    assert config.updates_per_iteration == config.episodes_per_iteration == 10
    assert config.warmup_episodes == 50
    assert config.shared_command
    assert config.horizon_offset == -2
    assert config.bound_commands


def test_a_config_goes_through_json():
    config = PCNConfig(command_scale=(0.1, 0.1, 0.01))
    loaded = json.loads(json.dumps(dataclasses.asdict(config)))
    loaded["command_scale"] = tuple(loaded["command_scale"])
    assert PCNConfig(**loaded) == config


@pytest.mark.parametrize(("name", "value"), [("gate", "tanh"), ("sample_by", "step")])
def test_an_unknown_choice_is_refused(name, value):
    make = getattr(PCNConfig, "__wrapped__", PCNConfig)
    with pytest.raises(Exception, match=value):
        make(**{name: value})


@pytest.mark.parametrize(
    ("fraction", "counts"), [(0.0, (256,)), (0.25, (192, 64)), (1.0, (0, 256))]
)
def test_a_batch_is_split_between_dataset_and_archive(fraction, counts):
    assert PCNConfig(archive_fraction=fraction).batch_counts == counts
