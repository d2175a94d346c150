"""Recipes: the hyperparameters that an environment sets differently, and why.

A recipe is layered between an algorithm's preset and what the user gives. Environments know
nothing about it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pcn.envs.spec import EnvironmentSpec
from pcn.recipes.crossroad import CROSSROAD
from pcn.recipes.deep_sea_treasure import DEEP_SEA_TREASURE
from pcn.recipes.gymnasium import any_environment
from pcn.recipes.laboratory import LABORATORY
from pcn.recipes.minecart import MINECART
from pcn.recipes.recipe import Recipe, entries_for
from pcn.recipes.walkroom import walkroom

__all__ = ["RECIPES", "recipe_for"]

RECIPES: dict[str, Recipe | Callable[[Mapping[str, Any]], Recipe]] = {
    "deep-sea-treasure": DEEP_SEA_TREASURE,
    "minecart": MINECART,
    "minecart-stochastic": MINECART,
    **{f"walkroom-{number}": walkroom(number) for number in range(2, 10)},
    "walkroom": lambda arguments: walkroom(arguments.get("objectives", 2)),
    **LABORATORY,
    "crossroad": CROSSROAD,
    "crossroad-authors": CROSSROAD,
    "crossroad-stochastic": CROSSROAD,
}
"""Per environment: its recipe, or what makes one of the environment's arguments."""


def recipe_for(
    name: str,
    arguments: Mapping[str, Any],
    algorithm: str,
    preset: str,
    spec: EnvironmentSpec | None = None,
) -> tuple[dict[str, Any], dict[str, str]]:
    """What an environment sets differently for an algorithm under a preset, and why.

    Returns the values and the reasons by the hyperparameters' names. For environments that are
    not in `RECIPES` some of them follow from the `spec`, where it is given.
    """
    recipe = RECIPES.get(name)
    if recipe is None:
        recipe = any_environment(name, spec)
    elif callable(recipe):
        recipe = recipe(arguments)
    entries = entries_for(recipe, algorithm, preset)
    return (
        {option: entry.value for option, entry in entries.items()},
        {option: entry.reason for option, entry in entries.items()},
    )
