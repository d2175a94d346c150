"""When and from what a training learns values: its steps, their scales, and its updates."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, UInt32

from pcn.algorithms.pcn.refinements.valued.replay import Replay
from pcn.algorithms.pcn.refinements.valued.settings import LearningSettings
from pcn.algorithms.pcn.refinements.valued.value_learning import (
    ValueLearner,
    expected_of_plans,
    learn_values,
    random_weights,
)
from pcn.algorithms.pcn.refinements.valued.value_state import ValueState
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.pcn.update import cosine_decay
from pcn.envs.observations import num_parts
from pcn.nets.value_network import ValueNetwork
from pcn.planning.weighted_planning import spread_weights
from pcn.types import AnyArray

UPDATES_AT_ONCE = 128
"""Updates in one compiled call."""
CALLS_UNDER_WEIGHTS = 32
"""Calls after which further updates have new random weights."""
MOST_STARTS = 64
"""Beginnings of episodes at which it is asked what policies return."""
LEAST_EXTENT = 1e-3
"""Smallest extent in units: policies may all be alike in an objective."""
DRAWN = 256
"""Random weights among which some are chosen."""
FEW_STARTS = 16
"""Beginnings at which it is asked which of them are alike."""
WEIGHED = 32
"""Policies that are asked."""


def room(settings: LearningSettings, training: Training) -> int:
    """How many steps are remembered at most."""
    return min(settings.memory_steps, training.config.total_steps)


def discount(settings: LearningSettings, training: Training) -> float:
    """The training's own, but for episodes without end."""
    return min(training.config.discount, 1.0 - 1.0 / settings.longest_outlook)


def is_undiscounted(settings: LearningSettings, training: Training) -> bool:
    """Whether the training counts what is far away more than values do."""
    return training.config.discount > discount(settings, training)


def num_steps(settings: LearningSettings, training: Training) -> int:
    """How many rewards are summed before a value is asked."""
    undiscounted = is_undiscounted(settings, training)
    return settings.num_steps_undiscounted if undiscounted else settings.num_steps


def huber_delta(settings: LearningSettings, training: Training) -> float:
    """Up to which size in units errors of values count squared."""
    undiscounted = is_undiscounted(settings, training)
    return settings.huber_delta_undiscounted if undiscounted else settings.huber_delta


def blank(settings: LearningSettings, training: Training) -> ValueLearner:
    """A learner with arrays of the right shapes."""
    head, spec = training.learner.policy.action_head, training.spec
    numbers = num_parts(spec) + (head.mask_size if spec.masked_actions else 0)
    zeros = np.zeros(numbers, np.float32)
    unit = np.ones(spec.num_objectives, np.float32)
    return _learner(settings, training, zeros, zeros + 1, unit, np.zeros(2, np.uint32))


def begun(settings: LearningSettings, training: Training, state: ValueState) -> ValueLearner:
    """Untrained values in units of what episodes have returned so far."""
    seen = state.seen.steps.observations.astype(np.float64)
    deviation = seen.std(axis=0)
    deviation = np.where(deviation > 1e-6, deviation, 1.0)
    spread = _spread(training)
    learner = _learner(
        settings,
        training,
        seen.mean(axis=0).astype(np.float32),
        deviation.astype(np.float32),
        spread / settings.value_scale,
        training.next_key(),
    )
    return _with_extent(learner, spread, learner.values.unit)


def updates_per_step(settings: LearningSettings, total_steps: int) -> float:
    """Updates for each step of a training with so many steps.

    >>> [updates_per_step(LearningSettings(), steps) for steps in (20_000, 100_000, 400_000)]
    [1.0, 0.5, 0.25]
    """
    least = min(1.0, settings.fewest_updates / total_steps)
    return min(max(settings.updates_per_step, least), settings.most_updates / total_steps)


def learn(settings: LearningSettings, training: Training, state: ValueState) -> None:
    """Make the updates that the steps since the last time allow."""
    assert state.learner is not None
    rate = updates_per_step(settings, training.config.total_steps)
    state.due_updates += rate * (training.steps - state.learnt_steps)
    state.learnt_steps = training.steps
    calls = int(state.due_updates) // UPDATES_AT_ONCE
    if calls == 0:
        return
    state.due_updates -= calls * UPDATES_AT_ONCE
    exploring = max(training.steps + training.exploring_steps_left, 1)
    progress = np.array([min(1.0, training.steps / exploring)])
    (value_rate,) = cosine_decay(settings.learning_rate, settings.last_value_rate, progress)
    rates = np.full(calls, value_rate)
    learner = _updated(settings, training, state, state.learner, rates, training.rng)
    state.learner = _weighing(settings, learner, state)


def polished(
    settings: LearningSettings,
    training: Training,
    state: ValueState,
    key: UInt32[np.ndarray, " 2"],
) -> ValueLearner:
    """What is learnt with further updates once all has been seen; the state is not changed."""
    assert state.learner is not None
    learner, rng = state.learner, np.random.default_rng(key)
    calls = int(settings.polishing * float(learner.num_updates)) // UPDATES_AT_ONCE
    rates = cosine_decay(
        settings.polishing_rate, settings.last_value_rate, np.arange(calls) / max(calls, 1)
    )
    for begin in range(0, calls, CALLS_UNDER_WEIGHTS):
        some = rates[begin : begin + CALLS_UNDER_WEIGHTS]
        learner = _updated(settings, training, state, learner, some, rng)
    return learner


