"""Events that `report` is called with while a request is carried out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pcn.envs.evidence import Evidence
from pcn.envs.spec import EnvironmentSpec
from pcn.runs.progress import Evaluation
from pcn.runs.settings import Settings


@dataclass(frozen=True)
class Probing:
    """Random episodes are about to probe an unknown environment."""

    environment: str
    """The environment's name."""
    num_steps: int
    """The largest number of environment steps that probing may take."""


@dataclass(frozen=True)
class Started:
    """Everything is settled and checked, and training begins."""

    settings: Settings
    """Environment, algorithm, seed and every hyperparameter."""
    spec: EnvironmentSpec
    """What is known about the environment."""
    num_probe_episodes: int = 0
    """Random episodes that probed an unknown environment."""
    num_probe_steps: int = 0
    """Environment steps of these episodes; they are part of the budget."""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    """The hyperparameters that the recipe of this environment has set."""
    steps: int = 0
    """Environment steps taken before: not zero where a run is resumed."""
    evidence: Evidence | None = None
    """What the random episodes showed, where there were any."""


@dataclass(frozen=True)
class Advanced:
    """An iteration is over."""

    steps: int
    """Environment steps taken so far."""
    total_steps: int
    """The budget, which is not exceeded."""
    seconds: float
    loss: float
    front_size: int
    """How many non-dominated returns are known."""
    phase: str
    """What the iteration did: training, consolidating, racing or executing."""
    evaluation: Evaluation | None
    """The new row of `progress.csv`, if there is one."""


@dataclass(frozen=True)
class Collecting:
    """Episodes of a slow environment are running; reported now and then during an iteration."""

    steps: int
    """Environment steps taken so far, those of unfinished episodes included."""
    total_steps: int
    seconds: float


@dataclass(frozen=True)
class Noticed:
    """A notice to the user."""

    sentence: str


Event = Probing | Started | Advanced | Collecting | Noticed
Report = Callable[[Event], None]
"""Everything that `report` can be called with."""
