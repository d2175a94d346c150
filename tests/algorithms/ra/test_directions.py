import pytest

from pcn.algorithms.ra.directions import settled_intervals
from pcn.errors import UserError


def test_intervals_are_the_authors_unless_they_are_given():
    assert [settled_intervals(count, None) for count in (2, 3, 4, 5)] == [12, 11, 10, 9]
    assert settled_intervals(2, 3) == 3


def test_more_objectives_need_a_number_and_are_told_the_cost():
    with pytest.raises(UserError, match=r"6 objectives .* 1,287 policies, 1\.3e\+08 steps"):
        settled_intervals(6, None)
    assert settled_intervals(6, 2) == 2
