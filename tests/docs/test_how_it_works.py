"""The table of settings in docs/how-it-works.md is what presets and recipes amount to."""

import re

import pytest

from doc_pages import text_of
from pcn.algorithms import ALGORITHMS
from pcn.recipes import recipe_for

FIELDS = (
    "total_steps",
    "learning_rate",
    "batch_size",
    "episodes_per_iteration",
    "updates_per_iteration",
    "warmup_episodes",
    "capacity",
    "hidden_layers",
)
ROWS = re.findall(
    r"^\| `(\w+)` \| `([\w-]+)` \| (.*) \|$", text_of("docs/how-it-works.md"), re.MULTILINE
)


def test_every_preset_has_a_row_for_each_of_the_papers_environments():
    environments = ("deep-sea-treasure", "walkroom-4", "minecart", "crossroad-authors")
    assert {row[:2] for row in ROWS} == {
        (preset, name) for preset in ALGORITHMS["pcn"].presets for name in environments
    }


@pytest.mark.parametrize(("preset", "name", "values"), ROWS)
def test_a_row_is_what_a_training_has(preset, name, values):
    entry = ALGORITHMS["pcn"]
    config = entry.config_class.of(entry.presets[preset], recipe_for(name, {}, "pcn", preset)[0])
    printed = [
        None if cell == "—" else float(cell.replace(",", "")) for cell in values.split(" | ")
    ]
    assert printed == [getattr(config, field) for field in FIELDS]
