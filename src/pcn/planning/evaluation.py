"""What policies return on average in a tabular model."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from pcn.planning.model import TabularModel

Act = Callable[
    [Int[np.ndarray, " place"], Int[np.ndarray, " place"], int], Int[np.ndarray, " place"]
]
"""(policies, states, time) -> actions."""


def expected_returns(
    model: TabularModel,
    act: Act,
    num_policies: int,
    *,
    discount: float,
    horizon: int,
    unknown: Float[np.ndarray, " objective"],
    least: float = 1e-6,
    most_places: int | None = None,
) -> Float[np.ndarray, "policy objective"]:
    """The expected return of each policy, followed through the model step by step.

    Args:
        model: what each action leads to.
        act: what the policies do; they may depend on the time, not on the past.
        num_policies: policies are numbered from 0.
        discount: factor on the return from the next step on.
        horizon: the number of steps after which every episode is over.
        unknown: what it is worth to take an action that the model does not have; the episode
            ends there.
        least: states that are reached with less probability are left out.
        most_places: so many places (policy and state) are followed at a time, the likeliest.
    """
    size = int(model.actions.max(initial=0)) + 1
    keys = model.pair_states * size + model.pair_actions
    total = np.zeros((num_policies, model.num_objectives))
    beginnings = np.flatnonzero(model.start)
    policies = np.repeat(np.arange(num_policies), len(beginnings))
    states = np.tile(beginnings, num_policies)
    chances = np.tile(model.start[beginnings], num_policies)
    for time in range(horizon):
        acting = model.state_pairs[states + 1] > model.state_pairs[states]
        policies, states, chances = policies[acting], states[acting], chances[acting]
        if len(policies) == 0:
            break
        actions = act(policies, states, time)
        wanted = states * size + actions
        pairs = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        known = (keys[pairs] == wanted) & (actions < size)
        rewards = np.where(known[:, None], model.pair_rewards[pairs], unknown)
        np.add.at(total, policies, discount**time * chances[:, None] * rewards)
        policies, chances, pairs = policies[known], chances[known], pairs[known]
        begin, end = model.pair_successors[pairs], model.pair_successors[pairs + 1]
        counts = end - begin
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = model.successor_rows[np.repeat(begin, counts) + within]
        places = np.repeat(policies, counts) * model.num_states + model.next_states[rows]
        places, inverse = np.unique(places, return_inverse=True)
        chances = np.bincount(inverse, np.repeat(chances, counts) * model.probabilities[rows])
        kept = np.flatnonzero(chances > least)
        if most_places is not None and len(kept) > most_places:
            kept = np.sort(kept[np.argsort(-chances[kept], kind="stable")[:most_places]])
        policies, states = np.divmod(places[kept], model.num_states)
        chances = chances[kept]
    return total
