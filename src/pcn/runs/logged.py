"""Read a dataset by its name: another run's episodes, an npz file, or a Minari dataset."""

from dataclasses import replace
from pathlib import Path

from pcn.algorithms import ALGORITHMS
from pcn.datasets.logged import LoggedEpisodes
from pcn.datasets.minari import is_minari, minari_folder, read_minari
from pcn.datasets.npz import read_npz
from pcn.errors import UserError, resuming
from pcn.runs.folder import RunFolder

PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib")
ARROW = (".arrow", ".parquet", ".feather")


def read_dataset(name: str | Path) -> LoggedEpisodes:
    """The logged episodes of a finished run, an npz file or a Minari dataset (HDF5).

    A `UserError` says in a sentence what cannot be read. Nothing is ever unpickled.
    """
    path = Path(name)
    if not path.exists():
        found = minari_folder(str(name))
        if found is None:
            raise UserError(
                f"{name} does not exist, and no Minari dataset on this machine has this id; give "
                "a run's folder, an npz file or a Minari dataset"
            )
        path = found
    try:
        return _read(path)
    except UserError:
        raise
    except MemoryError:
        raise UserError(f"{path} cannot be read: it needs more memory than there is") from None
    except Exception as error:  # arrays with unexpected content can raise anything in a reader
        raise UserError(f"{path} cannot be read as a dataset: {error!r}") from None


def _read(path: Path) -> LoggedEpisodes:
    """Read an existing path with the reader for its format."""
    if (path / "config.json").is_file():
        return run_episodes(path)
    if is_minari(path):
        return read_minari(path)
    suffix = path.suffix.lower()
    if path.is_dir():
        raise UserError(f"{path} is neither a run nor a Minari dataset")
    if suffix in PICKLES:
        raise UserError(
            f"{path} is a pickle, which is never loaded: loading one can run any code; write its "
            "arrays to an npz file instead"
        )
    if suffix in ARROW:
        raise UserError(f"{path} is an Arrow file: its rewards are not vectors; give HDF5 or npz")
    if suffix != ".npz":
        raise UserError(
            f"{path} is not a dataset: give a run's folder, an npz file or Minari's HDF5"
        )
    return read_npz(path)


def run_episodes(path: Path) -> LoggedEpisodes:
    """The episodes that a finished run has kept."""
    folder = RunFolder.open(path)
    settings = folder.read_settings()
    if not folder.finished:
        raise UserError(f"{path} is not finished; continue it with `{resuming(path)}`")
    described = folder.read_spec()
    checkpoints = folder.checkpoints()
    if not checkpoints or described is None:
        raise UserError(f"{path} has no checkpoint.npz, which keeps the episodes of a run")
    saved = folder.read_checkpoint(checkpoints[0])
    if settings.algorithm not in ALGORITHMS:
        raise UserError(f"no algorithm is called {settings.algorithm!r}")
    try:
        logged = ALGORITHMS[settings.algorithm].episodes_of(described[0], saved[0], str(path))
    except UserError:
        raise
    except (KeyError, ValueError, IndexError) as error:
        raise UserError(f"{path / 'checkpoint.npz'} is damaged: {error!r}") from None
    return replace(
        logged,
        environment=settings.environment,
        arguments=dict(settings.arguments),
        discount=settings.config.discount,
    )
