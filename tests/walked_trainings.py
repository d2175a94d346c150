"""Trainings that have seen random episodes and nothing else, and what planning makes of them."""

import dataclasses

import numpy as np

from pcn.algorithms.pcn.training import Training


def explored(environment, config, settings, *, num_batches):
    """A training with one refinement that has seen so many batches of random episodes."""
    config = dataclasses.replace(config, refinements=(settings,))
    training = Training(environment, config, config.refinements, seed=3)
    for _ in range(num_batches):
        training.dataset.add(random_episodes(training))
    return training


def random_episodes(training):
    """Episodes of random actions, which refinements see."""
    return training.actor.run(
        training.learner.policy,
        np.zeros((64, 2)),
        np.ones(64),
        noise=np.ones(64),
        upper_bound=np.full(2, np.inf),
        key=training.next_key(),
    )


def fitted(training, settings):
    """The refinement's contender, fitted to the end."""
    fitting = settings.contender(training, np.array([0, 1], np.uint32))
    while not fitting.done:
        fitting.iterate()
    return fitting
