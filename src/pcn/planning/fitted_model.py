"""A model of an environment whose observations are few real numbers, fitted to what was seen.

How the observation changes, what is received and how likely the episode ends is predicted by a
smooth function of observation and action, and at every node of a lattice by linear fits of what it
leaves, to the nearest steps. How many steps are near is chosen by what predicts best, for each of
these numbers: few where it is certain, many or none where it is noisy.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.planning.lattice import Lattice
from pcn.planning.seen_steps import Steps
from pcn.planning.smooth_function import fit_smooth_function

_AMOUNT = 25.0
"""Half of the range of an amount is as far as so many nodes."""
_CERTAIN = 0.15
"""Changes that are predicted up to this distance, in nodes, count as certain."""
_SURE_ERRORS = 3.0
"""By how many standard errors a fit to near steps must predict better than none."""
_NOISE_STEPS = 128
"""From how many near steps noise is drawn."""
_RIDGE = 0.01
"""Keeps slopes small where all near steps began at about the same place."""


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What every action does at every node; between nodes it is interpolated."""

    lattice: Lattice
    known: Bool[np.ndarray, "node option"]
    """Whether enough was seen nearby."""
    changes: Float[np.ndarray, "node option number"]
    """By how much the place changes on average."""
    rewards: Float[np.ndarray, "node option objective"]
    ends: Float[np.ndarray, "node option"]
    """Probability that the episode terminates."""
    noise: Float[np.ndarray, "node option draw number"]
    """What may be added to the change, each draw as likely as the others, in increasing order."""
    neighbours: Int[np.ndarray, " outcome"]
    """How many near steps predict each number best, 0 for none: changes, rewards, ends."""

    @property
    def num_options(self) -> int:
        """How many actions there are."""
        return self.known.shape[1]

    @property
    def num_objectives(self) -> int:
        """How many numbers a reward has."""
        return self.rewards.shape[2]

    def nearest_known(
        self,
        places: Float[np.ndarray, "episode number"],
        options: Int[np.ndarray, " episode"],
    ) -> Int[np.ndarray, " episode"]:
        """The known amounts that are nearest to the chosen ones; these where nothing is known.

        Options must be amounts in increasing order.
        """
        nodes, shares = self.lattice.corners(places)
        known = (self.known[nodes] & (shares > 0)[:, :, None]).any(axis=1)
        distance = np.abs(np.arange(self.num_options) - options[:, None])
        nearest = np.where(known, distance, self.num_options).argmin(axis=1)
        return np.where(known.any(axis=1), nearest, options)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Steps that took one action, or any amount: where, and what is to be predicted."""

    places: Float[np.ndarray, "step coordinate"]
    """Where it was taken; amounts are one coordinate more."""
    outcomes: Float[np.ndarray, "step outcome"]
    """What the smooth function leaves of the change of the place, the reward, and 1 for an end."""
    tree: Any
    """The `scipy.spatial.cKDTree` of the places."""

    def near(
        self, places: Float[np.ndarray, "query coordinate"], count: int
    ) -> tuple[Float[np.ndarray, "query neighbour"], Int[np.ndarray, "query neighbour"]]:
        """Distances and numbers of the nearest steps."""
        count = min(count, len(self.places))
        distances, index = self.tree.query(places, k=np.arange(1, count + 1))
        return distances, index

    def noise(
        self, places: Float[np.ndarray, "node coordinate"], draws: int, number: int
    ) -> Float[np.ndarray, "node draw number"]:
        """Evenly spaced ones of the changes that are left near each node, in order of their sums.

        Their mean is zero: noise does not lead anywhere.
        """
        left = self.outcomes[self.near(places, _NOISE_STEPS)[1], :number]
        scale = np.maximum(left.std(axis=(0, 1)), 1e-12)
        order = np.argsort((left / scale).sum(axis=2), axis=1)
        middles = (np.arange(draws) + 0.5) * left.shape[1] / draws
        picked = order[:, middles.astype(np.int64)]
        drawn = np.take_along_axis(left, picked[..., None], axis=1)
        centred: np.ndarray = drawn - drawn.mean(axis=1, keepdims=True)
        return centred


def fit_model(
    steps: Steps,
    lattice: Lattice,
    features: Float[np.ndarray, "action feature"],
    *,
    offered: Int[np.ndarray, " option"] | None = None,
    amounts: bool = False,
    updates: int,
    neighbours: tuple[int, ...],
    reach: float,
    least_steps: int,
    draws: int,
    tested: int,
    rng: np.random.Generator,
) -> FittedModel:
    """The model that the steps suggest.

    Args:
        steps: what was seen.
        lattice: where the model is fitted.
        features: every action as numbers that a network can work with.
        offered: the actions that the model is for; all if not given.
        amounts: whether actions are amounts from -1 to 1, of which near ones do about the same;
            then near steps are those with a near amount, too.
        updates: updates with which the smooth function is fitted.
        neighbours: how many near steps may be used; what predicts best is taken.
        reach: an action is known at a node if `least_steps` steps began no farther away, in nodes.
        least_steps: see there.
        draws: how many outcomes of chance are told apart.
        tested: with how many steps it is tried what predicts best.
        rng: chooses these, and how the smooth function begins.
    """
    places = lattice.places(steps.observations)
    changes = lattice.places(steps.next_observations) - places
    outcomes = np.column_stack([changes, steps.rewards, steps.terminated]).astype(np.float64)
    inputs, spread = np.column_stack([places, features[steps.options]]), outcomes.std(axis=0)
    smooth = fit_smooth_function(inputs, outcomes, rng, updates=updates)
    outcomes = outcomes - smooth.at(inputs)
    offered = np.arange(len(features)) if offered is None else offered
    nodes, number = lattice.nodes, places.shape[1]
    samples = _samples(places, outcomes, steps.options, features, least_steps, amounts)
    counts, certain = _best_counts(samples, spread, neighbours, tested, number, rng)
    shape = (len(lattice), len(offered))
    known, means = np.zeros(shape, bool), np.zeros((*shape, outcomes.shape[1]))
    noise = np.zeros((*shape, 1 if certain else draws, number))
    for option, action in enumerate(offered):
        sample = samples[0 if amounts else action]
        if sample is None:
            continue
        own_inputs = np.tile(features[action], (len(nodes), 1))
        queries = _with_amounts(nodes, own_inputs) if amounts else nodes
        known[:, option] = sample.near(queries, least_steps)[0][:, -1] <= reach
        here = np.flatnonzero(known[:, option])
        if len(here) == 0:
            continue
        means[here, option] = smooth.at(np.column_stack([nodes, own_inputs])[here])
        if not certain:
            noise[here, option] = sample.noise(queries[here], draws, number)
        for count in np.unique(counts[counts > 0]):
            fitted = _fitted(sample, queries[here], *sample.near(queries[here], int(count)))
            numbers = np.flatnonzero(counts == count)
            means[here[:, None], option, numbers] += fitted[:, numbers]
    return FittedModel(
        lattice,
        known,
        means[..., :number],
        means[..., number:-1],
        np.clip(means[..., -1], 0.0, 1.0),
        noise,
        counts,
    )


def _samples(
    places: Float[np.ndarray, "step number"],
    outcomes: Float[np.ndarray, "step outcome"],
    actions: Int[np.ndarray, " step"],
    features: Float[np.ndarray, "action feature"],
    least_steps: int,
    amounts: bool,
) -> "list[_Sample | None]":
    """For each action the steps that took it, None where they are too few; all where amounts."""
    from scipy.spatial import cKDTree  # imported here: few trainings need it, and it takes a while

    if amounts:
        groups, places = [np.arange(len(places))], _with_amounts(places, features[actions])
    else:
        groups = [np.flatnonzero(actions == action) for action in range(len(features))]
    enough = max(least_steps, places.shape[1] + 2)
    return [
        _Sample(places[own], outcomes[own], cKDTree(places[own])) if len(own) >= enough else None
        for own in groups
    ]


def _with_amounts(
    places: Float[np.ndarray, "step number"], amounts: Float[np.ndarray, "step 1"]
) -> Float[np.ndarray, "step coordinate"]:
    """Places with amounts as one coordinate more, in nodes."""
    return np.column_stack([places, _AMOUNT * amounts])


def _fitted(
    sample: _Sample,
    queries: Float[np.ndarray, "query coordinate"],
    distances: Float[np.ndarray, "query neighbour"],
    index: Int[np.ndarray, "query neighbour"],
) -> Float[np.ndarray, "query outcome"]:
    """Predictions of linear functions of the nearest steps, near ones counted more.

    They stay between the lowest and the highest outcome nearby.
    """
    width = np.maximum(distances[:, -1:] * 1.001, 0.5)
    weights = np.maximum(1.0 - (distances / width) ** 2, 1e-6)
    offsets = sample.places[index] - queries[:, None]
    inputs = np.concatenate([np.ones((*offsets.shape[:2], 1)), offsets], axis=2)
    weighted = inputs * weights[..., None]
    ridge = np.diag(np.append(1e-6, np.full(queries.shape[1], _RIDGE)))
    square = np.einsum("qkp,qkr->qpr", weighted, inputs) + ridge
    outcomes = sample.outcomes[index]
    slopes = np.linalg.solve(square, np.einsum("qkp,qko->qpo", weighted, outcomes))
    means: np.ndarray = np.clip(slopes[:, 0], outcomes.min(axis=1), outcomes.max(axis=1))
    return means


def _best_counts(
    samples: "list[_Sample | None]",
    spread: Float[np.ndarray, " outcome"],
    neighbours: tuple[int, ...],
    tested: int,
    number: int,
    rng: np.random.Generator,
) -> tuple[Int[np.ndarray, " outcome"], bool]:
    """How many near steps predict each number best, and whether changes are then certain."""
    spread = np.where(spread > 0, spread, 1.0)
    present = [sample for sample in samples if sample is not None]
    chosen = [
        rng.choice(len(one.places), min(len(one.places), -(-tested // len(samples))), replace=False)
        for one in present
    ]
    errors, misses = [], []
    for count in (0, *neighbours):
        parts = []
        for sample, index in zip(present, chosen, strict=True):
            if count == 0:
                parts.append(sample.outcomes[index])
                continue
            distances, near = sample.near(sample.places[index], count + 1)
            # The nearest step is the tested one itself.
            means = _fitted(sample, sample.places[index], distances[:, 1:], near[:, 1:])
            parts.append(means - sample.outcomes[index])
        miss = np.concatenate(parts)
        errors.append(np.minimum((miss / spread) ** 2, 1.0))
        misses.append(np.median(np.abs(miss), axis=0))
    best = np.argmin(np.mean(errors, axis=1), axis=0)
    gain = errors[0] - np.take_along_axis(np.array(errors), best[None, None], axis=0)[0]
    # Where noise is all that is left, a near fit looks better by chance only.
    sure = gain.mean(axis=0) > _SURE_ERRORS * gain.std(axis=0) / np.sqrt(len(gain))
    best = np.where(sure, best, 0)
    left = np.array(misses)[best, np.arange(len(best))][:number]
    return np.array([0, *neighbours])[best], bool(np.all(left < _CERTAIN))
