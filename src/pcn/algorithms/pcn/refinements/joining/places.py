"""Places: cells of a grid over observations, and the best known ways to and from each."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int

from pcn.algorithms.pcn.refinements.joining.passed import Passed
from pcn.algorithms.pcn.refinements.joining.ways import NONE, Ways
from pcn.fingerprints import row_fingerprints
from pcn.pareto import Tolerances


class Places:
    """One grid. Observations in the same cell are the same place."""

    def __init__(
        self,
        widths: Float[np.ndarray, " part"],
        shift: Float[np.ndarray, " part"],
        num_objectives: int,
        most: int,
    ) -> None:
        """Cells are `widths` wide, and shifted by a share of that; `most` places are known."""
        self._widths, self._shift, self._most = widths, shift, most
        self._numbers: dict[int, int] = {}
        self.passed = Passed()
        """What episodes passed since the grid began."""
        self.to = Ways(num_objectives)
        """What episodes returned before they came to a place."""
        self.onward = Ways(num_objectives)
        """What episodes returned after they had come to a place."""

    def numbers_of(self, observations: Float[np.ndarray, "step part"]) -> Int[np.ndarray, " step"]:
        """The place of each observation, new ones included; -1 where there are too many places."""
        cells = np.floor(observations / self._widths + self._shift)
        prints = row_fingerprints(cells + 0.0).tolist()  # + 0.0: minus zero has other bits
        numbers = self._numbers
        found = [numbers.get(one, NONE) for one in prints]
        if NONE in found:
            for row, one in enumerate(prints):
                if found[row] == NONE:
                    found[row] = self._number_of(one)
        return np.array(found, np.int64)

    def _number_of(self, fingerprint: int) -> int:
        number = self._numbers.get(fingerprint, NONE)
        if number == NONE and len(self._numbers) < self._most:
            number = self._numbers[fingerprint] = len(self._numbers)
            self.to.open_place()
            self.onward.open_place()
        return number

    def hopeful(
        self,
        front: Float[np.ndarray, "point objective"],
        margins: Float[np.ndarray, " objective"],
        discount: float,
        tolerances: Tolerances,
    ) -> Int[np.ndarray, "way 4"]:
        """The ways to places from which a known way goes on to a return close to the front.

        Close is what would be as good as a point of the front in all objectives if it were better
        by the margins. Returns the episode and the step of each way, and of a way that goes on.
        """
        partners = np.full(len(self.to), NONE)
        factors = discount ** self.to.sources[:, 1:].astype(np.float64)
        for places, ways in self.to.layers():
            for others, onward in self.onward.layers():
                from_place = np.full(len(self._numbers), NONE)
                from_place[others] = onward
                open_ = (from_place[places] != NONE) & (partners[ways] == NONE)
                to, then = ways[open_], from_place[places[open_]]
                promised = self.to.vectors[to] + factors[to] * self.onward.vectors[then]
                hopeful, columns = np.zeros(len(to), dtype=bool), np.ascontiguousarray(promised.T)
                for point in (front - margins - tolerances).tolist():
                    close = columns[0] >= point[0]
                    for column, value in zip(columns[1:], point[1:], strict=True):
                        close &= column >= value
                    hopeful |= close
                partners[to[hopeful]] = then[hopeful]
        found = np.flatnonzero(partners != NONE)
        return np.concatenate(
            [self.to.sources[found], self.onward.sources[partners[found]]], axis=1
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The grid, its places and all ways."""
        return {
            "widths": self._widths,
            "shift": self._shift,
            "passed": self.passed.to_array(),
            "places": np.fromiter(self._numbers, np.uint64, len(self._numbers)),
            **{f"to.{name}": array for name, array in self.to.to_arrays().items()},
            **{f"onward.{name}": array for name, array in self.onward.to_arrays().items()},
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], most: int) -> "Places":
        """What `to_arrays` gave."""
        num_objectives = arrays["to.vectors"].shape[1]
        places = cls(np.array(arrays["widths"]), np.array(arrays["shift"]), num_objectives, most)
        places._numbers = {one: row for row, one in enumerate(arrays["places"].tolist())}
        if "passed" in arrays:  # older checkpoints have none
            places.passed.from_array(arrays["passed"])
        for name, ways in (("to.", places.to), ("onward.", places.onward)):
            own = {key.removeprefix(name): arrays[key] for key in arrays if key.startswith(name)}
            ways.from_arrays(own)
        return places
