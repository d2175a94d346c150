"""Figures of several algorithms show the numbers that they are given, and name everything."""

import numpy as np
import pytest

from pcn import Objective
from pcn.figures.boxes import boxes_figure
from pcn.figures.coverage_sets import coverage_sets_figure
from pcn.figures.improvement import improvement_figure
from pcn.figures.intervals import intervals_figure
from pcn.figures.learning_curves import learning_curves_figure
from pcn.figures.styles import COLOURS, styles_of

OBJECTIVES = [
    Objective("gain", "kg"),
    Objective("time", "s", "minimise"),
    Objective("c"),
    Objective("d"),
]


def legend_of(figure):
    legend = (figure.legends or [figure.axes[0].get_legend()])[0]
    return [text.get_text() for text in legend.get_texts()]


def test_two_objectives_are_a_scatter_plot_with_units_and_a_legend():
    sets = {"pcn": np.array([[1.0, -3], [2, -4]]), "ra": np.array([[1.0, -3]])}
    front = np.array([[1.0, -3], [2, -4], [3, -9]])
    names = {"pcn": "PCN", "ra": "RA"}
    figure = coverage_sets_figure("DST", sets, OBJECTIVES[:2], front=front, names=names)
    (axes,) = figure.axes
    drawn = [points.get_offsets().tolist() for points in axes.collections]
    assert drawn == [front.tolist(), sets["pcn"].tolist(), sets["ra"].tolist()]
    assert legend_of(figure) == ["known front (3 points)", "PCN (2 points)", "RA (1 point)"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("gain [kg]", "minus time [s]")


def test_three_objectives_are_points_above_their_shadows():
    points = np.array([[0.0, 1, -3], [1, 0, -5]])
    figure = coverage_sets_figure("Minecart", {"pcn": points}, OBJECTIVES[:3])
    (axes,) = figure.axes
    floor = axes.get_zlim()[0]
    assert floor < -5
    drops = np.array([np.array(line.get_data_3d()).T for line in axes.get_lines()])
    np.testing.assert_array_equal(drops[:, 1], points)  # from the floor up to each point
    np.testing.assert_array_equal(drops[:, 0], [[0, 1, floor], [1, 0, floor]])
    assert (axes.get_ylabel(), axes.get_zlabel()) == ("minus time [s]", "c")


def test_more_objectives_are_lines_in_the_colour_of_their_algorithm():
    sets = {"pcn": np.array([[0.0, 0, 0, 2]]), "ra": np.array([[1.0, 4, 1, 0], [1, 2, 1, 1]])}
    figure = coverage_sets_figure("many", sets, OBJECTIVES)
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 4]
    drawn = sorted((line.get_ydata().tolist(), line.get_color()) for line in lines)
    styles = styles_of(["pcn", "ra"])
    assert drawn == [
        ([0, 0, 0, 1], styles["pcn"].colour),
        ([1, 0.5, 1, 0.5], styles["ra"].colour),
        ([1, 1, 1, 0], styles["ra"].colour),
    ]
    assert legend_of(figure) == ["pcn (1 point)", "ra (2 points)"]


def test_intervals_are_bars_around_their_value_and_one_seed_has_none():
    figure = intervals_figure(
        "toy", {"hypervolume": {"a": (2.0, 1.0, 4.0), "b": (3.0, np.nan, np.nan)}}
    )
    (axes,) = figure.axes
    assert [list(line.get_xdata()) for line in axes.get_lines()] == [[1.0, 4.0], [2.0], [3.0]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "a"]  # from below


def test_curves_of_different_lengths_are_drawn_on_a_log_scale():
    x = np.array([1.0, 10.0])
    curve = (x, x, x - 1, x + 1)
    options = {"labels": ["a", "b"], "x_label": "steps", "y_label": "volume"}
    near = learning_curves_figure("t", {"a": curve, "b": (x * 2, x, x, x)}, best=9.0, **options)
    assert near.axes[0].get_xscale() == "linear"
    assert legend_of(near) == ["known front: 9", "a", "b"]
    far = learning_curves_figure("t", {"a": curve, "b": (x * 100, x, x, x)}, **options)
    assert far.axes[0].get_xscale() == "log"
    band = near.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (0, 11)


def test_probabilities_are_written_into_the_square():
    square = np.array([[np.nan, 0.25], [0.75, np.nan]])
    figure = improvement_figure("toy", {"hypervolume": square, "I_eps": square}, ["a", "b"])
    first, second, _ = figure.axes
    assert [text.get_text() for text in first.texts] == ["0.25", "0.75"]
    assert (first.get_title(), second.get_title()) == ("hypervolume", "I_eps")


def test_boxes_stand_at_their_number_of_objectives_with_the_median_inside():
    groups = {"pcn": {2: np.array([1.0, 2, 9]), 4: np.array([3.0])}, "ra": {2: np.array([0.5])}}
    figure = boxes_figure("rooms", {"I_eps": groups}, {"pcn": "PCN", "ra": "RA"})
    (axes,) = figure.axes
    styles = styles_of(["pcn", "ra"])
    medians = [
        (round(float(np.mean(line.get_xdata())), 6), float(line.get_ydata()[0]))
        for line in axes.get_lines()
        if line.get_linewidth() == 2 and line.get_color() == styles["pcn"].colour
    ]
    assert medians == [(-0.2, 2.0), (0.8, 3.0)]  # left of n = 2 and of n = 4
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "4"]
    assert legend_of(figure) == ["PCN", "RA"]


@pytest.mark.parametrize("others", [[], ["pcn-paper"], ["a", "b", "c"]])
def test_the_paper_s_algorithms_look_the_same_in_every_figure(others):
    styles = styles_of([*others, "ra", "mones", "pcn"])
    assert [styles[label].colour for label in ("pcn", "mones", "ra")] == list(COLOURS[:3])


def test_no_two_of_sixteen_labels_look_alike():
    assert len(set(styles_of([f"label {number}" for number in range(16)]).values())) == 16
