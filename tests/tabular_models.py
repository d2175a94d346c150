"""Small tabular models, the returns of all their policies, and what following plans gives."""

import itertools

import numpy as np

from pcn.planning import TabularModel


def model_of(rows, *, num_states, start=0):
    """A model from rows (state, action, next state, terminated, probability, reward)."""
    states, actions, next_states, terminated, probabilities, rewards = zip(*rows, strict=True)
    beginning = np.zeros(num_states)
    beginning[start] = 1.0 / np.size(start)
    return TabularModel(
        beginning,
        np.array(states),
        np.array(actions),
        np.array(next_states),
        np.array(terminated),
        np.array(probabilities, dtype=np.float64),
        np.array(rewards, dtype=np.float64),
    )


def random_model(seed, *, num_states=2, num_actions=2, num_starts=1):
    """Coarse numbers make ties common; some outcomes end the episode."""
    rng = np.random.default_rng(seed)
    rows = []
    for state, action in itertools.product(range(num_states), range(num_actions)):
        weights = rng.integers(0, 3, size=(num_states, 2)) + np.eye(num_states, 2)
        for (after, ends), weight in np.ndenumerate(weights):
            if weight:
                reward = rng.integers(-2, 3, size=2)
                rows.append((state, action, after, bool(ends), weight / weights.sum(), reward))
    return model_of(rows, num_states=num_states, start=list(range(num_starts)))


def all_returns(model, horizon, discount):
    """The expected returns of all deterministic policies that remember all states so far."""
    histories = [
        history
        for length in range(1, horizon + 1)
        for history in itertools.product(range(model.num_states), repeat=length)
        if model.start[history[0]] > 0
    ]
    actions = np.unique(model.actions)

    def value(policy, history):
        if len(history) > horizon:
            return np.zeros(model.num_objectives)
        total = np.zeros(model.num_objectives)
        for row in range(len(model.states)):
            if model.states[row] == history[-1] and model.actions[row] == policy[history]:
                after = model.rewards[row].copy()
                if not model.terminated[row]:
                    following = (*history, int(model.next_states[row]))
                    after += discount * value(policy, following)
                total += model.probabilities[row] * after
        return total

    return np.array(
        [
            sum(
                model.start[state] * value(policy, (int(state),))
                for state in np.flatnonzero(model.start)
            )
            for choices in itertools.product(actions, repeat=len(histories))
            for policy in [dict(zip(histories, choices, strict=True))]
        ]
    )


def followed(plans, discount):
    """The expected return of each plan, by following it through the model."""
    model, total = plans.model, np.zeros_like(plans.vectors)
    occupancy = plans.beginning(np.arange(len(plans)))
    for time in range(plans.horizon):
        pairs = [
            -1 if action < 0 else int(np.flatnonzero(mask)[0])
            for state, action in zip(occupancy.states, plans.actions(occupancy), strict=True)
            for mask in [(model.pair_states == state) & (model.pair_actions == action)]
        ]
        for number, pair, chance in zip(
            occupancy.plans, pairs, occupancy.probabilities, strict=True
        ):
            if pair >= 0:
                total[number] += discount**time * chance * model.pair_rewards[pair]
        occupancy = plans.after(occupancy, time)
    return total
