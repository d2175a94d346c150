"""Packs many arrays into a few: a compiled call costs more per array than per number."""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array


class Packing(NamedTuple):
    """How arrays are packed: those of one type side by side, flattened but for leading axes."""

    shapes: tuple[tuple[int, ...], ...]
    """The shape of each array, without the leading axes that all of them share."""
    kinds: tuple[Any, ...]

    @classmethod
    def of(cls, arrays: Sequence[Any], *, leading: int) -> "Packing":
        """The packing of arrays like these."""
        return cls(
            tuple(array.shape[leading:] for array in arrays), tuple(array.dtype for array in arrays)
        )

    def packed(self, arrays: Sequence[Any], *, library: Any = jnp) -> list[Any]:
        """One array per type; with NumPy as the `library`, on the host."""
        parts: dict[Any, list[Any]] = {kind: [] for kind in self.kinds}
        for array, shape, kind in zip(arrays, self.shapes, self.kinds, strict=True):
            leading = array.shape[: array.ndim - len(shape)]
            parts[kind].append(library.reshape(array, (*leading, prod(shape))).astype(kind))
        return [library.concatenate(part, axis=-1) for part in parts.values()]

    def unpacked(self, packed: Sequence[Array]) -> list[Array]:
        """All arrays again, in their order."""
        whole = dict(zip(dict.fromkeys(self.kinds), packed, strict=True))
        used = dict.fromkeys(self.kinds, 0)
        arrays = []
        for shape, kind in zip(self.shapes, self.kinds, strict=True):
            start, used[kind] = used[kind], used[kind] + prod(shape)
            part = whole[kind][..., start : used[kind]]
            arrays.append(jnp.reshape(part, (*part.shape[:-1], *shape)))
        return arrays
