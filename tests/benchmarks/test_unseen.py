"""The true fronts of the environments that nobody tuned for, checked by simulation."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from benchmarks.unseen import UNSEEN

EXECUTIONS = 400
DEMONSTRATED = [
    (name, number) for name, make in UNSEEN.items() for number in range(len(make.demonstrations))
]
PLANNED = ("mountain-passes", "ponds", "inventory", "battery", "debt")


def simulate(environment, policy, executions):
    """Mean and standard error of the returns of a policy of state and time."""
    returns = []
    for seed in range(executions):
        environment.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            action = policy(environment.state, environment.time)
            _, reward, terminated, truncated, _ = environment.step(action)
            total, ended = total + reward, terminated or truncated
        returns.append(total)
    error = np.std(returns, axis=0, ddof=1) / np.sqrt(executions) if executions > 1 else 0.0
    return np.mean(returns, axis=0), error


@pytest.mark.parametrize("name", UNSEEN)
def test_it_is_a_gymnasium_environment(name):
    check_env(UNSEEN[name](), skip_render_check=True)


@pytest.mark.parametrize(("name", "number"), DEMONSTRATED)
def test_a_policy_by_hand_returns_what_is_computed_by_hand(name, number):
    demonstration = UNSEEN[name].demonstrations[number]
    mean, error = simulate(UNSEEN[name](), demonstration.policy, EXECUTIONS)
    off = np.abs(mean - demonstration.expected)
    assert np.all(off <= 4 * error + 1e-9 * np.abs(demonstration.expected))


@pytest.mark.parametrize("name", sorted({name for name, _ in DEMONSTRATED} - {"harvest"}))
def test_policies_by_hand_are_points_of_the_true_front(name):
    front = UNSEEN[name].true_front()
    for demonstration in UNSEEN[name].demonstrations:
        off = np.abs(front - demonstration.expected) / np.abs(front).max(axis=0)
        assert off.max(axis=1).min() < 1e-8


class Following:
    """A policy that follows one plan of a true front, with what it has promised so far."""

    def __init__(self, make, share):
        self.plans, self.numbers = make.plans()
        self.which = int(share * (len(self.plans) - 1))
        self.make = make()

    def __call__(self, state, time):
        plans, here = self.plans, self.numbers[state]
        model = plans.model
        if time == 0:
            place = np.searchsorted(plans.beginnings, here)
            chosen = plans.first_choices[self.which, place]
        else:
            pair = plans.node_pairs[self.node]
            rows = model.successor_rows[slice(*model.pair_successors[pair : pair + 2])]
            within = model.next_states[rows].tolist().index(here)
            chosen = plans.children[plans.node_children[self.node] + within]
        self.node = plans.bases[min(plans.horizon - time, len(plans.bases) - 1)][here] + chosen
        action = model.pair_actions[plans.node_pairs[self.node]]
        return divmod(action, 4) if self.make.action_space.shape else action


@pytest.mark.parametrize("name", PLANNED)
def test_a_plan_in_the_middle_of_the_front_returns_what_the_front_says(name):
    following = Following(UNSEEN[name], 0.5)
    mean, error = simulate(UNSEEN[name](), following, EXECUTIONS)
    assert np.all(np.abs(mean - following.plans.vectors[following.which]) <= 4 * error + 1e-9)
