"""How much of a reward's variance is noise, and how much is explained by where a step leads.

Two actions share a mean reward as long as noise may explain the difference. A reward for getting
somewhere is no noise: an action that stays, and shares it, would bring it again and again.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.planning.clocks import PooledCounts
from pcn.planning.counting import TransitionCounts

_ROUNDING = 1e-9
"""A variance of less than this share of the mean square is none."""


def comes_back_mask(counts: TransitionCounts | PooledCounts) -> Bool[np.ndarray, " state"]:
    """Mark the states that an episode may come back to, as far as was seen.

    Where it never does, a reward that is shared with another action is brought once at most.
    """
    # Few trainings need these, and importing them takes a while.
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    goes_on = ~counts.terminated
    states, following = counts.states[goes_on], counts.next_states[goes_on]
    steps = coo_matrix((np.ones(len(states)), (states, following)), shape=[counts.num_states] * 2)
    _, groups = connected_components(steps, connection="strong")
    marked = np.bincount(groups)[groups] > 1
    marked[states[states == following]] = True
    return marked


def unexplained(
    counts: TransitionCounts | PooledCounts,
    first: Int[np.ndarray, " pair"],
    visits: Int[np.ndarray, " pair"],
    spread: Float[np.ndarray, "pair objective"],
    factors: Float[np.ndarray, " row"],
) -> Float[np.ndarray, "pair objective"]:
    """The part of each pair's `spread` that is not explained by what its steps lead to.

    Where each outcome was seen once, the share that is unexplained elsewhere is assumed.

    Args:
        counts: what was seen.
        first: the first row of each pair.
        visits: the visits of each pair.
        spread: the sum of squared deviations of each pair's rewards.
        factors: by what the visits of each row are multiplied.
    """
    within = np.maximum(counts.squares - counts.sums**2 / counts.visits[:, None], 0.0)
    within = np.where(within > _ROUNDING * counts.squares, within, 0.0)
    within = np.add.reduceat(within * factors[:, None], first, axis=0)
    num_rows = np.diff(np.append(first, len(counts.visits)))
    free = (visits - num_rows)[:, None]
    known = free[:, 0] > 0
    noise = within * (visits - 1)[:, None] / np.maximum(free, 1)
    total = spread[known].sum(axis=0)
    share = np.clip(noise[known].sum(axis=0) / np.where(total > 0, total, 1.0), 0.0, 1.0)
    return np.where(free > 0, noise, share * spread)
