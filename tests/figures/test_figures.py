"""Figures show the numbers of a run, whatever environment it was trained on."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from made_runs import evaluations, made_run
from pcn import UserError
from pcn.figures.canvas import save
from pcn.figures.front import front_figure, fronts_figure
from pcn.figures.labels import labels_of
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


def test_a_title_counts_policies_with_equal_returns_once_as_metrics_do():
    run = made_run([[1, 3], [2, 1], [2, 1], [2, 1]])
    (axes,) = front_figure(run).axes
    assert run.metrics["executed"]["cardinality"] == 2
    assert "toy: 2 non-dominated policies" in axes.get_title()


def test_a_title_counts_a_single_policy_in_the_singular():
    title = front_figure(made_run([[1, 3]])).axes[0].get_title()
    assert "toy: 1 non-dominated policy\n" in title
    assert "1 of 1 policy returns what was requested" in title


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
    with pytest.raises(UserError, match="no run was evaluated"):
        progress_figure([made_run([[1, 3]])])


def test_a_run_that_was_never_evaluated_shows_its_end_beside_the_others():
    one, other = made_run([[1, 3]], progress=evaluations((10, 4.0, 2.0))), made_run([[1, 3]])
    *_, archive, executed = progress_figure([one, other]).axes[0].get_lines()
    assert executed.get_ydata().tolist() == archive.get_ydata().tolist() == [3.0]
    assert executed.get_marker() == archive.get_marker() == "o"


def test_progress_tells_runs_apart_and_of_very_many_their_algorithms():
    progress = evaluations((10, 4.0, 2.0))

    def figure_of(*kinds):
        runs = [
            made_run([[1, 3]], progress=progress, algorithm=kind, seed=seed)
            for seed, kind in enumerate(kinds)
        ]
        figure = progress_figure(runs)
        executed = figure.axes[0].get_lines()[1::2]
        return words(figure), [line.get_color() for line in executed]

    assert figure_of("pcn", "pcn", "ra")[0] == ["pcn, seed 0", "pcn, seed 1", "ra, seed 2"]
    assert len(set(figure_of("pcn", "pcn", "ra")[1])) == 3
    many, colours = figure_of(*["pcn"] * 9, "ra")
    assert many == ["pcn (9)", "ra (1)"]
    assert len(set(colours[:9])) == 1
    assert colours[9] not in colours[:9]


def test_a_place_that_cannot_be_written_to_is_told(tmp_path):
    with pytest.raises(UserError, match="cannot write"):
        save(Figure(), tmp_path / "no" / "front.png")


LONG = "deep-sea-treasure-with-a-very-long-name-that-goes-on-and-on-and-costs-much-$-of-room"


@pytest.mark.parametrize("objectives", [2, 3, 5])
@pytest.mark.parametrize("name", ["deep-sea-treasure", LONG])
def test_no_title_is_cut_off(name, objectives):
    executed = np.random.default_rng(0).normal(size=(12, objectives))
    run = made_run(executed, front=executed, name=name, progress=evaluations((10, 4.0, 2.0)))
    for figure in (front_figure(run), fronts_figure([run, run]), progress_figure([run, run])):
        figure.draw_without_rendering()
        whole = figure.bbox
        for axes in figure.axes:
            shown = axes.title.get_window_extent()
            assert shown.x0 >= whole.x0
            assert shown.x1 <= whole.x1
            assert shown.y1 <= whole.y1


def words(figure):
    """Every word beside the points of a figure, and in its legends."""
    legends = [axes.get_legend() for axes in figure.axes] + figure.legends
    return [text.get_text() for axes in figure.axes for text in axes.texts] + [
        text.get_text() for legend in legends if legend is not None for text in legend.get_texts()
    ]


def test_more_objectives_have_a_legend_ids_and_the_known_front():
    run = made_run([[1, 3, 5], [3, 0, 7]], [[1, 3, 5], [3, 1, 7]], front=[[1, 3, 5], [4, 1, 7]])
    figure = front_figure(run)
    told = words(figure)
    assert {"proven front", "executed, coloured by gain", "requested, not executed"} <= set(told)
    assert {"0", "1"} <= set(told)
    drawn = [np.asarray(line.get_ydata()).tolist() for line in figure.axes[0].get_lines()]
    assert [1.0, pytest.approx(1 / 3), 1.0] in drawn, "the known point (4, 1, 7)"


def test_the_ids_of_the_best_policies_leave_the_numbers_of_the_scale_free():
    figure = front_figure(made_run([[1, 3, -0.311], [3, 0, -7.777]]))
    figure.draw_without_rendering()
    extents = {text.get_text(): text.get_window_extent() for text in figure.axes[0].texts}
    scale, ids = [extents[word] for word in ("-0.311", "-7.777")], [extents[word] for word in "01"]
    assert not any(one.overlaps(other) for one in scale for other in ids)


def test_nothing_missing_is_drawn_as_zero():
    front = [[1, 3], [2, 2], [3, 1]]
    run = made_run(front, progress=evaluations((10, 4.0, 2.0), (20, 6.0, 6.0)), front=front)
    figure = progress_figure([run])
    _, executed = figure.axes[0].get_lines()
    assert executed.get_ydata().tolist() == [4.0, 0.0, 0.0]
    figure.draw_without_rendering()
    low, high = figure.axes[0].get_ylim()
    assert low < 0 < high
    assert "$\\mathdefault{0}$" in [tick.get_text() for tick in figure.axes[0].get_yticklabels()]


@pytest.mark.parametrize("objectives", [2, 3, 4])
def test_fronts_of_several_runs_share_a_picture(objectives):
    executed = np.eye(objectives)
    runs = [made_run(executed * (1 + seed), seed=seed, front=executed * 2) for seed in range(2)]
    told = words(fronts_figure(runs))
    assert [word.split(" (")[0] for word in told if "(" in word] == [
        "proven front",
        "pcn, seed 0",
        "pcn, seed 1",
    ]


def test_runs_of_one_name_are_told_apart_all_the_same(tmp_path):
    run = made_run([[1, 3]])
    assert labels_of([run, run]) == ["pcn, seed 0 #1", "pcn, seed 0 #2"]
