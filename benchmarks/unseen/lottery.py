"""Lottery: the corridor, whose two last chests hold lots; random walks never get that far.

As `corridor`, but what is in the last two chests is random. Random episodes look deterministic.
"""

from benchmarks.unseen.corridor import CHESTS, LANES, Corridor

CHANCES = {(4, 5): 0.5, (0, LANES - 1): 0.1}
"""How likely these chests are not empty; then they hold so much more that the mean is the same."""


class Lottery(Corridor):
    def outcomes(self, state, action):
        chance = CHANCES.get(state, 1.0)
        if action != 4 or chance == 1.0:
            return super().outcomes(state, action)
        return [
            (chance, state, (CHESTS[state] / chance, -1, 0), True),
            (1 - chance, state, (0.0, -1, 0), True),
        ]
