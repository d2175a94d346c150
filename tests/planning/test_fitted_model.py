"""Models fitted to steps of systems that are known exactly."""

import numpy as np

from pcn.planning.fitted_model import FittedModel, fit_model
from pcn.planning.lattice import Lattice
from pcn.planning.seen_steps import Steps


def swinging(count=4000, *, noise=0.0, seed=0):
    """A pendulum near its rest, pushed left or right: velocity and angle change linearly."""
    rng = np.random.default_rng(seed)
    seen = rng.uniform(-1, 1, size=(count, 2))
    options = rng.integers(2, size=count)
    after = true_next(seen, options) + noise * rng.normal(size=seen.shape)
    rewards = np.column_stack([seen[:, 0] + 2 * seen[:, 1], np.full(count, -1.0)])
    terminated = seen[:, 0] > 0.5
    return Steps(seen, options, rewards, after, terminated, np.zeros(count, bool))


def true_next(seen, options):
    speed = 0.9 * seen[:, 1] - 0.2 * seen[:, 0] + 0.1 * (2 * options - 1)
    return np.column_stack([seen[:, 0] + 0.3 * speed, speed])


def fitted(steps, **settings):
    lattice = Lattice.over(steps.observations, most_nodes=400, most_along=20)
    defaults = {
        "neighbours": (8, 32, 128), "reach": 2.0, "least_steps": 3, "draws": 8, "tested": 500,
        "updates": 500,
    }  # fmt: skip
    rng = np.random.default_rng(1)
    return fit_model(steps, lattice, np.eye(2), **{**defaults, **settings}, rng=rng)


def test_what_is_linear_is_predicted_exactly():
    model = fitted(swinging())
    assert model.known.all()
    nodes = model.lattice.observations(model.lattice.nodes).astype(np.float64)
    for option in range(2):
        truth = true_next(nodes, np.full(len(nodes), option))
        found = model.lattice.observations(model.lattice.nodes + model.changes[:, option])
        inside = np.abs(nodes).max(axis=1) < 0.9
        np.testing.assert_allclose(found[inside], truth[inside], atol=2e-3)
        reward = nodes[inside, 0] + 2 * nodes[inside, 1]
        np.testing.assert_allclose(model.rewards[inside, option, 0], reward, atol=0.02)
    np.testing.assert_allclose(model.rewards[..., 1], -1.0)


def test_few_near_steps_predict_what_is_certain_and_many_or_none_what_is_noisy():
    certain, noisy = fitted(swinging()), fitted(swinging(noise=0.3))
    assert certain.noise.shape[2] == 1
    assert not certain.noise.any()
    assert all(count == 0 or count >= 32 for count in noisy.neighbours[:2])
    assert noisy.noise.shape[2] == 8
    assert noisy.neighbours[-1] == 8  # whether an episode ends is certain, and changes at once


def test_noise_is_as_large_as_it_is():
    model = fitted(swinging(noise=0.3))
    drawn = (model.noise * model.lattice.size)[model.known]
    np.testing.assert_allclose(drawn.mean(axis=1), 0.0, atol=1e-9)
    # Eight draws in the middle of eight equal parts leave out the far ends.
    assert 0.2 < drawn[..., 1].std() < 0.32


def test_ends_are_where_episodes_end():
    model = fitted(swinging())
    place = model.lattice.observations(model.lattice.nodes)[:, 0]
    assert model.ends[place > 0.65].min() > 0.9
    assert model.ends[place < 0.35].max() < 0.1


def test_actions_are_known_only_where_they_were_tried():
    steps = swinging()
    seen = (steps.options == 1) | (steps.observations[:, 0] < 0)
    model = fitted(steps.taking(np.flatnonzero(seen)))
    place = model.lattice.observations(model.lattice.nodes)[:, 0]
    assert model.known[:, 1].all()
    assert model.known[place < -0.1, 0].all()
    assert not model.known[place > 0.35, 0].any()


def test_an_action_that_was_hardly_tried_is_not_known():
    steps = swinging()
    rare = np.flatnonzero((steps.options == 1) | (np.arange(len(steps)) < 4))
    assert not fitted(steps.taking(rare)).known[:, 0].any()


def test_amounts_learn_from_near_amounts():
    rng = np.random.default_rng(0)
    levels, amounts = 21, np.linspace(-1.0, 1.0, 21)[:, None]
    taken = rng.choice(np.arange(0, levels, 2), size=6000)  # never an odd level
    seen = rng.uniform(0, 1, size=(6000, 1))
    after = seen + 0.3 * np.maximum(amounts[taken], 0.0)  # with a kink in the middle
    rewards = np.column_stack([-np.abs(amounts[taken, 0]), np.ones(6000)])
    steps = Steps(seen, taken, rewards, after, np.zeros(6000, bool), np.zeros(6000, bool))
    lattice = Lattice.over(np.concatenate([seen, after]), most_nodes=40, most_along=40)
    settings = {
        "neighbours": (8, 32), "reach": 3.0, "least_steps": 3, "draws": 4, "tested": 1000,
        "updates": 2000, "rng": rng,
    }  # fmt: skip
    offered = np.array([0, 5, 11, 15, 20])
    model = fit_model(steps, lattice, amounts, offered=offered, amounts=True, **settings)
    inside = lattice.observations(lattice.nodes)[:, 0] < 1.0
    assert model.known[inside].all()
    moved = model.changes[inside, :, 0] * lattice.size
    truth = np.broadcast_to(0.3 * np.maximum(amounts[offered, 0], 0.0), moved.shape)
    np.testing.assert_allclose(moved, truth, atol=0.01)
    truth = np.broadcast_to(-np.abs(amounts[offered, 0]), moved.shape)
    np.testing.assert_allclose(model.rewards[inside, :, 0], truth, atol=0.03)


def test_amounts_far_from_all_that_were_taken_are_not_known():
    rng = np.random.default_rng(0)
    amounts, taken = np.linspace(-1.0, 1.0, 21)[:, None], rng.integers(0, 11, size=2000)
    seen = rng.uniform(0, 1, size=(2000, 1))
    steps = Steps(seen, taken, seen, seen, np.zeros(2000, bool), np.zeros(2000, bool))
    model = fit_model(
        steps, Lattice.over(seen, most_nodes=20, most_along=20), amounts, amounts=True, updates=50,
        neighbours=(8,), reach=3.0, least_steps=3, draws=4, tested=100, rng=rng,
    )  # fmt: skip
    assert model.known[:, :12].all()
    assert not model.known[:, 12:].any()


def test_the_nearest_known_amount_is_one_of_the_nodes_around():
    lattice = Lattice.over(np.array([[0.0], [2.0]]), most_nodes=3, most_along=3)
    known = np.zeros((3, 5), bool)
    known[0, [1, 4]] = known[1, 3] = True
    model = FittedModel(
        lattice, known, np.zeros((3, 5, 1)), np.zeros((3, 5, 2)), np.zeros((3, 5)),
        np.zeros((3, 5, 1, 1)), np.zeros(4, np.int64),
    )  # fmt: skip
    places = np.array([[0.0], [0.0], [0.5], [0.5], [1.0], [2.0]])
    chosen = np.array([0, 3, 2, 3, 0, 2])
    # At a node that node counts alone; at the last one nothing is known.
    assert model.nearest_known(places, chosen).tolist() == [1, 4, 1, 3, 3, 2]
