"""Four Room and Fruit Tree: the same actions, the same episode as in MO-Gymnasium."""

from itertools import product

import numpy as np
import pytest

from pcn.envs.laboratory.four_room import FourRoom
from pcn.envs.laboratory.fruit_tree import FruitTree
from pcn.errors import UserError
from side_by_side import assert_same, make_theirs, run_ours, run_theirs

LIMIT = 200


def sticky_scripts(rng, count):
    """Walks that go on in one direction for a while, so that they see all rooms."""
    scripts = rng.integers(0, 4, (count, LIMIT))
    for time in range(1, LIMIT):
        again = rng.random(count) < 0.7
        scripts[again, time] = scripts[again, time - 1]
    return scripts


def test_four_room_is_mo_gymnasium_s_step_by_step():
    rng = np.random.default_rng(0)
    # Up and to the right more often than back: some of them reach the goal.
    scripts = sticky_scripts(rng, 200)
    scripts[100:] = rng.choice(4, (100, LIMIT), p=[0.15, 0.35, 0.35, 0.15])
    episodes = run_ours(FourRoom(), scripts)
    theirs = make_theirs("four-room-v0")
    for number, script in enumerate(scripts):
        assert_same(episodes, number, run_theirs(theirs, script))
    # Walls, all kinds of shapes and the goal took part.
    assert episodes.terminated.sum() > 10
    assert episodes.last_observations[:, 2:].any(axis=0).all()
    assert (episodes.rewards.sum(axis=2) == 3).any()


@pytest.mark.parametrize("depth", [5, 6, 7])
def test_every_branch_of_the_fruit_tree_is_mo_gymnasium_s(depth):
    scripts = np.array(list(product((0, 1), repeat=depth)))
    episodes = run_ours(FruitTree(depth), scripts)
    theirs = make_theirs("fruit-tree-v0", depth=depth)
    for number, script in enumerate(scripts):
        assert_same(episodes, number, run_theirs(theirs, script))
    assert episodes.terminated.all()
    # What was returned is the front, up to the precision of the rewards.
    front = FruitTree(depth).spec.front
    assert front.discount == 0.99
    returns = np.asarray(episodes.returns(discount=0.99))
    distances = np.abs(front.returns[:, None] - returns[None]).max(axis=2)
    assert distances.min(axis=1).max() < 1e-5
    assert len(front.returns) == 2**depth


def test_other_depths_are_refused():
    with pytest.raises(UserError, match="depth is 5, 6 or 7, got 4"):
        FruitTree(4)
