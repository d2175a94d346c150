"""The episodes of a dataset come back as they were run."""

import dataclasses

import numpy as np
import pytest

from pcn.algorithms.pcn.dataset import Dataset
from pcn.algorithms.pcn.refinements.joining.stored import episodes_of
from tests.algorithms.pcn.test_dataset import CONFIG, make_episodes, make_spec


@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_observations_actions_and_rewards_come_back(discount):
    dataset = Dataset(make_spec(), dataclasses.replace(CONFIG, discount=discount))
    run = make_episodes(np.random.default_rng(0))
    dataset.add(run)
    stored = episodes_of(dataset, discount)
    assert len(stored.lengths) == len(run.lengths)

    def rows(episodes):
        return {
            (
                np.asarray(episodes.observations)[row, :length].tobytes(),
                np.asarray(episodes.actions, np.int32)[row, :length].tobytes(),
                np.asarray(episodes.rewards, np.float32)[row, :length].tobytes(),
            )
            for row, length in enumerate(np.asarray(episodes.lengths).tolist())
        }

    assert rows(stored) == rows(run)
