"""What the refinement `junctions` remembers during a training."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from pcn.algorithms.pcn.refinements.abstract import AbstractState
from pcn.algorithms.pcn.refinements.joining.passed import passing_prints
from pcn.algorithms.pcn.refinements.joining.places import Places
from pcn.algorithms.pcn.refinements.joining.walks import fresh_steps, walked
from pcn.algorithms.pcn.refinements.joining.ways import NONE
from pcn.algorithms.pcn.refinements.scripts import Actions, Tried
from pcn.episodes import Episodes
from pcn.pareto import Tolerances

FEWEST_FORGOTTEN = 1024
"""Episodes are looked through for those that no way needs once there are so many more."""


class Joints(NamedTuple):
    """Episodes that begin as one and go on as another, and what they would return."""

    returns: Float[np.ndarray, "joint objective"]
    sources: Int[np.ndarray, "joint 4"]
    """The first episode and how many of its steps, the other one and its first step."""

    def taking(self, index: np.ndarray) -> "Joints":
        """Some of them."""
        return Joints(self.returns[index], self.sources[index])

    def followed_by(self, other: "Joints") -> "Joints":
        """These and then the others."""
        return Joints(*map(np.concatenate, zip(self, other, strict=True)))


class JunctionMemory(AbstractState):
    """Places that episodes pass, ways through them, and joints that have not been played."""

    def __init__(self, num_objectives: int, *, most_places: int, most_tried: int) -> None:
        self._num_objectives, self._most_places = num_objectives, most_places
        self.tried = Tried(most_tried)
        """Which joints have been played."""
        self.scales = np.zeros(0)
        """The deviation of each number of an observation, by which cells are measured."""
        self.grids: list[Places] = []
        self.waiting = self._none()
        """Joints that have not been played."""
        self.steps = 0
        """Environment steps of played joints."""
        self.num_renewals = 0
        """How often the oldest grid was replaced."""
        self.last_played = 0
        """How many environment steps had been taken when joints were last played."""
        self.branches = np.zeros((0, 4), np.int64)
        """Ways that go on with other actions, each with a known way onward: as of a joint."""
        self.branch_steps = 0
        """Environment steps of these."""
        self.last_chosen = 0
        """How many environment steps had been taken when these ways were last chosen."""
        self._scripts: dict[int, Actions] = {}
        self._next_episode = 0
        self._most_scripts = FEWEST_FORGOTTEN

    def _none(self) -> Joints:
        return Joints(np.zeros((0, self._num_objectives)), np.zeros((0, 4), np.int64))

    def begin(self, scales: Float[np.ndarray, " part"]) -> None:
        """Forget all places; from now on cells are measured by these scales."""
        self.scales = scales
        self.grids = []
        self.waiting = self._none()
        self.branches = self.branches[:0]
        self._scripts.clear()

    def add_grid(self, width: float, shift: Float[np.ndarray, " part"], most: int) -> None:
        """One more grid, with cells of this width in scales; at most `most`, the newest, stay."""
        # A number that has never varied has a cell of its own for each value.
        widths = width * np.where(self.scales > 0, self.scales, np.finfo(np.float32).tiny)
        grid = Places(widths, shift, self._num_objectives, self._most_places)
        self.grids = [*self.grids, grid][-most:]

    def learn(
        self,
        episodes: Episodes,
        longest: int,
        discount: float,
        tolerances: Tolerances,
        *,
        ties: float,
        most_equal: int = 1,
        rng: np.random.Generator,
    ) -> Joints:
        """Note what the real episodes passed in their first steps; returns the new joints.

        A share `ties` of the ways that are as good as a known one are noted, too; beyond
        `most_equal` of them in a place, one takes the place of another.
        """
        walk = walked(episodes, longest, discount)
        numbers: dict[int, int] = {}
        found: list[tuple[int, int, int, int, np.ndarray]] = []
        actions, lengths = np.asarray(episodes.actions), np.asarray(episodes.lengths)

        def source(step: int) -> tuple[int, int]:
            row = int(walk.episodes[step])
            if row not in numbers:
                numbers[row] = self._remember(actions[row, : lengths[row]].copy())
            return numbers[row], int(walk.times[step])

        chosen = rng.uniform(size=len(walk.times)) < ties
        to_prints = passing_prints(walk.observations, walk.before, seed=0)
        onward_prints = passing_prints(walk.observations, walk.onward, seed=1)
        for grid in self.grids:
            new_to, new_onward = grid.passed.new_mask(to_prints), walk.ended.copy()
            new_onward[new_onward] = grid.passed.new_mask(onward_prints[new_onward])
            places, new = np.full(len(new_to), NONE), new_to | new_onward
            places[new] = grid.numbers_of(walk.observations[new])
            known = places != NONE
            for step in fresh_steps(
                grid.to, places, walk.before, known & new_to, tolerances, chosen, most_equal
            ):
                place, vector, own = int(places[step]), walk.before[step], source(step)
                grid.to.add(place, vector, own, tolerances, most_equal=most_equal)
                for way in grid.onward.at(place):
                    promise = vector + discount ** own[1] * grid.onward.vectors[way]
                    found.append((*own, *grid.onward.sources[way].tolist(), promise))
            ended = known & new_onward
            for step in fresh_steps(
                grid.onward, places, walk.onward, ended, tolerances, chosen, most_equal
            ):
                place, vector, own = int(places[step]), walk.onward[step], source(step)
                grid.onward.add(place, vector, own, tolerances, most_equal=most_equal)
                for way in grid.to.at(place):
                    other = grid.to.sources[way].tolist()
                    promise = grid.to.vectors[way] + discount ** other[1] * vector
                    found.append((*other, *own, promise))
        if not found:
            return self._none()
        return Joints(
            np.array([one[4] for one in found]), np.array([one[:4] for one in found], np.int64)
        )

    def _remember(self, actions: Actions) -> int:
        number, self._next_episode = self._next_episode, self._next_episode + 1
        self._scripts[number] = actions
        return number

    def forget_unused(self) -> None:
        """Forget the actions of episodes that no way and no joint needs any more."""
        if len(self._scripts) < self._most_scripts:
            return
        used = [ways.sources[:, 0] for grid in self.grids for ways in (grid.to, grid.onward)]
        others = [self.waiting.sources[:, [0, 2]].ravel(), self.branches[:, [0, 2]].ravel()]
        needed = set(np.unique(np.concatenate([*used, *others])).tolist())
        self._scripts = {one: self._scripts[one] for one in self._scripts if one in needed}
        self._most_scripts = 2 * len(self._scripts) + FEWEST_FORGOTTEN

    def script(self, source: Int[np.ndarray, " 4"]) -> Actions:
        """The actions of a joint."""
        first, num_steps, other, step = source.tolist()
        return np.concatenate([self._scripts[first][:num_steps], self._scripts[other][step:]])

    def choose_branches(
        self,
        front: Float[np.ndarray, "point objective"],
        margins: Float[np.ndarray, " objective"],
        discount: float,
        tolerances: Tolerances,
    ) -> None:
        """From now on, the ways to places that lead close to the front go on with other actions."""
        found = [grid.hopeful(front, margins, discount, tolerances) for grid in self.grids]
        if not found:
            self.branches = self.branches[:0]
            return
        ways = np.concatenate(found)
        _, first = np.unique(ways[:, :2], axis=0, return_index=True)
        self.branches = ways[first]

    def branch(self, branch: int) -> tuple[Actions, Actions]:
        """The actions of a way that goes on with other actions, and those of a known way onward."""
        first, num_steps, other, step = self.branches[branch].tolist()
        return self._scripts[first][:num_steps], self._scripts[other][step:]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything remembered, as named arrays for a checkpoint."""
        scripts = list(self._scripts.values())
        grids = {
            f"grid_{number}.{name}": array
            for number, grid in enumerate(self.grids)
            for name, array in grid.to_arrays().items()
        }
        return {
            **self.tried.to_arrays(),
            "counts": np.array(
                [
                    self.steps,
                    self.last_played,
                    self.num_renewals,
                    self._next_episode,
                    self._most_scripts,
                    self.branch_steps,
                    self.last_chosen,
                ]
            ),
            "branches": self.branches,
            "scales": self.scales,
            "waiting.returns": self.waiting.returns,
            "waiting.sources": self.waiting.sources,
            "episodes": np.fromiter(self._scripts, np.int64, len(scripts)),
            "lengths": np.array([len(script) for script in scripts], np.int64),
            **({"scripts": np.concatenate(scripts)} if scripts else {}),
            **grids,
        }

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.tried.from_arrays(arrays)
        counts = arrays["counts"].tolist()
        self.steps, self.last_played, self.num_renewals = counts[:3]
        self._next_episode, self._most_scripts = counts[3:5]
        # Checkpoints from before there were any have none; older ones know no way onward.
        if "branches" in arrays:
            branches = np.array(arrays["branches"])
            self.branches = branches if branches.shape[1:] == (4,) else self.branches[:0]
            self.branch_steps, self.last_chosen = counts[5:]
        self.scales = np.array(arrays["scales"])
        self.waiting = Joints(
            np.array(arrays["waiting.returns"]), np.array(arrays["waiting.sources"])
        )
        ends = np.cumsum(arrays["lengths"])[:-1]
        scripts = np.split(arrays["scripts"], ends) if "scripts" in arrays else []
        self._scripts = dict(zip(arrays["episodes"].tolist(), scripts, strict=True))
        self.grids = [Places.from_arrays(own, self._most_places) for own in _by_grid(arrays)]


def _by_grid(arrays: Mapping[str, np.ndarray]) -> Iterator[dict[str, np.ndarray]]:
    number = 0
    while f"grid_{number}.widths" in arrays:
        prefix = f"grid_{number}."
        yield {key.removeprefix(prefix): arrays[key] for key in arrays if key.startswith(prefix)}
        number += 1
