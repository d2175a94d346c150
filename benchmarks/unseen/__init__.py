"""Environments that no setting was chosen on, each with its true front.

One file for each environment: its rules, what it returns under two policies by hand, and what is
observed. `benchmarks/unseen_environments.py` trains on them.
"""

from benchmarks.unseen.arms import Arms
from benchmarks.unseen.battery import Battery
from benchmarks.unseen.blackjack import Blackjack
from benchmarks.unseen.castle import Castle
from benchmarks.unseen.clinic import Clinic
from benchmarks.unseen.corridor import Corridor
from benchmarks.unseen.courier import Courier
from benchmarks.unseen.debt import Debt
from benchmarks.unseen.drone import Drone
from benchmarks.unseen.frozen_lake import FrozenLake
from benchmarks.unseen.gambles import Gambles
from benchmarks.unseen.gusts import Gusts
from benchmarks.unseen.harvest import Harvest
from benchmarks.unseen.haze import Haze
from benchmarks.unseen.inventory import Inventory
from benchmarks.unseen.kiln import Kiln
from benchmarks.unseen.knapsack import Knapsack
from benchmarks.unseen.lottery import Lottery
from benchmarks.unseen.machine import Machine
from benchmarks.unseen.masked_corridor import MaskedCorridor
from benchmarks.unseen.masked_vault import MaskedVault
from benchmarks.unseen.modelled import ModelledEnvironment
from benchmarks.unseen.mountain_passes import MountainPasses
from benchmarks.unseen.orchard import Orchard
from benchmarks.unseen.ponds import Ponds
from benchmarks.unseen.prospect import Prospect
from benchmarks.unseen.salvage import Salvage
from benchmarks.unseen.sledge import Sledge
from benchmarks.unseen.space_traders import SpaceTraders
from benchmarks.unseen.taxi import Taxi
from benchmarks.unseen.units import Units
from benchmarks.unseen.vault import Vault

UNSEEN: dict[str, type[ModelledEnvironment]] = {
    "arms": Arms,
    "battery": Battery,
    "blackjack": Blackjack,
    "castle": Castle,
    "clinic": Clinic,
    "corridor": Corridor,
    "courier": Courier,
    "debt": Debt,
    "drone": Drone,
    "frozen-lake": FrozenLake,
    "gambles": Gambles,
    "gusts": Gusts,
    "harvest": Harvest,
    "haze": Haze,
    "inventory": Inventory,
    "kiln": Kiln,
    "knapsack": Knapsack,
    "lottery": Lottery,
    "machine": Machine,
    "masked-corridor": MaskedCorridor,
    "masked-vault": MaskedVault,
    "mountain-passes": MountainPasses,
    "orchard": Orchard,
    "ponds": Ponds,
    "prospect": Prospect,
    "salvage": Salvage,
    "sledge": Sledge,
    "space-traders": SpaceTraders,
    "taxi": Taxi,
    "units": Units,
    "vault": Vault,
}

__all__ = ["UNSEEN", "ModelledEnvironment"]
