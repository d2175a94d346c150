"""Rows: what the host knows of stored episodes, and some of them as commands."""

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True)
class Rows:
    """What the host knows of each stored episode, oldest first."""

    slots: Int[np.ndarray, " episode"]
    """Where its transitions lie in the store."""
    lengths: Int[np.ndarray, " episode"]
    returns: Float[np.ndarray, "episode objective"]
    lowest: Float[np.ndarray, "episode objective"]
    """Smallest return-to-go on its way."""
    highest: Float[np.ndarray, "episode objective"]
    """Largest return-to-go on its way."""

    @classmethod
    def none(cls, num_objectives: int) -> "Rows":
        """No episodes."""
        vectors = np.zeros((0, num_objectives))
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int64), vectors, vectors, vectors)

    def taking(self, index: Int[np.ndarray, " kept"]) -> "Rows":
        """The rows at `index`."""
        return Rows(*(getattr(self, field.name)[index] for field in fields(self)))

    def followed_by(self, other: "Rows") -> "Rows":
        """These rows and then the others."""
        return Rows(
            *(
                np.concatenate([getattr(self, field.name), getattr(other, field.name)])
                for field in fields(self)
            )
        )


@dataclass(frozen=True)
class Archive:
    """Some of the stored episodes, as commands: usually one for each non-dominated return."""

    rows: Rows

    @property
    def returns(self) -> Float[np.ndarray, "point objective"]:
        """The return of each episode."""
        return self.rows.returns

    @property
    def horizons(self) -> Int[np.ndarray, " point"]:
        """The length of each episode."""
        return self.rows.lengths

    def __len__(self) -> int:
        return len(self.rows.slots)
