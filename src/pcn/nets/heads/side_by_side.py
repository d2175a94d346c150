"""How rows, outputs, random numbers and masks of several heads lie side by side in one array."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Bool

from pcn.errors import UserError
from pcn.nets.heads.abstract import AbstractActionHead


class AbstractSideBySide(AbstractActionHead):
    """A head of several heads: how many numbers all of them have, and which are whose."""

    heads: eqx.AbstractVar[tuple[AbstractActionHead, ...]]

    @property
    def num_parts(self) -> int:
        """All numbers of all parts."""
        return sum(head.num_parts for head in self.heads)

    @property
    def num_outputs(self) -> int:
        """All outputs of all parts."""
        return sum(head.num_outputs for head in self.heads)

    @property
    def num_features(self) -> int:
        """All features of all parts."""
        return sum(head.num_features for head in self.heads)

    @property
    def num_noise(self) -> int:
        """All random numbers of all parts."""
        return sum(head.num_noise for head in self.heads)

    @property
    def mask_size(self) -> int:
        """All entries of the masks of discrete parts."""
        return sum(head.mask_size for head in self.heads)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Real numbers where a part has some."""
        kinds = {head.dtype for head in self.heads}
        return np.dtype(np.float32) if np.dtype(np.float32) in kinds else np.dtype(np.int32)

    def _split(self, array: Any, sizes: Sequence[int]) -> list[Any]:
        """The piece of each part, along the last axis."""
        ends = np.cumsum(sizes)
        return [array[..., end - size : end] for size, end in zip(sizes, ends, strict=True)]

    def _rows(self, row: Any) -> list[Any]:
        """The row of each part, in the type that its head stores."""
        pieces = self._split(row, [head.num_parts for head in self.heads])
        return [piece.astype(head.dtype) for head, piece in zip(self.heads, pieces, strict=True)]

    def _outputs(self, outputs: Any) -> list[Any]:
        return self._split(outputs, [head.num_outputs for head in self.heads])

    def _noises(self, noise: Any) -> list[Any]:
        return self._split(noise, [head.num_noise for head in self.heads])

    def _masks(self, mask: Any) -> list[Any]:
        """The mask of each part; None for those that cannot be masked."""
        if mask is None:
            return [None] * len(self.heads)
        sizes = [head.mask_size for head in self.heads]
        return [
            piece if size else None
            for piece, size in zip(self._split(mask, sizes), sizes, strict=True)
        ]

    def _flat_mask(self, given: Any) -> Bool[np.ndarray, " choice"]:
        """One mask for all parts: from one for each, for each discrete one, or side by side."""
        if not isinstance(given, tuple | list):
            flat = np.ravel(given)
            if len(flat) != self.mask_size or self.mask_size == 0:
                raise UserError(
                    f"the mask of a mixed action needs {self.mask_size} entries, got {given!r}"
                )
            return flat.astype(bool)
        masks = list(given)
        if len(masks) != len(self.heads):  # only those of discrete parts
            own = iter(masks)
            masks = [next(own, None) if head.mask_size else None for head in self.heads]
        found = [
            np.ones(head.mask_size, bool) if mask is None else head.flat_mask(mask)
            for head, mask in zip(self.heads, masks, strict=True)
        ]
        return np.concatenate(found)
