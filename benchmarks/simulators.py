"""Steps per second of slow simulators in worker processes, or on the Ray cluster of `RAY_ADDRESS`.

`python benchmarks/simulators.py --help`. A step of the simulator waits instead of computing, so
that what is measured is the messages, and not how many cores there are.
"""

import time
from dataclasses import dataclass
from functools import partial

import gymnasium as gym
import mo_gymnasium
import numpy as np
import tyro

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe
from pcn.envs.registry import Workers
from pcn.envs.slots import Script


@dataclass
class Arguments:
    """What to measure."""

    workers: Workers = True
    """True for processes, or `ray`."""
    simulators: tuple[int, ...] = (2, 4, 8)
    """How many at once."""
    milliseconds: float = 10.0
    """How long a step takes."""
    steps: int = 500
    """Steps of each simulator on the clock."""


class Slow(gym.Wrapper):
    """An environment whose steps take long; its episodes end after 50."""

    def __init__(self, id: str, milliseconds: float) -> None:
        super().__init__(mo_gymnasium.make(id, max_episode_steps=50))
        self.seconds = milliseconds / 1000

    def step(self, action):
        time.sleep(self.seconds)
        return self.env.step(action)


UP, LENGTH = 0, 50
"""An action of Deep Sea Treasure with which an episode goes on until it is truncated."""


def measure(arguments: Arguments, simulators: int) -> tuple[float, float]:
    """Steps per second with a message for each step, and with one for each episode."""
    environment = GymnasiumEnvironment.from_source(
        GymnasiumSource("slow", partial(Slow, "deep-sea-treasure-v0", arguments.milliseconds)),
        Probe((0.0, -100.0), True, False, LENGTH),
        num_slots=simulators,
        workers=arguments.workers,
    )
    environment.prepare()
    slots, places = environment.slots(), range(simulators)
    episodes = arguments.steps // LENGTH
    total = simulators * episodes * LENGTH
    started = time.perf_counter()
    for episode in range(episodes):
        slots.reset(dict.fromkeys(places, episode))
        for _ in range(LENGTH):
            slots.step(dict.fromkeys(places, UP))
    stepped = time.perf_counter() - started
    started = time.perf_counter()
    for episode in range(episodes):
        script = Script(episode, np.full((LENGTH, 1), UP), obeys_masks=False)
        slots.play(dict.fromkeys(places, script))
    played = time.perf_counter() - started
    environment.close()
    return total / stepped, total / played


def main(arguments: Arguments) -> None:
    for simulators in arguments.simulators:
        stepped, played = measure(arguments, simulators)
        most = simulators / arguments.milliseconds * 1000
        print(
            f"{simulators} simulators, workers {arguments.workers}: {stepped:.0f} steps per second "
            f"step by step, {played:.0f} in whole episodes, at most {most:.0f}"
        )


if __name__ == "__main__":
    main(tyro.cli(Arguments))
