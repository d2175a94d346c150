"""Batches of consolidation: half of each is drawn where the copy is still uncertain.

Neighbours on the front part ways at a few of their steps, often at one of a hundred. Drawn evenly,
those steps are rare, and what one batch teaches about them the next ones undo.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pcn.algorithms.pcn.rows import Rows
from pcn.algorithms.pcn.store import TransitionStore
from pcn.algorithms.pcn.update import answers
from pcn.nets.policy import ConditionedPolicy
from pcn.types import AnyArray

PART = 1024
"""Transitions in one compiled call."""


class Practice:
    """The steps of some stored episodes, and how uncertain a policy is at each."""

    def __init__(self, rows: Rows, *, uncertain_share: float, least_uncertainty: float) -> None:
        self._uncertain_share = uncertain_share
        self._least_uncertainty = least_uncertainty
        self._num_episodes = len(rows.slots)
        self._rows = np.repeat(np.arange(len(rows.slots)), rows.lengths)
        self._slots = np.repeat(rows.slots, rows.lengths).astype(np.int32)
        self._times = np.concatenate([np.arange(length, dtype=np.int32) for length in rows.lengths])
        self.uncertainty = np.ones(len(self._slots))
        """For each step, the probability of any action but the stored one."""

    def __len__(self) -> int:
        """How many steps there are."""
        return len(self._slots)

    def test(
        self, policy: ConditionedPolicy, store: TransitionStore
    ) -> Bool[np.ndarray, " episode"]:
        """Measure the uncertainty at every step; marks the episodes that are predicted whole."""
        places = np.stack([self._slots, self._times])
        padded = np.pad(places, ((0, 0), (0, -len(self) % PART)), mode="edge")
        parts = [
            _uncertainty(policy, store, *part)
            for part in np.split(padded, padded.shape[1] // PART, axis=1)
        ]
        uncertainty, wrong = (
            np.concatenate([np.asarray(part) for part in answers])[: len(self)]
            for answers in zip(*parts, strict=True)
        )
        self.uncertainty = uncertainty.astype(np.float64)
        known = np.ones(self._num_episodes, dtype=bool)
        known[self._rows[wrong]] = False
        return known

    def draw(
        self, rng: np.random.Generator, num_updates: int, batch_size: int
    ) -> tuple[Int[np.ndarray, "update batch"], Int[np.ndarray, "update batch"]]:
        """Slots and times of the next batches."""
        num_uncertain = round(self._uncertain_share * batch_size)
        anywhere = rng.integers(len(self), size=(num_updates, batch_size - num_uncertain))
        cumulative = np.cumsum(self.uncertainty + self._least_uncertainty)
        draws = rng.random((num_updates, num_uncertain)) * cumulative[-1]
        uncertain = np.minimum(np.searchsorted(cumulative, draws, side="right"), len(self) - 1)
        index = np.concatenate([anywhere, uncertain], axis=1)
        return self._slots[index], self._times[index]


@eqx.filter_jit
def _uncertainty(
    policy: ConditionedPolicy,
    store: TransitionStore,
    slots: Int[AnyArray, " step"],
    times: Int[AnyArray, " step"],
) -> tuple[Float[Array, " step"], Bool[Array, " step"]]:
    """The probability of any action but the stored one, and whether another one is likelier."""
    log_probability, wrong = answers(policy, store.at(jnp.asarray(slots), jnp.asarray(times)))
    return policy.action_head.doubt(log_probability), wrong
