"""Learning weighted values off-policy: double Q-learning, many updates in one compiled scan.

Mossalam et al., "Multi-objective deep reinforcement learning", 2016, arXiv:1610.02707; Abels et
al., "Dynamic weights in multi-objective deep reinforcement learning", 2019, arXiv:1809.07803: one
network for all weights, each update under random ones. Hasselt et al., "Deep reinforcement learning
with double Q-learning", 2016, arXiv:1509.06461.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from pcn.algorithms.pcn.refinements.valued.replay import Outlook, Replay
from pcn.algorithms.pcn.update import OPTIMISER
from pcn.nets.value_network import FORBIDDEN, ValueNetwork
from pcn.types import AnyArray, RandomKey


class ValueLearner(eqx.Module):
    """Values, their older copy that targets are made with, and the optimiser's memory."""

    values: ValueNetwork
    older: ValueNetwork
    moments: optax.OptState
    num_updates: Int[AnyArray, ""]
    least_unit: Float[AnyArray, " objective"]
    """Units of the values never get smaller."""

    @classmethod
    def fresh(cls, values: ValueNetwork) -> "ValueLearner":
        """A learner that has not seen a gradient yet."""
        moments = OPTIMISER.init(eqx.filter(values, eqx.is_inexact_array))
        return cls(values, values, moments, jnp.zeros((), jnp.int32), values.unit)


MIDDLE = 0.6
"""How far weights near the middle are on their way to it."""


def random_weights(
    key: RandomKey,
    shape: tuple[int, ...],
    num_objectives: int,
    *,
    single_share: float,
    middle_share: float,
) -> Float[Array, "*shape objective"]:
    """Weights that sum to one: some for one objective only, some near the middle, others spread."""
    spread_key, which_key, kind_key = jax.random.split(jnp.asarray(key), 3)
    spread = jax.random.exponential(spread_key, (*shape, num_objectives))
    spread /= spread.sum(axis=-1, keepdims=True)
    which = jax.random.randint(which_key, shape, 0, num_objectives)
    single = jax.nn.one_hot(which, num_objectives)
    kind = jax.random.uniform(kind_key, (*shape, 1))
    inner = jnp.where(kind < single_share + middle_share, near_middle(spread), spread)
    return jnp.where(kind < single_share, single, inner)


def near_middle(weights: Float[AnyArray, "*shape objective"]) -> Float[Array, "*shape objective"]:
    """The same weights, nearer to those that are all equal."""
    return (1 - MIDDLE) * jnp.asarray(weights) + MIDDLE / weights.shape[-1]


def targets(
    values: ValueNetwork,
    older: ValueNetwork,
    outlook: Outlook,
    weights: Float[Array, "batch objective"],
) -> Float[Array, "batch objective"]:
    """Rewards and the older value of what the newer values would do next (double Q-learning)."""
    utilities = jax.vmap(values.utilities)(outlook.next_observations, weights)
    chosen = jax.vmap(values.best)(utilities)
    later = jax.vmap(older)(outlook.next_observations, weights)
    value = jnp.einsum("ba,bao->bo", chosen, later)
    return outlook.rewards + outlook.discounts[:, None] * value


def value_loss(
    values: ValueNetwork,
    outlook: Outlook,
    weights: Float[Array, "batch objective"],
    wanted: Float[Array, "batch objective"],
    huber_delta: float,
) -> Float[Array, ""]:
    """Huber loss of the values of the options that were taken, squared up to `huber_delta`."""
    every = jax.vmap(values)(outlook.observations, weights)
    taken = jax.vmap(values.taken)(outlook.options)
    errors = jnp.einsum("ba,bao->bo", taken, every) - wanted
    return optax.huber_loss(errors, delta=huber_delta).sum(axis=1).mean()


