"""Plans on a lattice for a walk whose best ways are known by hand."""

import numpy as np

from pcn.planning.fitted_model import FittedModel
from pcn.planning.imagination import imagine
from pcn.planning.lattice import Lattice
from pcn.planning.lattice_plans import plan_on_lattice

STAY, WALK, RUN = range(3)
GOAL = 10


def walk(*, noise=None, known=None):
    """Nodes 0 to 11; walking moves by 1 at no cost, running by 2 for energy; 10 is the goal."""
    lattice = Lattice(np.array([0.0]), np.array([1.0]), np.array([12]))
    shape = (12, 3)
    changes = np.tile(np.array([0.0, 1.0, 2.0])[None, :, None], (12, 1, 1))
    rewards = np.tile(np.array([[-1.0, 0.0], [-1.0, 0.0], [-1.0, -1.0]])[None], (12, 1, 1))
    ends = (lattice.nodes + changes[..., 0] >= GOAL).astype(float)
    return FittedModel(
        lattice,
        np.ones(shape, bool) if known is None else known,
        changes,
        rewards,
        ends,
        np.zeros((*shape, 1, 1)) if noise is None else noise,
        np.full(4, 8),
    )


def returns(model, weights, *, start=0.0, horizon=50, discount=1.0, **others):
    plans = plan_on_lattice(model, np.array(weights), discount=discount, horizon=horizon)

    def act(episodes, places, time):
        return plans.chosen(episodes, places, time)

    starts = np.full((len(weights), 1), start)
    return imagine(
        model, starts, act, discount=discount, horizon=horizon, unknown=np.full(2, -99.0),
        rng=np.random.default_rng(0), **others,
    )  # fmt: skip


def test_time_alone_runs_and_energy_alone_walks():
    found = returns(walk(), [[1.0, 0.001], [0.01, 1.0], [1.0, 0.5]])
    np.testing.assert_allclose(found.returns, [[-5, -5], [-10, 0], [-5, -5]])
    assert found.lengths.tolist() == [5, 10, 5]


def test_the_number_of_steps_left_counts():
    # With three steps the goal is out of reach: running costs energy and saves nothing.
    found = returns(walk(), [[1.0, 0.01]], horizon=3)
    np.testing.assert_allclose(found.returns, [[-3, 0]])


def test_returns_are_discounted():
    found = returns(walk(), [[1.0, 0.001]], start=6.0, discount=0.5)
    np.testing.assert_allclose(found.returns, [[-1.5, -1.5]])


def test_what_is_not_known_is_not_done():
    known = np.ones((12, 3), bool)
    known[:5, RUN] = False
    found = returns(walk(known=known), [[1.0, 0.001]])
    np.testing.assert_allclose(found.returns, [[-8, -2]])  # to 5, two runs to 9, a last step


def test_places_of_which_nothing_is_known_are_avoided_and_end_an_imagined_episode():
    known = np.ones((12, 3), bool)
    known[6] = False
    found = returns(walk(known=known), [[0.1, 1.0]], horizon=40)
    # Walking leads to 6: energy is paid for the jump from 5 to 7.
    np.testing.assert_allclose(found.returns, [[-9, -1]])
    lost = returns(walk(known=known), [[1.0, 0.001]], start=6.0)
    np.testing.assert_allclose(lost.returns, [[-99, -99]])


def test_chance_is_part_of_the_plan():
    noise = np.zeros((12, 3, 2, 1))
    noise[:, RUN] = np.array([-3.0, 3.0])[:, None]  # runs end one back or five ahead
    found = returns(walk(noise=noise), [[0.0, 1.0]] * 400, horizon=60)
    assert (found.returns[:, 1] == 0).all()
    fast = returns(walk(noise=noise), [[1.0, 0.001]] * 400, horizon=60)
    # Two of them on average bring 4, and 10 is the goal: walking needs ten steps.
    assert fast.returns[:, 0].mean() > -7


def test_it_is_known_how_much_worse_every_other_action_is():
    weights = np.array([[1.0, 0.25], [1.0, 2.0]])
    plans = plan_on_lattice(walk(), weights, discount=1.0, horizon=50)
    places = np.array([[8.0], [8.0], [0.2], [0.2]])
    found = plans.shortfalls(np.array([0, 1, 0, 1]), places, 0)
    # From 8 a run (1.25 or 3) or two walks (2) reach the goal; staying costs a step (1).
    # From 0 it is five runs (6.25) or ten walks (10). From 9 on any last step walks (1).
    # With a first walk, four runs and a second walk remain for the first plan: 7 in all.
    # With a first run, eight walks remain for the second one: 11 in all.
    expected = [[1.0, 0.75, 0.0], [1.0, 0.0, 1.0], [1.0, 0.75, 0.0], [1.0, 0.0, 1.0]]
    extents = np.array([6.25 - 1.0, 10.0 - 1.0])[[0, 1, 0, 1], None]
    np.testing.assert_allclose(found, expected / extents, atol=1e-6)


def test_where_nothing_is_known_no_action_is_worse_and_unknown_ones_are_endlessly():
    known = np.ones((12, 3), bool)
    known[6], known[2, RUN] = False, False
    plans = plan_on_lattice(walk(known=known), np.array([[1.0, 0.1]]), discount=1.0, horizon=50)
    found = plans.shortfalls(np.zeros(2, int), np.array([[6.0], [2.0]]), 0)
    np.testing.assert_array_equal(found[0], np.zeros(3))
    assert np.isinf(found[1, RUN])
    assert found[1].min() == 0


def test_disturbed_episodes_tell_what_the_plan_would_do():
    found = returns(walk(), [[0.01, 1.0]] * 50, disturbed=np.full(50, 0.5))
    assert (found.options[found.places[:, 0] < GOAL - 1] == WALK).all()
    assert len(set(found.lengths.tolist())) > 3
