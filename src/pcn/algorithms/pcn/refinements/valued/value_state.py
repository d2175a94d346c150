"""What weighted values remember during a training."""

from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Bool, Float

from pcn.algorithms.pcn.refinements.abstract import AbstractState
from pcn.algorithms.pcn.refinements.valued.value_learning import ValueLearner
from pcn.planning.seen_steps import SeenSteps
from pcn.serialisation.arrays import named_arrays, with_named_arrays


class ValueState(AbstractState):
    """The steps that were seen, the values that were learnt, and what both took."""

    def __init__(self, seen: SeenSteps, blank: Callable[[], ValueLearner]) -> None:
        """`blank` is a learner with arrays of the right shapes."""
        self.seen = seen
        self._blank = blank
        self.learner: ValueLearner | None = None
        """None before anything was learnt."""
        self.open = True
        """Whether more steps are taken in."""
        self.learnt_steps = 0
        """Steps of the training that updates were made for."""
        self.acted_steps = 0
        """Steps that agents took which act by the values."""
        self.due_updates = 0.0
        """Updates that the steps allow and that were not made yet."""
        self._found: Float[np.ndarray, "episode objective"] | None = None

    def starts(self, most: int) -> Float[np.ndarray, "start number"]:
        """What was observed at the latest beginnings of episodes."""
        steps = self.seen.steps
        return steps.observations[steps.first][-most:]

    def note_found(
        self,
        returns: Float[np.ndarray, "episode objective"],
        archive: Float[np.ndarray, "point objective"],
    ) -> None:
        """Remember which returns of agents that act by the values are in the archive."""
        known = returns if self._found is None else np.concatenate([self._found, returns])
        self._found = known[_among(known, archive)]

    def share_found(self, archive: Float[np.ndarray, "point objective"]) -> float:
        """Share of the archive that agents found which act by the values."""
        if self._found is None or len(archive) == 0:
            return 0.0
        return float(_among(archive, self._found).mean())

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything remembered."""
        counts = [self.open, self.learnt_steps, self.acted_steps, self.due_updates]
        arrays = {f"seen.{name}": array for name, array in self.seen.to_arrays().items()}
        arrays["counts"] = np.array(counts, np.float64)
        if self._found is not None:
            arrays["found"] = self._found
        if self.learner is not None:
            arrays |= named_arrays(self.learner, "learner")
        return arrays

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.seen.from_arrays(
            {name.removeprefix("seen."): arrays[name] for name in arrays if name[:5] == "seen."}
        )
        is_open, learnt, acted, self.due_updates = arrays["counts"].tolist()
        self.open, self.learnt_steps, self.acted_steps = bool(is_open), int(learnt), int(acted)
        self._found = arrays.get("found")
        known = any(name.startswith("learner") for name in arrays)
        self.learner = with_named_arrays(self._blank(), arrays, "learner") if known else None


def _among(
    vectors: Float[np.ndarray, "vector objective"], others: Float[np.ndarray, "other objective"]
) -> Bool[np.ndarray, " vector"]:
    """Which vectors are equal to one of the others."""
    return (vectors[:, None] == others[None]).all(axis=2).any(axis=1)
