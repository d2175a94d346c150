"""Gymnasium environments that misbehave: at once, or only after a number of steps."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import gymnasium as gym
import numpy as np

ALL = np.ones(3, np.int8)
LATE = 3
"""The step of an episode in which an environment begins to misbehave."""


class Tame(gym.Env):
    """Six steps that pay for action 1 and cost 1 each; subclasses misbehave from step `LATE` on."""

    observation_space = gym.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gym.spaces.Discrete(3)
    length = 6

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self.seen(), self.info()

    def step(self, action):
        self.time += 1
        ended = self.time >= self.length
        return self.seen(), self.reward(action), ended, False, self.info()

    @property
    def late(self):
        return self.time >= LATE

    def seen(self):
        return np.full(3, self.time / 10, np.float32)

    def reward(self, action):
        return np.array([float(action == 1), -1.0])

    def info(self):
        return {}


def rewarding(value):
    """An environment whose reward is `value` from step `LATE` on."""

    class Hostile(Tame):
        def reward(self, action):
            return value if self.late else super().reward(action)

    return Hostile


def showing(value, space=Tame.observation_space):
    """An environment whose observation is `value` from step `LATE` on."""

    class Hostile(Tame):
        observation_space = space

        def seen(self):
            return value if self.late else space.sample()

    return Hostile


def masking(mask, before=ALL):
    """An environment whose mask is `before`, and `mask` from step `LATE` on; None for no mask."""

    class Hostile(Tame):
        def info(self):
            now = mask if self.late else before
            return {} if now is None else {"action_mask": now}

    return Hostile


def informing(value):
    """An environment whose info is `value` from step `LATE` on."""

    class Hostile(Tame):
        def info(self):
            return value if self.late else super().info()

    return Hostile


def ending(*, terminated=False, truncated=False):
    """An environment whose flags for the end of an episode are these from step `LATE` on."""

    class Hostile(Tame):
        def step(self, action):
            seen, reward, ended, _, info = super().step(action)
            flags = (terminated, truncated) if self.late else (ended, False)
            return seen, reward, *flags, info

    return Hostile


class Exits(Tame):
    """Ends the whole program."""

    def reward(self, action):
        if self.late:
            sys.exit(3)
        return super().reward(action)


def raising(error):
    """An environment that raises `error` from step `LATE` on."""

    class Hostile(Tame):
        def reward(self, action):
            if self.late:
                raise error
            return super().reward(action)

    return Hostile


class Cancels(Tame):
    """Raises what is meant for coroutines, and is no `Exception`."""

    def reward(self, action):
        if self.late:
            raise asyncio.CancelledError("lost")
        return super().reward(action)


class Hangs(Tame):
    """Never answers again."""

    def reward(self, action):
        if self.late:
            time.sleep(1000)
        return super().reward(action)


class HangsOnceSeen(Tame):
    """Never answers again, and makes the file that a variable names, when it begins to."""

    def reward(self, action):
        if self.late:
            Path(os.environ["HOSTILE_FILE"]).touch()
            time.sleep(1000)
        return super().reward(action)


class Dies(Tame):
    """Takes its process with it."""

    def reward(self, action):
        if self.late:
            os._exit(9)
        return super().reward(action)


class Crashes(Tame):
    """Is killed by the system, as after a wrong access to memory."""

    def reward(self, action):
        if self.late:
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().reward(action)


class OldFashioned(Tame):
    """Returns four values, as environments did before Gymnasium."""

    def step(self, action):
        seen, reward, ended, _, info = super().step(action)
        return seen, reward, ended, info


class Endless(Tame):
    length = np.inf


class CannotBeClosed(Tame):
    """Fails when it is closed, as one does whose socket is gone."""

    tried = 0

    def close(self):
        type(self).tried += 1
        raise ConnectionError("the socket is gone")


class Burns(Tame):
    """Uses a fifth of a second of its processor in every step."""

    def reward(self, action):
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        return super().reward(action)
