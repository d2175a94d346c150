"""Random actions are repeated for long, or less where random episodes end by themselves."""

import numpy as np
import pytest

from continuous_worlds import TwoSides
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import StickyActions
from pcn.algorithms.pcn.refinements.sticky_actions import Endings
from pcn.algorithms.pcn.training import Training
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.minecart import Minecart
from walked_trainings import random_episodes


def training_with(settings, environment=DeepSeaTreasure):
    config = PCNConfig(refinements=(settings,))
    return Training(environment(), config, config.refinements, seed=3)


def repeats(settings, *, environment=DeepSeaTreasure, terminated=0):
    """Probabilities where so many of ten random episodes came to an end by themselves."""
    training = training_with(settings, environment)
    endings = settings.state_in(training, Endings)
    endings.terminated, endings.episodes = terminated, 10
    return settings.repeat_probabilities(5_000, training)


def test_episodes_differ_in_how_long_they_repeat_an_action():
    repeat = repeats(StickyActions())
    assert len(set(repeat.tolist())) > 2_500
    assert repeat.min() == 0
    assert 0.94 < repeat.max() <= 0.95
    # max(0.95 - u^2, 0): the mean is sqrt(.95) * .95 * 2 / 3.
    np.testing.assert_allclose(repeat.mean(), np.sqrt(0.95) * 0.95 * 2 / 3, atol=0.01)


def test_the_largest_probability_can_be_set():
    assert 0.49 < repeats(StickyActions(most=0.5)).max() <= 0.5


@pytest.mark.parametrize(
    ("environment", "terminated", "mean"),
    [
        (Minecart, 5, np.sqrt(0.95) * 0.95 * 2 / 3),
        # max(0.95 - sqrt(u), 0): the mean is .95^3 / 3.
        (Minecart, 6, 0.95**3 / 3),
        (DeepSeaTreasure, 10, np.sqrt(0.95) * 0.95 * 2 / 3),  # whole numbers are observed
        (TwoSides, 10, np.sqrt(0.95) * 0.95 * 2 / 3),  # actions are continuous
    ],
)
def test_actions_are_repeated_less_where_most_random_episodes_end_by_themselves(
    environment, terminated, mean
):
    repeat = repeats(StickyActions(), environment=environment, terminated=terminated)
    np.testing.assert_allclose(repeat.mean(), mean, atol=0.01)


def test_only_random_episodes_are_counted():
    settings = StickyActions()
    training = training_with(settings)
    episodes, endings = random_episodes(training), settings.state_in(training, Endings)
    settings.after_storing(training, episodes)
    expected = (int(np.asarray(episodes.terminated).sum()), 64)
    assert (endings.terminated, endings.episodes) == expected
    settings.after_warming_up(training)
    settings.after_storing(training, episodes)
    assert (endings.terminated, endings.episodes) == expected


def test_the_counts_are_part_of_a_checkpoint():
    settings = StickyActions()
    training, resumed = (
        training_with(settings),
        training_with(settings),
    )
    settings.after_storing(training, random_episodes(training))
    settings.after_warming_up(training)
    resumed.restore_states(training.state_arrays())
    before, after = (vars(settings.state_in(one, Endings)) for one in (training, resumed))
    assert before == after
    assert not after["warming_up"]
    assert after["episodes"] == 64
