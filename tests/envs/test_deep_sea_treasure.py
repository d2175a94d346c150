import warnings
from collections import deque

import jax
import jax.numpy as jnp
import mo_gymnasium
import numpy as np
import pytest

from pcn.envs.deep_sea_treasure import MOVES, DeepSeaTreasure, SubmarineState, sea_map
from pcn.pareto import unique_front
from pcn.rollout import ScriptedAgent, rollout

LIMIT = 200
TRUE_FRONT = [
    # Treasures 1 2 3 5 8 16 24 50 74 124 and the steps to them: REFERENCE, section 4.
    (1, -1), (2, -3), (3, -5), (5, -7), (8, -8),
    (16, -9), (24, -13), (50, -14), (74, -17), (124, -19),
]  # fmt: skip


@pytest.fixture(scope="module")
def environment():
    return DeepSeaTreasure()


@pytest.fixture(scope="module")
def theirs():
    """MO-Gymnasium's environment, without its limit of 100 steps."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*precision lowered by casting.*")
        return mo_gymnasium.make("deep-sea-treasure-concave-v0").unwrapped


def run_scripts(environment, scripts):
    scripts = np.asarray(scripts, np.int32)[:, :, None]
    agents = ScriptedAgent(jnp.asarray(scripts), jnp.zeros(len(scripts), jnp.int32))
    return rollout(environment, agents, jax.random.key(0), len(scripts))


def shortest_scripts():
    """Breadth-first search over the cells: the shortest script to every treasure."""
    cells = sea_map()
    scripts, found, queue = {(0, 0): ()}, {}, deque([(0, 0)])
    while queue:
        cell = queue.popleft()
        for action, (down, right) in enumerate(MOVES):
            row, column = cell[0] + down, cell[1] + right
            inside = 0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]
            if not inside or cells[row, column] < 0 or (row, column) in scripts:
                continue
            scripts[row, column] = (*scripts[cell], action)
            if cells[row, column] > 0:
                found[int(cells[row, column])] = scripts[row, column]
            else:  # a treasure ends the episode
                queue.append((row, column))
    return found


@pytest.mark.parametrize(
    "chances", [[0.25, 0.25, 0.25, 0.25], [0.05, 0.2, 0.05, 0.7], [0.1, 0.35, 0.05, 0.5]]
)
def test_every_step_equals_mo_gymnasium_s(environment, theirs, chances):
    num_episodes = 200
    rng = np.random.default_rng(7)
    scripts = rng.choice(4, size=(num_episodes, LIMIT), p=chances)
    episodes = jax.tree.map(np.asarray, run_scripts(environment, scripts))
    num_compared, treasures = 0, set()
    for number in range(num_episodes):
        observation, _ = theirs.reset(seed=0)
        for time in range(LIMIT):
            np.testing.assert_array_equal(episodes.observations[number, time], observation)
            observation, reward, terminated, truncated, _ = theirs.step(scripts[number, time])
            np.testing.assert_array_equal(episodes.rewards[number, time], reward)
            assert not truncated
            is_last = time == episodes.lengths[number] - 1
            assert (is_last and bool(episodes.terminated[number])) == terminated
            num_compared += 1
            if is_last:
                treasures.add(reward[0])
                break
    assert num_compared > 1500
    assert len(treasures - {0}) >= 3  # more than the shallow ones


def test_every_treasure_and_rock_is_mo_gymnasium_s(theirs):
    cells = theirs.sea_map
    np.testing.assert_array_equal(sea_map(), np.where(cells < 0, -1, cells))


def test_from_every_open_cell_every_action_does_what_mo_gymnasium_does(environment, theirs):
    rows, columns = np.nonzero(sea_map() == 0)
    cells = np.repeat(np.stack([rows, columns], axis=1), 4, axis=0).astype(np.int32)
    actions = np.tile(np.arange(4), len(rows)).astype(np.int32)
    key = jax.random.key(0)
    ours = jax.jit(
        jax.vmap(lambda cell, action: environment.step(SubmarineState(cell), action, key))
    )(jnp.asarray(cells), jnp.asarray(actions))
    for place, (cell, action) in enumerate(zip(cells, actions, strict=True)):
        theirs.reset()
        theirs.current_state = cell.copy()
        observation, reward, terminated, _, _ = theirs.step(action)
        np.testing.assert_array_equal(ours.state.position[place], observation)
        np.testing.assert_array_equal(ours.reward[place], reward)
        assert bool(ours.terminated[place]) == terminated


def test_the_front_is_what_an_exhaustive_search_finds(environment):
    returns = np.array(
        [(value, -len(script)) for value, script in shortest_scripts().items()], dtype=np.float64
    )
    searched = returns[unique_front(returns)]
    np.testing.assert_array_equal(searched, np.array(TRUE_FRONT))
    front = environment.spec.front
    np.testing.assert_array_equal(front.returns[unique_front(front.returns)], searched)
    assert len(front.returns) == len(searched)
    assert front.status == "proven"


def test_every_point_of_the_front_is_reached_by_a_script(environment):
    scripts = shortest_scripts()
    padded = [list(script) + [0] * (LIMIT - len(script)) for script in scripts.values()]
    episodes = run_scripts(environment, padded)
    reached = {tuple(row) for row in episodes.returns().tolist()}
    assert reached == {tuple(row) for row in environment.spec.front.returns.tolist()}
    assert bool(episodes.terminated.all())


def test_an_episode_that_finds_nothing_ends_at_step_two_hundred(environment):
    episodes = run_scripts(environment, [[0] * LIMIT])  # against the top edge for ever
    assert episodes.lengths.tolist() == [LIMIT]
    assert episodes.terminated.tolist() == [False]
    assert episodes.returns().tolist() == [[0.0, -200.0]]


def test_the_picture_shows_where_the_submarine_is(environment):
    rows, columns = np.nonzero(sea_map() >= 0)
    pictures = {}
    for row, column in list(zip(rows, columns, strict=True))[::7]:
        state = SubmarineState(jnp.array([row, column], jnp.int32))
        picture = environment.render(state)
        assert picture.dtype == np.uint8
        assert picture.shape == (484, 484, 3)  # 11 cells of 44 pixels
        pictures[row, column] = picture
    assert len({picture.tobytes() for picture in pictures.values()}) == len(pictures)
    # Two pictures differ in the two cells where the submarine is, and nowhere else.
    (first, second), *_ = [(a, b) for a in pictures for b in pictures if a < b]
    changed = np.any(pictures[first] != pictures[second], axis=2)
    cells = changed.reshape(11, 44, 11, 44).any(axis=(1, 3))
    assert {tuple(cell) for cell in np.argwhere(cells).tolist()} <= {first, second}
