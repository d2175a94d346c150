"""Action heads: which one suits an action space.

A new head is a final subclass of `AbstractActionHead` in a file of its own and a line of
`ACTION_HEADS`, or of `CONTINUOUS_HEADS` where it is for a `Box`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import gymnasium as gym
import numpy as np

from pcn.errors import UserError
from pcn.nets.heads.abstract import AbstractActionHead
from pcn.nets.heads.box_rows import AbstractBoxHead, is_bounded
from pcn.nets.heads.categorical import CategoricalHead
from pcn.nets.heads.joint import JointHead
from pcn.nets.heads.levels import LevelsHead
from pcn.nets.heads.truncated_gaussian import TruncatedGaussianHead

__all__ = [
    "ACTION_HEADS",
    "CONTINUOUS_HEADS",
    "DEFAULT_HEAD",
    "AbstractActionHead",
    "AbstractBoxHead",
    "CategoricalHead",
    "ContinuousHead",
    "JointHead",
    "LevelsHead",
    "TruncatedGaussianHead",
    "action_head_for",
    "is_bounded",
]

ContinuousHead = Literal["levels", "bins", "gaussian"]
"""`levels`: evenly spaced values. `bins`: a Gaussian in each of several bins. `gaussian`: one."""

CONTINUOUS_HEADS: dict[ContinuousHead, Callable[[gym.Space[Any], int], AbstractBoxHead]] = {
    "levels": LevelsHead.for_space,
    "bins": TruncatedGaussianHead.for_space,
    "gaussian": lambda space, _: TruncatedGaussianHead.for_space(space, 1),
}
"""The heads for a `Box`, each made of the space and a number of levels or bins."""

ACTION_HEADS: dict[type[gym.Space[Any]], type[AbstractActionHead]] = {
    gym.spaces.Discrete: CategoricalHead,
    gym.spaces.MultiDiscrete: CategoricalHead,
    gym.spaces.MultiBinary: CategoricalHead,
    gym.spaces.Box: LevelsHead,
    gym.spaces.Tuple: JointHead,
    gym.spaces.Dict: JointHead,
}
"""The head for each kind of action space; a `Box` may have another one of `CONTINUOUS_HEADS`."""

DEFAULT_HEAD: ContinuousHead = "levels"
DEFAULT_LEVELS = 11
LEVELS_OF_ONE = 21
"""Levels where an action is a single real number."""


def action_head_for(
    space: gym.Space[Any], continuous: ContinuousHead = DEFAULT_HEAD, levels: int | None = None
) -> AbstractActionHead:
    """The head that suits an action space.

    Rows of numbers and what environments see of them are the same for all heads of a space.

    Args:
        space: the space.
        continuous: which head real numbers have.
        levels: how many levels or bins each of them has; 11, or 21 where there is only one.
    """
    if isinstance(space, gym.spaces.Box):
        if not np.issubdtype(space.dtype, np.floating):
            continuous = "levels"
        if levels is None:
            levels = LEVELS_OF_ONE if int(np.prod(space.shape)) == 1 else DEFAULT_LEVELS
        return CONTINUOUS_HEADS[continuous](space, levels)
    if isinstance(space, gym.spaces.Tuple | gym.spaces.Dict):
        head_of = partial(action_head_for, continuous=continuous, levels=levels)
        return JointHead.for_space(space, head_of)
    for kind, head in ACTION_HEADS.items():
        if isinstance(space, kind):
            return head.for_space(space)
    known = " or ".join(", ".join(kind.__name__ for kind in ACTION_HEADS).rsplit(", ", 1))
    raise UserError(f"training needs actions that are {known}, got {space}")
