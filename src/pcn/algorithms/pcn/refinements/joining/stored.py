"""The episodes of a dataset as a batch, for what learns from batches that have just been run."""

import numpy as np

from pcn.algorithms.pcn.dataset import Dataset
from pcn.episodes import Episodes


def episodes_of(dataset: Dataset, discount: float) -> Episodes:
    """The episodes of a dataset, as they were when they had been run."""
    rows, store = dataset.rows, dataset.store
    longest = int(rows.lengths.max())
    to_go = np.asarray(store.returns_to_go)[rows.slots, :longest]
    later = np.concatenate([to_go[:, 1:], np.zeros_like(to_go[:, :1])], axis=1)
    valid = np.arange(longest) < rows.lengths[:, None]
    return Episodes(
        dataset.padded_observations(rows),
        np.asarray(store.actions)[rows.slots, :longest],
        (to_go - discount * later) * valid[:, :, None],
        rows.lengths,
        np.ones(len(rows.lengths), dtype=bool),
    )
