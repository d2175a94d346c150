"""Imagined episodes: what some way to act returns in a fitted model."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.planning.fitted_model import FittedModel

Act = Callable[
    [Int[np.ndarray, " episode"], Float[np.ndarray, "episode number"], int],
    Int[np.ndarray, " episode"],
]
"""Chooses actions: called with the numbers of the episodes, where they are, and the time."""


@dataclass(frozen=True, eq=False)
class Imagined:
    """Episodes side by side."""

    returns: Float[np.ndarray, "episode objective"]
    lengths: Int[np.ndarray, " episode"]
    episodes: Int[np.ndarray, " step"]
    """Whose step it is, of all steps one after the other."""
    times: Int[np.ndarray, " step"]
    places: Float[np.ndarray, "step number"]
    options: Int[np.ndarray, " step"]
    """What was chosen, which may not be what was done."""


def imagine(
    model: FittedModel,
    starts: Float[np.ndarray, "episode number"],
    act: Act,
    *,
    discount: float,
    horizon: int,
    unknown: Float[np.ndarray, " objective"],
    rng: np.random.Generator,
    groups: int = 1,
    disturbed: Float[np.ndarray, " episode"] | None = None,
) -> Imagined:
    """Episodes from these places on.

    Chance is dealt out evenly: in each step as many episodes of a group are lucky as unlucky, and
    all groups meet the same chance. So mean returns of groups can be compared after few episodes.

    Args:
        model: what actions do.
        starts: where each episode begins, as places of the model's lattice.
        act: chooses the actions.
        discount: factor on the return from the next step on.
        horizon: after how many steps every episode is over.
        unknown: what is received where the model knows nothing, which ends the episode.
        rng: decides what is chance in the model.
        groups: in how many groups of equal size the episodes come, one after the other.
        disturbed: how likely something else than the chosen action is done, in each episode.
    """
    count = len(starts)
    places, alive = starts.astype(np.float64), np.ones(count, bool)
    returns, lengths = np.zeros((count, model.num_objectives)), np.zeros(count, np.int64)
    columns: list[tuple[np.ndarray, ...]] = []
    for time in range(horizon):
        going = np.flatnonzero(alive)
        # For ended episodes, too: whoever acts better meets the same chance.
        draws = np.stack([*rng.random((2, count)), *_dealt_out(rng, count, groups)])[:, going]
        if len(going) == 0:
            break
        chosen = act(going, places[going], time)
        done = chosen
        if disturbed is not None:
            other = (draws[0] * model.num_options).astype(np.int64)
            done = np.where(draws[1] < disturbed[going], other, chosen)
        columns.append((going, np.full(len(going), time), places[going], chosen))
        reward, change, ends, lost = _outcomes(model, places[going], done, draws[2])
        reward = np.where(lost[:, None], unknown, reward)
        returns[going] += discount**time * reward
        lengths[going] += 1
        places[going] += change
        alive[going] = ~(lost | (draws[3] < ends))
    episodes, times, visited, options = (np.concatenate(one) for one in zip(*columns, strict=True))
    return Imagined(returns, lengths, episodes, times, visited, options)


def _dealt_out(rng: np.random.Generator, count: int, groups: int) -> Float[np.ndarray, "2 episode"]:
    """Two numbers from 0 to 1 for each episode, evenly spread over each group."""
    size = count // groups
    evenly = (rng.permuted(np.tile(np.arange(size), (2, 1)), axis=1) + rng.random((2, 1))) / size
    return np.tile(evenly, (1, groups))


def _outcomes(
    model: FittedModel,
    places: Float[np.ndarray, "episode number"],
    options: Int[np.ndarray, " episode"],
    luck: Float[np.ndarray, " episode"],
) -> tuple[
    Float[np.ndarray, "episode objective"],
    Float[np.ndarray, "episode number"],
    Float[np.ndarray, " episode"],
    Bool[np.ndarray, " episode"],
]:
    """Reward, change and chance of an end, and whether nothing is known of such a step."""
    nodes, shares = model.lattice.corners(places)
    options = options[:, None]
    shares = shares * model.known[nodes, options]
    sums = shares.sum(axis=1)
    shares /= np.where(sums > 0, sums, 1.0)[:, None]
    draw = (luck * model.noise.shape[2]).astype(np.int64)[:, None]
    changes = model.changes[nodes, options] + model.noise[nodes, options, draw]
    return (
        np.einsum("ec,eco->eo", shares, model.rewards[nodes, options]),
        np.einsum("ec,ecn->en", shares, changes),
        np.einsum("ec,ec->e", shares, model.ends[nodes, options]),
        sums <= 0,
    )
