import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import LoopErasure
from pcn.algorithms.pcn.refinements.loop_erasure import (
    promising_shortcuts,
    without_idle_loops,
    without_loops,
)
from pcn.algorithms.pcn.training import Training
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.episodes import Episodes
from pcn.rollout import ScriptedAgent, rollout

UP, DOWN, LEFT, RIGHT = range(4)
NOTHING = np.zeros((0, 2))


def run_scripts(environment, scripts):
    """Play scripts of different lengths; the last action goes on."""
    limit = environment.spec.step_limit
    padded = [list(script) + [script[-1]] * (limit - len(script)) for script in scripts]
    agents = ScriptedAgent(
        jnp.asarray(padded, jnp.int32)[:, :, None], jnp.zeros(len(scripts), jnp.int32)
    )
    return rollout(environment, agents, jax.random.key(0), len(scripts))


def slow_without_loops(visits):
    """Walk along; on meeting a place again, forget everything since the first visit."""
    path = []
    for time, place in enumerate(visits):
        for index, (_, known) in enumerate(path):
            if known == place:
                del path[index:]
                break
        path.append((time, place))
    return [time for time, _ in path]


walks = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=14), min_size=1, max_size=5)


@given(walks)
def test_what_is_left_is_what_a_slow_walk_keeps(walks):
    lengths = np.array([len(walk) for walk in walks])
    observations = np.zeros((len(walks), 20, 1), np.int32)
    for number, walk in enumerate(walks):
        observations[number, : len(walk), 0] = walk
    kept = without_loops(observations, lengths)
    assert kept.shape == (len(walks), lengths.max())
    for number, walk in enumerate(walks):
        assert np.flatnonzero(kept[number]).tolist() == slow_without_loops(walk)


def test_observations_of_several_parts_are_compared_as_a_whole():
    place = np.array([[1, 2, 1, 1]], np.int32)[:, :, None]
    fuel = np.array([[0.5, 0.5, 0.25, 0.5]], np.float32)
    kept = without_loops({"place": place, "fuel": fuel}, np.array([4]))
    assert kept.tolist() == [[False, False, False, True]]  # only the fourth is the first again


def test_a_detour_is_cut_out_and_its_time_saved():
    detour = [RIGHT, LEFT, RIGHT, DOWN, DOWN]  # to the treasure of 2, with a step back
    straight = [DOWN]  # to the treasure of 1, without detours
    episodes = run_scripts(DeepSeaTreasure(), [detour, straight])
    assert episodes.returns().tolist() == [[2.0, -5.0], [1.0, -1.0]]
    shortcuts = promising_shortcuts(episodes, NOTHING, discount=1.0, tolerances=1e-3)
    assert shortcuts.returns.tolist() == [[2.0, -3.0]]
    assert shortcuts.actions[0, :3, 0].tolist() == [RIGHT, DOWN, DOWN]


def test_bumping_into_the_edge_is_a_loop_too():
    episodes = run_scripts(DeepSeaTreasure(), [[UP, LEFT, UP, DOWN]])
    shortcuts = promising_shortcuts(episodes, NOTHING, discount=1.0, tolerances=1e-3)
    assert shortcuts.returns.tolist() == [[1.0, -1.0]]


def test_a_shortcut_promises_its_discounted_return():
    episodes = run_scripts(DeepSeaTreasure(), [[RIGHT, LEFT, RIGHT, DOWN, DOWN]])
    shortcuts = promising_shortcuts(episodes, NOTHING, discount=0.5, tolerances=1e-6)
    # The treasure comes at the third step; time costs 1 + .5 + .25.
    assert shortcuts.returns.tolist() == [[0.5, -1.75]]


@pytest.mark.parametrize(
    ("front", "promising"),
    [
        ([[2.0, -3.0]], 0),  # already known
        ([[3.0, -3.0]], 0),  # dominated
        ([[2.0, -3.0005]], 0),  # known up to the tolerance
        ([[2.0, -4.0], [1.0, -1.0]], 1),
    ],
)
def test_only_what_adds_to_the_front_is_promising(front, promising):
    episodes = run_scripts(DeepSeaTreasure(), [[RIGHT, LEFT, RIGHT, DOWN, DOWN]])
    shortcuts = promising_shortcuts(episodes, np.array(front), discount=1.0, tolerances=1e-3)
    assert len(shortcuts) == promising


