"""Action heads: which one suits an action space.

A new head is a final subclass of `AbstractActionHead` in a file of its own and a line of
`ACTION_HEADS`.
"""

from typing import Any

import gymnasium as gym

from pcn.errors import UserError
from pcn.nets.heads.abstract import AbstractActionHead
from pcn.nets.heads.categorical import CategoricalHead

__all__ = [
    "ACTION_HEADS",
    "AbstractActionHead",
    "CategoricalHead",
    "action_head_for",
]

ACTION_HEADS: dict[type[gym.Space[Any]], type[AbstractActionHead]] = {
    gym.spaces.Discrete: CategoricalHead,
    gym.spaces.MultiDiscrete: CategoricalHead,
    gym.spaces.MultiBinary: CategoricalHead,
}
"""The head for each kind of action space."""


def action_head_for(space: gym.Space[Any]) -> AbstractActionHead:
    """The head that suits an action space."""
    for kind, head in ACTION_HEADS.items():
        if isinstance(space, kind):
            return head.for_space(space)
    known = " or ".join(", ".join(kind.__name__ for kind in ACTION_HEADS).rsplit(", ", 1))
    raise UserError(f"training needs actions that are {known}, got {space}")
