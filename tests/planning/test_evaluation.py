import numpy as np
import pytest

from pcn.planning.evaluation import expected_returns
from tests.planning.test_dynamic_programming import model_of, random_model


@pytest.mark.parametrize("seed", range(3))
def test_expected_returns_are_those_of_backward_induction(seed):
    """Two random policies that depend on state and time, in a model with three states."""
    model = random_model(seed, num_states=3, num_starts=2)
    horizon, discount = 6, 0.9
    table = np.random.default_rng(seed).integers(2, size=(2, horizon, 3))

    def act(policies, states, time):
        return table[policies, time, states]

    found = expected_returns(
        model, act, 2, discount=discount, horizon=horizon, unknown=np.zeros(2), least=0.0
    )
    for policy in range(2):
        values = np.zeros((3, 2))
        for time in reversed(range(horizon)):
            before = np.zeros((3, 2))
            for row in range(len(model.states)):
                if model.actions[row] == table[policy, time, model.states[row]]:
                    after = values[model.next_states[row]] * (not model.terminated[row])
                    reward = model.rewards[row] + discount * after
                    before[model.states[row]] += model.probabilities[row] * reward
            values = before
        np.testing.assert_allclose(found[policy], model.start @ values)


def test_an_unknown_action_ends_the_episode_with_what_is_assumed():
    model = model_of([(0, 0, 0, False, 1.0, (1, 0))], num_states=1)

    def act(policies, states, time):
        del policies
        return np.full(len(states), 1 if time == 2 else 0)

    found = expected_returns(model, act, 1, discount=0.5, horizon=9, unknown=np.array([-8.0, -4.0]))
    np.testing.assert_allclose(found, [[1 + 0.5 - 8 / 4, -4 / 4]])


def test_only_the_likeliest_places_are_followed():
    """Nine of ten go to a state that pays 1, one goes to a state that pays 100."""
    rows = [
        (0, 0, 1, False, 0.9, (0, 0)),
        (0, 0, 2, False, 0.1, (0, 0)),
        (1, 0, 0, True, 1.0, (1, 0)),
        (2, 0, 0, True, 1.0, (100, 0)),
    ]
    model = model_of(rows, num_states=3)

    def act(policies, states, time):
        del policies, time
        return np.zeros(len(states), np.int64)

    def found(most_places):
        return expected_returns(
            model, act, 1, discount=1.0, horizon=2, unknown=np.zeros(2), most_places=most_places
        )

    np.testing.assert_allclose(found(None), [[10.9, 0]])
    np.testing.assert_allclose(found(1), [[0.9, 0]])
