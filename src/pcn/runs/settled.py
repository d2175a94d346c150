"""A settled request: everything that training needs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.config import AlgorithmConfig
from pcn.algorithms.trainer import AbstractTrainer
from pcn.datasets.use import LoggedData
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.evidence import Evidence
from pcn.envs.failures import close_all
from pcn.envs.finding import find_environment
from pcn.envs.spec import EnvironmentSpec
from pcn.runs.settings import Settings

NOT_PROBED: Mapping[str, int] = {"episodes": 0, "steps": 0}
"""The numbers of an environment that needed no random episodes."""
LEAST_LEFT = 0.25
"""A training begins again only if this share of the budget is left for it."""


@dataclass(frozen=True)
class Settled:
    """A settled request: everything that training needs."""

    settings: Settings
    environment: AbstractEnvironment
    spec: EnvironmentSpec
    probe: Mapping[str, int]
    """The numbers of random `episodes` and `steps` that probed the environment; and, where there
    were any, how many of the episodes were `compared` to find out whether it is deterministic, and
    the `abandoned` steps of a training that was begun again as stochastic."""
    recipe: Mapping[str, Any]
    """The hyperparameters that the environment's recipe has set."""
    evidence: Evidence | None = None
    """What random episodes showed, where there were any."""
    logged: LoggedData | None = None
    """The episodes that training begins with, where there are any."""
    remarks: tuple[str, ...] = ()
    """Notices for the user before training begins."""

    @property
    def abandoned_steps(self) -> int:
        """Steps of a training that was begun again; the trainer does not know of them."""
        return self.probe.get("abandoned", 0)

    def fresh_trainer(self) -> AbstractTrainer:
        """A training that has not begun, with the budget that is left for it."""
        config: AlgorithmConfig = self.settings.config
        return ALGORITHMS[self.settings.algorithm].trainer(
            self.environment,
            replace(config, total_steps=config.total_steps - self.abandoned_steps),
            seed=self.settings.seed,
            steps_before=self.probe["steps"],
            **({} if self.logged is None else {"logged": self.logged}),
        )

    def may_begin_again(self, steps: int) -> bool:
        """Whether a training that was contradicted after so many steps should begin again.

        That is so if it was random episodes that found the environment deterministic, and if enough
        of the budget is left. What the user says is not changed.
        """
        total_steps = self.settings.config.total_steps
        seemed = self.spec.deterministic and self.probe.get("compared", 0) > 0
        return seemed and total_steps - steps >= LEAST_LEFT * total_steps

    def as_stochastic(self, steps: int) -> "Settled":
        """The same request for a stochastic environment, after that many steps of a training.

        Instances of the environment are made anew.
        """
        arguments = {**self.settings.arguments, "deterministic": False}
        spec = replace(self.spec, deterministic=False)
        close_all([self.environment], spec.name)
        found = find_environment(self.settings.environment, arguments, spec=spec)
        return replace(
            self,
            settings=replace(self.settings, arguments=arguments),
            environment=found.environment,
            spec=spec,
            probe={**self.probe, "abandoned": steps - self.probe["steps"]},
            evidence=None,
        )
