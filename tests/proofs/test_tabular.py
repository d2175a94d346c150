"""The exact front of any small tabular environment."""

import json
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from pcn.pareto import unique_front
from proofs.tabular import as_model, solve, tabulate


class Lottery:
    """A sure prize, or a ticket that may be drawn twice: a loss ends the episode."""

    def starts(self):
        return {"home": 1.0}

    def actions(self, state):
        return range(2) if state == "home" else range(1)

    def outcomes(self, state, action):
        if state == "home" and action == 0:
            return [(1.0, "away", (0.5, 0.0), True)]
        return [(0.5, "counter", (0.0, 1.0), False), (0.5, "away", (0.0, 0.0), True)]


class LotteryTable:
    """The same in the manner of Gymnasium's toy texts."""

    P = {  # noqa: RUF012
        0: {
            0: [(1.0, 2, (0.5, 0.0), True)],
            1: [(0.5, 1, (0.0, 1.0), False), (0.5, 2, (0.0, 0.0), True)],
        },
        1: {0: [(0.5, 1, (0.0, 1.0), False), (0.5, 2, (0.0, 0.0), True)]},
    }
    initial_state_distrib = np.array([1.0, 0.0, 0.0])


@pytest.mark.parametrize("thing", [Lottery, Lottery(), LotteryTable, LotteryTable()])
def test_the_front_of_a_lottery_is_what_one_computes_by_hand(thing):
    plans, numbers = solve(as_model(thing), discount=0.9, step_limit=3)
    # The sure prize, or .5 + .9 x .5 x (.5 + .9 x .5 x .5) for tickets.
    tickets = 0.5 + 0.45 * (0.5 + 0.45 * 0.5)
    np.testing.assert_allclose(plans.vectors, [[0, tickets], [0.5, 0]])
    assert len(numbers) == 2  # where an episode ends is no state


class Random:
    """Six states, two actions, two successors each; no two vectors are alike."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self._next = rng.integers(0, 6, (6, 2, 2))
        self._share = rng.random((6, 2))
        self._rewards = rng.normal(size=(6, 2, 2))
        self._ends = rng.random((6, 2, 2)) < 0.2

    def starts(self):
        return {0: 0.3, 1: 0.7}

    def actions(self, state):
        return range(2)

    def outcomes(self, state, action):
        share = self._share[state, action]
        return [
            (p, int(following), self._rewards[state, action], bool(ends))
            for p, following, ends in zip(
                (share, 1 - share), self._next[state, action], self._ends[state, action],
                strict=True,
            )
        ]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_the_front_is_that_of_all_policies_tried_one_by_one(seed):
    model, discount = Random(seed), 0.8
    plans, _ = solve(model, discount=discount, step_limit=2)
    # A policy for two steps that may look at the time: an action for each state and time.
    value = np.zeros((2**6, 2**6, 2))
    policies = list(product(range(2), repeat=6))

    def backed_up(later, policy):
        return np.array([
            sum(
                p * (np.array(reward) + (0 if ends else discount * later[following]))
                for p, following, reward, ends in model.outcomes(state, policy[state])
            )
            for state in range(6)
        ])  # fmt: skip

    for second, policy in enumerate(policies):
        later = backed_up(np.zeros((6, 2)), policy)
        for first, earlier in enumerate(policies):
            value[first, second] = np.array([0.3, 0.7, 0, 0, 0, 0]) @ backed_up(later, earlier)
    reached = value.reshape(-1, 2).round(9)
    # What plans promise depends on where the episode began: no policy of this kind is better.
    best = reached[unique_front(reached)]
    for point in best:
        assert (plans.vectors >= point - 1e-8).all(axis=1).any()
    # And nothing is invented: weights find the same corners.
    for angle in np.linspace(0.05, np.pi / 2 - 0.05, 20):
        weights = np.array([np.sin(angle), np.cos(angle)])
        assert (plans.vectors @ weights).max() == pytest.approx((reached @ weights).max())


def test_states_are_those_that_can_be_reached():
    model, numbers = tabulate(Lottery())
    assert numbers.keys() == {"home", "counter"}
    assert model.start.tolist() == [1.0, 0.0]


def test_the_command_line_writes_a_front(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Model:\n"
        "    def starts(self): return {0: 1.0}\n"
        "    def actions(self, state): return range(3)\n"
        "    def outcomes(self, state, action):\n"
        "        # The third action is better by less than the file holds.\n"
        "        return [(1.0, 0, [(0, 1), (1, 0), (1e-11, 1)][action], True)]\n"
    )
    command = [sys.executable, "-m", "proofs.tabular", "mine:Model", "--step-limit", "5"]
    path = ":".join([str(tmp_path), *filter(None, sys.path)])
    shown = subprocess.run(
        [*command, "--out", str(tmp_path / "front.json")],
        env={"PYTHONPATH": path, "PATH": ""}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "1 states, 2 points" in shown.stdout
    written = json.loads((tmp_path / "front.json").read_text())
    assert written["returns"] == [[0.0, 1.0], [1.0, 0.0]]
    assert written["status"] == "proven"
