"""Playing one policy of a run, step by step."""

import io
from dataclasses import dataclass
from pathlib import Path

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
    """The policy's own command after this step: what it still tries to reach."""


@dataclass(frozen=True)
class PlayedEpisode:
    """An episode and, if asked for, a picture before it and after each step."""

    command: GivenCommand | None
    """The command at the start, as the network was given it: bounded by what it has seen."""
    steps: list[PlayedStep]
    terminated: bool
    """Whether the environment ended the episode, rather than the step limit."""
    frames: list[UInt8[np.ndarray, "height width 3"]]
    discount: float

    @property
    def total(self) -> Float[np.ndarray, " objective"]:
        """The return, discounted as it was in training."""
        rewards = np.asarray([step.reward for step in self.steps], dtype=np.float64)
        return (self.discount ** np.arange(len(rewards))) @ rewards


def play(run: Run, index: int, *, seed: int = 0, render: bool = False) -> PlayedEpisode:
    """Run one policy in its environment, as anyone would with `policy.act` and `observe`.

    One environment and one network are made, whatever the environment is.
    """
    policy = run.policy(index)
    names = run.spec.action_names
    environment = run.environment().person_view("rgb_array" if render else None)
    try:
        observation, info = environment.reset(seed=seed)
        first = GivenCommand.of(policy)
        steps: list[PlayedStep] = []
        frames = [environment.render()] if render else []
        terminated = truncated = False
        while not (terminated or truncated):
            action = policy.act(observation, info.get("action_mask"))
            observation, reward, terminated, truncated, info = environment.step(action)
            policy.observe(reward)
            steps.append(
                PlayedStep(
                    number=len(steps) + 1,
                    action=names[action] if names else str(action),
                    reward=np.asarray(reward),
                    command=GivenCommand.of(policy),
                )
            )
            if render:
                frames.append(environment.render())
    finally:
        environment.close()
    discount = run.settings.config.discount
    return PlayedEpisode(first, steps, bool(terminated), frames, discount)  # type: ignore[arg-type]


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
