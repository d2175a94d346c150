"""Scales and weights of values: other units of a reward change nothing but units."""

import dataclasses

import numpy as np
import pytest

from pcn.algorithms.pcn.refinements.valued import learning
from pcn.algorithms.pcn.refinements.valued.learning import rarity
from pcn.algorithms.pcn.train import PCNTrainer
from stalls import CONFIG, SETTINGS, Stalls


def learnt(unit):
    """The learner after the first updates, where money is counted in other units."""
    trainer = PCNTrainer(Stalls(unit=unit), CONFIG, seed=0)
    state = SETTINGS.state(trainer._training)
    while state.learner is None or state.learner.num_updates < 500:
        trainer.iterate()
    return state.learner


@pytest.mark.slow
def test_a_reward_in_other_units_changes_nothing_but_units():
    one, other = learnt(1.0), learnt(1000.0)
    for values, its in ((one.values, other.values), (one.older, other.older)):
        np.testing.assert_allclose(its.unit * np.array([1000.0, 1.0]), values.unit, rtol=0.02)
        np.testing.assert_allclose(its.extent * np.array([1000.0, 1.0]), values.extent, rtol=0.02)
    seen, weights = np.array([1.0, 0.0, 0.0], np.float32), np.array([0.5, 0.5], np.float32)
    np.testing.assert_allclose(
        other.values(seen, weights), one.values(seen, weights), rtol=0.05, atol=0.2
    )


@pytest.mark.slow
def test_units_follow_what_policies_differ_in_but_never_shrink_below_the_first():
    learner = learnt(1.0)
    unit, extent = np.asarray(learner.values.unit), np.asarray(learner.values.extent)
    least = np.asarray(learner.least_unit)
    np.testing.assert_allclose(unit, np.maximum(extent / SETTINGS.value_scale, least), rtol=1e-5)
    assert np.all(extent > 0)


def test_policies_that_are_alike_share_their_chances():
    crowd = np.array([[0.0, 0.0]] * 9 + [[1.0, 0.0]])
    np.testing.assert_allclose(rarity(crowd, 0.1), [1 / 18] * 9 + [0.5])
    np.testing.assert_allclose(rarity(np.arange(4.0)[:, None], 0.1), [0.25] * 4)


@pytest.mark.parametrize(
    ("discount", "expected"),
    [(1.0, (1, 5.0)), (0.999, (1, 5.0)), (0.99, (3, 1.0)), (0.9, (3, 1.0))],
)
def test_rewards_that_are_not_discounted_are_summed_less_and_errors_squared_further(
    discount, expected, monkeypatch
):
    settings = dataclasses.replace(SETTINGS, num_steps=3)
    refinements = (*CONFIG.refinements[:-1], settings)
    config = dataclasses.replace(CONFIG, discount=discount, refinements=refinements)
    trainer = PCNTrainer(Stalls(), config, seed=0)
    given = []

    def learn_values(learner, *_, num_steps, huber_delta, **__):
        given.append((num_steps, huber_delta))
        return learner

    monkeypatch.setattr(learning, "learn_values", learn_values)
    while not given:
        trainer.iterate()
    assert set(given) == {expected}
