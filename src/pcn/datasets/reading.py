"""Shared functions of the readers of logged episodes: types, spaces, and ends of episodes."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import numpy as np
from jaxtyping import Bool, Int

from pcn.envs.answers import LARGEST_REWARD
from pcn.errors import UserError


def canonical(tree: Any) -> Any:
    """Arrays in the types that JAX computes with; None stays None."""
    return jax.tree.map(
        lambda leaf: np.asarray(leaf).astype(jax.dtypes.canonicalize_dtype(leaf.dtype)), tree
    )


def refuse_other_than_numbers(
    source: Path, *, observations: Any, actions: np.ndarray, rewards: np.ndarray
) -> None:
    """Refuse data that cannot be learnt from: text, complex and infinite numbers, one objective."""
    if rewards.shape[1] < 2:
        raise UserError(
            f"{source} has rewards of {rewards.shape[1]} objectives: a vector with at least two is "
            "needed"
        )
    named = {"actions": [actions], "rewards": [rewards], "observations": observations}
    for name, tree in named.items():
        for leaf in jax.tree.leaves(tree):
            if leaf.dtype.kind not in "fiub" or not np.isfinite(leaf).all():
                raise UserError(f"{source} has {name} that are not finite numbers")
    if np.abs(rewards.astype(np.float64)).max(initial=0) > LARGEST_REWARD:
        raise UserError(f"{source} has rewards beyond {LARGEST_REWARD:g}")


def refuse_other_last_observations(
    source: Path, last: Any, observations: Any, num_episodes: int
) -> None:
    """Refuse last observations unless there is one for each episode, of the right shape."""
    if last is None:
        return
    parts = [set(tree) if isinstance(tree, dict) else None for tree in (last, observations)]
    if parts[0] != parts[1]:
        raise UserError(f"{source} has last_observations of other parts than its observations")
    pairs = zip(jax.tree.leaves(last), jax.tree.leaves(observations), strict=True)
    for leaf, other in pairs:
        if len(np.atleast_1d(leaf)) != num_episodes:
            raise UserError(
                f"{source} has {len(np.atleast_1d(leaf))} last_observations for {num_episodes} "
                "episodes"
            )
        if leaf.shape[1:] != other.shape[1:]:
            raise UserError(
                f"{source} has last_observations of shape {leaf.shape[1:]}, its observations have "
                f"{other.shape[1:]}"
            )
        if leaf.dtype.kind not in "fiub" or not np.isfinite(leaf).all():
            raise UserError(f"{source} has last_observations that are not finite numbers")


def lengths_of(
    source: Path, terminations: np.ndarray, truncations: np.ndarray
) -> tuple[Int[np.ndarray, " episode"], Bool[np.ndarray, " episode"]]:
    """The length of each episode, and whether it terminated; both arrays have one entry per step.

    A log that stops in the middle of an episode is refused: its return is not known.
    """
    if terminations.shape != truncations.shape or terminations.ndim != 1:
        raise UserError(f"{source}: terminations and truncations must have one entry for each step")
    terminated = terminations.astype(bool)
    ends = np.flatnonzero(terminated | truncations.astype(bool))
    if len(ends) == 0 or ends[-1] != len(terminated) - 1:
        raise UserError(f"the last episode of {source} has no end: terminations or truncations")
    return np.diff(ends, prepend=-1).astype(np.int64), terminated[ends]


def space_of_observations(observations: Any) -> gym.Space[Any]:
    """The smallest ordinary space that holds these observations [step, ...]."""
    if isinstance(observations, dict):
        return gym.spaces.Dict(
            {name: space_of_observations(part) for name, part in observations.items()}
        )
    kind, shape = observations.dtype, observations.shape[1:]
    if kind == np.uint8:
        return gym.spaces.Box(0, 255, shape, np.uint8)
    if kind.kind in "iub":
        low, high = observations.min(axis=0), observations.max(axis=0)
        return gym.spaces.Box(low.astype(np.int32), high.astype(np.int32), shape, np.int32)
    return gym.spaces.Box(-np.inf, np.inf, shape, np.float32)


def space_of_actions(actions: np.ndarray) -> gym.Space[Any]:
    """The action space of actions [step] or [step, part], as far as the data show it."""
    if actions.dtype.kind in "iub":
        if actions.min() < 0:
            raise UserError(f"actions must be counted from 0, got {actions.min()}")
        sizes = np.atleast_1d(actions.max(axis=0) + 1)
        if actions.ndim == 1:
            return gym.spaces.Discrete(int(sizes[0]))
        return gym.spaces.MultiDiscrete(sizes.ravel())
    flat = actions.reshape(len(actions), -1).astype(np.float32)
    return gym.spaces.Box(flat.min(axis=0), flat.max(axis=0), dtype=np.float32)
