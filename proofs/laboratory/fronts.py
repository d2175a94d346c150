"""The fronts of the laboratory that ship with `pcn`: `python -m proofs.laboratory.fronts`.

Takes about ten CPU seconds. Those of FishWood and Fruit Tree need no search: they stand in the
environments themselves.
"""

import numpy as np

from pcn.envs.discounts import DISCOUNTS
from pcn.envs.laboratory.known_front import front_file
from pcn.pareto import unique_front
from proofs.laboratory.four_room import tours
from proofs.laboratory.models import BottlesModel, GatheringModel
from proofs.laboratory.water_reservoir import policies
from proofs.tabular import solve, write_front

TABULAR = {"resource-gathering": GatheringModel(), "breakable-bottles": BottlesModel()}
STEP_LIMIT = 100
"""Of both of them."""


def main() -> None:
    """Compute all of them and write them to where the environments look for them."""
    for name, model in TABULAR.items():
        discount = DISCOUNTS.get(name, 1.0)
        plans, _ = solve(model, discount=discount, step_limit=STEP_LIMIT)
        write_front(
            front_file(name),
            plans.vectors,
            status="proven",
            source="set-valued dynamic programming: proofs.laboratory.fronts",
            discount=discount,
        )
    found = tours(DISCOUNTS["four-room"])
    write_front(
        front_file("four-room"),
        [tour.returns for tour in found],
        status="proven",
        source="search over all orders of the shapes: proofs.laboratory.four_room",
        discount=DISCOUNTS["four-room"],
        actions=["".join(map(str, tour.actions)) for tour in found],
    )
    expected = np.array([policy.expected for policy in policies()])
    write_front(
        front_file("water-reservoir"),
        expected[unique_front(expected)],
        status="best-known",
        source="dynamic programming on a grid of levels: proofs.laboratory.water_reservoir",
        discount=1.0,
    )


if __name__ == "__main__":
    main()
