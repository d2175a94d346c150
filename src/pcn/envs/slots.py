"""Instances of a Gymnasium environment in slots, and slots in this process.

`worker_slots.py` has each instance in a process of its own, `ray_slots.py` on a cluster.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Num

from pcn.envs.answers import AnswerCheck
from pcn.envs.environment import Watcher
from pcn.envs.failures import close_all, failure_of
from pcn.envs.gymnasium_source import GymnasiumSource, MakeEnv
from pcn.envs.observations import reader_for
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.nets.heads import action_head_for

Outcome = tuple[Any, np.ndarray, bool, bool, dict[str, Any]]
"""Observation, reward, terminated, truncated, info."""


@dataclass(frozen=True)
class Script:
    """The actions of one episode, known before it begins."""

    seed: int
    actions: Num[np.ndarray, "time part"]
    obeys_masks: bool
    """Whether forbidden actions are replaced by random allowed ones."""


@dataclass(frozen=True)
class Beginning:
    """The steps of an episode that were taken already."""

    seed: int
    actions: list[Any]
    """In the form of the environment's action space."""


@dataclass(frozen=True)
class Played:
    """The episode of a script; lists and actions have one entry per step."""

    observations: list[Any]
    infos: list[dict[str, Any]]
    actions: Num[np.ndarray, "time part"]
    rewards: list[Float[np.ndarray, " objective"]]
    last_observation: Any
    """What was observed after the last action."""
    terminated: bool
    truncated: bool


@runtime_checkable
class Slots(Protocol):
    """Instances of an environment in numbered slots, stepped together."""

    def reset(self, seeds: Mapping[int, int]) -> dict[int, tuple[Any, dict[str, Any]]]:
        """Start an episode in each of these slots."""

    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        """Take an action in each of these slots."""

    def play(self, scripts: Mapping[int, Script]) -> dict[int, Played]:
        """Run a whole episode in each of these slots, with one message instead of one per step."""

    def close(self) -> None:
        """Close all instances."""

    @property
    def closed(self) -> bool:
        """Whether they have been closed, as they are when a worker process has died."""


def ignore_steps(num_steps: int) -> None:
    """Ignore the steps."""


class Slot:
    """One instance and the reader of its observations."""

    def __init__(
        self, make: MakeEnv, spec: EnvironmentSpec, *, watcher: Watcher = ignore_steps
    ) -> None:
        self.watcher = watcher
        """Called after every step of a script."""
        head = action_head_for(spec.action_space)
        # Where masks are to be ignored, the environment may have them all the same.
        masked = True if spec.masked_actions else None
        self._check = AnswerCheck(spec.name, head, spec.num_objectives, masked=masked)
        self.environment = make()
        self.reader = reader_for(spec)
        # Looking up a method of an Equinox module is slower than most of them, so it is done once.
        self.to_environment = head.to_environment
        self.allowed_row, self.from_info = head.allowed_row, head.from_info

    def reset(self, seed: int) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        self._check.begin()
        observation, info = self._check.episode_start(self.environment.reset(seed=seed))
        return self._read(self.reader.first, observation), self._check.mask(info)

    def step(self, action: Any) -> Outcome:
        """Take an action."""
        check = self._check
        check.advance()
        answer = self.environment.step(action)
        observation, reward, terminated, truncated, info = check.outcome(answer)
        terminated = check.flag("terminated", terminated)
        truncated = check.flag("truncated", truncated)
        return (
            self._read(self.reader.next, observation),
            check.reward(reward).astype(np.float32),
            terminated,
            truncated,
            check.mask(info, over=terminated or truncated),
        )

    def _read(self, read: Callable[[Any], Any], observation: Any) -> Any:
        """Read an observation; an error says what is wrong with it."""
        try:
            return read(observation)
        except (TypeError, ValueError, LookupError):
            self._check.observation(self.reader.shown_space, observation)
            raise

    def failure(self, error: BaseException) -> str:
        """A sentence on what failed in the environment's own code: where, and in which line."""
        return f"{self._check.where}: {failure_of(error)}"

    def begin(self, beginning: Beginning) -> list[Float[np.ndarray, " objective"]]:
        """Repeat the first steps of an episode; the rewards show whether it is the same."""
        self.reset(beginning.seed)
        return [self.step(action)[1] for action in beginning.actions]

    def play(self, script: Script) -> Played:
        """Run a whole episode."""
        rng = np.random.default_rng(script.seed)
        observation, info = self.reset(script.seed)
        observations, infos, rewards = [], [], []
        actions = script.actions.copy()
        terminated = truncated = False
        for time, taken in enumerate(self.to_environment(actions)):
            if script.obeys_masks and "action_mask" in info:
                actions[time] = self.allowed_row(actions[time], self.from_info(info), rng)
                taken = self.to_environment(actions[time, None])[0]
            observations.append(observation)
            infos.append(info)
            observation, reward, terminated, truncated, info = self.step(taken)
            self.watcher(1)
            rewards.append(reward)
            if terminated or truncated:
                break
        return Played(
            observations, infos, actions[: len(rewards)], rewards, observation,
            terminated=terminated, truncated=truncated,
        )  # fmt: skip


class LocalSlots:
    """All instances in this process, each created when it is first needed."""

    def __init__(
        self, make: MakeEnv, spec: EnvironmentSpec, *, watcher: Watcher = ignore_steps
    ) -> None:
        self._make, self._spec, self._watcher = make, spec, watcher
        self._filled: dict[int, Slot] = {}
        self.closed = False

    def reset(self, seeds: Mapping[int, int]) -> dict[int, tuple[Any, dict[str, Any]]]:
        """Start an episode in each of these slots."""
        self._fill(seeds)
        return self._ask("reset", seeds)

    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        """Take an action in each of these slots."""
        outcomes = self._ask("step", actions)
        self._watcher(len(outcomes))  # once for all of them: telling takes longer than counting
        return outcomes

    def play(self, scripts: Mapping[int, Script]) -> dict[int, Played]:
        """Run a whole episode in each of these slots."""
        self._fill(scripts)
        return self._ask("play", scripts)

    def _ask(self, what: str, messages: Mapping[int, Any]) -> dict[int, Any]:
        answers = {}
        for number, message in messages.items():
            slot = self._filled[number]
            try:
                answers[number] = getattr(slot, what)(message)
            except (UserError, KeyboardInterrupt):
                raise
            except BaseException as error:  # whatever the environment's own code raises
                raise UserError(slot.failure(error)) from error
        return answers

    def _fill(self, slots: Iterable[int]) -> None:
        for slot in slots:
            if slot not in self._filled:
                # A source says what cannot be created, and what to install.
                source = GymnasiumSource(self._spec.name, self._make)
                self._filled[slot] = Slot(source.instance, self._spec, watcher=self._watcher)

    def close(self) -> None:
        """Close every environment."""
        filled, self._filled = self._filled, {}
        close_all([slot.environment for slot in filled.values()], self._spec.name)
        self.closed = True
