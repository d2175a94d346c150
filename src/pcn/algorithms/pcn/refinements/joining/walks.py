"""Walks: the steps of a batch of episodes, and which of them bring a better way to a place."""

from collections.abc import Iterator
from operator import ge
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from pcn.algorithms.pcn.refinements.joining.ways import Ways
from pcn.episodes import Episodes, flat
from pcn.pareto import Tolerances


class Walk(NamedTuple):
    """The steps of a batch of episodes, one after the other, without the first of each."""

    observations: Float[np.ndarray, "step part"]
    before: Float[np.ndarray, "step objective"]
    """What was returned before the step."""
    onward: Float[np.ndarray, "step objective"]
    """What was returned from the step on, discounted to it."""
    episodes: Int[np.ndarray, " step"]
    """The row of the batch."""
    times: Int[np.ndarray, " step"]
    ended: np.ndarray
    """Whether the episode came to an end."""


def fresh_steps(
    ways: Ways,
    places: Int[np.ndarray, " step"],
    vectors: Float[np.ndarray, "step objective"],
    known: np.ndarray,
    tolerances: Tolerances,
    tied: np.ndarray,
    most_equal: int,
) -> Iterator[int]:
    """The steps whose vector no way of their place covers, those before it in the walk included.

    A vector may equal fewer than `most_equal` that were known before, or, where `tied` is true,
    any number of them.
    """
    steps = np.flatnonzero(known)
    steps = steps[~ways.dominated_mask(places[steps], vectors[steps], tolerances)]
    untied = np.flatnonzero(~tied[steps])
    equal = ways.covered_mask(
        places[steps[untied]], vectors[steps[untied]], tolerances, by=most_equal
    )
    steps = np.delete(steps, untied[equal])
    added: dict[int, list[list[float]]] = {}
    for step in steps.tolist():
        known_here = added.setdefault(int(places[step]), [])
        wanted = (vectors[step] - tolerances).tolist()
        if not any(all(map(ge, one, wanted)) for one in known_here):
            known_here.append(vectors[step].tolist())
            yield step


def walked(episodes: Episodes, longest: int, discount: float) -> Walk:
    """The first steps of the real episodes, without the very first of each.

    Where an episode was broken off, one more step is where it was then.
    """
    real = np.flatnonzero(np.asarray(episodes.real_mask))
    lengths = np.asarray(episodes.lengths, np.int64)[real]
    num_steps = int(lengths.max(initial=1)) + 1
    rewards = np.asarray(episodes.rewards, np.float64)[real, :num_steps]
    seen = flat(episodes.observations, 2)[real, :num_steps]
    if rewards.shape[1] < num_steps:
        rewards = np.concatenate([rewards, np.zeros_like(rewards[:, :1])], axis=1)
        seen = np.concatenate([seen, np.zeros_like(seen[:, :1])], axis=1)
    ended = episodes.ended[real]
    last = episodes.last_observations
    if last is not None:
        broken = np.flatnonzero(~ended)
        seen[broken, lengths[broken]] = flat(last, 1)[real[broken]]
        lengths = lengths + ~ended
    factors = (discount ** np.arange(num_steps))[None, :, None]
    so_far = np.cumsum(rewards * factors, axis=1)
    before = so_far - rewards * factors
    onward = (so_far[:, -1:] - before) / factors
    valid = np.arange(num_steps) < np.minimum(lengths, longest)[:, None]
    valid[:, 0] = False
    rows, times = np.nonzero(valid)
    return Walk(seen[valid], before[valid], onward[valid], real[rows], times, ended[rows])
