"""The shipped fronts of the laboratory: reached by execution, and equal to what is known."""

import json

import numpy as np
import pytest

from pcn.envs import find_environment
from pcn.envs.laboratory.breakable_bottles import BreakableBottles
from pcn.envs.laboratory.fishwood import FishWood
from pcn.envs.laboratory.four_room import FourRoom
from pcn.envs.laboratory.known_front import front_file
from pcn.envs.laboratory.resource_gathering import ResourceGathering
from pcn.envs.laboratory.water_reservoir import WaterReservoir
from pcn.metrics.hypervolume import hypervolume
from proofs.laboratory import four_room, water_reservoir
from proofs.laboratory.models import BottlesModel, FishWoodModel, GatheringModel
from proofs.simulation import execute
from proofs.tabular import solve
from side_by_side import make_theirs, run_ours, run_theirs

QUANTILE = 4.417
"""Of the normal distribution: 1e-5 lies outside."""


@pytest.mark.parametrize(
    ("name", "arguments", "num_points", "expected"),
    [
        # Hypervolumes that were computed elsewhere, by other programs.
        ("resource-gathering", {}, 9, 3.2101),
        ("breakable-bottles", {}, 2, 4309.02),
        ("fruit-tree", {"depth": 5}, 32, 6920.58),
        ("fruit-tree", {"depth": 6}, 64, 9302.38),
        ("fruit-tree", {"depth": 7}, 128, 12302.34),
        ("four-room", {}, 652, None),
    ],
)
def test_the_fronts_are_those_that_others_found(name, arguments, num_points, expected):
    spec = find_environment(name, arguments).environment.spec
    assert len(spec.front.returns) == num_points
    assert spec.front.status == "proven"
    if expected is not None:
        found = hypervolume(spec.front.returns, np.array(spec.reference_point))
        assert found == pytest.approx(expected, rel=2e-6, abs=5e-5)


def flat(observation):
    return tuple(np.ravel(observation).tolist())


def bottles_state(observation):
    names = ("location", "bottles_carrying", "bottles_delivered")
    return (*(int(observation[name]) for name in names), *flat(observation["bottles_dropped"]))


@pytest.mark.parametrize(
    ("environment", "model", "state_of", "discount"),
    [
        (ResourceGathering(), GatheringModel(), flat, 0.9),
        (BreakableBottles(), BottlesModel(), bottles_state, 1.0),
    ],
    ids=["resource-gathering", "breakable-bottles"],
)
def test_executing_the_plans_gives_the_shipped_points(environment, model, state_of, discount):
    front = environment.spec.front
    assert front.discount == discount
    plans, numbers = solve(model, discount=discount, step_limit=environment.spec.step_limit)
    np.testing.assert_allclose(plans.vectors, front.returns, atol=1e-9)
    executed = execute(
        plans, numbers, environment, state_of, discount=discount, executions=4000, seed=1
    )
    # 4000 executions of each plan; a mean may be off by 4.4 standard errors (level 1e-5 each).
    assert np.all(np.abs(executed.means - front.returns) <= QUANTILE * executed.errors + 1e-6)
    assert executed.errors.max() > 0


def test_a_wrong_probability_would_be_seen():
    class Safer(GatheringModel):
        def outcomes(self, state, action):
            return [
                ({0.1: 0.08, 0.9: 0.92}.get(p, p), *rest)
                for p, *rest in super().outcomes(state, action)
            ]

    plans, numbers = solve(Safer(), discount=0.9, step_limit=100)
    executed = execute(
        plans, numbers, ResourceGathering(), flat, discount=0.9, executions=4000, seed=1
    )
    assert np.any(np.abs(executed.means - plans.vectors) > QUANTILE * executed.errors + 1e-6)


