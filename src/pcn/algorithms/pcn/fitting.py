"""Fitting the network to batches of the dataset (section 4.2 of the paper)."""

import numpy as np

from pcn.algorithms.pcn.schedule import UPDATES_AT_ONCE
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.pcn.update import update_many


def fit(training: Training, num_updates: int) -> float:
    """Make that many updates, in whole compiled calls; returns the mean loss."""
    config, dataset = training.config, training.dataset
    at_once = config.updates_per_iteration or UPDATES_AT_ONCE
    counts = config.batch_counts(deterministic=training.spec.deterministic)
    drawings = (dataset.drawing(dataset.rows), dataset.drawing(dataset.archive().rows))
    losses = []
    for _ in range(max(1, num_updates // at_once)):
        training.learner, loss = update_many(
            training.learner,
            dataset.store,
            drawings[: len(counts)],
            np.full(at_once, config.learning_rate, np.float32),
            np.asarray(1.0, np.float32),
            training.next_key(),
            counts,
        )
        losses.append(loss)
    return float(np.mean(losses))
