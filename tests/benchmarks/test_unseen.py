"""The true fronts of the environments that nobody tuned for, checked by simulation."""

import numpy as np
import pytest

from benchmarks.unseen import UNSEEN

DETERMINISTIC = (
    "corridor",
    "harvest",
    "knapsack",
    "masked-corridor",
    "masked-vault",
    "sledge",
    "units",
    "vault",
)
DEMONSTRATED = [
    (name, number) for name, make in UNSEEN.items() for number in range(len(make.demonstrations))
]
PLANNED = (
    "blackjack",
    "mountain-passes",
    "ponds",
    "inventory",
    "battery",
    "debt",
    "gusts",
    "machine",
    "salvage",
    "frozen-lake",
    "kiln",
    "space-traders",
    "taxi",
    "castle",
    "drone",
    "orchard",
)


def simulate(name, policy):
    """Mean and standard error of the returns of a policy of state and time."""
    environment, returns = UNSEEN[name](), []
    for seed in range(2 if name in DETERMINISTIC else 400):
        observation, _ = environment.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            assert environment.observation_space.contains(observation)
            action = policy(environment.state, environment.time)
            observation, reward, terminated, truncated, _ = environment.step(action)
            total, ended = total + reward, terminated or truncated
        returns.append(total)
    return np.mean(returns, axis=0), np.std(returns, axis=0, ddof=1) / np.sqrt(len(returns))


@pytest.mark.parametrize(("name", "number"), DEMONSTRATED)
def test_a_policy_by_hand_returns_what_is_computed_by_hand(name, number):
    demonstration = UNSEEN[name].demonstrations[number]
    mean, error = simulate(name, demonstration.policy)
    off = np.abs(mean - demonstration.expected)
    assert np.all(off <= 4 * error + 1e-9 * np.abs(demonstration.expected))


@pytest.mark.parametrize("name", sorted({name for name, _ in DEMONSTRATED}))
def test_policies_by_hand_are_points_of_the_true_front(name):
    front = UNSEEN[name].true_front()
    for demonstration in UNSEEN[name].demonstrations:
        off = np.abs(front - demonstration.expected) / np.abs(front).max(axis=0)
        assert off.max(axis=1).min() < 1e-8


class Following:
    """A policy that follows one plan of a true front: it remembers which vector was promised."""

    def __init__(self, name, share):
        self.plans, self.numbers = UNSEEN[name].plans()
        which = int(share * (len(self.plans) - 1))
        self.first_choices = self.plans.first_choices[which]
        self.expected = self.plans.vectors[which]
        self.has_parts = bool(UNSEEN[name]().action_space.shape)

    def __call__(self, state, time):
        plans, here = self.plans, self.numbers[state]
        model = plans.model
        if time == 0:
            chosen = self.first_choices[np.searchsorted(plans.beginnings, here)]
        else:
            pair = plans.node_pairs[self.node]
            rows = model.successor_rows[slice(*model.pair_successors[pair : pair + 2])]
            within = model.next_states[rows].tolist().index(here)
            chosen = plans.children[plans.node_children[self.node] + within]
        self.node = plans.bases[min(plans.horizon - time, len(plans.bases) - 1)][here] + chosen
        action = model.pair_actions[plans.node_pairs[self.node]]
        return divmod(action, 4) if self.has_parts else action


@pytest.mark.parametrize("name", PLANNED)
def test_a_plan_inside_the_front_returns_what_the_front_says(name):
    following = Following(name, 0.3)
    mean, error = simulate(name, following)
    assert np.all(np.abs(mean - following.expected) <= 4 * error + 1e-3)
