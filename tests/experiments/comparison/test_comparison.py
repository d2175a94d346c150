"""Runs of an environment are measured against one problem."""

import json

import moocore
import numpy as np
import pytest

from made_runs import save_run
from pcn import UserError
from pcn.experiments.comparison.comparison import compare


def test_environments_are_told_apart_and_seeds_belong_together(tmp_path):
    save_run(tmp_path / "a", [[1, 3]], name="one", seed=1)
    save_run(tmp_path / "b", [[1, 3]], name="other")
    save_run(tmp_path / "c", [[2, 3]], name="one", seed=0)
    one, other = compare([tmp_path])[0]
    assert (one.environment, other.environment) == ("one", "other")
    assert one.labels == other.labels == ["pcn"]
    assert one.values("hypervolume")["pcn"].tolist() == [6, 3]  # 2x3 of seed 0, 1x3 of seed 1


def test_the_lowest_reference_point_is_common_to_all(tmp_path):
    save_run(tmp_path / "a", [[1, 3], [2, 2]], reference_point=(0, -5))
    save_run(tmp_path / "b", [[2, 3]], reference_point=(-4, 0), algorithm="ra")
    (comparison,), _ = compare([tmp_path])
    assert comparison.reference_point.tolist() == [-4, -5]
    values = comparison.values("hypervolume")
    expected = moocore.hypervolume(np.array([[1.0, 3], [2, 2]]), ref=[-4, -5], maximise=True)
    assert values["pcn"][0] == pytest.approx(expected)
    assert values["ra"][0] == 6 * 8
    assert "different reference points" in comparison.notes[0]


def test_a_reference_point_may_be_given(tmp_path):
    save_run(tmp_path / "a", [[1, 3]], front=[[1, 3], [2, 2]])
    (comparison,), _ = compare([tmp_path], reference_point=(0.5, 2))
    assert comparison.values("hypervolume")["pcn"].tolist() == [0.5]
    with pytest.raises(UserError, match="has 3 numbers, toy has 2 objectives"):
        compare([tmp_path], reference_point=(0, 0, 0))
    with pytest.raises(UserError, match="reference_point must be 2 finite numbers"):
        compare([tmp_path], reference_point=(0, np.nan))
    # Nobody gains in the second objective: then there is no utility to expect.
    (comparison,), _ = compare([tmp_path], reference_point=(0, 3))
    assert comparison.values("hypervolume")["pcn"].tolist() == [0.0]
    assert "expected_utility" not in comparison.metrics


def test_without_a_known_front_epsilons_are_measured_against_the_union(tmp_path):
    save_run(tmp_path / "a", [[0, 4], [4, 0]])
    save_run(tmp_path / "b", [[0, 4], [3, 3]], algorithm="ra")
    (comparison,), _ = compare([tmp_path])
    np.testing.assert_array_equal(comparison.front, [[0, 4], [3, 3], [4, 0]])
    assert "union of all executed fronts (3 points)" in comparison.measured_against
    # Both objectives have the range 4: (3, 3) is 3/4 from (4, 0) and (0, 4), (4, 0) is 3/4 from it.
    values = comparison.values("epsilon_mean")
    assert values["pcn"].tolist() == [pytest.approx(0.75 / 3)]
    assert values["ra"].tolist() == [pytest.approx(0.75 / 3)]


def test_a_claimed_front_is_not_measured_against(tmp_path):
    save_run(tmp_path / "a", [[1, 3]], front=[[9, 9]], status="claimed")
    (comparison,), _ = compare([tmp_path])
    np.testing.assert_array_equal(comparison.front, [[1, 3]])


def test_rooms_with_fronts_of_their_own_are_one_environment_in_an_experiment(tmp_path):
    place = tmp_path / "runs" / "walkroom-2" / "pcn"
    save_run(place / "seed-0", [[1, 3]], front=[[1, 3]], name="room 0")
    save_run(place / "seed-1", [[1, 3]], front=[[1, 3], [2, 2]], name="room 1", seed=1)
    (comparison,), _ = compare([tmp_path])
    assert comparison.values("front_share")["pcn"].tolist() == [1, 0.5]
    assert not comparison.has_one_front
    assert "they differ" in comparison.measured_against


def test_other_numbers_of_objectives_under_one_name_are_told_apart(tmp_path):
    place = tmp_path / "runs" / "walkroom"
    save_run(place / "pcn-objectives=2" / "seed-0", [[1, 3]], name="walkroom-2")
    save_run(place / "pcn-objectives=3" / "seed-0", [[1, 3, 2]], name="walkroom-3")
    assert [one.environment for one in compare([tmp_path])[0]] == ["walkroom-2", "walkroom-3"]


def test_what_a_run_measured_itself_is_kept(tmp_path):
    # A hypervolume that was corrected for chance cannot be had from means alone.
    path = save_run(tmp_path / "a", [[1, 3]])
    metrics = json.loads((path / "metrics.json").read_text())
    metrics["executed"]["hypervolume"] = 2.5
    (path / "metrics.json").write_text(json.dumps(metrics))
    (comparison,), _ = compare([tmp_path])
    assert comparison.values("hypervolume")["pcn"].tolist() == [2.5]


def test_the_best_seed_has_the_largest_executed_hypervolume(tmp_path):
    for seed, gain in enumerate((1, 3, 2)):
        save_run(tmp_path / str(seed), [[gain, 1]], seed=seed)
    (comparison,), _ = compare([tmp_path])
    assert comparison.best("pcn").seed == 1


def test_nothing_finished_is_told_with_what_was_left_out(tmp_path):
    (save_run(tmp_path / "a", [[1, 3]]) / "metrics.json").unlink()
    with pytest.raises(UserError, match=r"no finished run to compare; left out: .*not finished"):
        compare([tmp_path])


def test_a_seed_that_a_label_has_twice_is_noted(tmp_path):
    for name, seed in (("a", 0), ("copy", 0), ("b", 1)):
        save_run(tmp_path / name, [[1, 3]], seed=seed)
    (comparison,), _ = compare([tmp_path])
    notes = [note for note in comparison.notes if "seed" in note]
    assert len(notes) == 1
    assert notes[0].startswith("pcn has seed 0 2 times (")
    assert str(tmp_path / "copy") in notes[0]
