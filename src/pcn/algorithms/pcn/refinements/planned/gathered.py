"""What planning remembers during a training."""

from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from pcn.algorithms.pcn.refinements.abstract import AbstractState


@runtime_checkable
class Data(Protocol):
    """What a model is made of: counts of transitions, or steps."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything as named arrays."""

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""


AnyData = TypeVar("AnyData", bound=Data)


class Gathered(AbstractState, Generic[AnyData]):
    """The data of a training, and how often plans were rehearsed."""

    def __init__(self, data: AnyData) -> None:
        self.data = data
        self.rehearsals = 0

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays."""
        return {**self.data.to_arrays(), "rehearsals": np.array(self.rehearsals)}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.data.from_arrays(arrays)
        self.rehearsals = int(arrays["rehearsals"])
