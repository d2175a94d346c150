import dataclasses

import numpy as np
import pytest

from pcn.algorithms.pcn.command_selection import select_commands
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.rows import Archive, Rows


def make_archive(num_objectives=2, num_points=12):
    rng = np.random.default_rng(0)
    returns = rng.normal(size=(num_points, num_objectives)) * np.arange(1, num_objectives + 1)
    lengths = np.arange(3, 3 + num_points)
    return Archive(Rows(np.arange(num_points, dtype=np.int32), lengths, returns, returns, returns))


def raised(archive, desired, horizons, offset=0):
    """For each command: how much is asked beyond the point it started from, per objective."""
    point = (horizons - offset - 3).astype(int)  # lengths tell the points apart
    return desired - archive.returns[point]


@pytest.mark.parametrize("num_objectives", [2, 3, 9])
def test_one_objective_is_raised_by_at_most_its_deviation(num_objectives):
    archive = make_archive(num_objectives)
    desired, horizons = select_commands(archive, 5_000, PCNConfig(), np.random.default_rng(1))
    more = raised(archive, desired, horizons)
    assert np.all((more != 0).sum(axis=1) == 1)
    assert np.all(more >= 0)
    deviation = archive.returns.std(axis=0)
    assert np.all(more <= deviation)
    # U(0, sigma): the largest raises come close to sigma, and half of it is the middle.
    for objective in range(num_objectives):
        own = more[more[:, objective] > 0, objective] / deviation[objective]
        assert len(own) == pytest.approx(5_000 / num_objectives, rel=0.2)
        assert own.max() > 0.95
        assert np.median(own) == pytest.approx(0.5, abs=0.1)


def test_every_point_of_the_archive_is_chosen_equally_often():
    archive = make_archive()
    _, horizons = select_commands(archive, 12_000, PCNConfig(), np.random.default_rng(2))
    counts = np.bincount(horizons.astype(int) - 3, minlength=12)
    np.testing.assert_allclose(counts / 12_000, 1 / 12, atol=0.015)


def test_a_shared_command_is_the_same_for_all():
    config = PCNConfig(shared_command=True)
    desired, horizons = select_commands(make_archive(), 10, config, np.random.default_rng(3))
    assert desired.shape == (10, 2)
    assert len(np.unique(desired, axis=0)) == 1
    assert len(set(horizons.tolist())) == 1
    own, _ = select_commands(make_archive(), 10, PCNConfig(), np.random.default_rng(3))
    assert len(np.unique(own, axis=0)) == 10


def test_the_horizon_is_that_of_the_point_plus_the_offset_and_at_least_one():
    config = PCNConfig(horizon_offset=-2)
    archive = make_archive()
    desired, horizons = select_commands(archive, 200, config, np.random.default_rng(4))
    assert np.all((raised(archive, desired, horizons, offset=-2) >= 0).all(axis=1))
    assert horizons.min() == 1  # 3 - 2
    short = dataclasses.replace(config, horizon_offset=-100)
    _, horizons = select_commands(archive, 5, short, np.random.default_rng(4))
    assert horizons.tolist() == [1.0] * 5


def test_an_archive_of_one_point_is_asked_for_again():
    archive = make_archive(num_points=1)
    desired, _ = select_commands(archive, 4, PCNConfig(), np.random.default_rng(5))
    np.testing.assert_array_equal(desired, np.repeat(archive.returns, 4, axis=0))


def test_the_archive_itself_stays_as_it_is():
    archive = make_archive()
    before = archive.returns.copy()
    select_commands(archive, 50, PCNConfig(), np.random.default_rng(6))
    np.testing.assert_array_equal(archive.returns, before)
