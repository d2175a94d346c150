"""Episodes labelled with expected returns, and which of them are worth learning."""

from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PyTree

from pcn.algorithms.pcn.refinements.expecting.episode_memory import Steps
from pcn.algorithms.pcn.refinements.expecting.fitted_expectations import padded
from pcn.algorithms.pcn.store import Transitions
from pcn.command import Command
from pcn.pareto import Scoreboard, spread_out

_AT_ONCE = 256
"""Episodes that are ranked together."""


class Labelled(eqx.Module):
    """Steps on the device, each with the command under which its action is right."""

    observations: PyTree[Array]
    actions: Num[Array, "step part"]
    action_masks: Bool[Array, "step choice"] | None
    labels: Float[Array, "step objective"]
    horizons: Float[Array, " step"]

    @classmethod
    def of(
        cls,
        steps: Steps,
        observations: PyTree[np.ndarray],
        labels: Float[np.ndarray, "step objective"],
    ) -> "Labelled":
        """Commands of the expected return-to-go and of the number of steps that are left."""
        ends = np.repeat(steps.starts + steps.lengths, steps.lengths)
        horizons = (ends - np.arange(steps.num_steps)).astype(np.float32)
        masks = steps.action_masks
        return cls(
            jax.tree.map(padded, observations),
            padded(steps.actions),
            padded(masks) if masks.shape[1] else None,
            padded(labels.astype(np.float32)),
            padded(horizons),
        )

    def at(self, index: Int[Array, " batch"]) -> Transitions:
        """The examples at these steps."""

        def take(leaf: Array) -> Array:
            return leaf[index]

        return Transitions(
            observation=jax.tree.map(take, self.observations),
            command=Command(take(self.labels), take(self.horizons)),
            action=take(self.actions),
            action_mask=None if self.action_masks is None else take(self.action_masks),
        )


@dataclass(frozen=True)
class Ranking:
    """Which episodes are worth learning, by their expected returns."""

    archive: Int[np.ndarray, " point"]
    """The non-dominated ones, one for each distinct expected return."""
    best: Int[np.ndarray, " kept"]
    """Those of the highest dominating scores, highest first."""
    commands: Int[np.ndarray, " command"]
    """Distinct expected returns: those of the archive, spread out, then the best others."""


def ranked(
    returns: Float[np.ndarray, "episode objective"],
    *,
    capacity: int,
    num_commands: int,
    most_copies: int,
    tolerance: float,
) -> Ranking:
    """Rank episodes as PCN's dataset does (section 4.4), but by expected returns.

    Args:
        returns: the expected return of each episode.
        capacity: how many are kept.
        num_commands: how many commands at most.
        most_copies: how many of equal expected return are kept at most.
        tolerance: returns are equal up to this share of their range: expectations are estimates.
    """
    spread = np.ptp(returns, axis=0)
    scaled = np.round(returns / np.where(spread > 0, spread, 1.0) / tolerance) * tolerance
    board = Scoreboard(returns.shape[1])
    kept = np.zeros(0, np.int64)
    for first in range(0, len(scaled), _AT_ONCE):
        board.add(scaled[first : first + _AT_ONCE])
        kept = np.append(kept, np.arange(first, first + len(scaled[first : first + _AT_ONCE])))
        kept = kept[board.prune(capacity, most_copies=most_copies)]
    order = np.argsort(-board.scores(), kind="stable")
    distinct = board.num_earlier_copies == 0
    on_front = board.non_dominated_mask & distinct
    archive = np.flatnonzero(on_front)
    spread_first = archive[spread_out(board.returns[archive], len(archive))]
    others = order[(distinct & ~on_front)[order]]
    return Ranking(
        archive=kept[archive],
        best=kept[order],
        commands=kept[np.concatenate([spread_first, others])[:num_commands]],
    )


def steps_of(steps: Steps, episodes: Int[np.ndarray, " chosen"]) -> Int[np.ndarray, " step"]:
    """The numbers of all steps of some episodes.

    >>> nothing = np.zeros((5, 0))
    >>> lengths, no = np.array([2, 3]), np.zeros(2, bool)
    >>> steps = Steps([], nothing, nothing, nothing.astype(bool), lengths, no, no)
    >>> steps_of(steps, np.array([1]))
    array([2, 3, 4])
    """
    lengths = steps.lengths[episodes]
    before = np.cumsum(lengths) - lengths
    return np.repeat(steps.starts[episodes] - before, lengths) + np.arange(lengths.sum())
