"""Recipes for the laboratory: a budget and a discount, nothing that was tuned."""

from pcn.envs.discounts import DISCOUNTS
from pcn.recipes.recipe import ANY, MANY_TRADE_OFFS, Because, Recipe, because, steps

NAMES = (
    "resource-gathering",
    "breakable-bottles",
    "fishwood",
    "four-room",
    "fruit-tree",
    "water-reservoir",
)


def _recipe(name: str) -> Recipe:
    recipe: dict[tuple[str, str], dict[str, Because]] = steps(
        100_000, "the budget at which the environments of the laboratory are compared"
    )
    if name in DISCOUNTS:
        recipe[ANY, ANY] |= because(
            "time is no objective here; the known front has this discount",
            discount=DISCOUNTS[name],
        )
    if name in ("four-room", "fruit-tree"):  # as in any environment that is deterministic
        recipe["pcn", "default"] = MANY_TRADE_OFFS
    return recipe


LABORATORY: dict[str, Recipe] = {name: _recipe(name) for name in NAMES}
