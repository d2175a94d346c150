"""The crossroad in SUMO. A process holds one simulation: starting another one ends it."""

from enum import IntEnum
from types import ModuleType
from typing import ClassVar, NamedTuple

from pcn.envs.crossroad.network import NET, ROUTES
from pcn.errors import UserError

LIGHTS = "centre"
LANES = ("from_west_0", "from_west_1", "from_east_0", "from_east_1", "from_north_0", "from_south_0")
"""The lanes that lead to the lights."""
CROSSINGS = (
    ":centre_4_0",
    ":centre_4_1",
    ":centre_1_0",
    ":centre_1_1",
    ":centre_0_0",
    ":centre_3_0",
)
"""How each of them goes on between the lights and its exit."""
LENGTHS = (92.8, 92.8, 92.8, 92.8, 89.6, 89.6)
"""Metres from the start of each lane to the lights."""
YELLOW_STEPS = 3
QUIET = ("--no-warnings", "--no-step-log", "--duration-log.disable")


class Phase(IntEnum):
    """What the lights show; each is followed by the next."""

    HORIZONTAL_GREEN = 0
    HORIZONTAL_YELLOW = 1
    VERTICAL_GREEN = 2
    VERTICAL_YELLOW = 3

    @property
    def is_yellow(self) -> bool:
        """Whether the lights are about to change."""
        return self % 2 == 1


class Approaching(NamedTuple):
    """The cars that have not reached their exit road yet."""

    names: list[str]
    lanes: list[int]
    """Indices into `LANES`."""
    beyond: list[float]
    """How many metres past the lights each is; negative before them."""


class Seen(NamedTuple):
    """Any car, for a picture."""

    name: str
    x: float
    y: float
    angle: float
    """Degrees clockwise from north; (x, y) is the middle of its front."""


class Simulation:
    """SUMO with the crossroad in it, one step a second.

    libsumo has one simulation per process, and a second start silently replaces the first. So the
    last one to start owns it, and all others raise an error at their next step.
    """

    _owner: ClassVar["Simulation | None"] = None
    _running: ClassVar[bool] = False

    def __init__(self) -> None:
        self._sumo: ModuleType | None = None
        self._yellow_left = 0

    def start(self, seed: int | None) -> None:
        """Begin an episode; without a seed, with the traffic of SUMO's own default."""
        self._sumo = sumo = load_libsumo()
        options = [f"--net-file={NET}", f"--route-files={ROUTES}", "--time-to-teleport=-1", *QUIET]
        if seed is not None:
            options.append(f"--seed={seed}")
        if Simulation._running:
            sumo.load(options)  # much faster than a new start
        else:
            sumo.start(["sumo", *options])
            Simulation._running = True
        Simulation._owner = self
        self._yellow_left = 0

    def step(self, switch: bool) -> None:
        """One second; switching is ignored while the lights are yellow."""
        sumo = self._owned()
        phase = self.phase
        if switch and not phase.is_yellow:
            sumo.trafficlight.setPhase(LIGHTS, phase + 1)
            self._yellow_left = YELLOW_STEPS + 1
        sumo.simulationStep()
        self._yellow_left = max(self._yellow_left - 1, 0)

    @property
    def phase(self) -> Phase:
        """What the lights show."""
        return Phase(self._owned().trafficlight.getPhase(LIGHTS))

    @property
    def yellow_left(self) -> int:
        """For how many more steps the lights are yellow."""
        return self._yellow_left

    def approaching(self) -> Approaching:
        """The cars that have not reached their exit road, lane by lane; the hot path."""
        sumo = self._owned()
        cars_on, position_of = sumo.lane.getLastStepVehicleIDs, sumo.vehicle.getLanePosition
        cars = Approaching([], [], [])
        for number, (lane, crossing) in enumerate(zip(LANES, CROSSINGS, strict=True)):
            for part, lights_at in ((lane, LENGTHS[number]), (crossing, 0.0)):
                names = cars_on(part)
                cars.names.extend(names)
                cars.lanes.extend([number] * len(names))
                cars.beyond.extend([position_of(name) - lights_at for name in names])
        return cars

    def everyone(self) -> list[Seen]:
        """All cars, those that are leaving too."""
        vehicle = self._owned().vehicle
        seen = []
        for name in vehicle.getIDList():
            x, y = vehicle.getPosition(name)
            seen.append(Seen(name, x, y, vehicle.getAngle(name)))
        return seen

    def close(self) -> None:
        """End the simulation, if it is still this one's."""
        if Simulation._owner is self and self._sumo is not None:
            self._sumo.close()
            Simulation._owner = None
            Simulation._running = False

    def _owned(self) -> ModuleType:
        if self._sumo is None or Simulation._owner is not self:
            raise RuntimeError(
                "this crossroad's simulation was replaced by another one: SUMO has room for one "
                "in a process, so reset() it again, or give each a process of its own"
            )
        return self._sumo


def load_libsumo() -> ModuleType:
    """Import SUMO, or say what to install."""
    try:
        import libsumo
    except ModuleNotFoundError:
        raise UserError(
            "crossroad runs on SUMO, which is not installed: pip install 'pcn[sumo]'"
        ) from None
    except ImportError as error:
        raise UserError(
            f"SUMO needs libraries of the system ({error}): "
            "apt-get install libgl1 libxext6 libxrender1 libatomic1"
        ) from None
    return libsumo
