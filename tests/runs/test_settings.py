"""What a run is asked to do: presets, and values of the wrong kind."""

import pytest

from pcn.algorithms.pcn.config import PRESETS
from pcn.errors import UserError
from pcn.runs.settings import Settings


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_makes_a_run_that_is_read_back(preset):
    settings = Settings.of("deep-sea-treasure", preset=preset)
    assert Settings.from_json(settings.to_json()) == settings


def test_only_what_may_be_missing_is_left_out():
    assert Settings.of("deep-sea-treasure", patience=None).config.patience is None
    with pytest.raises(UserError, match="width must be of type int, got None"):
        Settings.of("deep-sea-treasure", width=None)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"seed": True}, "seed must be a whole number, zero or more, got True"),
        ({"embedding": 5}, r"embedding must be of type str \| None, got 5"),
        ({"upper_bound": ("a", 1.0)}, r"upper_bound must be of type tuple\[float, ...\] \| None"),
        ({"upper_bound": (float("nan"), 1.0)}, "upper_bound must be finite numbers"),
        ({"command_scale": [1.0, float("inf"), 1.0]}, "command_scale must be finite numbers"),
        ({"archive_fraction": 1.5}, "archive_fraction must be at most 1, got 1.5"),
        ({"action_noise": float("nan")}, "action_noise must be a finite number, got nan"),
    ],
)
def test_what_cannot_be_meant_is_told_in_one_sentence(given, told):
    with pytest.raises(UserError, match=told):
        Settings.of("deep-sea-treasure", **given)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"objective": 3}, "walkroom takes no argument 'objective'; there are: objectives, size"),
        ({"objectives": "3"}, "objectives must be of type int, got '3'"),
    ],
)
def test_an_environment_says_which_arguments_it_takes(arguments, told):
    with pytest.raises(UserError, match=told):
        Settings.of("walkroom", arguments=arguments)
