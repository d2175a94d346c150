"""The best few episodes for many preferences are asked for, varied and learnt."""

import numpy as np
import pytest

from pcn.algorithms.pcn.command_selection import select_commands
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import Planning, Preferences
from pcn.algorithms.pcn.rows import Archive, Rows
from pcn.algorithms.pcn.training import Training
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.minecart import Minecart

CONFIG = PCNConfig(total_steps=1_000)


def stored(returns):
    """A training whose dataset holds these returns."""
    training = Training(Minecart(stochastic=True), CONFIG, (Preferences(best=2),), seed=0)
    count = len(returns)
    training.dataset.rows = Rows(
        np.arange(count, dtype=np.int32), np.arange(1, count + 1), returns, returns, returns
    )
    return training


def test_each_preference_is_shared_by_its_best_episodes():
    #  Two that are good at one thing each, close seconds of both, and one that is good at nothing.
    returns = np.array(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.9, 0.0, 0.0], [0.0, 0.9, 0.0], [0.0, 0.0, 0.0]]
    )
    favourites, attention = stored(returns).favourites()
    assert favourites.horizons.tolist() == [1, 2, 3, 4]  # the last one is nobody's favourite
    # The third objective is the same in all: half of the preferences care for the first more.
    assert attention == pytest.approx(np.full(4, 0.25), abs=0.05)


def test_commands_follow_the_attention():
    rows = Rows(np.arange(3, dtype=np.int32), np.array([1, 2, 3]), *[np.zeros((3, 2))] * 3)
    _, horizons = select_commands(
        Archive(rows), 4_000, CONFIG, np.random.default_rng(0), attention=np.array([0.7, 0.0, 0.3])
    )
    assert np.bincount(horizons.astype(int), minlength=4)[1:] / 4_000 == pytest.approx(
        [0.7, 0.0, 0.3], abs=0.03
    )


def test_batches_are_drawn_by_attention_however_long_episodes_are():
    training = stored(np.zeros((3, 3)))
    rows = training.dataset.rows
    drawing = training.dataset.drawing(rows, np.array([0.5, 0.2, 0.3]))
    assert drawing.cumulative[:3] == pytest.approx([0.5, 0.7, 1.0])
    drawing = training.dataset.drawing(rows)  # lengths 1, 2 and 3
    assert drawing.cumulative[:3] == pytest.approx([1 / 6, 3 / 6, 1.0])


def test_in_deterministic_environments_the_archive_is_as_the_paper_has_it():
    training = Training(DeepSeaTreasure(), CONFIG, (Preferences(),), seed=0)
    assert training.refinements == ()


def test_where_transitions_are_counted_nothing_changes():
    plain = stored(np.eye(3))
    counting = Training(Minecart(stochastic=True), CONFIG, (Preferences(), Planning()), seed=0)
    counting.dataset.rows, counting.dataset.board = plain.dataset.rows, plain.dataset.board
    assert counting.favourites()[1] is None
    planning = next(one for one in counting.refinements if isinstance(one, Planning))
    planning.counts(counting).given_up = True
    assert counting.favourites()[1] is not None
