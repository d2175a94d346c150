import numpy as np
import pytest

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.exploration import Randomness


def test_executions_have_none():
    randomness = Randomness.none(3)
    assert randomness.noise.tolist() == randomness.repeat.tolist() == [0, 0, 0]


def test_warm_up_is_random_throughout():
    randomness = Randomness.of_warm_up(100, PCNConfig(), np.random.default_rng(0))
    assert np.all(randomness.noise == 1)
    assert len(set(randomness.repeat.tolist())) > 50


def test_exploring_episodes_differ_in_noise_up_to_the_limit():
    config = PCNConfig(action_noise=0.4)
    randomness = Randomness.of_exploration(5_000, config, np.random.default_rng(0))
    assert randomness.noise.min() >= 0
    assert 0.39 < randomness.noise.max() <= 0.4
    assert np.mean(randomness.noise) == pytest.approx(0.4 / 3, abs=0.01)  # the mean of u^2
    assert np.all((randomness.repeat >= 0) & (randomness.repeat <= 0.95))


def test_the_paper_s_exploration_only_samples_from_the_network():
    config = PCNConfig(action_noise=0.0, sticky_actions=False)
    randomness = Randomness.of_exploration(10, config, np.random.default_rng(0))
    assert not randomness.noise.any()
    assert not randomness.repeat.any()
