import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.envs.walkroom import MOST_OBJECTIVES, Room, Walkroom, border_front, border_height
from pcn.errors import UserError
from pcn.metrics import hypervolume
from pcn.pareto import non_dominated_mask


def every_height(room):
    """A table of all heights, which the environment itself never needs."""
    axes = [range(room.size)] * (room.num_objectives - 1)
    cells = np.array(list(itertools.product(*axes)), dtype=np.int32)
    heights_of = jax.jit(jax.vmap(lambda cell: border_height(cell, room.size, room.seed)))
    return cells, np.asarray(heights_of(jnp.asarray(cells)))


@pytest.mark.parametrize("room", [Room(2, 20, 0), Room(3, 12, 5), Room(4, 8, 1), Room(5, 6, 2)])
def test_the_front_is_that_of_all_border_cells(room):
    cells, heights = every_height(room)
    returns = -np.column_stack([cells, heights]).astype(np.float64)
    expected = np.unique(returns[non_dominated_mask(returns)], axis=0)
    np.testing.assert_array_equal(np.unique(border_front(room), axis=0), expected)


def test_heights_follow_the_description():
    room = Room(3, 20, 0)
    cells, heights = every_height(room)
    assert heights.min() == 0
    assert heights.max() <= 19
    inside = (heights > 0) & (heights < 19) & (cells.sum(axis=1) < 12)
    noise = 19 - cells[inside].sum(axis=1) - heights[inside]
    # N(0, size / 10), rounded: its variance grows by a twelfth.
    assert abs(noise.mean()) < 4 * 2 / np.sqrt(inside.sum())
    assert abs(noise.std() - np.sqrt(4 + 1 / 12)) < 0.4


def test_rooms_differ_by_seed_only():
    assert np.array_equal(border_front(Room(3, 20, 1)), border_front(Room(3, 20, 1)))
    assert not np.array_equal(border_front(Room(3, 20, 1)), border_front(Room(3, 20, 2)))


def test_rooms_of_one_size_are_one_compiled_program():
    traced = []

    @eqx.filter_jit
    def steps_to_the_wall(room, axis):
        traced.append(room)
        key = jax.random.key(0)

        def forwards(carry):
            state, steps, _ = carry
            state, _, terminated, _ = room.step(state, 2 * axis, key)
            return state, steps + 1, terminated

        start = room.reset(key), jnp.int32(0), jnp.array(False)
        return jax.lax.while_loop(lambda carry: ~carry[2], forwards, start)[1]

    rooms = [Walkroom(3, room_seed=seed) for seed in range(4)]
    for room in rooms:  # the first point of a front is the lowest height above the corner
        assert steps_to_the_wall(room, jnp.int32(2)) == -room.spec.front.returns[0, 2]
    assert len(traced) == 1
    # The cache on disk goes by the program's text.
    texts = {steps_to_the_wall.lower(room, jnp.int32(2)).as_text() for room in rooms[:2]}
    assert len(texts) == 1
    assert len({room.spec.name for room in rooms}) == 4
    steps_to_the_wall(Walkroom(3, size=12), jnp.int32(2))
    assert len(traced) == 2


def test_a_move_costs_its_own_axis_even_at_a_wall():
    room = Walkroom(3)
    key = jax.random.key(0)
    state = room.reset(key)
    forwards = room.step(state, jnp.int32(2), key)
    assert forwards.state.position.tolist() == [0, 1, 0]
    assert forwards.reward.tolist() == [0, -1, 0]
    at_the_wall = room.step(state, jnp.int32(3), key)
    assert at_the_wall.state.position.tolist() == [0, 0, 0]
    assert at_the_wall.reward.tolist() == [0, -1, 0]


def test_every_move_is_one_step_along_its_axis():
    room = Walkroom(3)
    state = room.reset(jax.random.key(0))._replace(position=jnp.array([3, 4, 5], jnp.int32))
    moved = [
        room.step(state, jnp.int32(action), jax.random.key(0)).state.position.tolist()
        for action in range(6)
    ]
    assert moved == [[4, 4, 5], [2, 4, 5], [3, 5, 5], [3, 3, 5], [3, 4, 6], [3, 4, 4]]


@pytest.mark.parametrize("num_objectives", [2, 3, 5, 9])
def test_walking_straight_to_a_front_cell_returns_that_point(num_objectives):
    room = Walkroom(num_objectives)
    step = eqx.filter_jit(room.step)
    key = jax.random.key(0)
    front = room.spec.front.returns
    for point in front[:: max(1, len(front) // 5)]:
        state, total, ended = room.reset(key), np.zeros(num_objectives), False
        for axis, cost in enumerate(point):
            for _ in range(int(-cost)):
                assert not ended
                state, reward, terminated, _ = step(state, jnp.int32(2 * axis), key)
                total, ended = total + np.asarray(reward), bool(terminated)
        assert ended
        np.testing.assert_array_equal(total, point)


def test_nine_objectives_need_seconds_not_gigabytes():
    front = Walkroom(9).spec.front.returns
    assert 4_000 < len(front) < 5_200  # the authors' room of this kind has 4,618 points
    share = hypervolume(front, np.full(9, -10.0)) / 10.0**9
    assert share == pytest.approx(0.99998, abs=1e-5)  # theirs: .99998


def test_the_most_objectives_are_allowed():
    assert Walkroom(MOST_OBJECTIVES, size=2).spec.num_objectives == MOST_OBJECTIVES


def test_impossible_rooms_are_refused():
    for arguments in ({"num_objectives": 1}, {"size": 1}, {"room_seed": -1}):
        with pytest.raises(UserError, match="walkroom"):
            Walkroom(**arguments)


def test_pictures_show_the_walker():
    for num_objectives in (2, 4):
        room = Walkroom(num_objectives)
        start = room.reset(jax.random.key(0))
        moved = room.step(start, jnp.int32(0), jax.random.key(0)).state
        picture = room.render(start)
        assert picture.dtype == np.uint8
        assert picture.shape[2] == 3
        assert not np.array_equal(picture, room.render(moved))


@pytest.mark.parametrize("objectives", [2, 3, 5, 9])
def test_films_fit_on_a_screen(objectives):
    environment = Walkroom(objectives)
    height, width, _ = environment.render(environment.reset(jax.random.key(0))).shape
    assert 400 <= width <= 800
    assert 200 <= height <= 600
