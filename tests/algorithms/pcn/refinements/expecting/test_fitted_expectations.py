"""What is chance is told from what follows from a step, and labels are means."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.pcn.refinements.expecting.episode_memory import Steps
from pcn.algorithms.pcn.refinements.expecting.fitted_expectations import (
    Foreseen,
    expected_returns_to_go,
    foresee,
    learn,
    padded,
    random_ends,
)
from pcn.nets.embeddings import VectorEmbedding
from pcn.nets.expectations import Expectations
from pcn.nets.heads import CategoricalHead


def steps_of(lengths, terminated, rewards, actions=None, observations=None):
    count = int(np.sum(lengths))
    return Steps(
        [np.zeros((count, 2), np.float32) if observations is None else observations],
        np.zeros((count, 1), np.int32) if actions is None else actions,
        np.asarray(rewards, np.float32),
        np.zeros((count, 0), bool),
        np.asarray(lengths),
        np.asarray(terminated),
        np.zeros(len(lengths), bool),
    )


def untrained(num_objectives=2):
    state_key, key = jax.random.split(jax.random.key(0))
    return Expectations(
        VectorEmbedding(2, 32, key=state_key),
        CategoricalHead((2,)),
        num_objectives=num_objectives,
        width=32,
        key=key,
    )


def with_chance(expectations, rewards, ends):
    return eqx.tree_at(
        lambda one: (one.random_rewards, one.random_ends),
        expectations,
        (jnp.array(rewards), jnp.array(ends)),
    )


def test_ends_of_the_longest_episodes_are_no_accidents():
    steps = steps_of([3, 1, 2, 3], [True, True, False, True], np.zeros((9, 2)))
    np.testing.assert_array_equal(random_ends(steps), [0, 0, 0, 1, 0, 0, 0, 0, 0])


def test_labels_are_means_by_hand():
    rewards = [[1.0, 10.0], [0.0, 20.0], [5.0, 30.0]]  # two steps, then an episode of one
    foreseen = Foreseen(np.array([[0.5, 7.0], [0.25, 7.0], [2.0, 7.0]]), np.array([0.2, 0.5, 0.9]))
    chance = with_chance(untrained(), [True, False], True)
    labels = expected_returns_to_go(
        steps_of([2, 1], [True, True], rewards), foreseen, chance, discount=0.5
    )
    # .5 + .5 * .8 * .25 = .6 and 10 + .5 * .8 * 20 = 18; last steps bring their own alone
    np.testing.assert_allclose(labels, [[0.6, 18.0], [0.25, 20.0], [2.0, 30.0]])


def test_where_nothing_is_random_labels_are_returns_to_go():
    rng = np.random.default_rng(0)
    rewards = rng.integers(-5, 5, (12, 2)).astype(float)
    foreseen = Foreseen(rng.normal(size=(12, 2)), rng.uniform(size=12))
    lengths = [4, 1, 5, 2]
    labels = expected_returns_to_go(
        steps_of(lengths, [True] * 4, rewards), foreseen, untrained(), discount=0.9
    )
    first = 0
    for length in lengths:
        total = np.zeros(2)
        for step in reversed(range(first, first + length)):
            total = rewards[step] + 0.9 * total
            np.testing.assert_allclose(labels[step], total)
        first += length


@pytest.mark.slow
def test_chances_are_learnt_and_told_from_what_is_certain():
    rng = np.random.default_rng(0)
    count = 8_000
    observations = rng.uniform(-1, 1, (count, 2)).astype(np.float32)
    actions = rng.integers(2, size=(count, 1)).astype(np.int32)
    chance = np.where(actions[:, 0] == 1, 0.4, 0.1)
    random = rng.uniform(size=count) < chance
    certain = observations[:, 0] * (1 - 2 * actions[:, 0])
    # Episodes of one or two steps: the first ends it with probability .3, whatever is done.
    lengths = np.where(rng.uniform(size=count) < 0.3, 1, 2)
    lengths = lengths[: np.searchsorted(np.cumsum(lengths), count - 1)]
    count = int(lengths.sum())
    steps = steps_of(
        lengths,
        np.ones(len(lengths), bool),
        np.column_stack([random, certain])[:count],
        actions[:count],
        observations[:count],
    )
    learnt = learn(
        untrained(),
        steps,
        steps.observations[0],
        rng,
        updates=1_000,
        batch_size=128,
        learning_rate=3e-3,
        held_out=8,
        least_random=0.1,
    )
    np.testing.assert_array_equal(learnt.random_rewards, [True, False])
    assert bool(learnt.random_ends)
    foreseen = foresee(learnt, padded(steps.observations[0]), padded(steps.actions), count)
    assert np.abs(foreseen.rewards[:, 0] - chance[:count]).mean() < 0.05
    assert np.abs(foreseen.rewards[:, 1] - certain[:count]).mean() < 0.05
    share = random_ends(steps).mean()  # of all steps, which look the same
    assert np.abs(foreseen.ends - share).mean() < 0.05
