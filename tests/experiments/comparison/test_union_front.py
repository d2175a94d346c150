"""The union front and who contributed what, by hand."""

import numpy as np

from made_runs import save_run
from pcn.experiments.comparison.comparison import compare
from pcn.experiments.comparison.union_front import union_front


def test_points_have_all_their_owners_and_dominated_ones_none(tmp_path):
    save_run(tmp_path / "a0", [[1, 3], [2, 2]], seed=0)
    save_run(tmp_path / "a1", [[1, 3]], seed=1)
    save_run(tmp_path / "b0", [[1, 3], [4, 1], [1, 1]], algorithm="ra")
    (comparison,), _ = compare([tmp_path])
    union = union_front(comparison)
    np.testing.assert_array_equal(union.points, [[1, 3], [2, 2], [4, 1]])
    np.testing.assert_array_equal(union.points_of("pcn"), [[1, 3], [2, 2]])
    np.testing.assert_array_equal(union.points_of("ra"), [[1, 3], [4, 1]])
    assert union.hypervolume == 7  # 3 up to a gain of 1, 2 up to 2, 1 up to 4: 3 + 2 + 2
    pcn, ra = union.contributions
    assert (pcn.num_points, pcn.num_alone) == (2, 1)
    assert (pcn.hypervolume, pcn.hypervolume_lost) == (3 + 2, 7 - 6)
    assert (ra.hypervolume, ra.hypervolume_lost) == (3 + 3, 7 - 5)


def test_returns_within_the_tolerance_are_one_point(tmp_path):
    save_run(tmp_path / "a", [[1, 3]])
    save_run(tmp_path / "b", [[1.0001, 2.9999]], algorithm="ra")  # the runs' tolerance is 0.001
    (comparison,), _ = compare([tmp_path])
    union = union_front(comparison)
    assert len(union.points) == 1
    assert union.owned.all()


def test_objectives_keep_their_places(tmp_path):
    save_run(tmp_path / "a", [[3, 1]])
    save_run(tmp_path / "b", [[2, 2]], algorithm="ra")
    (comparison,), _ = compare([tmp_path])
    np.testing.assert_array_equal(union_front(comparison).points, [[2, 2], [3, 1]])