def test_fishwood_s_closed_form_is_what_dynamic_programming_finds():
    plans, _ = solve(FishWoodModel(), discount=1.0, step_limit=200)
    front = FishWood().spec.front.returns
    np.testing.assert_allclose(plans.vectors, front, atol=1e-9)
    # Executed: k steps at the water, for three k.
    for fishing in (0, 80, 199):
        script = np.ones((2000, 200), int)
        script[:, :fishing] = 0
        returns = run_ours(FishWood(), script).returns(discount=1.0)
        error = returns.std(axis=0) / np.sqrt(2000)
        assert np.all(np.abs(returns.mean(axis=0) - front[fishing]) <= QUANTILE * error + 1e-6)


@pytest.fixture(scope="module")
def tours():
    content = json.loads(front_file("four-room").read_text())
    return np.array(content["returns"]), [list(map(int, one)) for one in content["actions"]]


def test_every_tour_of_four_room_returns_its_point(tours):
    returns, actions = tours
    scripts = np.zeros((len(actions), max(map(len, actions))), int)
    for row, one in zip(scripts, actions, strict=True):
        row[: len(one)] = one
    episodes = run_ours(FourRoom(), scripts)
    assert episodes.terminated.all()
    assert episodes.lengths.tolist() == [len(one) for one in actions]
    np.testing.assert_allclose(episodes.returns(discount=0.95), returns, atol=1e-6)


def test_tours_return_their_points_in_mo_gymnasium(tours):
    theirs = make_theirs("four-room-v0")
    for point, actions in list(zip(*tours, strict=True))[::20]:
        _, rewards, terminated = run_theirs(theirs, actions)
        assert terminated
        np.testing.assert_allclose(0.95 ** np.arange(len(rewards)) @ rewards, point, atol=1e-6)


SMALL = ("1   2", " # # ", "S    ", " # # ", "2  3G")


class SmallRoom:
    """Four Room in a small maze, as a table: every cell with every set of shapes."""

    SHAPES = ((0, 0), (4, 0), (4, 3), (0, 4))

    def starts(self):
        return {(2, 0, frozenset()): 1.0}

    def actions(self, state):
        return range(4)

    def outcomes(self, state, action):
        row, column, collected = state
        down, right = four_room.MOVES[action]
        cell = (row + down, column + right)
        if not (min(cell) >= 0 and max(cell) < 5) or SMALL[cell[0]][cell[1]] == "#":
            cell = (row, column)
        reward = np.zeros(3)
        if cell == (4, 4):
            return [(1.0, (*cell, collected), np.ones(3), True)]
        if cell in self.SHAPES and cell not in collected:
            reward[int(SMALL[cell[0]][cell[1]]) - 1] = 1
            collected = collected | {cell}
        return [(1.0, (*cell, collected), reward, False)]


def test_the_search_over_orders_finds_what_dynamic_programming_over_all_states_finds(monkeypatch):
    small = {"MAZE": SMALL, "SIZE": 5, "START": (2, 0), "GOAL": (4, 4)}
    for name, value in {**small, "SHAPES": SmallRoom.SHAPES}.items():
        monkeypatch.setattr(four_room, name, value)
    found = np.array([tour.returns for tour in four_room.tours(0.9)])
    plans, _ = solve(SmallRoom(), discount=0.9, step_limit=40)
    np.testing.assert_allclose(found, plans.vectors, atol=1e-9)
    assert len(found) > 3


@pytest.mark.slow
def test_the_search_finds_the_shipped_tours(tours):
    found = four_room.tours(0.95)
    np.testing.assert_allclose([tour.returns for tour in found], tours[0], atol=1e-9)


def test_the_reservoir_s_policies_return_what_ships():
    front = WaterReservoir().spec.front
    assert front.status == "best-known"
    reservoir = water_reservoir.Reservoir()
    for weight in (0.002, 0.5, 0.998):
        policy = reservoir.solve(weight)
        assert np.abs(front.returns - policy.expected).max(axis=1).min() < 4
        mean, error = water_reservoir.execute(policy, 4000)
        # The grid is worth one per cent.
        allowed = QUANTILE * error + 0.01 * np.abs(policy.expected)
        assert np.all(np.abs(mean - policy.expected) <= allowed)
