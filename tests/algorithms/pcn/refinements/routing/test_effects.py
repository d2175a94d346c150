"""What actions do, learnt from steps."""

import numpy as np

from pcn.algorithms.pcn.refinements.routing.effects import Effects
from pcn.algorithms.pcn.refinements.routing.outcomes import Outcomes
from small_world import all_steps, fresh, taught


def share_right(model, steps):
    states, actions, after, rewards, over = zip(*steps, strict=True)
    said = model.predict(np.array(states, float), np.array(actions))
    right = said.known & np.all(said.observations == np.array(after), axis=1)
    right &= np.all(said.rewards == np.array(rewards), axis=1)
    return float(np.mean(right & (said.terminated == np.array(over))))


def in_parts(steps, size, seed):
    order = np.random.default_rng(seed).permutation(len(steps))
    return [[steps[i] for i in order[n : n + size]] for n in range(0, len(order), size)]


def test_what_was_seen_is_predicted_whatever_the_order():
    steps = all_steps()
    for seed in range(3):
        model = fresh()
        for part in in_parts(steps, 10, seed):
            taught(model, part)
        assert len(model) == len(steps)
        assert share_right(model, steps) == 1.0


def test_half_of_all_steps_tell_most_of_the_others():
    shares = []
    for seed in range(5):
        half = in_parts(all_steps(), len(all_steps()) // 2, seed)
        model = taught(fresh(), half[0])
        taught(model, half[0])  # nothing new
        model.foresight = 1.0  # so that what was never seen is predicted, too
        shares.append(share_right(model, half[1]))
    assert np.mean(shares) > 0.8


def test_only_steps_that_were_taken_are_predicted_unless_predictions_have_come_true():
    half = in_parts(all_steps(), len(all_steps()) // 2, 0)
    model = taught(fresh(), half[0])
    assert not model.generalises
    assert share_right(model, half[0]) == 1.0
    states, actions = (np.array(column, float) for column in list(zip(*half[1], strict=True))[:2])
    assert not model.predict(states, actions.astype(int)).known.any()


def test_steps_seen_before_are_counted_and_change_nothing():
    steps = all_steps()
    model = taught(fresh(), steps)
    version = model.version
    taught(model, steps[:7])
    assert (len(model), model.num_repeated) == (len(steps), 7)
    assert model.version == version


def test_a_step_with_another_outcome_is_predicted_no_more_and_others_are():
    steps = all_steps()
    model = taught(fresh(), steps)
    version = model.version
    state, action, after, reward, over = steps[5]
    taught(model, [(state, action, after, reward + 1, over)])
    said = model.predict(np.array([state], float), np.array([action]))
    assert not said.known.any()
    assert model.version > version
    assert share_right(model, steps[:5] + steps[6:]) == 1.0
    taught(model, [steps[5]])  # neither outcome is the true one
    assert not model.predict(np.array([state], float), np.array([action])).known.any()
    restored = fresh()
    restored.from_arrays({name: array.copy() for name, array in model.to_arrays().items()})
    assert not restored.predict(np.array([state], float), np.array([action])).known.any()
    np.testing.assert_array_equal(restored.common_reward(), model.common_reward())


def test_what_is_forbidden_is_not_predicted_and_others_are():
    """Steps against the border are forbidden instead of doing nothing."""
    steps = all_steps()
    allowed = [step for step in steps if step[2] != step[0]]
    forbidden = [step for step in steps if step[2] == step[0]]
    states, actions = (np.array(column) for column in list(zip(*forbidden, strict=True))[:2])
    model = taught(fresh(), allowed[::2])
    foresight = model.foresight
    model.forbid(states.astype(float)[::2], actions[::2])
    assert (model.foresight, model.num_repeated) == (foresight, 0)  # nothing was taken
    model.foresight = 1.0  # so that what was never seen is predicted, too
    assert share_right(model, allowed[::2]) == 1.0
    assert not model.predict(states.astype(float)[::2], actions[::2]).known.any()
    elsewhere = model.predict(states.astype(float)[1::2], actions[1::2])
    assert elsewhere.known.mean() < 0.5
    again = len(model)
    model.forbid(states.astype(float)[::2], actions[::2])
    assert len(model) == again


def test_an_end_that_did_not_come_from_the_step_ends_nothing():
    """As where a clock that is not observed ends the episode."""
    steps = all_steps()
    state, action, after, reward, over = steps[5]
    assert not over
    ended = (state, action, after, reward, True)
    for seen in ([*steps, ended], [ended, *steps]):
        model = taught(fresh(), seen)
        assert share_right(model, steps) == 1.0


def test_what_is_different_at_the_step_limit_contradicts_nothing():
    model = taught(fresh(), all_steps())
    state, action, after, reward, _ = all_steps()[5]
    outcomes = Outcomes(np.array([after], float), np.array([reward + 1]), np.array([False]))
    at_limit = np.array([True])
    model.learn(np.array([state], float), np.array([action]), outcomes, at_limit=at_limit)
    assert share_right(model, all_steps()) == 1.0


def test_rounding_is_no_other_outcome():
    steps = [(s, a, n, r / 3, over) for s, a, n, r, over in all_steps()]
    model = taught(fresh(), steps)
    version = model.version
    single = [(s, a, n, np.float64(np.float32(r)), over) for s, a, n, r, over in steps]
    taught(model, single)
    assert model.version == version


def test_what_happened_already_does_not_happen_again():
    """The item is there in all steps seen: once it is collected, the step is a step like others."""
    steps = [one for one in all_steps() if one[0][2] == 0]  # nothing seen after the first item
    model = taught(fresh(), [*steps, ((2, 1, 1, 0), 0, (2, 0, 1, 1), np.array([0.0, 1.0]), False)])
    model.foresight = 1.0
    said = model.predict(np.array([[0.0, 1.0, 1.0, 0.0]]), np.array([2]))  # to the item, again
    assert said.observations.tolist() == [[0.0, 2.0, 1.0, 0.0]]
    assert said.rewards.tolist() == [[0.0, 0.0]]
    assert said.known.all()


def test_effects_that_never_repeat_are_not_learnt():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(2_000, 2))
    outcomes = Outcomes(rng.normal(size=(2_000, 2)), np.zeros((2_000, 1)), np.zeros(2_000, bool))
    model = Effects(num_parts=2, num_objectives=1, num_actions=1)
    model.learn(states, np.zeros(2_000, int), outcomes)
    assert not model.has_kinds
    assert not model.generalises


def test_a_restored_model_predicts_and_learns_as_before():
    first, second = in_parts(all_steps(), len(all_steps()) // 2, 1)
    model = taught(fresh(), first)
    restored = fresh()
    restored.from_arrays({name: array.copy() for name, array in model.to_arrays().items()})
    for one in (model, restored):
        taught(one, second)
    before, after = model.to_arrays(), restored.to_arrays()
    assert before.keys() == after.keys()
    for name, array in before.items():
        np.testing.assert_array_equal(array, after[name], err_msg=name)


def test_units_of_rewards_change_nothing_but_units():
    for unit in (1e-6, 1e6):
        scaled = [(s, a, n, unit * r, over) for s, a, n, r, over in all_steps()]
        model = taught(fresh(), scaled)
        states, actions, _, rewards, _ = zip(*scaled, strict=True)
        said = model.predict(np.array(states, float), np.array(actions))
        np.testing.assert_allclose(said.rewards, np.array(rewards), rtol=1e-5)
