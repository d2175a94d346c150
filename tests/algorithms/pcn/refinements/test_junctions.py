"""Episodes are joined at places that both pass."""

from dataclasses import replace

import numpy as np
import pytest

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import Junctions
from pcn.algorithms.pcn.refinements.joining.junction_memory import JunctionMemory
from pcn.algorithms.pcn.refinements.joining.places import Places
from pcn.algorithms.pcn.refinements.joining.walks import walked
from pcn.algorithms.pcn.refinements.scripts import play_scripts
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.pcn.training import Training
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.minecart import Minecart
from pcn.episodes import Episodes

NOTHING = 5
THERE = [3, 2, 5, 5, 1, 2, 2, 4, 0]  # to a mine, 0.8 of the first ore
HOME = [2, 2, 3, 2, 2, 1, 2, 1]
EMPTY = [2, 3, 2, 1, 1, 1, 1, 1, 1, 1]  # out of the base and back
JUNCTIONS = Junctions(steps_share=1.0, patience=0.0, fewest_steps=0)
CONFIG = PCNConfig(
    total_steps=20_000,
    episodes_per_iteration=8,
    warmup_episodes=8,
    updates_per_iteration=1,
    evaluations=0,
    refinements=(JUNCTIONS,),
)


def training_with(scripts):
    """A training that has stored these episodes."""
    training = Training(Minecart(), CONFIG, (JUNCTIONS,), seed=0)
    ways = [np.array(script, np.int32)[:, None] for script in scripts]
    limits = np.array([len(script) for script in scripts])
    head = training.learner.policy.action_head
    training.dataset.add(play_scripts(training, ways, head, most_steps=limits))
    return training


def test_the_best_way_to_a_place_is_joined_with_the_best_way_from_it():
    # One cart waits at the mine, the other one before it leaves: together they do not wait.
    training = training_with([[*THERE, *[NOTHING] * 3, *HOME], [*[NOTHING] * 4, *THERE, *HOME]])
    assert training.dataset.archive().returns[:, 2].max() == pytest.approx(-0.8)
    JUNCTIONS.after_exploring(training)
    archive = training.dataset.archive()
    # Another joint may have come home without any ore.
    (row,) = np.flatnonzero(archive.returns[:, 0] > 0)
    np.testing.assert_allclose(archive.returns[row], [0.8, 0.0, -0.74], atol=1e-6)
    assert training.dataset.actions(archive.rows)[row][:, 0].tolist() == [*THERE, *HOME]


def test_nothing_is_joined_with_a_small_budget():
    training = training_with([[*THERE, *[NOTHING] * 3, *HOME], [*[NOTHING] * 4, *THERE, *HOME]])
    before = training.steps
    replace(JUNCTIONS, fewest_steps=CONFIG.total_steps + 1).after_exploring(training)
    assert training.steps == before
    replace(JUNCTIONS, fewest_steps=CONFIG.total_steps).after_exploring(training)
    assert training.steps > before


def test_what_joints_take_is_counted_and_limited():
    training = training_with([[*THERE, *[NOTHING] * 3, *HOME], [*[NOTHING] * 4, *THERE, *HOME]])
    before = training.steps
    JUNCTIONS.after_exploring(training)
    memory = JUNCTIONS.state_in(training, JunctionMemory)
    assert 0 < memory.steps == training.steps - before
    frugal = training_with([[*THERE, *[NOTHING] * 3, *HOME], [*[NOTHING] * 4, *THERE, *HOME]])
    replace(JUNCTIONS, steps_share=0.1).after_exploring(frugal)
    assert frugal.steps == before


def test_no_joint_is_played_twice():
    training = training_with([[*THERE, *[NOTHING] * 3, *HOME], [*[NOTHING] * 4, *THERE, *HOME]])
    JUNCTIONS.after_exploring(training)
    steps = training.steps
    JUNCTIONS.after_exploring(training)
    assert training.steps == steps


def test_a_joint_promises_what_both_parts_returned_discounted():
    memory = JunctionMemory(1, most_places=100, most_tried=100)
    memory.begin(np.ones(1))
    memory.add_grid(0.5, np.zeros(1), 1)
    # Both pass the place 2: the first one after one step, the other one after two.
    episodes = Episodes(
        np.array([[[0.0], [2.1], [3.0]], [[0.0], [1.0], [2.2]]]),
        np.arange(6).reshape(2, 3, 1),
        np.array([[[8.0], [0.0], [0.0]], [[0.0], [0.0], [4.0]]]),
        np.array([3, 3]),
        np.ones(2, bool),
    )
    joints = memory.learn(episodes, 3, 0.5, np.zeros(1), ties=0.0, rng=np.random.default_rng(0))
    promised = {
        tuple(memory.script(source)[:, 0]): value
        for source, value in zip(joints.sources, joints.returns[:, 0], strict=True)
    }
    assert promised[0, 5] == 8.0 + 0.5 * 4.0


def test_where_an_episode_was_broken_off_is_a_place_too():
    episodes = Episodes(
        np.array([[[0.0], [1.0]], [[0.0], [1.0]]]),
        np.zeros((2, 2, 1)),
        np.array([[[5.0], [7.0]], [[5.0], [7.0]]]),
        np.array([2, 2]),
        np.ones(2, bool),
        broken_off=np.array([False, True]),
        last_observations=np.array([[8.0], [9.0]]),
    )
    walk = walked(episodes, 3, 1.0)
    assert walk.observations[:, 0].tolist() == [1.0, 1.0, 9.0]
    assert walk.times.tolist() == [1, 1, 2]
    assert walk.before[:, 0].tolist() == [5.0, 5.0, 12.0]
    assert walk.ended.tolist() == [True, False, False]
    assert len(walked(episodes, 2, 1.0).times) == 2


