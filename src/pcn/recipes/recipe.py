"""What a recipe is: hyperparameters that an environment sets differently, each with its reason."""

from collections.abc import Mapping
from typing import Any, NamedTuple

ANY = "*"
"""Stands for every algorithm, or for every preset of an algorithm."""


BY_TRIAL = "chosen by trial; its effect alone was not measured"
"""The reason of values that have no better one."""


class Because(NamedTuple):
    """A value and the reason for it."""

    value: Any
    reason: str


Recipe = Mapping[tuple[str, str], Mapping[str, Because]]
"""(algorithm, preset) -> hyperparameter -> value and reason."""


def steps(number: int, reason: str) -> dict[tuple[str, str], dict[str, Because]]:
    """The part of a recipe that sets the budget of every algorithm."""
    return {(ANY, ANY): {"total_steps": Because(number, reason)}}


def because(reason: str, **values: Any) -> dict[str, Because]:
    """Several hyperparameters that have one reason."""
    return {name: Because(value, reason) for name, value in values.items()}


def entries_for(recipe: Recipe, algorithm: str, preset: str) -> dict[str, Because]:
    """What a recipe says for one algorithm and preset; the more special entry wins."""
    entries: dict[str, Because] = {}
    for key in ((ANY, ANY), (algorithm, ANY), (algorithm, preset)):
        entries |= recipe.get(key, {})
    return entries


MANY_TRADE_OFFS = because(
    "with three objectives and more, fronts have hundreds of points", capacity=400
)
