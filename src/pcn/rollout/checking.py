"""Check that episodes hold finite numbers."""

from typing import Any

import jax
import numpy as np

from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.errors import UserError


def check_episodes(episodes: Episodes, spec: EnvironmentSpec) -> None:
    """Raise a `UserError` that names the environment and the step if anything is not finite.

    Rewards and observations of compiled environments are checked nowhere else.
    """
    _check(episodes.rewards, "the reward", spec.name)
    for path, leaf in jax.tree_util.tree_leaves_with_path(episodes.observations):
        if np.issubdtype(leaf.dtype, np.floating):
            part = "".join(str(key) for key in path)
            _check(leaf, f"the observation{part}", spec.name)


def _check(values: Any, what: str, name: str) -> None:
    """Refuse an array [episode, time, ...] in which anything is not finite."""
    array = np.asarray(values)
    # A sum is many times quicker than looking at every number, and finite if all of them are,
    # unless it overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    wrong = ~np.isfinite(array).reshape(*array.shape[:2], -1).all(axis=-1)
    if not wrong.any():
        return
    episode, time = (int(place) for place in np.argwhere(wrong)[0])
    numbers = np.array2string(array[episode, time], threshold=8, precision=6, separator=", ")
    raise UserError(
        f"{name} in step {time + 1} of an episode: {what} is {' '.join(numbers.split())}; "
        "every number must be finite"
    )
