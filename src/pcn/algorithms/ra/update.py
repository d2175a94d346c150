"""One update of several policies, in one compiled call."""

from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int

from pcn.algorithms.ra.config import StepRule
from pcn.algorithms.ra.gradients import PolicyGradients, advantages
from pcn.algorithms.ra.stationarity import ascent_norm
from pcn.episodes import Episodes
from pcn.nets.plain_policy import PlainPolicy, WeightVector
from pcn.types import AnyArray

OPTIMISER = optax.scale_by_adam()


class Learners(eqx.Module):
    """The weights of every policy, and the state of its updates."""

    weights: Float[Array, "direction weight"]
    moments: optax.OptState
    smoothed: Float[Array, "direction objective weight"]
    """Running means of the objectives' gradients."""

    @classmethod
    def fresh(cls, weights: Float[Array, "direction weight"], num_objectives: int) -> "Learners":
        """Learners that have not seen a gradient yet."""
        count, size = weights.shape
        return cls(
            weights, jax.vmap(OPTIMISER.init)(weights), jnp.zeros((count, num_objectives, size))
        )


@eqx.filter_jit
def policies_of(
    vector: WeightVector, weights: Float[AnyArray, "direction weight"], copies: int
) -> PlainPolicy:
    """A stack of policies, each several times in a row."""
    return jax.vmap(vector.policy)(jnp.repeat(jnp.asarray(weights), copies, axis=0))


class Findings(NamedTuple):
    """The results of an update for each policy."""

    ascent_norm: Float[Array, " some"]
    entropy: Float[Array, " some"]


@dataclass(frozen=True)
class UpdateSettings:
    """What does not change between updates; see `RAConfig`."""

    step_rule: StepRule
    smoothing: float
    conjugate_steps: int
    damping: float


@eqx.filter_jit
def update_some(
    learners: Learners,
    index: Int[AnyArray, " some"],
    vector: WeightVector,
    episodes: Episodes,
    mix: Float[AnyArray, "some objective"],
    active_mask: Bool[AnyArray, " some"],
    discount: Float[AnyArray, ""],
    entropy_bonus: Float[AnyArray, ""],
    step_size: Float[AnyArray, ""],
    settings: UpdateSettings,
    num_steps: int,
) -> tuple[Learners, Findings]:
    """One step of the policies at `index`, if active, along the mixture of their gradients.

    `episodes` are those of the first of them, then those of the second, and so on; none is
    longer than `num_steps`. The findings are about these policies.
    """
    num_directions = mix.shape[0]
    trimmed = episodes.trimmed(num_steps)
    grouped: Episodes = jax.tree.map(
        lambda leaf: leaf.reshape(num_directions, -1, *leaf.shape[1:]), trimmed
    )

    def of_one(
        learner: Learners, episodes: Episodes, mix: Float[Array, " objective"]
    ) -> tuple[Learners, Findings]:
        gradients = PolicyGradients(vector, episodes)
        jacobian = gradients.jacobian(learner.weights, advantages(episodes, discount=discount))
        entropy, entropy_slope = jax.value_and_grad(gradients.entropy)(learner.weights)
        gradient = mix @ jacobian + entropy_bonus * entropy_slope
        if settings.step_rule == "natural":
            step = gradients.natural_step(
                learner.weights,
                gradient,
                step_size,
                conjugate_steps=settings.conjugate_steps,
                damping=settings.damping,
            )
            moments = learner.moments
        else:
            direction, moments = OPTIMISER.update(gradient, learner.moments)
            step = step_size * direction
        kept = settings.smoothing
        smoothed = kept * learner.smoothed + (1 - kept) * jacobian
        changed = _unchecked(learner, learner.weights + step, moments, smoothed)
        return changed, Findings(ascent_norm(smoothed), entropy)

    taken: Learners = jax.tree.map(lambda leaf: leaf[index], learners)
    changed, findings = jax.vmap(of_one)(taken, grouped, jnp.asarray(mix))

    def placed(whole: Array, new: Array, old: Array) -> Array:
        shape = (num_directions,) + (1,) * (old.ndim - 1)
        return whole.at[index].set(jnp.where(jnp.asarray(active_mask).reshape(shape), new, old))

    return jax.tree.map(placed, learners, changed, taken), findings


def _unchecked(
    learner: Learners,
    weights: Float[Array, " weight"],
    moments: optax.OptState,
    smoothed: Float[Array, "objective weight"],
) -> Learners:
    """One learner out of the stack, whose arrays miss the first axis that the class declares."""
    changed: Learners = eqx.tree_at(
        lambda one: (one.weights, one.moments, one.smoothed), learner, (weights, moments, smoothed)
    )
    return changed
