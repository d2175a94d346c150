"""The exact Pareto front of deterministic Minecart: `python -m proofs.minecart.front`.

What has to be searched. An episode pays its ore when the cart comes home, so its return is the load
it brings and the fuel it used; one that never comes home brings nothing and uses 20, which the
shortest empty trip dominates. A mining action yields at least 0.8 and the cart holds 1.5, so the
second one always fills it, and in the middle of the diagonal (mine 2) the first one does. Hence 26
kinds of trip: no mining, one mining action, or two at a given pair of mines in order. For each kind
the search finds the least fuel. (Mining with a full cart changes the load by rounding errors below
1e-15 and costs fuel: left out.)

How. A* over the real dynamics in float64, bit for bit those of MO-Gymnasium, merging carts that
stand in exactly the same place. The bound on the remaining fuel comes from a coarsened Minecart
that can do all that the real one can (`bound.py`). So every trip that could cost less than
the one found has been followed up to a point from which it provably does not. Only actions that
leave the cart as it is and cost fuel are not tried.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.envs.minecart.environment import (
    BRAKE,
    CAPACITY,
    FRONT_FILE,
    MIN_SPEED,
    MINE,
    MINES,
    NOTHING,
    ORE_MEANS,
    SUB_FRAMES,
)
from proofs.minecart.bound import Bound, to_base, to_mine
from proofs.minecart.coarse import UNIT, UNITS
from proofs.minecart.float64 import Carts, advance, can_mine, carts_at_start

ORE_PER_ACTION = SUB_FRAMES * np.array(ORE_MEANS)
FILLS_AT_ONCE = np.flatnonzero(ORE_PER_ACTION.sum(axis=1) >= CAPACITY)  # mine 2

Kind = tuple[int, ...]  # the mines of a trip's mining actions, in order


class Trip(NamedTuple):
    """The cheapest trip of its kind."""

    mines: Kind
    fuel_units: int
    actions: list[int]
    num_expanded: int

    @property
    def episode_return(self) -> tuple[float, float, float]:
        """Ore 1, ore 2 and fuel, as rewarded."""
        ore_1, ore_2 = load_after(self.mines).round(9).tolist()
        return ore_1, ore_2, round(-self.fuel_units * UNIT, 9)


class _Nodes(NamedTuple):
    """Partial trips, found in batches."""

    carts: Carts
    num_mined: Int[np.ndarray, " node"]
    fuel: Int[np.ndarray, " node"]
    position: Int[np.ndarray, " node"]  # in the history of the search

    def chosen(self, index: Any) -> "_Nodes":
        return _Nodes(
            self.carts.chosen(index), self.num_mined[index], self.fuel[index], self.position[index]
        )


class _History:
    """For each partial trip its last action and the partial trip before."""

    def __init__(self) -> None:
        self._parents = [np.array([-1])]
        self._actions = [np.array([-1], np.int8)]
        self._count = 1

    def record(self, parents: Int[np.ndarray, " node"], action: int) -> Int[np.ndarray, " node"]:
        """Note new partial trips; returns their positions."""
        self._parents.append(parents)
        self._actions.append(np.full(len(parents), action, np.int8))
        self._count += len(parents)
        return np.arange(self._count - len(parents), self._count)

    def actions_to(self, position: int) -> list[int]:
        """All actions that led there."""
        parents, actions = np.concatenate(self._parents), np.concatenate(self._actions)
        backwards = []
        while position > 0:
            backwards.append(int(actions[position]))
            position = int(parents[position])
        return backwards[::-1]


def cheapest_trip(mines: Kind, bounds: list[Bound], *, batch: int = 20_000) -> Trip:
    """Least fuel to mine at these mines in this order and come home.

    `bounds[k]` bounds the fuel that is still needed after k of the mining actions.
    """
    history = _History()
    standing: dict[Stand, int] = {}
    zero = np.zeros(1, np.int64)
    start = _Nodes(carts_at_start(), zero, zero, zero)
    waiting = {int(bounds[0](start.carts)[0]): [start]}  # by the least fuel of the whole trip
    best_fuel, best_position, num_expanded = sys.maxsize, 0, 0
    while (
        total := min((fuel for fuel in waiting if waiting[fuel]), default=best_fuel)
    ) < best_fuel:
        # The furthest first: the last total is then left as soon as one of its trips is home.
        nodes = _by_fuel(waiting.pop(total))
        waiting[total] = [nodes.chosen(slice(None, -batch))] if len(nodes.fuel) > batch else []
        nodes = nodes.chosen(slice(-batch, None))
        nodes = _standing_nowhere_twice(nodes, standing)
        num_expanded += len(nodes.fuel)
        for action in UNITS:
            parents = nodes.chosen(_may_matter(nodes, action, mines))
            children, home = _followed(parents, action, history)
            done = children.chosen(home & (children.num_mined == len(mines)))
            if len(done.fuel) and done.fuel.min() < best_fuel:
                best_fuel = int(done.fuel.min())
                best_position = int(done.position[done.fuel.argmin()])
            children = children.chosen(~home)
            totals = np.maximum(children.fuel + _remaining(children, bounds), total)
            for value in np.unique(totals):
                if value < best_fuel:
                    waiting.setdefault(int(value), []).append(children.chosen(totals == value))
    return Trip(mines, best_fuel, history.actions_to(best_position), num_expanded)


def _by_fuel(parts: list[_Nodes]) -> _Nodes:
    """All parts as one, sorted by the fuel used so far."""
    carts = Carts(*map(np.concatenate, zip(*(part.carts for part in parts), strict=True)))
    others = [np.concatenate(fields) for fields in zip(*(part[1:] for part in parts), strict=True)]
    joined = _Nodes(carts, *others)
    return joined.chosen(np.argsort(joined.fuel, kind="stable"))


def _followed(
    parents: _Nodes, action: int, history: _History
) -> tuple[_Nodes, Bool[np.ndarray, " node"]]:
    """The partial trips one action later, and which of them are home."""
    home = np.zeros(len(parents.fuel), bool)
    carts = parents.carts
    if action != MINE:  # which moves nothing: only standing carts mine
        carts, home = advance(carts, action)
    num_mined = parents.num_mined + (action == MINE)
    fuel = parents.fuel + UNITS[action]
    return _Nodes(carts, num_mined, fuel, history.record(parents.position, action)), home


def _remaining(nodes: _Nodes, bounds: list[Bound]) -> Int[np.ndarray, " node"]:
    """Fuel that each partial trip still needs at least."""
    remaining = np.zeros(len(nodes.fuel), np.int64)
    for stage, bound in enumerate(bounds):
        at_stage = nodes.num_mined == stage
        remaining[at_stage] = bound(nodes.carts.chosen(at_stage))
    return remaining


Stand = tuple[bytes, int, bool, int]


def _standing_nowhere_twice(nodes: _Nodes, least_fuel: dict[Stand, int]) -> _Nodes:
    """Drop carts that stand exactly where a trip with no more fuel has stood before.

    Carts in motion are not compared: they practically never coincide.
    """
    keep = np.ones(len(nodes.fuel), bool)
    position, _, angle, departed = nodes.carts
    standing = np.flatnonzero(nodes.carts.speed == 0)
    for i in standing[np.argsort(nodes.fuel[standing], kind="stable")]:
        stand = position[i].tobytes(), int(angle[i]), bool(departed[i]), int(nodes.num_mined[i])
        keep[i] = nodes.fuel[i] < least_fuel.get(stand, sys.maxsize)
        if keep[i]:
            least_fuel[stand] = int(nodes.fuel[i])
    return nodes.chosen(keep)


def _may_matter(nodes: _Nodes, action: int, mines: Kind) -> Bool[np.ndarray, " node"]:
    """Whether the action does more than use fuel, and keeps to this kind of trip."""
    if action == MINE:
        may_mine = np.zeros(len(nodes.fuel), bool)
        for stage, mine in enumerate(mines):
            may_mine |= (nodes.num_mined == stage) & can_mine(nodes.carts, mine)
        return may_mine
    if action == NOTHING:
        return nodes.carts.speed >= MIN_SPEED
    if action == BRAKE:
        return nodes.carts.speed > 0
    return np.ones(len(nodes.fuel), bool)


def cheapest_trips() -> Iterator[Trip]:
    """The cheapest trip of every kind, one after the other; each takes seconds."""
    home = to_base()
    yield cheapest_trip((), [home])
    for last in range(len(MINES)):
        with_last = to_mine(last, home)
        yield cheapest_trip((last,), [with_last, home])
        for first in range(len(MINES)):
            if first not in FILLS_AT_ONCE:
                bounds = [to_mine(first, with_last), with_last, home]
                yield cheapest_trip((first, last), bounds)


def load_after(mines: Kind) -> Float[np.ndarray, "2"]:
    """The cart's content after mining once at each of these mines."""
    load = np.zeros(2)
    for mine in mines:
        ore = ORE_PER_ACTION[mine]
        load += ore * min(1.0, (CAPACITY - load.sum()) / ore.sum())
    return load


def non_dominated(trips: list[Trip]) -> list[Trip]:
    """The trips on the front, one for each return, from the least fuel to the most."""
    unique = {trip.episode_return: trip for trip in sorted(trips, reverse=True)}
    returns = np.array(list(unique))
    at_least = np.all(returns[:, None] >= returns[None, :], axis=-1)
    dominated = (at_least & ~at_least.T).any(axis=0)
    kept = [trip for trip, drop in zip(unique.values(), dominated, strict=True) if not drop]
    return sorted(kept, key=lambda trip: (trip.fuel_units, trip.mines))


def main(path: Path = FRONT_FILE) -> None:
    """Search, print and write the front."""
    began, trips = time.process_time(), []
    for trip in cheapest_trips():
        trips.append(trip)
        seconds = time.process_time() - began
        print(
            f"{seconds:4.0f} s  mines {trip.mines}: return {trip.episode_return}, "
            f"{trip.num_expanded} partial trips followed",
            flush=True,
        )
    front = non_dominated(trips)
    print(f"{len(front)} points")
    points = [
        {"return": trip.episode_return, "mines": trip.mines, "actions": trip.actions}
        for trip in front
    ]
    path.write_text("[\n" + ",\n".join(json.dumps(point) for point in points) + "\n]\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