@eqx.filter_jit
def learn_values(
    learner: ValueLearner,
    replay: Replay,
    count: Int[AnyArray, ""],
    key: RandomKey,
    *,
    num_updates: int,
    batch_size: int,
    learning_rate: Float[AnyArray, ""],
    discount: float,
    num_steps: int,
    copied_after: int,
    huber_delta: float,
    weights: Float[AnyArray, "weight objective"],
    chances: Float[AnyArray, " weight"],
) -> ValueLearner:
    """Updates on batches of the first `count` steps, each step under random weights.

    Args:
        learner: what was learnt so far.
        replay: the steps.
        count: how many of them are real.
        key: draws batches and weights.
        num_updates: how many updates.
        batch_size: steps in one update.
        learning_rate: of Adam.
        discount: weight of a reward one step later.
        num_steps: how many rewards are summed before a value is asked.
        copied_after: updates after which the older copy becomes the newer values.
        huber_delta: size in units up to which errors count squared.
        weights: weights of the objectives to choose from.
        chances: how likely each of them is.
    """
    shape = (num_updates, batch_size)
    index_key, weights_key = jax.random.split(jnp.asarray(key))
    index = jax.random.randint(index_key, shape, 0, jnp.asarray(count))
    chosen = jax.random.choice(weights_key, len(chances), shape, p=jnp.asarray(chances))
    taken = jnp.asarray(weights)[chosen]
    arrays, static = eqx.partition(learner, eqx.is_array)

    def step(arrays: Any, inputs: Any) -> tuple[Any, None]:
        index, weights = inputs
        old: ValueLearner = eqx.combine(arrays, static)
        outlook = replay.at(index, old.values.unit, discount=discount, num_steps=num_steps)
        wanted = targets(old.values, old.older, outlook, weights)
        gradients = eqx.filter_grad(value_loss)(old.values, outlook, weights, wanted, huber_delta)
        directions, moments = OPTIMISER.update(gradients, old.moments)
        steps = jax.tree.map(lambda one: -jnp.asarray(learning_rate) * one, directions)
        values = eqx.apply_updates(old.values, steps)
        number = old.num_updates + 1
        older = jax.tree.map(
            lambda new, kept: (
                jnp.where(number % copied_after == 0, new, kept) if eqx.is_array(new) else new
            ),
            values,
            old.older,
        )
        return eqx.filter(
            ValueLearner(values, older, moments, number, old.least_unit), eqx.is_array
        ), None

    arrays, _ = jax.lax.scan(step, arrays, (index, taken))
    return eqx.combine(arrays, static)


def values_of(
    values: ValueNetwork,
    observations: Float[np.ndarray, "state number"],
    weights: Float[np.ndarray, "state objective"],
) -> Float[np.ndarray, "state option objective"]:
    """The values of all options in many states, each under its own weights; in units."""
    padded = -len(observations) % PART
    seen = np.pad(observations, ((0, padded), (0, 0)), mode="edge")
    weighed = np.pad(weights, ((0, padded), (0, 0)), mode="edge").astype(np.float32)
    parts = [
        np.asarray(_values(values, seen[start : start + PART], weighed[start : start + PART]))
        for start in range(0, len(seen), PART)
    ]
    return np.concatenate(parts)[: len(observations)]


def utilities_of(
    values: ValueNetwork,
    of_options: Float[np.ndarray, "state option objective"],
    observations: Float[np.ndarray, "state number"],
    weights: Float[np.ndarray, "state objective"],
) -> Float[np.ndarray, "state option"]:
    """The weighted sums of what `values_of` says; very low for options that a mask forbids."""
    scale = weights * np.asarray(values.unit / values.extent)
    utilities = np.einsum("sao,so->sa", of_options, scale)
    if not values.masked:
        return utilities
    return np.where(observations[:, -sum(values.sizes) :] > 0, utilities, FORBIDDEN)


def expected_of_plans(
    values: ValueNetwork,
    starts: Float[np.ndarray, "start number"],
    weights: Float[np.ndarray, "plan objective"],
) -> Float[np.ndarray, "plan objective"]:
    """What the values expect of the best policy for each weights, on average over beginnings."""
    each = np.repeat(weights, len(starts), axis=0)
    tiled = np.tile(starts, (len(weights), 1))
    of_options = values_of(values, tiled, each)
    best = best_options(values, utilities_of(values, of_options, tiled, each))
    chosen = np.einsum("sa,sao->so", best, of_options).reshape(len(weights), len(starts), -1)
    return chosen.mean(axis=1).astype(np.float64) * np.asarray(values.unit, np.float64)


def best_options(
    values: ValueNetwork, utilities: Float[np.ndarray, "state option"]
) -> Float[np.ndarray, "state option"]:
    """1 for the best option of each part of an action, 0 for all others."""
    return np.concatenate(
        [np.eye(part.shape[1])[part.argmax(axis=1)] for part in parts_of(values, utilities)], axis=1
    )


def parts_of(
    values: ValueNetwork, of_options: Float[np.ndarray, "state option"]
) -> list[Float[np.ndarray, "state one_option"]]:
    """Numbers of all options, apart for each part of an action."""
    return np.split(of_options, np.cumsum(values.sizes)[:-1], axis=1)


PART = 4096
"""States in one compiled call."""


@eqx.filter_jit
def _values(
    values: ValueNetwork,
    observations: Float[AnyArray, "state number"],
    weights: Float[AnyArray, "state objective"],
) -> Float[Array, "state option objective"]:
    return jax.vmap(values)(jnp.asarray(observations), jnp.asarray(weights))
