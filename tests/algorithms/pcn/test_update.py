import dataclasses
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pcn.algorithms.pcn.store import Drawing, Transitions, TransitionStore
from pcn.algorithms.pcn.update import Learner, one_update, update_many, weighted_loss
from pcn.command import Command
from pcn.nets.embeddings import OneHotEmbedding
from pcn.nets.heads import CategoricalHead
from pcn.nets.policy import ConditionedPolicy

LOSS, UPDATE = eqx.filter_jit(weighted_loss), eqx.filter_jit(one_update)


@cache
def make_policy(num_objectives=2, *, seed=0, gate="sigmoid", sizes=(4,)):
    state_key, policy_key = jax.random.split(jax.random.key(seed))
    return ConditionedPolicy(
        OneHotEmbedding((5,), 8, key=state_key),
        CategoricalHead(sizes),
        num_objectives=num_objectives,
        width=8,
        hidden_layers=1,
        gate=gate,
        key=policy_key,
    )


def make_batch(num_objectives=2, size=32, *, seed=0):
    rng = np.random.default_rng(seed)
    return Transitions(
        observation=jnp.asarray(rng.integers(0, 5, (size, 1)), jnp.int32),
        command=Command(
            jnp.asarray(rng.normal(size=(size, num_objectives)), jnp.float32),
            jnp.asarray(rng.integers(1, 9, size), jnp.float32),
        ),
        action=jnp.asarray(rng.integers(0, 4, (size, 1)), jnp.int32),
        action_mask=None,
    )


def number(value):
    return jnp.asarray(value, jnp.float32)


@eqx.filter_jit
def logits_of(policy, batch):
    return jax.vmap(policy)(batch.observation, batch.command)


def cross_entropies(policy, batch):
    """One number per transition, from optax rather than from our heads."""
    logits = logits_of(policy, batch)
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch.action[:, 0])


def test_the_loss_is_the_mean_cross_entropy():
    policy, batch = make_policy(), make_batch()
    expected = jnp.mean(cross_entropies(policy, batch))
    assert LOSS(policy, batch, number(1.0)) == pytest.approx(float(expected), rel=1e-5)


def test_wrongly_predicted_actions_count_more():
    policy, batch = make_policy(), make_batch()
    losses = np.asarray(cross_entropies(policy, batch))
    logits = np.asarray(logits_of(policy, batch))
    wrong = logits.argmax(axis=1) != np.asarray(batch.action)[:, 0]
    assert 0 < wrong.sum() < len(wrong)
    expected = (5 * losses[wrong].sum() + losses[~wrong].sum()) / (5 * wrong.sum() + (~wrong).sum())
    assert LOSS(policy, batch, number(5.0)) == pytest.approx(float(expected), rel=1e-5)
    assert expected > losses.mean()


def test_options_count_by_how_good_they_are():
    policy, batch = make_policy(), make_batch()
    chances = np.asarray(jax.nn.softmax(logits_of(policy, batch)), np.float64)
    # In quarters: half as good as the best is good enough.
    goodness = np.random.default_rng(1).integers(5, size=chances.shape).astype(np.float32) / 4
    goodness[np.arange(len(goodness)), np.asarray(batch.action)[:, 0]] = 1.0
    losses = -np.log((chances * goodness).sum(axis=1))
    preferred = goodness[np.arange(len(goodness)), chances.argmax(axis=1)]
    wrong = preferred < 0.5
    assert 0 < wrong.sum() < len(wrong)
    assert np.any(preferred == 0.5)
    expected = (5 * losses[wrong].sum() + losses[~wrong].sum()) / (5 * wrong.sum() + (~wrong).sum())
    found = LOSS(policy, dataclasses.replace(batch, goodness=jnp.asarray(goodness)), number(5.0))
    assert found == pytest.approx(expected, rel=1e-5)


def test_where_nothing_but_the_action_is_good_the_loss_is_the_same():
    policy, batch = make_policy(), make_batch()
    only = dataclasses.replace(batch, goodness=jax.nn.one_hot(batch.action[:, 0], 4))
    expected = float(LOSS(policy, batch, number(3.0)))
    assert LOSS(policy, only, number(3.0)) == pytest.approx(expected, rel=1e-5)


def test_options_of_several_parts_lie_side_by_side():
    policy = make_policy(sizes=(4, 3))
    rng = np.random.default_rng(2)
    actions = np.column_stack([rng.integers(4, size=32), rng.integers(3, size=32)])
    batch = dataclasses.replace(make_batch(), action=jnp.asarray(actions, jnp.int32))
    goodness = np.concatenate([np.eye(4)[actions[:, 0]], np.eye(3)[actions[:, 1]]], axis=1)
    only = dataclasses.replace(batch, goodness=jnp.asarray(goodness, jnp.float32))
    expected = float(LOSS(policy, batch, number(3.0)))
    assert LOSS(policy, only, number(3.0)) == pytest.approx(expected, rel=1e-5)


def test_masked_actions_take_no_part_in_the_loss():
    policy, batch = make_policy(), make_batch()
    mask = np.ones((32, 4), bool)
    mask[np.arange(32), (np.asarray(batch.action)[:, 0] + 1) % 4] = False
    masked = eqx.tree_at(
        lambda b: b.action_mask, batch, jnp.asarray(mask), is_leaf=lambda x: x is None
    )
    logits = np.asarray(logits_of(policy, batch), np.float64)
    allowed = np.where(mask, np.exp(logits), 0)
    chosen = np.take_along_axis(allowed, np.asarray(batch.action), axis=1)[:, 0]
    expected = -np.log(chosen / allowed.sum(axis=1)).mean()
    assert LOSS(policy, masked, number(1.0)) == pytest.approx(expected, rel=1e-5)


