"""The corridor with action masks: what would lead nowhere is forbidden."""

import numpy as np

from benchmarks.unseen.corridor import Corridor


class MaskedCorridor(Corridor):
    def info(self):
        following = [self.outcomes(self.state, action)[0] for action in range(5)]
        leads = [after != self.state or ended for _, after, _, ended in following]
        return {"action_mask": np.array(leads)}
