"""Actions as rows of choices, one for each part of an action, as networks take them."""

from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Bool, Int

from pcn.nets.heads import ActionHeads


def as_actions(space: gym.Space[Any], choices: Int[np.ndarray, "row head"]) -> Any:
    """Rows of choices as a discrete space has them, one after the other."""
    if isinstance(space, gym.spaces.Discrete):
        return choices[:, 0].tolist()
    return choices.reshape(-1, *(space.shape or ())).astype(space.dtype)


def mask_of(info: dict[str, Any], heads: ActionHeads) -> Bool[np.ndarray, " logit"]:
    """The allowed choices of all heads, side by side."""
    if "action_mask" not in info:
        return np.ones(heads.num_logits, dtype=bool)
    return flat_mask(info["action_mask"])


def flat_mask(given: Any) -> Bool[np.ndarray, " logit"]:
    """A mask as environments give it, one vector or one for each head, as one vector."""
    parts = given if isinstance(given, tuple | list) else [given]
    return np.concatenate([np.ravel(part) for part in parts]).astype(bool)


def allowed_choice(
    choice: Int[np.ndarray, " head"],
    mask: Bool[np.ndarray, " logit"],
    heads: ActionHeads,
    rng: np.random.Generator,
) -> Int[np.ndarray, " head"]:
    """The choice, or any that the mask allows if it forbids this one."""
    parts = np.split(mask, np.cumsum(heads.sizes)[:-1])
    if all(part[chosen] for part, chosen in zip(parts, choice, strict=True)):
        return choice
    open_to_all = (part if part.any() else ~part for part in parts)
    return np.array([rng.choice(np.flatnonzero(part)) for part in open_to_all], choice.dtype)
