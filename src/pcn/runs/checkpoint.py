"""The files of checkpoints: the state of an unfinished training, to resume from."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pcn.errors import UserError
from pcn.runs.damage import refuse_other_settings
from pcn.serialisation.files import fingerprint_of_arrays, read_arrays, write_arrays

CHECKPOINT, CHECKPOINT_BEFORE = "checkpoint.npz", "checkpoint-before.npz"
"""The last checkpoint of an unfinished run, and the one before it."""
CHECKPOINT_NEXT = "checkpoint-next.npz"
"""The first checkpoint of a training that begins again, until the folder describes that one."""


def write_checkpoint(
    path: Path,
    content: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    settings: Mapping[str, Any],
) -> None:
    """Write arrays, facts of the `trainer`, and the `record`; and the settings of the run."""
    content = {**content, "settings": settings}
    write_arrays(path, arrays, **content, fingerprint=fingerprint_of_arrays(arrays, content))


def keep_as(path: Path, name: str) -> None:
    """Give a checkpoint that is about to be replaced another name, if there is one."""
    if not path.exists():
        return
    link = path.with_name(f".{name}.{os.getpid()}.tmp")
    link.unlink(missing_ok=True)
    try:
        os.link(path, link)  # so that there is a checkpoint at every moment
        link.replace(path.with_name(name))
        link.unlink(missing_ok=True)  # it is left where both were one file already
    except OSError:  # file systems without links
        path.replace(path.with_name(name))


def read_checkpoint(
    path: Path, settings: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], Any, Any]:
    """The arrays and facts of a state, and the record; a checkpoint of another run is refused."""
    arrays, facts = read_arrays(path)
    if not isinstance(facts, dict) or not {"trainer", "record"} <= facts.keys():
        raise UserError(f"{path} is damaged: it is not a checkpoint")
    fingerprint = facts.pop("fingerprint", None)  # older checkpoints have none
    if fingerprint is not None and fingerprint != fingerprint_of_arrays(arrays, facts):
        raise UserError(f"{path} is damaged: its content is not what was written")
    if "settings" in facts:
        refuse_other_settings(path, settings, facts["settings"])
    return arrays, facts["trainer"], facts["record"]
