"""Minecart: fetch two kinds of ore from five mines with little fuel (Abels et al., 2019).

The dynamics are those of MO-Gymnasium's `minecart-deterministic-v0` and `minecart-v0`, bit for bit.
That takes float64: a cart that leaves a wall and turns back reaches it exactly or misses it by
1e-18, depending on rounding, and only a cart exactly at a wall slides along it. Arrays elsewhere
are 32 bits wide, so the state holds each float64 as the two halves of its bits.
"""

import json
import math
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Float32, Float64, Int, PRNGKeyArray, UInt8, UInt32

from pcn.envs.compiled import AbstractCompiledEnvironment, Step
from pcn.envs.minecart.exact import as_bits, as_float32, as_float64, length, unfused
from pcn.envs.minecart.picture import picture
from pcn.envs.spec import EnvironmentSpec, Front, Objective

MINE, LEFT, RIGHT, ACCELERATE, BRAKE, NOTHING = range(6)
SUB_FRAMES = 4
ROTATION = 10  # degrees per sub-frame
START_ANGLE = 45
ACCELERATION = 0.0075
MAX_SPEED = 1.0
MIN_SPEED = 0.001  # a slower cart stands still
BASE_RADIUS = 0.15
MINE_RADIUS = 0.14
CAPACITY = 1.5
MINES = ((0.16, 0.84), (0.5, 0.84), (0.84, 0.84), (0.84, 0.5), (0.84, 0.16))
ORE_MEANS = ((0.2, 0.0), (0.15, 0.1), (0.2, 0.2), (0.1, 0.15), (0.0, 0.2))  # per sub-frame
ORE_STD = 0.05  # in the stochastic version
IDLE_FUEL, ACCELERATING_FUEL, MINING_FUEL = -0.02, -0.1, -0.2  # per action

# Indexed by heading: the angle is START_ANGLE + ROTATION * heading. Sliding along walls takes it
# out of 0..360, by less than a lap since one corner is the base; and the cosine of 365 degrees is
# not that of 5 degrees in the last bit.
_FIRST_HEADING = -112
_ANGLES = [START_ANGLE + ROTATION * heading for heading in range(_FIRST_HEADING, 113)]
_DIRECTIONS = np.array(
    [(math.cos(angle * math.pi / 180), math.sin(angle * math.pi / 180)) for angle in _ANGLES]
)
_SIN_COS = np.array(
    [(math.sin(math.radians(angle)), math.cos(math.radians(angle))) for angle in _ANGLES],
    np.float32,
)
_FUEL = np.full(6, IDLE_FUEL, np.float32)
_FUEL[ACCELERATE] += np.float32(ACCELERATING_FUEL)
_FUEL[MINE] += np.float32(MINING_FUEL)


class CartState(NamedTuple):
    """The cart. `…_bits` hold float64 numbers; `as_float32` reads them."""

    position_bits: UInt32[Array, "2 2"]
    speed_bits: UInt32[Array, " 2"]
    content_bits: UInt32[Array, "2 2"]
    heading: Int[Array, ""]
    departed: Bool[Array, ""]
    fuel_used: Float32[Array, ""]


FRONT_FILE = Path(__file__).parents[1] / "fronts" / "minecart.json"


def _front() -> Front:
    points = json.loads(FRONT_FILE.read_text())
    return Front(
        returns=np.array([point["return"] for point in points]),
        status="proven",
        source="exhaustive search over MO-Gymnasium's dynamics: proofs.minecart.front",
    )


