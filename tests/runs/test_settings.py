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
