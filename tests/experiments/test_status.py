import json

import pytest

from pcn.errors import UserError
from pcn.experiments.status import Status, read_status, status_file


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state", "lost"),
        ("state", []),
        ("attempt", "a"),
        ("seconds", None),
        ("sentence", 3),
        ("x", 1),
    ],
)
def test_a_status_with_a_value_of_a_wrong_type_is_refused(name, value, tmp_path):
    run = tmp_path / "seed-0"
    status_file(run).write_text(json.dumps({name: value}))
    with pytest.raises(UserError, match=f"is damaged: {name} is"):
        read_status(run)


def test_a_status_is_read_as_it_was_written(tmp_path):
    run, status = tmp_path / "seed-0", Status(state="failed", attempt=2, seconds=1, sentence="why")
    status.write(run)
    assert read_status(run) == status
