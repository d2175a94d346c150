"""The interface of every algorithm: train, interrupt, resume and finish."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from pcn.algorithms.config import AlgorithmConfig
from pcn.coverage import CoverageSet
from pcn.datasets.logged import LoggedEpisodes
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.rollout import AbstractAgent


@dataclass(frozen=True)
class Progress:
    """The state of a training after an iteration."""

    steps: int
    loss: float
    """The loss; each algorithm defines its own."""
    archive: Float[np.ndarray, "point objective"]
    """The non-dominated returns known so far."""
    execution: CoverageSet | None = None
    """The result of executing them; only when an evaluation was due."""
    phase: str = "training"
    """The phase, in one word: training, consolidating, executing."""


@dataclass(frozen=True)
class Snapshot:
    """Everything that a trainer needs to continue exactly where it was."""

    arrays: Mapping[str, np.ndarray]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The end of a training."""

    coverage_set: CoverageSet
    arrays: Mapping[str, np.ndarray]
    """What `Algorithm.agent` needs to act."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """More about the training, written to `metrics.json`."""
    archive: Float[np.ndarray, "point objective"] | None = None
    """The non-dominated returns found in training; None if they are the requested returns.

    In stochastic environments they may differ: a return found once may not be reached again."""


def too_few_steps(total_steps: int, spec: EnvironmentSpec) -> UserError:
    """The error of a training whose budget ends before any episode does."""
    # A step limit that was found lies within the budget, and says nothing about what is needed.
    needed = (
        f"; an episode of {spec.name} takes up to {spec.step_limit} steps"
        if spec.step_limit > total_steps
        else ""
    )
    return UserError(f"total_steps={total_steps} is too small: no episode came to an end{needed}")


def evaluation_due(steps_before: int, steps: int, *, total_steps: int, evaluations: int) -> bool:
    """Whether one of `evaluations` evenly spaced points of a budget has just been passed."""
    if evaluations == 0:
        return False
    every = total_steps / evaluations
    return int(steps_before / every) < int(steps / every)


class AbstractTrainer(ABC):
    """A training in progress; the caller decides when to report and when to save."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """Environment steps taken so far."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether nothing is left to do: the budget is spent, the policies are executed."""

    @property
    def contradicted(self) -> bool:
        """Whether the same actions had other outcomes in an environment that is said to be
        deterministic."""
        return False

    def take_over(self, other: "AbstractTrainer") -> None:
        """Begin with what another training of the same kind has found; nothing by default.

        Its environment has the same spaces, but may be another one.
        """
        del other

    def take_notices(self) -> list[str]:
        """The notices to the user since the last call."""
        return []

    @abstractmethod
    def iterate(self) -> Progress:
        """Train a little further; the last iterations make the policies."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The state between two iterations."""

    @abstractmethod
    def restore(self, snapshot: Snapshot) -> None:
        """Restore a state; the training then continues bit for bit as before."""

    @abstractmethod
    def outcome(self) -> Outcome:
        """The policies and what each of them returned; once `done`, and without further steps."""


class AbstractAlgorithm(ABC):
    """An entry of `ALGORITHMS`."""

    config_class: type[AlgorithmConfig]
    presets: Mapping[str, Mapping[str, object]]
    """The differences of each preset from the config's defaults."""
    learns_from_data: ClassVar[bool] = False
    """Whether `trainer` accepts `logged` data to begin with."""

    def episodes_of(
        self, spec: EnvironmentSpec, arrays: Mapping[str, np.ndarray], source: str
    ) -> LoggedEpisodes:
        """The episodes in the checkpoint of a finished run; a `UserError` where it keeps none."""
        del spec, arrays
        raise UserError(f"{source} keeps no episodes: only runs of pcn do")

    @abstractmethod
    def trainer(
        self,
        environment: AbstractEnvironment,
        config: Any,
        *,
        seed: int,
        steps_before: int = 0,
    ) -> AbstractTrainer:
        """Create a training; `steps_before` were spent already and count."""

    @abstractmethod
    def agent(
        self,
        spec: EnvironmentSpec,
        config: Any,
        arrays: Mapping[str, np.ndarray],
        coverage_set: CoverageSet,
        index: int,
    ) -> AbstractAgent:
        """The agent that executes one policy of a finished run."""

    @abstractmethod
    def arrays_of(
        self, arrays: Mapping[str, np.ndarray], coverage_set: CoverageSet, index: int
    ) -> dict[str, np.ndarray]:
        """The arrays that one policy needs, as in a run with no other policy."""

    @abstractmethod
    def execute(
        self,
        environment: AbstractEnvironment,
        config: Any,
        arrays: Mapping[str, np.ndarray],
        coverage_set: CoverageSet,
        *,
        executions: int,
        seed: int,
    ) -> CoverageSet:
        """Run every policy of a finished run again."""
