"""Crossroad (section 5.3 of the paper): switch the lights, or leave them as they are."""

from typing import Any, Literal

import gymnasium as gym
import numpy as np
from jaxtyping import Float, UInt8

from pcn.envs.crossroad.picture import CarInPicture, picture
from pcn.envs.crossroad.simulation import LANES, Phase, Simulation
from pcn.envs.spec import EnvironmentSpec, Objective

STEP_LIMIT = 100
"""Steps in an episode, one second each."""
CELL = 5.0
"""Metres per cell; cars stand 7.5 m apart, so there is at most one to a cell."""
CELLS_BEFORE = 19
"""Cells between the start of the longest lane and the lights."""
CELLS_PAST = 5
"""Cells between the lights and the exit."""

Waiting = Literal["mean", "authors"]

OBJECTIVES: dict[Waiting, tuple[Objective, Objective]] = {
    "mean": (Objective("flow", "cars"), Objective("waiting", "s", "minimise")),
    "authors": (Objective("flow", "scaled"), Objective("spread of waiting", "scaled", "minimise")),
}


ACTION_NAMES = ("keep", "switch")


def observation_space() -> gym.spaces.Box:
    """Pictures of bytes: car, time and light, a row for each lane and a column for each cell."""
    return gym.spaces.Box(0, 255, (3, len(LANES), CELLS_BEFORE + CELLS_PAST), np.uint8)


def crossroad_spec(
    name: str, waiting: Waiting, *, reference_point: tuple[float, float], deterministic: bool
) -> EnvironmentSpec:
    """The spec of a crossroad; no simulation is started."""
    return EnvironmentSpec(
        name=name,
        objectives=OBJECTIVES[waiting],
        observation_space=observation_space(),
        action_space=gym.spaces.Discrete(len(ACTION_NAMES)),
        step_limit=STEP_LIMIT,
        reference_point=reference_point,
        deterministic=deterministic,
        masked_actions=True,
        action_names=ACTION_NAMES,
    )


def reward_of(
    flow: int, times: Float[np.ndarray, " car"], waiting: Waiting
) -> Float[np.ndarray, " 2"]:
    """The reward of one step from the cars that left and the others' times in the system.

    `mean` is the paper's text: minus the mean time, divided by the steps of an episode, so that
    the return is an average in seconds. `authors` is their code: minus a tenth of the standard
    deviation; both objectives are shifted and divided by 9.
    """
    if waiting == "mean":
        mean = times.mean() if len(times) else 0.0
        return np.array([flow, -mean / STEP_LIMIT], dtype=np.float32)
    spread = times.std() if len(times) else 0.0
    return np.array([(flow - 1.2) / 9, (0.9 - spread / 10) / 9], dtype=np.float32)


class Crossroad(gym.Env[Any, Any]):
    """Traffic lights where a busy road with two lanes each way crosses one with a single lane.

    The environment is that of section 5.3 of the PCN paper, on a net of our own in SUMO.

    - Observation: `Box(0, 255, (3, 6, 24), uint8)`, a picture with one row for each lane that leads
      to the lights and one pixel for every 5 m. The channels are: whether a car is there; for how
      long it has been in the system; and the lane's light (bright for green, dimming through
      yellow, dark for red).
    - Actions: `Discrete(2)`: keep the lights, or switch them. A switch takes three yellow steps, in
      which `info["action_mask"]` allows only to keep.
    - Rewards: `flow`, the cars that reached their exit road in this step; `waiting`, minus the mean
      time in the system of all other cars, divided by 100. With `waiting="authors"`, both are as in
      the authors' code: see `reward_of`.
    - Ends: never terminated; an episode is truncated after 100 steps of one second.
    - Front: unknown.

    Args:
        waiting: The second objective, as in the paper's text ("mean") or the authors' code.
        fresh_traffic: Whether each episode has other traffic, drawn from its seed.
        render_mode: None or "rgb_array".
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        waiting: Waiting = "mean",
        *,
        fresh_traffic: bool = False,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode must be None or 'rgb_array', got {render_mode!r}")
        if waiting not in OBJECTIVES:
            raise ValueError(f"waiting must be 'mean' or 'authors', got {waiting!r}")
        self.render_mode = render_mode
        self.objectives = OBJECTIVES[waiting]
        self.action_names = ACTION_NAMES
        self.observation_space = observation_space()
        self.action_space = gym.spaces.Discrete(len(ACTION_NAMES))
        self.reward_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.reward_dim = 2
        self._waiting = waiting
        self._fresh_traffic = fresh_traffic
        self._simulation = Simulation()
        self._started = False
        self._step = 0
        self._since: dict[str, int] = {}
        """The step at which each car on its way to the exit appeared."""
        self._times = np.zeros(0)
        """How long each of them has been in the system."""
        self._flow = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[UInt8[np.ndarray, "3 lane cell"], dict[str, Any]]:
        """Start an episode on empty roads."""
        super().reset(seed=seed)
        traffic = int(self.np_random.integers(1 << 31)) if self._fresh_traffic else None
        self._simulation.start(traffic)
        self._started = True
        self._step, self._flow, self._since = 0, 0, {}
        return self._look(), self._info()

    def step(
        self, action: Any
    ) -> tuple[UInt8[np.ndarray, "3 lane cell"], Any, bool, bool, dict[str, Any]]:
        """One second; truncation at the step limit is left to Gymnasium's `TimeLimit`."""
        if not self._started:
            raise gym.error.ResetNeeded("call reset() before step()")
        if not self.action_space.contains(action):
            raise ValueError(f"action {action!r} is not in {self.action_space}")
        self._simulation.step(switch=bool(action))
        self._step += 1
        before = self._since
        observation = self._look()
        # A car only leaves the lanes before the exit by reaching the exit.
        left = len(before.keys() - self._since.keys())
        self._flow += left
        return observation, reward_of(left, self._times, self._waiting), False, False, self._info()

    def _info(self) -> dict[str, Any]:
        switchable = not self._simulation.phase.is_yellow
        return {"action_mask": np.array([1, switchable], np.int8)}

    def _look(self) -> UInt8[np.ndarray, "3 lane cell"]:
        """Draw the observation, and record when each car appeared."""
        seen = np.zeros((3, len(LANES), CELLS_BEFORE + CELLS_PAST), np.uint8)
        cars = self._simulation.approaching()
        before, now = self._since, self._step
        self._since = {name: before.get(name, now) for name in cars.names}
        self._times = now - np.fromiter(self._since.values(), np.float64, len(cars.names))
        if cars.names:
            cells = np.floor(np.array(cars.beyond) / CELL).astype(np.int64) + CELLS_BEFORE
            seen[0, cars.lanes, cells] = 255
            seen[1, cars.lanes, cells] = 2 * self._times
        phase = self._simulation.phase
        rows = slice(0, 4) if phase < Phase.VERTICAL_GREEN else slice(4, 6)
        seen[2, rows] = 50 * self._simulation.yellow_left if phase.is_yellow else 255
        return seen

    def render(self) -> UInt8[np.ndarray, "height width 3"] | None:
        """The crossroad from above: cars by how long they have been on the way, and the lights."""
        if self.render_mode is None:
            return None
        if not self._started:
            raise gym.error.ResetNeeded("call reset() before render()")
        cars = [
            CarInPicture(
                car.x,
                car.y,
                car.angle,
                self._step - self._since[car.name] if car.name in self._since else None,
            )
            for car in self._simulation.everyone()
        ]
        return picture(cars, self._simulation.phase, step=self._step, flow=self._flow)

    def close(self) -> None:
        """End the simulation."""
        self._simulation.close()
        self._started = False
