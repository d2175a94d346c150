"""A Gymnasium environment that notices every mistake in a rollout."""

import gymnasium as gym
import numpy as np

from pcn.rollout.slot_agents import CALLS_AHEAD
from pcn.rollout.slot_steps import STEPS_AT_ONCE

LIMIT = 2 * max(CALLS_AHEAD, STEPS_AT_ONCE) + 5
NUM_OBJECTIVES = 2


class Winding(gym.Env):
    """Episodes of many lengths whose observations, rewards and masks depend on all actions."""

    observation_space = gym.spaces.Dict(
        real=gym.spaces.Box(-9, 9, (2,), np.float64),
        parts=gym.spaces.Tuple((gym.spaces.Discrete(5), gym.spaces.MultiBinary(3))),
    )

    def __init__(self, several=False):
        self.several = several
        self.action_space = gym.spaces.MultiDiscrete([3, 2]) if several else gym.spaces.Discrete(3)

    def _seen(self):
        place = self.place % 5
        bits = [self.place >> bit & 1 for bit in range(3)]
        real = np.array([self.place / 7, self.time / 300])
        return {"real": real, "parts": (place, bits)}, {"action_mask": self._mask()}

    def _mask(self):
        mask = np.array([1, self.place % 2 if self.time % 4 else 1, 1], np.int8)
        return (mask, np.array([1, 1], np.int8)) if self.several else mask

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.time = int(self.np_random.integers(90)), 0
        self.endless = self.place % 2 == 0
        return self._seen()

    def step(self, action):
        assert self.action_space.contains(action)
        moved = int(np.sum(action))
        assert np.ravel(self._mask()[0] if self.several else self._mask())[np.ravel(action)[0]]
        self.place = (self.place * 5 + moved * 11 + self.time) % 97
        self.time += 1
        reward = np.array([self.place % 3, -moved / 2])
        seen, info = self._seen()
        return seen, reward, not self.endless and self.place == 0, self.time >= LIMIT, info