def branching(share):
    """What branches take when half of the steps are spent and a cart has come home with ore."""
    training = training_with([EMPTY, [*THERE, *HOME]])
    training.runner.steps = 10_000
    junctions = replace(JUNCTIONS, steps_share=0.0, branch_share=share)
    junctions.after_exploring(training)
    return training, junctions.state_in(training, JunctionMemory)


def test_what_branches_take_is_counted_and_limited():
    training, memory = branching(0.1)
    assert 0 < memory.branch_steps == training.steps - 10_000
    assert memory.branch_steps <= 0.1 * training.steps**2 / CONFIG.total_steps
    _, memory = branching(0.0)
    assert memory.branch_steps == 0


def test_a_branch_is_a_way_to_a_place_and_then_a_few_random_actions():
    training = training_with([EMPTY, [*THERE, *HOME]])
    training.runner.steps = 10_000
    played = []
    training.runner.listeners.append(played.append)
    junctions = replace(JUNCTIONS, steps_share=0.0, rounds=1, branch_length=2, rejoining=0.0)
    junctions.after_exploring(training)
    (episodes,) = played
    lengths = np.asarray(episodes.lengths)
    for actions, length in zip(np.asarray(episodes.actions)[..., 0], lengths, strict=True):
        begun = [
            count
            for count in range(length + 1)
            for known in (EMPTY, [*THERE, *HOME])
            if actions[:count].tolist() == known[:count]
        ]
        assert max(begun) >= length - 2
    assert len(set(lengths.tolist())) > 1


def test_a_branch_that_rejoins_goes_on_as_a_known_way_from_the_place():
    draw = training_with([EMPTY]).learner.policy.action_head.random_row
    way, onward = np.array([[8], [9]]), np.arange(20, 40)[:, None]
    junctions = replace(JUNCTIONS, branch_length=2, rejoining_shift=3)
    rng = np.random.default_rng(0)
    shapes = set()
    for _ in range(300):
        script = junctions.branched(way, onward, draw, rng)[:, 0]
        assert script[:2].tolist() == [8, 9]
        fresh, known = np.flatnonzero(script < 8), script[script >= 20]
        assert np.all(np.diff(fresh) == 1)
        assert np.all(fresh <= 2 + 3 + 1)
        assert known[-1] == 39
        assert np.all(np.diff(known) > 0)
        shapes.add((len(fresh), 20 - len(known)))
    assert shapes == {(inserted, skipped) for inserted in range(3) for skipped in range(3)}


def test_what_rejoins_does_not_exceed_the_steps_that_are_left():
    training, memory = branching(0.5)
    assert memory.branch_steps > 0
    assert training.exploring_steps_left >= 0


def test_the_same_way_again_takes_no_other_place():
    memory = JunctionMemory(1, most_places=100, most_tried=100)
    memory.begin(np.ones(1))
    memory.add_grid(0.5, np.zeros(1), 1)

    def learn(first):
        episodes = Episodes(
            np.array([[[0.0], [first], [3.0]]]),
            np.arange(3).reshape(1, 3, 1),
            np.array([[[8.0], [0.0], [4.0]]]),
            np.array([3]),
            np.ones(1, bool),
        )
        rng = np.random.default_rng(0)
        memory.learn(episodes, 3, 1.0, np.zeros(1), ties=0.0, most_equal=4, rng=rng)
        place = int(memory.grids[0].numbers_of(np.array([[2.1]]))[0])
        return len(memory.grids[0].to.at(place))

    assert [learn(2.1), learn(2.1), learn(2.2), learn(2.1)] == [1, 1, 2, 2]


def test_observations_of_one_cell_are_one_place_and_there_are_not_more_than_the_most():
    places = Places(np.array([0.5, 1.0]), np.zeros(2), 1, most=2)
    observations = np.array([[0.1, 0.2], [0.4, 0.9], [0.6, 0.2], [-0.1, 0.2]])
    assert places.numbers_of(observations).tolist() == [0, 0, 1, -1]
    restored = Places.from_arrays(places.to_arrays(), 2)
    assert restored.numbers_of(observations).tolist() == [0, 0, 1, -1]


def test_a_training_goes_on_from_a_snapshot_as_if_nothing_had_happened():
    def trainer():
        return PCNTrainer(Minecart(), CONFIG, seed=3)

    first = trainer()
    for _ in range(3):
        first.iterate()
    snapshot = first.snapshot()
    second = trainer()
    second.restore(snapshot)
    for _ in range(3):
        first.iterate()
        second.iterate()
    one, other = first.snapshot(), second.snapshot()
    assert one.facts == other.facts
    assert one.arrays.keys() == other.arrays.keys()
    for name, array in one.arrays.items():
        if name.startswith(("state.", "rows.")) and name != "rows.slots":
            np.testing.assert_array_equal(array, other.arrays[name], err_msg=name)
    assert len(one.arrays["state.Junctions.episodes"]) > 0
    assert len(one.arrays["state.Junctions.branches"]) > 0


def test_only_where_real_numbers_are_observed():
    assert JUNCTIONS.applies_to(Minecart().spec)
    assert not JUNCTIONS.applies_to(Minecart(stochastic=True).spec)
    assert not JUNCTIONS.applies_to(DeepSeaTreasure().spec)
