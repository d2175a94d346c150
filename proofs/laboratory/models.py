"""The stochastic environments of the laboratory as tables of what each action may lead to.

They are written from the rules, not from the compiled environments, which they are compared with.
"""

from typing import Any

import numpy as np

Outcome = tuple[float, Any, Any, bool]


class GatheringModel:
    """Resource Gathering; a state is (row, column, has gold, has diamond), as observed."""

    GOLD, DIAMOND, HOME = (0, 2), (1, 4), (4, 2)
    ENEMIES = ((0, 3), (1, 2))
    MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))

    def starts(self) -> dict[Any, float]:
        """At home, with nothing."""
        return {(*self.HOME, 0, 0): 1.0}

    def actions(self, state: Any) -> range:
        """All four directions."""
        del state
        return range(4)

    def outcomes(self, state: Any, action: int) -> list[Outcome]:
        """A step onto a cell; an enemy kills in one of ten cases."""
        row, column, gold, diamond = state
        down, right = self.MOVES[action]
        cell = (min(max(row + down, 0), 4), min(max(column + right, 0), 4))
        following = (*cell, int(gold or cell == self.GOLD), int(diamond or cell == self.DIAMOND))
        if cell == self.HOME:
            return [(1.0, following, (0, following[2], following[3]), True)]
        if cell in self.ENEMIES:
            return [(0.1, following, (-1, 0, 0), True), (0.9, following, (0, 0, 0), False)]
        return [(1.0, following, (0, 0, 0), False)]


class BottlesModel:
    """Breakable Bottles; a state is (location, carrying, delivered, broken at 1, at 2, at 3)."""

    LEFT, RIGHT, PICK_UP = range(3)

    def starts(self) -> dict[Any, float]:
        """At the destination, with nothing."""
        return {(4, 0, 0, 0, 0, 0): 1.0}

    def actions(self, state: Any) -> range:
        """Left, right, pick up."""
        del state
        return range(3)

    def outcomes(self, state: Any, action: int) -> list[Outcome]:
        """A step or a grip; one of two bottles may break between the ends."""
        location, carrying, _, *broken = state
        if action == self.PICK_UP:
            more = int(location == 0 and carrying < 2)
            return [(1.0, (location, carrying + more, *state[2:]), (-1, 0, 0), False)]
        target = min(max(location + (1 if action == self.RIGHT else -1), 0), 4)
        if not (carrying == 2 and 0 < location < 4):
            return [self._moved(1.0, state, target, carrying, broken)]
        littered = [1 if place == location - 1 else one for place, one in enumerate(broken)]
        return [
            self._moved(0.9, state, target, 2, broken),
            self._moved(0.1, state, target, 1, littered),
        ]

    def _moved(
        self, probability: float, state: Any, target: int, carrying: int, broken: list[int]
    ) -> Outcome:
        location, _, delivered, *before = state
        handed = min(carrying, 2 - delivered) if target == 4 and location != 4 else 0
        left = 0 if target == 4 and location != 4 else carrying
        litter = -int(any(broken) and not any(before))
        following = (target, left, delivered + handed, *broken)
        return probability, following, (-1, 25 * handed, litter), following[2] == 2


class FishWoodModel:
    """FishWood; a state is the place. The 200 steps of the day are the planning horizon."""

    def starts(self) -> dict[Any, float]:
        """In the woods."""
        return {1: 1.0}

    def actions(self, state: Any) -> range:
        """To the water, to the woods."""
        del state
        return range(2)

    def outcomes(self, state: Any, action: int) -> list[Outcome]:
        """What is gained here on average, then the new place."""
        return [(1.0, action, np.array([(0.1, 0.0), (0.0, 0.9)][state]), False)]