def _updated(
    settings: LearningSettings,
    training: Training,
    state: ValueState,
    learner: ValueLearner,
    rates: Float[np.ndarray, " call"],
    rng: np.random.Generator,
) -> ValueLearner:
    """The learner after one compiled call for each learning rate, all under the same weights."""
    replay = Replay.of(state.seen)
    weights, chances = drawn_weights(settings, learner, state, new_key(rng))
    for rate in rates:
        learner = learn_values(
            learner,
            replay,
            np.asarray(len(state.seen), np.int32),
            new_key(rng),
            num_updates=UPDATES_AT_ONCE,
            batch_size=settings.batch_size,
            learning_rate=np.asarray(rate, np.float32),
            discount=discount(settings, training),
            num_steps=num_steps(settings, training),
            copied_after=settings.copied_after,
            huber_delta=huber_delta(settings, training),
            weights=weights,
            chances=chances.astype(np.float32),
        )
    return learner


def new_key(rng: np.random.Generator) -> UInt32[np.ndarray, " 2"]:
    """A fresh key for JAX."""
    return rng.integers(1 << 32, size=2, dtype=np.uint32)


def drawn_weights(
    settings: LearningSettings,
    learner: ValueLearner,
    state: ValueState,
    key: UInt32[np.ndarray, " 2"],
) -> tuple[Float[np.ndarray, "weight objective"], Float[np.ndarray, " weight"]]:
    """Random weights, and how likely each is to be taken: less where many lead to the same."""
    shares = {"single_share": settings.single_share, "middle_share": settings.middle_share}
    values = learner.values
    weights = np.asarray(_random_weights(key, (DRAWN,), len(values.unit), **shares))
    starts = state.starts(FEW_STARTS)
    if len(starts) == 0:
        return weights, np.full(DRAWN, 1 / DRAWN)
    expected = expected_of_plans(values, starts, weights) / np.asarray(values.extent)
    return weights, rarity(expected, settings.alike)


def rarity(
    vectors: Float[np.ndarray, "vector objective"], alike: float
) -> Float[np.ndarray, " vector"]:
    """Probabilities of vectors: each shares its own with those that are nearer than `alike`.

    >>> rarity(np.array([[0.0], [0.0], [5.0]]), 0.1)
    array([0.25, 0.25, 0.5 ])
    """
    gaps = np.square(vectors[:, None] - vectors[None]).sum(axis=2)
    shared = 1 / np.exp(-gaps / alike**2).sum(axis=1)
    return shared / shared.sum()


_random_weights = eqx.filter_jit(random_weights)


def _learner(
    settings: LearningSettings,
    training: Training,
    mean: Float[np.ndarray, " number"],
    deviation: Float[np.ndarray, " number"],
    unit: Float[np.ndarray, " objective"],
    key: UInt32[np.ndarray, " 2"],
) -> ValueLearner:
    sizes = training.learner.policy.action_head.option_sizes
    assert sizes is not None
    masked = training.spec.masked_actions
    width, normalises = settings.width, settings.normalises
    return _fresh(mean, deviation, unit, sizes, width, normalises, masked, key)


def _spread(training: Training) -> Float[np.ndarray, " objective"]:
    """The standard deviation of stored returns; where they do not differ, their size or 1."""
    returns = training.dataset.rows.returns
    deviation, size = returns.std(axis=0), np.abs(returns).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    return np.where(deviation > 1e-6 * size, deviation, size).astype(np.float32)


def _weighing(settings: LearningSettings, learner: ValueLearner, state: ValueState) -> ValueLearner:
    """The learner whose weights follow what its policies differ in: by chance no more."""
    starts = state.starts(MOST_STARTS)
    if len(starts) == 0:
        return learner
    weights = spread_weights(len(learner.values.unit), WEIGHED)
    extent = np.ptp(expected_of_plans(learner.values, starts, weights), axis=0)
    old = np.asarray(learner.values.extent)
    new = old + settings.extent_rate * (extent - old)
    least = np.asarray(learner.least_unit)
    new = np.maximum(new, LEAST_EXTENT * least).astype(np.float32)
    unit = np.maximum(new / settings.value_scale, least).astype(np.float32)
    return _with_extent(learner, new, unit)


def _with_extent(
    learner: ValueLearner,
    extent: Float[AnyArray, " objective"],
    unit: Float[AnyArray, " objective"],
) -> ValueLearner:
    """The learner with other scales; what it expects of actions is the same."""
    return eqx.tree_at(
        lambda one: (one.values, one.older),
        learner,
        (learner.values.rescaled(unit, extent), learner.older.rescaled(unit, extent)),
    )


@eqx.filter_jit
def _fresh(
    mean: Float[AnyArray, " number"],
    deviation: Float[AnyArray, " number"],
    unit: Float[AnyArray, " objective"],
    sizes: tuple[int, ...],
    width: int,
    normalises: bool,
    masked: bool,
    key: UInt32[AnyArray, " 2"],
) -> ValueLearner:
    """An untrained learner; one program for all its arrays."""
    network = ValueNetwork(
        mean,
        deviation,
        unit,
        sizes=sizes,
        width=width,
        normalises=normalises,
        masked=masked,
        key=jnp.asarray(key),
    )
    return ValueLearner.fresh(network)
