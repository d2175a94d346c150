"""Writing episodes as a Minari dataset that reads back exactly."""

import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pcn.datasets.logged import LoggedEpisodes
from pcn.datasets.minari import SPEC
from pcn.datasets.npz import write_npz_dataset
from pcn.datasets.provenance import RUN, run_facts
from pcn.errors import UserError
from pcn.nets.heads import action_head_for
from pcn.runs.logged import run_episodes
from pcn.serialisation.files import refuse_missing_folder


def write_dataset(run: str | Path, path: str | Path) -> LoggedEpisodes:
    """Write the episodes of a finished run: an npz file if the path ends so, otherwise Minari.

    A Minari dataset is a new folder; it needs the extra `pcn[minari]`. Returns the episodes.
    """
    path = Path(path)
    if path.exists():
        raise UserError(f"{path} exists already; choose another --dataset")
    refuse_missing_folder(path)
    logged = run_episodes(Path(run))
    try:
        if path.suffix.lower() == ".npz":
            write_npz_dataset(path, logged)
        else:
            write_minari(path, logged)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None
    return logged


def write_minari(path: Path, logged: LoggedEpisodes) -> None:
    """Write episodes into a new folder, which appears once it is complete."""
    try:
        import minari
        from minari.data_collector import EpisodeBuffer
    except ImportError:
        raise UserError(
            "a Minari dataset needs minari: install it with `pip install 'pcn[minari]'`"
        ) from None
    stem = re.sub(r"[^\w-]", "-", path.name)
    name = stem if re.search(r"-v\d+$", stem) else f"{stem}-v0"
    buffers = [EpisodeBuffer(**about) for about in _buffers(logged)]
    with (
        tempfile.TemporaryDirectory(dir=path.resolve().parent) as temporary,
        _datasets_in(Path(temporary)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # Minari warns that no author is named
        dataset = minari.create_dataset_from_buffers(
            name,
            buffers,
            observation_space=logged.spec.observation_space,
            action_space=logged.spec.action_space,
            algorithm_name="pcn",
            description=f"Episodes of {logged.source}, with vector rewards",
            data_format="hdf5",
            jpeg_encoding=False,  # lossy, and the default
        )
        dataset.storage.update_metadata({SPEC: logged.spec.to_json(), RUN: run_facts(logged)})
        shutil.move(Path(temporary) / name, path)


@contextmanager
def _datasets_in(folder: Path) -> Iterator[None]:
    """Let Minari write into a folder; its environment variable is restored afterwards."""
    before = os.environ.get("MINARI_DATASETS_PATH")
    os.environ["MINARI_DATASETS_PATH"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["MINARI_DATASETS_PATH"]
        else:
            os.environ["MINARI_DATASETS_PATH"] = before


def _buffers(logged: LoggedEpisodes) -> Iterator[dict[str, Any]]:
    """What Minari keeps of each episode: one observation and one mask more than actions."""
    head = action_head_for(logged.spec.action_space)
    masks = logged.action_masks
    for number, (start, length) in enumerate(zip(logged.starts, logged.lengths, strict=True)):
        steps = slice(start, start + length)

        # Minari wants one more observation: where it is not known, the last one that is.
        final = slice(start + length - 1, start + length)
        after = logged.observations
        if logged.last_observations is not None:
            final, after = slice(number, number + 1), logged.last_observations
        observations = jax.tree.map(
            lambda leaf, last, steps=steps, final=final: np.concatenate([leaf[steps], last[final]]),
            logged.observations,
            after,
        )
        ends = np.arange(length) == length - 1
        terminated = bool(logged.terminated[number])
        infos: dict[str, Any] = {}
        if masks is not None:
            infos["action_mask"] = np.concatenate([masks[steps], np.ones_like(masks[:1])])
        yield {
            "id": number,
            "observations": observations,
            "actions": np.asarray(head.to_environment(logged.actions[steps])),
            "rewards": logged.rewards[steps],
            "terminations": (ends & terminated).tolist(),
            "truncations": (ends & (not terminated)).tolist(),
            "infos": infos,
        }
