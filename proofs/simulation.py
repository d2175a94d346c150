"""Plans executed in a compiled environment, thousands of times each."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pcn.envs.compiled import AbstractCompiledEnvironment
from pcn.planning import Plans


class Executed(NamedTuple):
    """What plans returned when they were executed."""

    means: Float[np.ndarray, "plan objective"]
    errors: Float[np.ndarray, "plan objective"]
    """The standard error of each mean."""


def execute(
    plans: Plans,
    numbers: Mapping[Any, int],
    environment: AbstractCompiledEnvironment,
    state_of: Callable[[Any], Hashable],
    *,
    discount: float,
    executions: int,
    seed: int = 0,
) -> Executed:
    """Follow every plan; `state_of` makes the model's state of one observation."""
    num_plans = len(plans)
    count = num_plans * executions
    which = np.repeat(np.arange(num_plans), executions)
    step = jax.jit(jax.vmap(environment.step))
    observe = jax.jit(jax.vmap(environment.observation))
    key, reset_key = jax.random.split(jax.random.key(seed))
    states = jax.jit(jax.vmap(environment.reset))(jax.random.split(reset_key, count))

    def numbered() -> np.ndarray:
        # Few observations differ: each of them is turned into a state once.
        leaves, structure = jax.tree.flatten(jax.tree.map(np.asarray, observe(states)))
        flat = np.column_stack([leaf.reshape(count, -1) for leaf in leaves])
        _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        there = [
            numbers.get(state_of(jax.tree.unflatten(structure, [leaf[row] for leaf in leaves])), -1)
            for row in first
        ]
        return np.array(there)[inverse.ravel()]

    here = numbered()
    beginning = np.searchsorted(plans.beginnings, here)
    nodes = plans.bases[-1][here] + plans.first_choices[which, beginning]
    going = np.ones(count, bool)
    returns = np.zeros((count, plans.model.num_objectives))
    for time in range(plans.horizon):
        pairs = np.where(going, plans.node_pairs[nodes], 0)
        actions = plans.model.pair_actions[pairs]
        key, step_key = jax.random.split(key)
        outcome = step(states, jnp.asarray(actions, jnp.int32), jax.random.split(step_key, count))
        returns += discount**time * going[:, None] * np.asarray(outcome.reward, np.float64)
        states = outcome.state
        going &= ~np.asarray(outcome.terminated)
        if not going.any():
            break
        here = np.where(going, numbered(), -1)
        rows = np.flatnonzero(going)
        begin, end = (plans.model.pair_successors[pairs[rows] + offset] for offset in (0, 1))
        base = plans.bases[min(plans.horizon - time - 1, len(plans.bases) - 1)]
        found = np.zeros(len(rows), bool)
        for within in range(int((end - begin).max())):
            at = np.minimum(begin + within, len(plans.model.successor_rows) - 1)
            successor = plans.model.next_states[plans.model.successor_rows[at]]
            fits = (begin + within < end) & (successor == here[rows])
            child = plans.children[plans.node_children[nodes[rows]] + np.where(fits, within, 0)]
            nodes[rows] = np.where(fits & ~found, base[here[rows]] + child, nodes[rows])
            found |= fits
        if not found.all():
            raise ValueError("the environment went where the model says that it cannot")
    returns = returns.reshape(num_plans, executions, -1)
    return Executed(returns.mean(axis=1), returns.std(axis=1, ddof=1) / np.sqrt(executions))
