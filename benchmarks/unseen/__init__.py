"""Environments that no setting was chosen on, each with its true front.

One file for each environment: its rules, what it returns under two policies by hand, and what is
observed. `benchmarks/unseen_environments.py` trains on them.
"""

from benchmarks.unseen.battery import Battery
from benchmarks.unseen.corridor import Corridor
from benchmarks.unseen.courier import Courier
from benchmarks.unseen.debt import Debt
from benchmarks.unseen.gambles import Gambles
from benchmarks.unseen.harvest import Harvest
from benchmarks.unseen.inventory import Inventory
from benchmarks.unseen.modelled import ModelledEnvironment
from benchmarks.unseen.mountain_passes import MountainPasses
from benchmarks.unseen.ponds import Ponds
from benchmarks.unseen.sledge import Sledge
from benchmarks.unseen.units import Units

UNSEEN: dict[str, type[ModelledEnvironment]] = {
    "battery": Battery,
    "corridor": Corridor,
    "courier": Courier,
    "debt": Debt,
    "gambles": Gambles,
    "harvest": Harvest,
    "inventory": Inventory,
    "mountain-passes": MountainPasses,
    "ponds": Ponds,
    "sledge": Sledge,
    "units": Units,
}

__all__ = ["UNSEEN", "ModelledEnvironment"]
