"""Execute a policy for the page: every step, action probabilities, and pictures."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from pcn.envs.failures import close_all
from pcn.explorer.document import plain
from pcn.explorer.pictures import LIVE_FILM, Film, FilmSize
from pcn.explorer.words import differences_in_words, values_in_words
from pcn.pareto import unit_ranges
from pcn.runs.run import Run

if TYPE_CHECKING:
    import gymnasium as gym

    from pcn.runs.playing import GivenCommand, PlayedStep
    from pcn.runs.policy import Policy


@dataclass(frozen=True)
class Limits:
    """The limits of one rollout, besides the environment's step limit."""

    seconds: float = 60.0
    most_steps: int = 20_000
    film: FilmSize = LIVE_FILM
    stopped: Callable[[], bool] = lambda: False
    """Returns whether nobody waits for the rollout any more."""

    def reached(self, num_steps: int, deadline: float) -> str | None:
        """The reason why a rollout has to stop now, in words; None if it may continue."""
        if self.stopped():
            return "because nobody waits for it any more"
        if time.monotonic() > deadline:
            return f"by the time limit of a rollout, {self.seconds:g} s"
        if num_steps >= self.most_steps:
            return "by the page's limit of steps"
        return None


class Performer:
    """Executes policies of one run; its environment is made when first needed, and kept."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._view: gym.Env[Any, Any] | None = None
        self._no_picture: str | None = None

    def prepare(self) -> None:
        """Make the environment."""
        self._person_view()

    def close(self) -> None:
        """Close the environment."""
        if self._view is not None:
            view, self._view = self._view, None
            close_all([view], self.run.spec.name)

    def execute_policy(self, index: int, *, seed: int, limits: Limits) -> dict[str, Any]:
        """One policy of the front, executed once."""
        coverage_set = self.run.coverage_set
        played = self._play(self.run.policy(index), seed, limits)
        return plain(
            {
                **self._common(played),
                "policy": index,
                "requested": coverage_set.requested[index] if self.run.takes_commands else None,
                "horizon": coverage_set.horizons[index],
                "nearest": None,
                "off": None,
                "message": played.problem,
            }
        )

    def execute_command(
        self,
        desired_return: Sequence[float],
        desired_horizon: float | None,
        *,
        seed: int,
        limits: Limits,
    ) -> dict[str, Any]:
        """Execute a return that need not be on the front, once; compare the result with it."""
        run, desired = self.run, np.asarray(desired_return, dtype=np.float64)
        nearest, distance = run.nearest_policy(desired)
        horizon = run.coverage_set.horizons[nearest] if desired_horizon is None else desired_horizon
        played = self._play(run.policy_for(desired_return, horizon), seed, limits)
        common = self._common(played)
        off = (common["returned"] - desired) / unit_ranges(run.coverage_set.front)
        message = (
            f"One execution returned {values_in_words(common['returned'], run.spec)}: "
            f"{differences_in_words(off, run.spec)}. The nearest policy of the front is {nearest} "
            f"({values_in_words(run.coverage_set.executed[nearest], run.spec)})."
        )
        return plain(
            {
                **common,
                "policy": None,
                "requested": desired,
                "horizon": horizon,
                "nearest": {"policy": nearest, "distance": distance},
                "off": off,
                "message": message if played.problem is None else f"{message} {played.problem}",
            }
        )

    def _play(self, policy: "Policy", seed: int, limits: Limits) -> "_Played":
        from pcn.runs.playing import GivenCommand, play_steps

        deadline = time.monotonic() + limits.seconds
        environment = self._person_view()
        start = environment.reset(seed=seed)
        film = Film(environment.render, self._no_picture, most_frames=limits.film.most_frames)
        film.shoot(0)
        steps, commands, stopped = [], [GivenCommand.of(policy)], None
        for step in play_steps(policy, environment, start, ask_network=True):
            steps.append(step)
            commands.append(step.command)
            film.shoot(step.number)
            if step.terminated or step.truncated:
                break
            stopped = limits.reached(len(steps), deadline)
            if stopped is not None:
                break
        film.shoot(len(steps), last=True)
        many = "one step" if len(steps) == 1 else f"{len(steps):,} steps"
        problem = None if stopped is None else f"It was stopped {stopped}, after {many}."
        problems = " ".join(filter(None, [problem, film.problem])) or None
        pictures = film.developed(limits.film.most_bytes)
        return _Played(steps, commands[:-1], pictures, problems, stopped)

    def _person_view(self) -> "gym.Env[Any, Any]":
        """The environment with pictures or, where it has none, without."""
        if self._view is None:
            environment = self.run.environment()
            try:
                self._view = environment.person_view("rgb_array")
            except Exception as error:  # whatever the environment's own code raises
                self._view = environment.person_view(None)
                self._no_picture = f"There is no picture: {error}"
        return self._view

    def _common(self, played: "_Played") -> dict[str, Any]:
        """The common part of every rollout's result."""
        commands = [command for command in played.commands if command is not None]
        steps, pictures = played.steps, played.pictures
        return {
            "steps": len(steps),
            "truncated": steps[-1].truncated and not steps[-1].terminated,
            "stopped": played.stopped,
            "returned": played.returned(self.run.settings.config.discount),
            "actions": [step.choice for step in steps],
            "probabilities": [_probabilities(step) for step in steps],
            "option_names": steps[0].option_names if steps else None,
            "rewards": [step.reward for step in steps],
            "remaining": [command.desired_return for command in commands] or None,
            "remaining_horizon": [command.desired_horizon for command in commands] or None,
            "frames": None if pictures is None else pictures[1],
            "frame_steps": None if pictures is None else pictures[0],
        }


@dataclass(frozen=True)
class _Played:
    """The steps of an episode, the command before each of them, and its pictures."""

    steps: "list[PlayedStep]"
    commands: "list[GivenCommand | None]"
    pictures: tuple[list[int], list[str]] | None
    problem: str | None
    stopped: str | None
    """The reason why it was stopped before the episode was over, in words."""

    def returned(self, discount: float) -> Float[np.ndarray, " objective"]:
        """The return, discounted as it was in training."""
        rewards = np.array([step.reward for step in self.steps], dtype=np.float64)
        return (discount ** np.arange(len(rewards))) @ rewards


def _probabilities(step: "PlayedStep") -> list[Any] | None:
    """One number for each action, or where actions have several parts, a list for each part."""
    if step.probabilities is None:
        return None
    parts = [[round(float(p), 4) for p in part] for part in step.probabilities]
    return parts[0] if isinstance(step.choice, int) else parts
