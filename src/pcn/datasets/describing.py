"""Describe the environment of logged episodes, where the dataset does not."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import jax
import numpy as np
from jaxtyping import Bool, Float, Int, Num, PyTree

from pcn.envs.reference_points import reference_point
from pcn.envs.spec import EnvironmentSpec, Objective
from pcn.errors import UserError


def described(
    name: str,
    *,
    observation_space: gym.Space[Any],
    action_space: gym.Space[Any],
    rewards: Float[np.ndarray, "step objective"],
    lengths: Int[np.ndarray, " episode"],
    terminated: Bool[np.ndarray, " episode"],
    deterministic: bool,
    masked_actions: bool = False,
    objectives: Sequence[Objective] = (),
) -> EnvironmentSpec:
    """A spec with the reference point and the step limit of the data."""
    num_objectives = rewards.shape[1]
    named = tuple(objectives) or tuple(Objective(f"objective {i}") for i in range(num_objectives))
    if len(named) != num_objectives:
        raise UserError(f"{name} names {len(named)} objectives, its rewards have {num_objectives}")
    step_limit = int(lengths.max())
    episodes = np.split(rewards.astype(np.float64), np.cumsum(lengths)[:-1])
    return EnvironmentSpec(
        name=name,
        objectives=named,
        observation_space=observation_space,
        action_space=action_space,
        step_limit=step_limit,
        reference_point=reference_point(
            episodes,
            terminated.tolist(),
            step_limit=step_limit,
            never_negative=np.zeros(num_objectives, bool),
        ),
        deterministic=deterministic,
        masked_actions=masked_actions,
    )


def looks_deterministic(
    observations: PyTree[np.ndarray],
    actions: Num[np.ndarray, "step part"],
    rewards: Float[np.ndarray, "step objective"],
    lengths: Int[np.ndarray, " episode"],
) -> bool:
    """Whether all episodes begin with one observation, and the same actions never differ.

    Random starts count as stochastic, as in probing: the same actions have different outcomes.
    """
    seen: dict[bytes, tuple[bytes, bytes]] = {}
    leaves = [np.ascontiguousarray(leaf) for leaf in jax.tree.leaves(observations)]
    starts = np.cumsum(lengths) - lengths
    if any((leaf[starts] != leaf[0]).any() for leaf in leaves):
        return False
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        way = b""
        for step in range(start, start + length):
            way = _digest(way + actions[step].tobytes())
            after = (
                rewards[step].tobytes(),
                b"".join(leaf[step + 1].tobytes() for leaf in leaves)
                if step + 1 < start + length
                else b"",
            )
            if seen.setdefault(way, after) != after:
                return False
    return True


def _digest(content: bytes) -> bytes:
    import hashlib

    return hashlib.blake2b(content, digest_size=16).digest()