GRADIENT = eqx.filter_jit(eqx.filter_grad(lambda p, b: jnp.mean(cross_entropies(p, b))))


@pytest.mark.slow
@pytest.mark.parametrize("num_objectives", [3])
def test_updates_are_optax_s_adam(num_objectives):
    rates = [1e-2, 1e-2, 3e-3]
    learner = Learner.fresh(make_policy(num_objectives))
    policy = make_policy(num_objectives)
    optimiser = optax.inject_hyperparams(optax.adam)(learning_rate=rates[0])
    state = optimiser.init(eqx.filter(policy, eqx.is_inexact_array))
    for seed, rate in enumerate(rates):
        batch = make_batch(num_objectives, seed=seed)
        learner, _ = UPDATE(learner, batch, number(rate), number(1.0))
        gradient = GRADIENT(policy, batch)
        state.hyperparams["learning_rate"] = number(rate)
        step, state = jax.jit(optimiser.update)(gradient, state)
        policy = eqx.apply_updates(policy, step)
        ours, theirs = (
            jax.tree.leaves(eqx.filter(p, eqx.is_array)) for p in (learner.policy, policy)
        )
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
    moved = learner.policy.head.layers[0].weight - make_policy(num_objectives).head.layers[0].weight
    assert np.abs(moved).max() > 1e-2
    np.testing.assert_array_equal(learner.policy.command_scale, np.ones(num_objectives + 1))


@pytest.mark.slow
def test_many_updates_are_one_after_the_other():
    rng = np.random.default_rng(0)
    lengths = np.array([4, 6, 2])
    store = TransitionStore(
        observations=jnp.asarray(rng.integers(0, 5, (3, 6, 1)), jnp.int32),
        actions=jnp.asarray(rng.integers(0, 4, (3, 6, 1)), jnp.int32),
        returns_to_go=jnp.asarray(rng.normal(size=(3, 6, 2)), jnp.float32),
        lengths=jnp.asarray(lengths, jnp.int32),
        action_masks=None,
    )
    drawings = (
        Drawing.over(np.arange(3, dtype=np.int32), lengths, 3),
        Drawing.over(np.array([1], np.int32), lengths[1:2], 3),
    )
    rates = np.array([1e-2, 5e-3, 2e-3], np.float32)
    key = np.array([1, 2], np.uint32)
    fast, mean_loss = update_many(
        Learner.fresh(make_policy()),
        store,
        drawings,
        rates,
        np.asarray(2.0, np.float32),
        key,
        (6, 2),
    )
    draws = jax.random.uniform(jnp.asarray(key), (2, 3, 8))
    slots, times = store.places(drawings, (6, 2), draws)
    assert set(np.asarray(slots)[:, 6:].ravel().tolist()) == {1}
    slow, losses = Learner.fresh(make_policy()), []
    for number_, rate in enumerate(rates):
        batch = store.at(slots[number_], times[number_])
        slow, loss = UPDATE(slow, batch, number(rate), number(2.0))
        losses.append(float(loss))
    assert mean_loss == pytest.approx(np.mean(losses), rel=1e-5)
    pairs = zip(
        *(jax.tree.leaves(eqx.filter(one, eqx.is_array)) for one in (fast, slow)), strict=True
    )
    for a, b in pairs:
        np.testing.assert_allclose(a, b, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("num_objectives", [2, 9])
def test_rescaling_keeps_the_function_and_the_steps_of_the_weights(num_objectives):
    learner = Learner.fresh(make_policy(num_objectives))
    for seed in range(3):  # so that there are moments to rescale
        learner, _ = UPDATE(
            learner, make_batch(num_objectives, seed=seed), number(1e-2), number(1.0)
        )
    scale = jnp.asarray(np.random.default_rng(0).uniform(0.1, 8, num_objectives + 1), jnp.float32)
    rescaled = learner.rescaled(scale)
    batch = make_batch(num_objectives, seed=9)
    logits = [logits_of(one.policy, batch) for one in (learner, rescaled)]
    np.testing.assert_allclose(logits[0], logits[1], atol=1e-5)
    steps = []
    for one in (learner, rescaled):
        after, _ = UPDATE(one, batch, number(1e-2), number(1.0))
        before, now = (
            jax.tree.leaves(eqx.filter(p, eqx.is_array)) for p in (one.policy, after.policy)
        )
        steps.append([np.asarray(b - a) for a, b in zip(before, now, strict=True)])
    for plain, other in zip(*steps, strict=True):
        np.testing.assert_allclose(plain, other, atol=1e-5)
    assert max(np.abs(step).max() for step in steps[0]) > 1e-3
    # Without their moments the command's weights would make other steps.
    forgetful = Learner(rescaled.policy, learner.moments)
    after, _ = UPDATE(forgetful, batch, number(1e-2), number(1.0))
    weight = lambda learner: np.asarray(learner.policy.embed_command.weight)  # noqa: E731
    expected = weight(UPDATE(rescaled, batch, number(1e-2), number(1.0))[0])
    assert np.abs(weight(after) - expected).max() > 1e-4
