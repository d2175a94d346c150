"""What agents that act by the values found of the archive."""

import numpy as np

from pcn.algorithms.pcn.refinements.valued.value_state import ValueState
from pcn.planning.seen_steps import SeenSteps

ARCHIVE = np.array([[4.0, 0.0], [3.0, 1.0], [2.0, 2.0], [0.0, 3.0]])


def blank_state():
    return ValueState(SeenSteps(9, step_limit=9), lambda: None)


def test_nothing_was_found_before_anybody_acted():
    assert blank_state().share_found(ARCHIVE) == 0


def test_the_share_of_the_archive_that_was_found():
    state = blank_state()
    state.note_found(np.array([[3.0, 1.0], [1.0, 1.0]]), ARCHIVE)  # the second one is dominated
    assert state.share_found(ARCHIVE) == 0.25
    state.note_found(np.array([[0.0, 3.0]]), ARCHIVE)
    assert state.share_found(ARCHIVE) == 0.5
    # What has left the archive was not found: it may come back by others.
    state.note_found(np.zeros((0, 2)), ARCHIVE[:3])
    assert state.share_found(ARCHIVE) == 0.25


def test_what_was_found_is_stored():
    state, other = blank_state(), blank_state()
    other.from_arrays(state.to_arrays())
    assert other.share_found(ARCHIVE) == 0
    state.note_found(ARCHIVE[:2], ARCHIVE)
    other.from_arrays(state.to_arrays())
    assert other.share_found(ARCHIVE) == 0.5
