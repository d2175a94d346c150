"""Learning what steps bring on average, and how much of what they brought was chance."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Num, PyTree

from pcn.algorithms.pcn.refinements.expecting.episode_memory import Steps
from pcn.algorithms.pcn.update import OPTIMISER
from pcn.nets.expectations import Expectations
from pcn.nets.plain_policy import weight_mask
from pcn.types import AnyArray

PART = 4096
"""Steps in one compiled call of the network; arrays have a multiple of it."""


class Outcomes(eqx.Module):
    """What actions led to, one step after the other, padded at the end."""

    observations: PyTree[Array]
    actions: Num[Array, "step part"]
    rewards: Float[Array, "step objective"]
    """In units of their deviation."""
    ends: Float[Array, " step"]
    """1 where the episode ended with the step, else 0."""


def padded(array: np.ndarray) -> Array:
    """The array on the device, with `PART` rows or twice, four times, ... as many."""
    room = PART
    while room < len(array):
        room *= 2
    return jnp.asarray(np.pad(array, ((0, room - len(array)), *(((0, 0),) * (array.ndim - 1)))))


def random_ends(steps: Steps) -> Float[np.ndarray, " step"]:
    """1 for the last steps of episodes that terminated, else 0.

    The ends of the longest episodes do not count: they may be a time limit that observations do
    not show, by which no step is more dangerous than another one.
    """
    ends = np.zeros(steps.num_steps, np.float32)
    counted = steps.terminated & (steps.lengths < steps.lengths.max())
    ends[(steps.starts + steps.lengths - 1)[counted]] = 1
    return ends


def learn(
    expectations: Expectations,
    steps: Steps,
    observations: PyTree[np.ndarray],
    rng: np.random.Generator,
    *,
    updates: int,
    batch_size: int,
    learning_rate: float,
    held_out: int,
    least_random: float,
) -> Expectations:
    """The expectations fitted to steps, with what is random found out on episodes held out.

    Args:
        expectations: untrained ones.
        steps: what to learn from.
        observations: those of the steps, in the environment's form.
        rng: draws the batches.
        updates: how many updates.
        batch_size: steps in one update.
        learning_rate: of the first update; it falls to zero.
        held_out: one episode in so many is not learnt from, but judges what was learnt.
        least_random: rewards and ends are random where a larger share of their variance than this
            does not follow from observation and action.
    """
    rewards, ends = steps.rewards.astype(np.float64), random_ends(steps)
    deviation = rewards.std(axis=0)
    varies = deviation > 1e-6 * np.maximum(np.abs(rewards).max(axis=0), 1e-30)
    deviation = np.where(varies, deviation, 1.0)
    mean = rewards.mean(axis=0)
    expectations = eqx.tree_at(
        lambda one: (one.reward_mean, one.reward_deviation),
        expectations,
        (jnp.asarray(mean, jnp.float32), jnp.asarray(deviation, jnp.float32)),
    )
    outcomes = Outcomes(
        jax.tree.map(padded, observations),
        padded(steps.actions),
        padded(((rewards - mean) / deviation).astype(np.float32)),
        padded(ends),
    )
    episode = np.repeat(np.arange(len(steps.lengths)), steps.lengths)
    judging = episode % held_out == held_out - 1
    if not judging.any():
        judging[:] = True
    learnt_from = np.flatnonzero(~judging) if not judging.all() else np.arange(len(episode))
    batches = learnt_from[rng.integers(len(learnt_from), size=(updates, batch_size))]
    rates = learning_rate * 0.5 * (1 + np.cos(np.pi * np.arange(updates) / updates))
    expectations = _fitted(
        expectations, outcomes, batches.astype(np.int32), rates.astype(np.float32)
    )
    foreseen = foresee(expectations, outcomes.observations, outcomes.actions, steps.num_steps)
    share = unexplained(rewards[judging], foreseen.rewards[judging])
    of_ends = unexplained(ends[judging, None], foreseen.ends[judging, None])
    return eqx.tree_at(
        lambda one: (one.random_rewards, one.random_ends),
        expectations,
        (
            jnp.asarray(varies & (share > least_random)),
            jnp.asarray(bool(of_ends[0] > least_random)),
        ),
    )


def unexplained(
    values: Float[np.ndarray, "step number"], foreseen: Float[np.ndarray, "step number"]
) -> Float[np.ndarray, " number"]:
    """The share of the variance of values that a forecast leaves; 0 for values that do not vary.

    >>> values = np.array([[0.0], [1.0], [0.0], [1.0]])
    >>> unexplained(values, values), unexplained(values, np.full((4, 1), 0.5))
    (array([0.]), array([1.]))
    """
    variance = values.var(axis=0)
    error = ((values - foreseen) ** 2).mean(axis=0)
    return np.where(variance > 0, error / np.where(variance > 0, variance, 1.0), 0.0)


@dataclass(frozen=True)
class Foreseen:
    """What the expectations say of some steps, random or not."""

    rewards: Float[np.ndarray, "step objective"]
    ends: Float[np.ndarray, " step"]


def foresee(
    expectations: Expectations,
    observations: PyTree[Array],
    actions: Num[Array, "step part"],
    num_steps: int,
) -> Foreseen:
    """The mean reward and the probability of an end for the first `num_steps` steps."""
    parts = []
    for first in range(0, num_steps, PART):

        def part(leaf: Array, first: int = first) -> Array:
            return leaf[first : first + PART]

        parts.append(_foreseen(expectations, jax.tree.map(part, observations), part(actions)))
    rewards, ends = (
        np.concatenate([np.asarray(one) for one in both]) for both in zip(*parts, strict=True)
    )
    return Foreseen(rewards[:num_steps].astype(np.float64), ends[:num_steps].astype(np.float64))


@eqx.filter_jit
def _foreseen(
    expectations: Expectations, observations: PyTree[Array], actions: Num[Array, "step part"]
) -> tuple[Float[Array, "step objective"], Float[Array, " step"]]:
    return jax.vmap(expectations.raw)(observations, actions)


@eqx.filter_jit
def _fitted(
    expectations: Expectations,
    outcomes: Outcomes,
    batches: Int[AnyArray, "update batch"],
    learning_rates: Float[AnyArray, " update"],
) -> Expectations:
    """One Adam step for each batch: squared errors of rewards, cross-entropy of ends."""
    weights, rest = eqx.partition(expectations, weight_mask(expectations))

    def loss(weights: Any, index: Int[Array, " batch"]) -> Float[Array, ""]:
        one = eqx.combine(weights, rest)
        batch = jax.tree.map(lambda leaf: leaf[index], outcomes)
        outputs = jax.vmap(one.outputs)(batch.observations, batch.actions)
        errors = (outputs[:, :-1] - batch.rewards) ** 2
        entropy = optax.sigmoid_binary_cross_entropy(outputs[:, -1], batch.ends)
        return jnp.mean(errors) + jnp.mean(entropy)

    def step(carry: Any, inputs: Any) -> tuple[Any, None]:
        weights, moments = carry
        index, rate = inputs
        directions, moments = OPTIMISER.update(jax.grad(loss)(weights, index), moments)
        changed = jax.tree.map(lambda one, way: one - rate * way, weights, directions)
        return (changed, moments), None

    inputs = (jnp.asarray(batches), jnp.asarray(learning_rates))
    (weights, _), _ = jax.lax.scan(step, (weights, OPTIMISER.init(weights)), inputs)
    fitted: Expectations = eqx.combine(weights, rest)
    return fitted


def expected_returns_to_go(
    steps: Steps, foreseen: Foreseen, expectations: Expectations, *, discount: float
) -> Float[np.ndarray, "step objective"]:
    """The return from each step on that the actions of its episode bring on average.

    label_t = r_t + discount * survival_t * label_{t+1}: mean rewards stand for random ones, and
    what comes later counts as far as the episode was likely to go on. After the last step nothing
    comes.
    """
    labels = np.where(
        np.asarray(expectations.random_rewards), foreseen.rewards, steps.rewards.astype(np.float64)
    )
    survival = 1 - foreseen.ends * float(expectations.random_ends)
    ends = steps.starts + steps.lengths - 1
    for back in range(1, int(steps.lengths.max())):
        now = ends[steps.lengths > back] - back
        labels[now] += discount * survival[now, None] * labels[now + 1]
    return labels
