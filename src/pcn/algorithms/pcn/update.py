"""Training the network (section 4.2): many updates in one compiled scan."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int

from pcn.algorithms.pcn.store import Drawing, Transitions, TransitionStore
from pcn.nets.heads import AbstractActionHead
from pcn.nets.policy import ConditionedPolicy
from pcn.types import AnyArray, RandomKey

OPTIMISER = optax.scale_by_adam()

_LEAST_CHANCE = 1e-30
"""Smaller probabilities have no logarithm."""
_GOOD = 0.5
"""From this goodness on it is no mistake to prefer an option."""


class Learner(eqx.Module):
    """A policy and the optimiser's memory of it."""

    policy: ConditionedPolicy
    moments: optax.OptState

    @classmethod
    def fresh(cls, policy: ConditionedPolicy) -> "Learner":
        """A learner that has not seen a gradient yet."""
        return cls(policy, _first_moments(eqx.filter(policy, eqx.is_inexact_array)))

    def rescaled(self, command_scale: Float[Array, " command"]) -> "Learner":
        """The same learner for another command scale: its outputs and weight steps stay the same.

        Adam's steps do not depend on the gradient's scale, so from now on a step changes more
        of the function where the scale has grown: that is what the scale is for.
        """
        ratio = 1 / self.policy.weight_ratio(command_scale)[None, :]
        adam: Any = self.moments

        def weight(policy: Any) -> Any:
            return policy.embed_command.weight

        moments = adam._replace(
            mu=eqx.tree_at(weight, adam.mu, weight(adam.mu) * ratio),
            nu=eqx.tree_at(weight, adam.nu, weight(adam.nu) * ratio**2),
        )
        return Learner(self.policy.rescaled(command_scale), moments)


@eqx.filter_jit
def _first_moments(weights: Any) -> optax.OptState:
    """What the optimiser remembers at first; one program for weights of all shapes."""
    return OPTIMISER.init(weights)


def answers(
    policy: ConditionedPolicy, batch: Transitions
) -> tuple[Float[Array, " batch"], Bool[Array, " batch"]]:
    """Log-probability of each stored action, and whether the policy would prefer another one.

    Where several options are good, it is that of them all, each counted by its goodness; and the
    policy prefers another one if that is less than half as good as the best.
    """
    head = policy.action_head
    outputs = jax.vmap(policy)(batch.observation, batch.command)
    outputs = jax.vmap(head.masked)(outputs, batch.action_mask)
    if batch.goodness is not None:
        return jax.vmap(_good_answers, in_axes=(None, 0, 0))(head, outputs, batch.goodness)
    log_probability = jax.vmap(head.log_probability)(outputs, batch.action)
    return log_probability, ~jax.vmap(head.matches)(outputs, batch.action)


def _good_answers(
    head: AbstractActionHead,
    outputs: Float[Array, " output"],
    goodness: Float[Array, " option"],
) -> tuple[Float[Array, ""], Bool[Array, ""]]:
    """What `answers` returns for one step; options of all parts of an action lie side by side."""
    parts = head.option_probabilities(outputs)
    assert parts is not None
    begins = np.cumsum([len(part) for part in parts])[:-1].tolist()
    pairs = list(zip(parts, jnp.split(goodness, begins), strict=True))
    good = jnp.stack([jnp.sum(chances * its) for chances, its in pairs])
    preferred = jnp.stack([its[chances.argmax()] for chances, its in pairs])
    return jnp.log(jnp.maximum(good, _LEAST_CHANCE)).sum(), jnp.any(preferred < _GOOD)


def weighted_loss(
    policy: ConditionedPolicy, batch: Transitions, wrong_weight: Float[AnyArray, ""]
) -> Float[Array, ""]:
    """Cross-entropy of the stored actions (Eq. 5), wrongly predicted ones counted more often."""
    log_probability, wrong = answers(policy, batch)
    weights = jnp.where(wrong, wrong_weight, 1.0)
    return -jnp.sum(weights * log_probability) / jnp.sum(weights)  # Eq. (5)


def one_update(
    learner: Learner,
    batch: Transitions,
    learning_rate: Float[AnyArray, ""],
    wrong_weight: Float[AnyArray, ""],
) -> tuple[Learner, Float[Array, ""]]:
    """One Adam step on one batch."""
    loss, gradients = eqx.filter_value_and_grad(weighted_loss)(learner.policy, batch, wrong_weight)
    directions, moments = OPTIMISER.update(gradients, learner.moments)
    steps = jax.tree.map(lambda direction: -learning_rate * direction, directions)
    return Learner(eqx.apply_updates(learner.policy, steps), moments), loss


def update_many(
    learner: Learner,
    store: TransitionStore,
    drawings: tuple[Drawing, ...],
    learning_rates: Float[AnyArray, " update"],
    wrong_weight: Float[AnyArray, ""],
    key: RandomKey,
    counts: tuple[int, ...],
) -> tuple[Learner, Float[Array, ""]]:
    """As many updates as there are learning rates; `counts[i]` transitions from `drawings[i]`.

    Returns the learner and the mean loss.
    """
    places = _drawn_places(store, drawings, key, counts, learning_rates.shape[0])
    return update_on(learner, store.at, places, learning_rates, wrong_weight)


@eqx.filter_jit
def _drawn_places(
    store: TransitionStore,
    drawings: tuple[Drawing, ...],
    key: RandomKey,
    counts: tuple[int, ...],
    num_updates: int,
) -> tuple[Int[Array, "update batch"], Int[Array, "update batch"]]:
    """The places of random batches.

    This is a program of its own, so that all updates, those of consolidation, too, are one.
    """
    draws = jax.random.uniform(jnp.asarray(key), (2, num_updates, sum(counts)))
    return store.places(drawings, counts, draws)


@eqx.filter_jit
def update_on(
    learner: Learner,
    batch_at: Callable[..., Transitions],
    places: tuple[Int[AnyArray, "update batch"], ...],
    learning_rates: Float[AnyArray, " update"],
    wrong_weight: Float[AnyArray, ""],
) -> tuple[Learner, Float[Array, ""]]:
    """One update after the other, on the batches at these places; the learner and the mean loss.

    `batch_at` is the method of a module that holds examples: called with one row of each array in
    `places`, it returns the examples there.
    """
    arrays, static = eqx.partition(learner, eqx.is_array)

    def step(arrays: Any, inputs: Any) -> tuple[Any, Float[Array, ""]]:
        learning_rate, *place = inputs
        batch = batch_at(*place)
        learner, loss = one_update(eqx.combine(arrays, static), batch, learning_rate, wrong_weight)
        return eqx.filter(learner, eqx.is_array), loss

    inputs = tuple(jnp.asarray(one) for one in (learning_rates, *places))
    arrays, losses = jax.lax.scan(step, arrays, inputs)
    return eqx.combine(arrays, static), jnp.mean(losses)


def cosine_decay(
    highest: float, lowest: float, progress: Float[np.ndarray, " update"]
) -> Float[np.ndarray, " update"]:
    """Learning rates that fall from `highest` to `lowest` while `progress` goes from 0 to 1.

    They never rise: where `lowest` is the higher one, all are `highest`.

    >>> cosine_decay(0.5, 0.1, np.array([0.0, 0.5, 1.0]))
    array([0.5, 0.3, 0.1])
    """
    lowest = min(lowest, highest)
    return lowest + (highest - lowest) * 0.5 * (1 + np.cos(np.pi * progress))
