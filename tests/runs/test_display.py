"""What a notebook shows of a run."""

import dataclasses
import re
import xml.etree.ElementTree as xml

import pytest

from made_runs import TREASURES, made_run, toy_spec
from pcn.envs.spec import Objective
from pcn.runs.display import MOST_MARKS, MOST_ROWS

SVG = "{http://www.w3.org/2000/svg}"


def svg_of(run):
    (picture,) = re.findall(r"<svg.*?</svg>", run._repr_html_(), re.DOTALL)
    return xml.fromstring(picture)


def rows_of(run):
    page = run._repr_html_()
    table = xml.fromstring(page[page.index("<table>") : page.index("</table>") + len("</table>")])
    return [[cell.text for cell in row] for row in table.iter("tr")]


def test_the_table_has_costs_without_their_minus_and_the_front_only():
    assert rows_of(made_run([[1, -3], [2, -5.5], [0, -9]])) == [
        ["policy", "gain [kg]", "cost 0"],
        ["0", "1", "3"],
        ["1", "2", "5.5"],
    ]


def test_a_long_front_is_shown_in_part():
    run = made_run([[number, -number] for number in range(MOST_ROWS + 5)])
    assert len(rows_of(run)) == 1 + MOST_ROWS
    assert "and 5 more non-dominated policies" in run._repr_html_()


def test_two_objectives_are_points_with_the_better_to_the_right_and_up():
    circles = [
        (float(circle.get("cx")), float(circle.get("cy")))
        for circle in svg_of(made_run(TREASURES)).iter(f"{SVG}circle")
    ]
    assert len(circles) == len(TREASURES)
    assert circles == sorted(circles)  # more treasure is further right, and takes longer: lower


@pytest.mark.parametrize("num_objectives", [3, 9])
def test_more_objectives_are_a_line_for_each_policy(num_objectives):
    run = made_run([[0, *[5] * (num_objectives - 1)], [1, *[4] * (num_objectives - 1)]])
    lines = [line.get("points").split() for line in svg_of(run).iter(f"{SVG}polyline")]
    assert [len(line) for line in lines] == [num_objectives] * 2


def test_thousands_of_policies_stay_a_small_picture():
    run = made_run([[number, -number] for number in range(3 * MOST_MARKS)])
    assert len(list(svg_of(run).iter(f"{SVG}circle"))) == MOST_MARKS


def test_names_cannot_become_markup():
    spec = dataclasses.replace(
        toy_spec(2), objectives=(Objective("<script>alert(1)</script>"), Objective("b"))
    )
    assert "<script" not in made_run([[1, -3]], spec=spec)._repr_html_()