class Minecart(AbstractCompiledEnvironment):
    """A cart drives from its base to mines and comes back with two kinds of ore.

    The dynamics are those of MO-Gymnasium's `minecart-deterministic-v0` and `minecart-v0`, bit for
    bit (Abels et al., 2019, arXiv:1809.07803).

    - Observation: `Box(-1, 1, (7,))`: x and y in the unit square, speed, sine and cosine of the
      heading, and how much of the capacity each ore takes up. The cart starts at (0, 0), at rest.
    - Actions: `Discrete(6)`: mine, left, right, accelerate, brake, nothing. Each lasts four
      sub-frames. Mining works only where the cart stands still near one of the five mines; the
      cart holds 1.5 of both ores together.
    - Rewards: `ore_1` and `ore_2`, the ore in the cart when it is back at the base, otherwise 0;
      `fuel`, -0.02 for every action, and another -0.1 to accelerate or -0.2 to mine.
    - Ends: terminated when the cart comes back to the base after it has left it; truncated after
      1000 steps.
    - Front: proven, 22 points; unknown where it is stochastic.

    Args:
        stochastic: Whether the amount of ore that a mine yields is random.
    """

    spec: EnvironmentSpec = eqx.field(static=True)
    ore_std: float = eqx.field(static=True)
    """Spread of the ore that a sub-frame of mining yields; 0 in the deterministic version."""

    def __init__(self, *, stochastic: bool = False) -> None:
        self.ore_std = ORE_STD if stochastic else 0.0
        self.spec = EnvironmentSpec(
            name="minecart-stochastic" if stochastic else "minecart",
            objectives=(
                Objective("ore_1", direction="maximise"),
                Objective("ore_2", direction="maximise"),
                Objective("fuel", direction="minimise"),
            ),
            observation_space=gym.spaces.Box(-1.0, 1.0, (7,), np.float32),
            action_space=gym.spaces.Discrete(6),
            step_limit=1000,
            reference_point=(0.0, 0.0, -200.0),
            front=None if stochastic else _front(),
            deterministic=not stochastic,
            action_names=("mine", "left", "right", "accelerate", "brake", "nothing"),
        )

    def reset(self, key: PRNGKeyArray) -> CartState:
        """The cart at the base, facing the middle of the field."""
        del key
        return CartState(
            position_bits=jnp.zeros((2, 2), jnp.uint32),
            speed_bits=jnp.zeros(2, jnp.uint32),
            content_bits=jnp.zeros((2, 2), jnp.uint32),
            heading=jnp.zeros((), jnp.int32),
            departed=jnp.zeros((), bool),
            fuel_used=jnp.zeros((), jnp.float32),
        )

    def step(self, state: CartState, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """Repeat the action over four sub-frames."""
        noise = jax.random.normal(key, (SUB_FRAMES, 2)) if self.ore_std else None
        fuel = jnp.asarray(_FUEL)[action]
        with jax.enable_x64(True):
            position, speed, content = (
                as_float64(bits)
                for bits in (state.position_bits, state.speed_bits, state.content_bits)
            )
            content = _mined(position, speed, content, action, noise, self.ore_std)
            drive = _driven(position, speed, state.heading, state.departed, action)
            sold = jnp.where(drive.home, content, 0.0).astype(jnp.float32)
            after = CartState(
                position_bits=as_bits(drive.position),
                speed_bits=as_bits(drive.speed),
                content_bits=as_bits(jnp.where(drive.home, 0.0, content)),
                heading=drive.heading,
                departed=drive.departed,
                fuel_used=state.fuel_used - fuel,
            )
        return Step(after, jnp.append(sold, fuel), drive.home)

    def observation(self, state: CartState) -> Float[Array, " 7"]:
        """Position, speed, sine and cosine of the angle, and each ore's share of the capacity."""
        with jax.enable_x64(True):
            share = (as_float64(state.content_bits) / CAPACITY).astype(jnp.float32)
        return jnp.concatenate(
            [
                as_float32(state.position_bits),
                as_float32(state.speed_bits)[None],
                jnp.asarray(_SIN_COS)[state.heading - _FIRST_HEADING],
                share,
            ]
        )

    def render(self, state: CartState) -> UInt8[np.ndarray, "height width 3"]:
        """The field, its mines and the cart with its load."""
        x, y = np.asarray(as_float32(state.position_bits)).tolist()
        load_1, load_2 = (np.asarray(as_float32(state.content_bits)) / CAPACITY).tolist()
        return picture(
            (x, y),
            angle=float(START_ANGLE + ROTATION * int(state.heading)),
            load=(load_1, load_2),
            fuel_used=float(state.fuel_used),
            base_radius=BASE_RADIUS,
            mine_radius=MINE_RADIUS,
            mines=tuple(zip(MINES, ORE_MEANS, strict=True)),
        )


def _mined(
    position: Float64[Array, " 2"],
    speed: Float64[Array, ""],
    content: Float64[Array, " 2"],
    action: Int[Array, ""],
    noise: Float[Array, "frame 2"] | None,
    ore_std: float,
) -> Float64[Array, " 2"]:
    """The cart's content after its action.

    A standing cart does not move while it mines, and near a mine no wall can stop a moving one, so
    either all sub-frames of the action mine or none does.
    """
    distances = length(position[None] - jnp.asarray(MINES))
    near = distances <= MINE_RADIUS  # at most one: the mines lie further apart
    mining = (action == MINE) & (speed < MIN_SPEED) & near.any()
    mean = jnp.where(near[:, None], jnp.asarray(ORE_MEANS), 0.0).sum(axis=0)
    for frame in range(SUB_FRAMES):
        ore = mean if noise is None else jnp.maximum(mean + ore_std * noise[frame], 0.0)
        free, total = CAPACITY - content.sum(), ore.sum()
        ore = jnp.where(total > free, ore * (free / total), ore)
        content = jnp.where(mining, content + ore, content)
    return content


class _Drive(NamedTuple):
    """Where an action takes the cart."""

    position: Float64[Array, " 2"]
    speed: Float64[Array, ""]
    heading: Int[Array, ""]
    departed: Bool[Array, ""]
    home: Bool[Array, ""]


def _driven(
    position: Float64[Array, " 2"],
    speed: Float64[Array, ""],
    heading: Int[Array, ""],
    departed: Bool[Array, ""],
    action: Int[Array, ""],
) -> _Drive:
    """Turn, accelerate or brake, and move, four times."""
    turn = jnp.where(action == LEFT, -1, jnp.where(action == RIGHT, 1, 0)).astype(jnp.int32)
    turning = turn != 0
    home = jnp.zeros((), bool)
    stopped = home
    for _ in range(SUB_FRAMES):
        # The action still counts in the sub-frame after the cart came home, the motion does not.
        heading = jnp.where(turning & ~stopped, _reduced(heading + turn), heading)
        faster = jnp.minimum(speed + ACCELERATION, MAX_SPEED)
        speed = jnp.where((action == ACCELERATE) & ~stopped, faster, speed)
        speed = jnp.where((action == BRAKE) & ~stopped, 0.0, speed)
        stopped = home

        moving = ~home & (speed >= MIN_SPEED)
        direction = jnp.asarray(_DIRECTIONS)[heading - _FIRST_HEADING]
        velocity = unfused(speed * direction)
        heading = heading + jnp.where(moving, _slide(position, velocity), 0)
        reached = jnp.where(moving, jnp.clip(position + velocity, 0.0, 1.0), position)
        speed = jnp.where(moving, length(position - reached), speed)
        position = reached

        in_base = length(position) < BASE_RADIUS
        home = home | (in_base & departed)
        departed = departed | ~in_base
    return _Drive(position, speed, heading, departed, home)


def _reduced(heading: Int[Array, ""]) -> Int[Array, ""]:
    """The same direction with an angle in 0..360."""
    lap, first = 360 // ROTATION, -(START_ANGLE // ROTATION)
    return (heading - first) % lap + first


def _slide(position: Float64[Array, " 2"], velocity: Float64[Array, " 2"]) -> Int[Array, ""]:
    """Headings by which a cart turns along the wall that it pushes against."""
    at_wall = (position == 0) | (position == 1)
    pushing = ((position == 1) & (velocity > 0)) | ((position == 0) & (velocity < 0))
    along = jnp.abs(velocity[::-1]) > MIN_SPEED  # the other axis' motion, along this axis' wall
    turns = (pushing & along & ~at_wall[::-1]).astype(jnp.int32)
    # Towards the direction of motion along the wall; the two axes have opposite handedness.
    sign = jnp.where((velocity[0] > 0) == (velocity[1] > 0), 1, -1).astype(jnp.int32)
    return sign * (turns[0] - turns[1])
