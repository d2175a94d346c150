"""A finished run: its policies, its metrics, and how to act with what it learned."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pcn.coverage import CoverageSet
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.runs.folder import RunFolder
from pcn.runs.measures import metrics_of
from pcn.runs.progress import Evaluation
from pcn.runs.settings import Settings

if TYPE_CHECKING:
    import pcn.envs.environment
    import pcn.runs.policy


class Run:
    """What training ended in.

    Looking at a run needs neither JAX nor the environment. `policy` needs JAX, but no environment;
    `environment` and `execute` need the environment itself.

    Attributes:
        settings: What was trained: environment, algorithm, seed and every hyperparameter.
        coverage_set: One row per policy: requested and executed return, horizon, deviation; where
            outcomes are stochastic also how often it was executed, the margin of its mean (half
            of a 95 % interval) and the 10 % and 90 % quantiles of single returns.
        metrics: The content of `metrics.json`. `archive` and `executed` hold a number for each
            metric (`hypervolume`, `cardinality`, `eum`; where the true front is known also
            `expected_utility`, `epsilon`, `epsilon_mean`, `igd`, `mul` and `front_share`).
            `fidelity` holds `exact`, the share of policies that return what was requested of them,
            and `distance`, the mean shortfall as a share of the range. `steps` is the number of
            all environment steps, `steps_by_phase` its parts, `seconds` the time, `cpu_seconds`
            that of all processes, `made_with` versions and the processor, `policies` the number of
            policies, `tolerances` up to which difference returns are equal, in each
            objective. Where policies were executed several times, `hypervolume` is
            corrected for what chance adds to it; `hypervolume_uncorrected` and
            `hypervolume_interval` stand beside it. Algorithms add what is theirs, such as PCN's
            `consolidation`.
        progress: The evaluations during training, as in `progress.csv`.
        weights: The arrays that the policies need to act.
        path: The run's folder; None for a run that was not recorded.
    """

    def __init__(
        self,
        settings: Settings,
        coverage_set: CoverageSet,
        metrics: dict[str, Any],
        progress: list[Evaluation],
        weights: dict[str, np.ndarray],
        *,
        spec: EnvironmentSpec | None = None,
        environment: "pcn.envs.environment.AbstractEnvironment | None" = None,
        path: Path | None = None,
    ) -> None:
        self.settings = settings
        self.coverage_set = coverage_set
        self.metrics = metrics
        self.progress = progress
        self.weights = weights
        self.path = path
        self._spec = spec
        self._environment = environment

    def __repr__(self) -> str:
        where = "" if self.path is None else f", in {self.path}"
        volume = self.metrics["executed"]["hypervolume"]
        return (
            f"Run({self.settings.algorithm} on {self.settings.environment}, "
            f"seed {self.settings.seed}: {len(self.coverage_set)} policies, "
            f"hypervolume {volume:.6g}{where})"
        )

    @property
    def spec(self) -> EnvironmentSpec:
        """What is known of the environment; for runs of format 1 it has to be made for that."""
        if self._spec is None:
            self._spec = self.environment().spec
        return self._spec

    def environment(self) -> "pcn.envs.environment.AbstractEnvironment":
        """The environment that the run was trained on; made when first asked for, and kept."""
        if self._environment is None:
            from pcn.envs.finding import find_environment

            found = find_environment(
                self.settings.environment, self.settings.arguments, spec=self._spec
            )
            self._environment = found.environment
        return self._environment

    def policy(self, index: int) -> "pcn.runs.policy.Policy":
        """The policy with that id in `coverage_set` and `front.csv`, at the start of an episode."""
        from pcn.algorithms import ALGORITHMS
        from pcn.runs.policy import Policy

        if not isinstance(index, int | np.integer) or not 0 <= index < len(self.coverage_set):
            raise UserError(
                f"there is no policy {index!r}; the run has policies 0 to "
                f"{len(self.coverage_set) - 1}"
            )
        config = self.settings.config  # names an algorithm that does not exist
        agent = ALGORITHMS[self.settings.algorithm].agent(
            self.spec, config, self.weights, self.coverage_set, index
        )
        return Policy(agent, self.spec)

    def execute(
        self, *, executions: int | None = None, seed: int = 1
    ) -> tuple[CoverageSet, dict[str, Any]]:
        """Execute every policy again: what they return now, and the metrics of it.

        `executions` is the number of episodes per policy; by default 1 in a deterministic
        environment and otherwise what the median policy had at the end of training.
        """
        from pcn.algorithms import ALGORITHMS

        config = self.settings.config
        if executions is None:
            usual = max(config.executions, int(np.median(self.coverage_set.executions)))
            executions = 1 if self.spec.deterministic else usual
        environment = self.environment()
        try:
            coverage_set = ALGORITHMS[self.settings.algorithm].execute(
                environment,
                config,
                self.weights,
                self.coverage_set,
                executions=executions,
                seed=seed,
            )
        finally:
            environment.close()
        archive = self.metrics["archive"]  # what was found in training stays what it was
        return coverage_set, {**metrics_of(coverage_set, self.spec), "archive": archive}


def load(path: str | Path, *, weights: bool = True) -> Run:
    """A finished run from its folder; without its `weights` it can be looked at, but not act."""
    folder = RunFolder.open(Path(path))
    settings = folder.read_settings()
    if not folder.finished:
        raise UserError(f"{path} is not finished; continue it with `pcn resume {path}`")
    described = folder.read_spec()
    metrics = folder.read_metrics()
    return Run(
        settings,
        folder.read_coverage_set(
            num_policies=metrics["policies"],
            tolerances=np.asarray(metrics["tolerances"], dtype=np.float64)
            if "tolerances" in metrics
            else settings.return_tolerance,
        ),
        metrics,
        folder.read_progress(),
        folder.read_weights() if weights else {},
        spec=None if described is None else described[0],
        path=folder.path,
    )
