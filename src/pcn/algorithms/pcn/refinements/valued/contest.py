"""A contest between agents that act by values and PCN's own episodes: which return more?"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from pcn.episodes import Episodes

LATEST = 128
"""Episodes of each side that are compared."""
FEWEST = 16
"""With fewer of them nothing is decided."""

Returns = Float[np.ndarray, "_ objective"]


class Contest:
    """The latest returns of both sides, whose means are compared.

    The best returns of a side say little: they are luck where it takes risks. Both sides try all
    over the front, so that their means are those of all trade-offs.
    """

    def __init__(self, num_objectives: int) -> None:
        self._own: Returns = np.zeros((0, num_objectives))
        self._others: Returns = np.zeros((0, num_objectives))

    def note_own(self, episodes: Episodes, discount: float) -> None:
        """What agents returned that act by values."""
        self._own = _latest(self._own, episodes, discount)

    def note_others(self, episodes: Episodes, discount: float) -> None:
        """What PCN's own episodes returned."""
        self._others = _latest(self._others, episodes, discount)

    def is_ahead(self) -> bool:
        """Whether agents that act by values return more, or too little is known to tell."""
        if min(len(self._own), len(self._others)) < FEWEST:
            return True
        deviation = np.concatenate([self._own, self._others]).std(axis=0)
        better = self._own.mean(axis=0) - self._others.mean(axis=0)
        return bool((better / np.where(deviation > 0, deviation, 1.0)).sum() >= 0)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Both sides, as named arrays."""
        return {"own": self._own, "others": self._others}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self._own, self._others = np.array(arrays["own"]), np.array(arrays["others"])


def _latest(known: Returns, episodes: Episodes, discount: float) -> Returns:
    ended = np.asarray(episodes.ended & episodes.real_mask)
    returns = episodes.returns(discount=discount)[ended]
    return np.concatenate([known, returns])[-LATEST:]