def test_two_ways_to_the_same_promise_count_once():
    ways = [[RIGHT, LEFT, RIGHT, DOWN, DOWN], [UP, RIGHT, DOWN, DOWN], [UP, DOWN]]
    episodes = run_scripts(DeepSeaTreasure(), ways)
    shortcuts = promising_shortcuts(episodes, NOTHING, discount=1.0, tolerances=1e-3)
    assert sorted(shortcuts.returns.tolist()) == [[1.0, -1.0], [2.0, -3.0]]
    only_first = eqx.tree_at(
        lambda batch: batch.real_mask, episodes, jnp.array([True, False, False])
    )
    first = promising_shortcuts(only_first, NOTHING, discount=1.0, tolerances=1e-3)
    assert first.returns.tolist() == [[2.0, -3.0]]  # padding promises nothing


def stored_after(environment, scripts):
    """A training that has stored these episodes, before and after loop erasure."""
    config = PCNConfig(episodes_per_iteration=4, width=8, refinements=())
    training = Training(environment, config, (), seed=0)
    episodes = run_scripts(environment, scripts)
    training.dataset.add(episodes)
    before = training.dataset.rows.returns.tolist()
    LoopErasure().after_storing(training, episodes)
    return before, training


@pytest.mark.slow
def test_a_true_shortcut_is_replayed_and_stored_and_its_steps_are_counted():
    ways = [[RIGHT, LEFT, RIGHT, DOWN, DOWN], [UP, DOWN]]
    before, training = stored_after(DeepSeaTreasure(), ways)
    assert before == [[2.0, -5.0], [1.0, -2.0]]
    added = training.dataset.rows.returns.tolist()[2:]
    assert sorted(added) == [[1.0, -1.0], [2.0, -3.0]]
    assert training.steps == 3 + 1


def test_a_replay_exposes_a_promise_that_hidden_state_makes_false(hidden_counter):
    episodes = run_scripts(hidden_counter, [[0, 0, 1]])
    shortcuts = promising_shortcuts(episodes, NOTHING, discount=1.0, tolerances=1e-3)
    assert shortcuts.returns.tolist() == [[2.0, -1.0]]  # two presses look like standing still
    before, training = stored_after(hidden_counter, [[0, 0, 1]])
    assert training.dataset.rows.returns.tolist() == before == [[2.0, -3.0]]
    assert training.steps == 1  # the attempt cost a step all the same


def test_nothing_is_replayed_where_outcomes_are_random(coin):
    training = Training(coin, PCNConfig(refinements=()), (), seed=0)
    episodes = walk_of(IDLE, COSTS)
    LoopErasure().after_storing(training, episodes)
    assert training.steps == 0


def walk_of(places, rewards, *, terminated=True, limit=8):
    """Episodes over numbered places, with two objectives."""
    length = len(places)
    observations = np.zeros((1, limit, 1), np.int32)
    observations[0, :length, 0] = places
    actions = np.zeros((1, limit, 1), np.int32)
    actions[0, :length, 0] = np.arange(1, length + 1)
    gains = np.zeros((1, limit, 2), np.float32)
    gains[0, :length] = rewards
    return Episodes(
        jnp.asarray(observations),
        jnp.asarray(actions),
        jnp.asarray(gains),
        jnp.asarray([length]),
        jnp.asarray([terminated]),
    )


IDLE = [3, 4, 3, 5, 5, 6]
COSTS = [[0, -1]] * 5 + [[7, -1]]


def test_without_idle_loops_what_remains_has_happened_step_by_step():
    stored = without_idle_loops(walk_of(IDLE, COSTS), discount=1.0)
    assert int(stored.lengths[0]) == 3
    assert stored.observations[0, :, 0].tolist() == [3, 5, 6, 0, 0, 0, 0, 0]
    assert stored.actions[0, :, 0].tolist() == [3, 5, 6, 0, 0, 0, 0, 0]  # the last of each visit
    assert stored.returns()[0].tolist() == [7, -3]


@pytest.mark.parametrize(
    ("rewards", "terminated"),
    [
        ([[0, -1], [2, -1], [0, -1], [0, -1], [0, -1], [7, -1]], True),  # the loop gains something
        (COSTS, False),  # it was truncated, so a shorter one would have gone on
    ],
)
def test_loops_that_gain_something_and_truncated_episodes_stay(rewards, terminated):
    episodes = walk_of(IDLE, rewards, terminated=terminated)
    stored = without_idle_loops(episodes, discount=1.0)
    assert eqx.tree_equal(stored, episodes)


def test_a_discount_makes_earlier_gains_worth_more():
    gains = [[0, 0]] * 5 + [[1, 1]]
    stored = without_idle_loops(walk_of(IDLE, gains), discount=0.5)
    assert stored.returns(discount=0.5)[0].tolist() == [0.25, 0.25]
