"""Train on environments and with settings at the edge of what makes sense, and print what happens.

python benchmarks/faults/strange_environments.py
python benchmarks/faults/strange_environments.py "one step" "one action"   # only these
"""

import resource
import sys

import gymnasium as gym
import numpy as np

import pcn
from pcn.errors import UserError
from pcn.serialisation.files import fingerprint_of_arrays


class Strange(gym.Env):
    """Six steps that pay for action 1 and cost 1 each."""

    observation_space = gym.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gym.spaces.Discrete(3)
    length: float = 6

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self.seen(), {}

    def step(self, action):
        self.time += 1
        return self.seen(), self.reward(int(action)), self.time >= self.length, False, {}

    def seen(self):
        return np.full(self.observation_space.shape, self.time % 10 / 10, np.float32)

    def reward(self, action):
        return np.array([float(action == 1), -float(action)])


class OneStep(Strange):
    length = 1


class NeverEnding(Strange):
    length = np.inf


class OneAction(Strange):
    action_space = gym.spaces.Discrete(1)


class ManyActions(Strange):
    action_space = gym.spaces.Discrete(10_000)


class Constant(Strange):
    def reward(self, action):
        return np.ones(2)


class Huge(Strange):
    def reward(self, action):
        return np.array([5e29 * action, -1e30])


class Tiny(Strange):
    def reward(self, action):
        return np.array([1e-30 * action, -1e-30 * action])


class FloatPictures(Strange):
    observation_space = gym.spaces.Box(0, 1, (84, 84, 4), np.float32)
    length = 50


CASES = {
    "one step": (OneStep, {}),
    "never-ending": (NeverEnding, {}),
    "one action": (OneAction, {}),
    "10,000 actions": (ManyActions, {}),
    "constant rewards": (Constant, {}),
    "rewards of 1e30": (Huge, {}),
    "rewards of 1e-30": (Tiny, {}),
    "pictures of real numbers": (FloatPictures, {}),
    "a seed beyond 32 bits": (Strange, {"seed": (1 << 80) + 1}),
    "the same seed without its high bits": (Strange, {"seed": 1}),
    "a budget below one episode": (NeverEnding, {"total_steps": 3}),
    "a budget of one step": (Strange, {"total_steps": 1}),
    "MONES with a billion draws": (Strange, {"algorithm": "mones", "population": 10**9}),
    "MONES with a billion final draws": (Strange, {"algorithm": "mones", "final_draws": 10**9}),
}


def main() -> None:
    pcn.configure_jax()
    for name, (kind, options) in CASES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        try:
            run = pcn.train(kind, **{"total_steps": 2000, **options})
            told = f"{run!r}, weights {fingerprint_of_arrays(run.weights, {})[:8]}"
        except UserError as error:
            told = f"refused: {error}"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name:36} {told} (peak {peak:.0f} MB)", flush=True)


if __name__ == "__main__":
    main()
