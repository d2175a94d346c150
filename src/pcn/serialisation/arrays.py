"""Named arrays of a pytree, to store weights and optimiser states in files."""

from collections.abc import Mapping
from typing import TypeVar

import equinox as eqx
import jax
import numpy as np

from pcn.errors import UserError

Tree = TypeVar("Tree")


def named_arrays(tree: object, prefix: str) -> dict[str, np.ndarray]:
    """Every array in a pytree under its path, e.g. `policy.head.layers[0].weight`."""
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_array))
    return {prefix + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def with_named_arrays(tree: Tree, arrays: Mapping[str, np.ndarray], prefix: str) -> Tree:
    """The tree with its arrays replaced by those that `named_arrays` gave.

    In place of arrays the tree may have their shapes and types, as `eqx.filter_eval_shape` gives.
    """
    dynamic, static = eqx.partition(tree, _is_array_or_shape)
    paths, structure = jax.tree_util.tree_flatten_with_path(dynamic)
    loaded = []
    for path, leaf in paths:
        name = prefix + jax.tree_util.keystr(path)
        if name not in arrays:
            raise UserError(f"the saved arrays hold no {name}")
        if arrays[name].shape != leaf.shape:
            raise UserError(f"{name} has shape {arrays[name].shape}, expected {leaf.shape}")
        # Arrays on the host stay there: the device has no double precision.
        library = np if isinstance(leaf, np.ndarray) else jax.numpy
        loaded.append(library.array(arrays[name], dtype=leaf.dtype))
    combined: Tree = eqx.combine(jax.tree_util.tree_unflatten(structure, loaded), static)
    return combined


def _is_array_or_shape(leaf: object) -> bool:
    return eqx.is_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct)
