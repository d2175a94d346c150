"""Playing one policy of a run, step by step."""

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image

from pcn.command import Command
from pcn.errors import UserError
from pcn.runs.policy import Policy
from pcn.runs.run import Run
from pcn.serialisation.files import write_bytes


@dataclass(frozen=True)
class GivenCommand:
    """The command that a network is given at one step, in numbers for people."""

    desired_return: Float[np.ndarray, " objective"]
    desired_horizon: float

    @classmethod
    def of(cls, policy: Policy) -> "GivenCommand | None":
        """The policy's command now; None where policies take no command."""
        command: Command | None = policy.command
        if command is None:
            return None
        return cls(
            np.asarray(command.desired_return, dtype=np.float64), float(command.desired_horizon)
        )


@dataclass(frozen=True)
class PlayedStep:
    """One step of an episode, for people."""

    number: int
    action: str
    reward: Float[np.ndarray, " objective"]
    command: GivenCommand | None
    """The policy's command after this step: the return that it still has to reach."""
    choice: int | list[int]
    """The action as a number, or one number for each of its parts; for a continuous part, the index
    of the nearest option."""
    probabilities: list[Float[np.ndarray, " option"]] | None
    """The network's probability of each option of each part; None if not computed or not known."""
    terminated: bool
    """Whether the environment ended the episode with this step."""
    truncated: bool
    """Whether the environment or the step limit cut the episode off after this step."""
    option_names: list[list[str]] | None = None
    """The names of the options of each part; None where they are only numbered."""


@dataclass(frozen=True)
class PlayedEpisode:
    """An episode and, if asked for, a picture before it and after each step."""

    command: GivenCommand | None
    """The command at the start, after it was bounded by the returns in the dataset."""
    steps: list[PlayedStep]
    terminated: bool
    """Whether the environment ended the episode, rather than the step limit."""
    frames: list[UInt8[np.ndarray, "height width 3"]]
    discount: float
    can_be_filmed: bool
    """Whether the environment can render images."""

    @property
    def total(self) -> Float[np.ndarray, " objective"]:
        """The return, discounted as it was in training."""
        rewards = np.asarray([step.reward for step in self.steps], dtype=np.float64)
        return (self.discount ** np.arange(len(rewards))) @ rewards


def play(run: Run, index: int, *, seed: int = 0, render: bool = False) -> PlayedEpisode:
    """Run one policy in its environment, with `policy.act` and `observe`.

    One environment and one network are created, whatever the environment is.
    """
    policy, frames = run.policy(index), []
    steps: list[PlayedStep] = []
    with closing(run.environment().person_view("rgb_array" if render else None)) as environment:
        can_be_filmed = "rgb_array" in environment.metadata.get("render_modes", ())
        start = environment.reset(seed=seed)
        first = GivenCommand.of(policy)
        if render:
            frames.append(environment.render())
        for step in play_steps(policy, environment, start, names=run.spec.action_names):
            steps.append(step)
            if render:
                frames.append(environment.render())
    discount = run.settings.config.discount
    terminated = bool(steps) and steps[-1].terminated
    return PlayedEpisode(
        first,
        steps,
        terminated,
        frames,  # type: ignore[arg-type]
        discount,
        can_be_filmed,
    )


def play_steps(
    policy: Policy,
    environment: gym.Env[Any, Any],
    start: tuple[Any, dict[str, Any]],
    *,
    names: tuple[str, ...] = (),
    ask_network: bool = False,
) -> Iterator[PlayedStep]:
    """Take one step after the other until the episode ends.

    `start` is the result of `environment.reset`; `names` are the names of the actions. With
    `ask_network` each step holds the network's probability of every option.
    """
    observation, info = start
    number, terminated, truncated = 0, False, False
    while not (terminated or truncated):
        action = policy.act(observation, info.get("action_mask"))
        probabilities = policy.option_probabilities() if ask_network else None
        options, option_names = policy.options()
        observation, reward, terminated, truncated, info = environment.step(action)
        policy.observe(reward)
        number += 1
        yield PlayedStep(
            number=number,
            action=names[action] if names and isinstance(action, int) else in_words(action),
            reward=np.asarray(reward),
            command=GivenCommand.of(policy),
            choice=action if isinstance(action, int) else options,
            option_names=option_names,
            probabilities=probabilities,
            terminated=bool(terminated),
            truncated=bool(truncated),
        )


def in_words(action: Any) -> str:
    """An action of any space in a few characters.

    >>> in_words({"force": np.array([0.25, -1.0], np.float32), "gear": 1})
    'force 0.25 -1, gear 1'
    >>> in_words(np.array([1, 0])), in_words((2, np.array([0.5])))
    ('[1 0]', '2, 0.5')
    """
    if isinstance(action, dict):
        return ", ".join(f"{name} {in_words(part)}" for name, part in action.items())
    if isinstance(action, tuple):
        return ", ".join(in_words(part) for part in action)
    if isinstance(action, np.ndarray) and np.issubdtype(action.dtype, np.floating):
        return " ".join(f"{number + 0.0:.3g}" for number in action.ravel().tolist())
    return str(action)


def save_gif(episode: PlayedEpisode, path: Path, *, milliseconds: int = 300) -> None:
    """Write the episode as an animation that repeats and rests on its last picture."""
    pictures = [Image.fromarray(frame) for frame in episode.frames]
    durations = [milliseconds] * (len(pictures) - 1) + [5 * milliseconds]
    buffer = io.BytesIO()
    pictures[0].save(
        buffer,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=durations,
        loop=0,
    )
    try:
        write_bytes(path, buffer.getvalue())
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
