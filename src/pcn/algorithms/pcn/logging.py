"""The episodes of a dataset as they were, from the arrays of a checkpoint."""

from collections.abc import Mapping

import jax
import numpy as np

from pcn.algorithms.pcn.records import NAME
from pcn.datasets.logged import LoggedEpisodes
from pcn.envs.observations import empty_observations
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.nets.heads import action_head_for
from pcn.serialisation.arrays import with_named_arrays
from pcn.types import AnyArray


def stored_episodes(
    spec: EnvironmentSpec, arrays: Mapping[str, np.ndarray], source: str
) -> LoggedEpisodes:
    """The stored episodes, oldest first."""
    if f"{NAME}.rewards" not in arrays:
        raise UserError(f"{source} was made by an earlier version of pcn, which kept no rewards")
    lengths = np.asarray(arrays["rows.lengths"], np.int64)
    longest = int(lengths.max(initial=1))
    valid = np.arange(longest) < lengths[:, None]

    def flat(leaf: AnyArray) -> np.ndarray:
        return np.asarray(leaf)[valid]

    def tree(prefix: str, shape: tuple[int, ...]) -> object:
        like = empty_observations(spec.observation_space, shape)
        return with_named_arrays(like, arrays, prefix)

    count = len(lengths)
    known = bool(np.all(arrays[f"{NAME}.last_known"]))
    return LoggedEpisodes(
        spec=spec,
        observations=jax.tree.map(flat, tree("store.observations", (count, longest))),
        actions=flat(arrays["store.actions"]).astype(action_head_for(spec.action_space).dtype),
        rewards=flat(arrays[f"{NAME}.rewards"]),
        lengths=lengths,
        terminated=np.asarray(arrays[f"{NAME}.terminated"]),
        action_masks=flat(arrays["store.action_masks"]) if spec.masked_actions else None,
        last_observations=tree(f"{NAME}.last_observations", (count,)) if known else None,
        source=source,
    )
