"""The vault with action masks: what would lead nowhere is forbidden."""

import numpy as np

from benchmarks.unseen.vault import DOOR, ENTRANCE, HAS_KEY, KEY, OPEN, Vault

BESIDE_DOOR = (DOOR[0], DOOR[1] - 1)


class MaskedVault(Vault):
    def info(self):
        row, column, has = self.state
        usable = (
            (row, column) == ENTRANCE
            or ((row, column) == KEY and not has & HAS_KEY)
            or ((row, column) == BESIDE_DOOR and not has & OPEN)
        )
        afterwards = [self.outcomes(self.state, action)[0][1] for action in range(4)]
        moves = [after[:2] != (row, column) for after in afterwards]
        return {"action_mask": np.array([*moves, usable])}
