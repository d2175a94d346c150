"""Imagined episodes in a model whose chance is known: a step to the left or to the right."""

import numpy as np

from pcn.planning.fitted_model import FittedModel
from pcn.planning.imagination import imagine
from pcn.planning.lattice import Lattice

NODES, STEPS = 101, 20


def wandering(ends=0.0):
    shape = (NODES, 1)
    noise = np.broadcast_to(np.array([[-1.0], [1.0]]), (*shape, 2, 1))
    return FittedModel(
        Lattice(np.zeros(1), np.ones(1), np.array([NODES])),
        np.ones(shape, bool), np.zeros((*shape, 1)), np.ones((*shape, 2)),
        np.full(shape, ends), noise, np.zeros(4, np.int64),
    )  # fmt: skip


def imagined(model, episodes, groups):
    return imagine(
        model, np.full((episodes, 1), 50.0), lambda going, *_: np.zeros_like(going),
        discount=1.0, horizon=STEPS, unknown=np.zeros(2), rng=np.random.default_rng(0),
        groups=groups,
    )  # fmt: skip


def test_chance_leads_a_group_nowhere_on_average_and_all_groups_to_the_same_places():
    found = imagined(wandering(), episodes=24, groups=3)
    places = found.places.reshape(STEPS, 3, 8)
    np.testing.assert_allclose(places.mean(axis=2), 50.0)
    np.testing.assert_array_equal(places[:, 0], places[:, 1])
    np.testing.assert_array_equal(places[:, 0], places[:, 2])
    assert np.ptp(places[-1, 0]) > 0, "episodes of a group differ"


def test_as_many_episodes_end_in_a_step_as_the_chance_says():
    found = imagined(wandering(ends=0.25), episodes=64, groups=2)
    assert ((found.lengths == 1).reshape(2, 32).sum(axis=1) == 8).all()
