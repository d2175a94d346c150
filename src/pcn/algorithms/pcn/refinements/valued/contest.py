"""A contest between agents that act by values and PCN's own commands: which return more?"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from pcn.episodes import Episodes
from pcn.planning.weighted_planning import spread_weights

LATEST = 128
"""Episodes of each side that are compared."""
FEWEST = 16
"""With fewer of them nothing is decided."""
CHOSEN = 8
"""One episode in so many is chosen for each weight of the objectives."""
WEIGHTS = 32
"""Weights of the objectives for which episodes are chosen."""

Vectors = Float[np.ndarray, "_ objective"]


class Contest:
    """What the latest episodes of both sides were to return, and what they returned.

    For each of many weights of the objectives, those episodes of a side are chosen that were meant
    for it: agents of the nearest weights, and commands for the largest weighted return. Then their
    mean returns are compared. Episodes are not chosen by what they returned, because the best
    returns of those who take risks are luck.
    """

    def __init__(self, num_objectives: int) -> None:
        nothing = np.zeros((0, num_objectives))
        self._arrays: dict[str, Vectors] = {
            "weights": nothing, "valued": nothing, "desired": nothing, "commanded": nothing,
        }  # fmt: skip

    def note_weights(self, weights: Vectors, episodes: Episodes, discount: float) -> None:
        """What agents returned that act by values under these weights."""
        self._note("weights", weights, "valued", episodes, discount)

    def note_commands(self, desired_returns: Vectors, episodes: Episodes, discount: float) -> None:
        """What PCN returned under these commands."""
        self._note("desired", desired_returns, "commanded", episodes, discount)

    def _note(
        self, asked: str, vectors: Vectors, returned: str, episodes: Episodes, discount: float
    ) -> None:
        ended = np.asarray(episodes.ended & episodes.real_mask)
        found = {asked: vectors[ended], returned: episodes.returns(discount=discount)[ended]}
        for name, latest in found.items():
            self._arrays[name] = np.concatenate([self._arrays[name], latest])[-LATEST:]

    def is_ahead(self) -> bool:
        """Whether agents that act by values return more, or too little is known to tell."""
        valued, commanded = self._arrays["valued"], self._arrays["commanded"]
        if min(len(valued), len(commanded)) < FEWEST:
            return True
        deviation = np.concatenate([valued, commanded]).std(axis=0)
        scale = np.where(deviation > 0, deviation, 1.0)
        weights = spread_weights(len(scale), WEIGHTS)
        gaps = weights[:, None, :] - self._arrays["weights"][None, :, :]
        own = _chosen(-np.square(gaps).sum(axis=2), valued)
        others = _chosen(weights @ (self._arrays["desired"] / scale).T, commanded)
        return bool(np.mean(np.sum(weights * (own - others) / scale, axis=1)) >= 0)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Both sides, as named arrays."""
        return dict(self._arrays)

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self._arrays = {name: np.array(arrays[name]) for name in self._arrays}


def _chosen(
    suitable: Float[np.ndarray, "weight episode"], returns: Float[np.ndarray, "episode objective"]
) -> Float[np.ndarray, "weight objective"]:
    """For each weight, the mean return of the episodes that suit it best."""
    count = len(returns) // CHOSEN
    best = np.argsort(-suitable, axis=1, kind="stable")[:, :count]
    return returns[best].mean(axis=1)
