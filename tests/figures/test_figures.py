"""Figures show the numbers of a run, whatever environment it was trained on."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from made_runs import evaluations, made_run
from pcn import UserError
from pcn.figures.canvas import save
from pcn.figures.front import front_figure
from pcn.figures.progress import progress_figure


def test_two_objectives_are_points_with_their_names_and_units():
    run = made_run([[1, 3], [2, 1]], [[1, 3], [2, 2]], front=[[1, 3], [2, 2], [3, 1]])
    figure = front_figure(run)
    (axes,) = figure.axes
    known, missed, executed = (points.get_offsets().tolist() for points in axes.collections)
    assert known == [[1, 3], [2, 2], [3, 1]]
    assert missed == [[2, 2]]
    assert executed == [[1, 3], [2, 1]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("gain [kg]", "minus cost 0")
    title = axes.get_title()
    assert "1 of 3 points of the proven front" in title
    assert "1 of 2 policies return what was requested" in title


def test_more_objectives_are_lines_from_worst_to_best():
    figure = front_figure(made_run([[1, 3, 5], [2, 1, 5], [3, 0, 7]]))
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 3]
    drawn = sorted(line.get_ydata().tolist() for line in lines)
    np.testing.assert_allclose(drawn, [[0, 1, 0], [0.5, 1 / 3, 0], [1, 0, 1]])


def test_progress_is_hypervolume_or_what_is_missing_of_a_known_one():
    progress = evaluations((10, 4.0, 2.0), (20, 4.5, 3.0))
    run = made_run([[1, 3], [2, 2]], progress=progress)
    archive, executed = progress_figure([run]).axes[0].get_lines()
    assert archive.get_xdata().tolist() == executed.get_xdata().tolist() == [10, 20, 100]
    assert executed.get_ydata().tolist() == [2.0, 3.0, 5.0]  # boxes 1x3 and 2x2, sharing 1x2
    known = made_run([[1, 3], [2, 2]], progress=progress, front=[[1, 3], [2, 2], [3, 1]])
    archive, executed = progress_figure([known]).axes[0].get_lines()
    np.testing.assert_allclose(executed.get_ydata(), [4.0, 3.0, 1.0])  # of 6
    np.testing.assert_allclose(archive.get_ydata(), [2.0, 1.5, 1.0])


def test_a_claimed_front_is_not_measured_against():
    run = made_run([[1, 3]], progress=evaluations((10, 4.0, 2.0)), front=[[9, 9]], status="claimed")
    _, executed = progress_figure([run]).axes[0].get_lines()
    assert executed.get_ydata().tolist() == [2.0, 3.0]
    assert "front_share" not in run.metrics["executed"]


def test_what_cannot_be_drawn_together_is_told():
    progress = evaluations((10, 4.0, 2.0))
    one = made_run([[1, 3]], progress=progress)
    with pytest.raises(UserError, match="runs of different environments: other, toy"):
        progress_figure([one, made_run([[1, 3]], progress=progress, name="other")])
    with pytest.raises(UserError, match="different reference points"):
        progress_figure([one, made_run([[1, 3, 3]], progress=progress)])
    with pytest.raises(UserError, match="never evaluated"):
        progress_figure([made_run([[1, 3]])])


def test_a_place_that_cannot_be_written_to_is_told(tmp_path):
    with pytest.raises(UserError, match="cannot write"):
        save(Figure(), tmp_path / "no" / "front.png")
