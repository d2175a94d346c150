"""Orders of returns: when one return is better than another. `ORDERS` is the list of them."""

from collections.abc import Mapping
from typing import Any

from pcn.pareto.orders.abstract import AbstractOrder, Samples
from pcn.pareto.orders.lorenz import LambdaLorenz, Lorenz
from pcn.pareto.orders.pareto import Pareto
from pcn.pareto.orders.scaled import Scaled
from pcn.pareto.orders.stochastic import Stochastic, survival_gaps

__all__ = [
    "ORDERS",
    "PARETO",
    "AbstractOrder",
    "LambdaLorenz",
    "Lorenz",
    "Pareto",
    "Samples",
    "Scaled",
    "Stochastic",
    "order_from_json",
    "survival_gaps",
]

ORDERS: dict[str, type[AbstractOrder]] = {
    "pareto": Pareto,
    "lorenz": Lorenz,
    "lambda-lorenz": LambdaLorenz,
    "stochastic": Stochastic,
}
"""By the name that `--dominance` takes; the first one is the paper's."""

PARETO = Pareto()


def order_from_json(content: Mapping[str, Any]) -> AbstractOrder:
    """The order that `to_json` wrote; a ValueError says what is wrong."""
    fields = {name: value for name, value in content.items() if name not in ("order", "scaled")}
    if content.get("order") not in ORDERS:
        raise ValueError(
            f"there is no order {content.get('order')!r}; there are: {', '.join(ORDERS)}"
        )
    try:
        order = ORDERS[content["order"]](**fields)
        if "scaled" not in content:
            return order
        scaled = content["scaled"]
        return Scaled(order, tuple(scaled["lowest"]), tuple(scaled["extents"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"the order is damaged: {error!r}") from None
