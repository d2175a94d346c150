"""Recipe for any other environment: Gymnasium's, MO-Gymnasium's and the user's own."""

import gymnasium as gym
import numpy as np

from pcn.envs.discounts import DISCOUNTS
from pcn.envs.spec import EnvironmentSpec
from pcn.recipes.recipe import ANY, BY_TRIAL, MANY_TRADE_OFFS, Because, Recipe, because, steps


def any_environment(name: str, spec: EnvironmentSpec | None) -> Recipe:
    """What follows from an environment's name and, where it has been made, from what it shows."""
    recipe: dict[tuple[str, str], dict[str, Because]] = steps(200_000, BY_TRIAL)
    if name in DISCOUNTS:
        recipe[ANY, ANY] |= because(
            "time is no objective here, or results are published with this discount",
            discount=DISCOUNTS[name],
        )
    if spec is not None and _sees_pictures(spec):
        recipe["pcn", ANY] = because(
            "pictures fill memory, so fewer episodes of them are collected and kept",
            capacity=50,
            episodes_per_iteration=16,
        )
    elif spec is not None and spec.deterministic and spec.num_objectives > 2:
        recipe["pcn", "default"] = MANY_TRADE_OFFS
    elif spec is not None and not spec.deterministic and _has_one_number_each(spec):
        recipe["pcn", "default"] = because(
            "observation and action are one number each, so that fine levels can be planned with",
            action_levels=128,
        )
    return recipe


def _has_one_number_each(spec: EnvironmentSpec) -> bool:
    spaces = (spec.observation_space, spec.action_space)
    return all(
        isinstance(space, gym.spaces.Box)
        and np.issubdtype(space.dtype, np.floating)
        and int(np.prod(space.shape)) == 1
        for space in spaces
    )


def _sees_pictures(spec: EnvironmentSpec) -> bool:
    space = spec.observation_space
    return isinstance(space, gym.spaces.Box) and space.dtype == np.uint8 and len(space.shape) == 3
