"""A finished run: its policies, its metrics, and how to act with what it learned."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from pcn.coverage import CoverageSet
from pcn.envs.failures import close_all
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError, resuming
from pcn.lookup import find_function
from pcn.memory import telling_of_memory
from pcn.pareto import nearest_point
from pcn.runs.display import run_html
from pcn.runs.folder import RunFolder
from pcn.runs.measures import metrics_of
from pcn.runs.progress import Evaluation
from pcn.runs.settings import Settings

if TYPE_CHECKING:
    import pcn.envs.environment
    import pcn.rollout
    import pcn.runs.policy


WITHOUT_COMMANDS = ("mones", "ra")
"""Algorithms whose older runs do not record that their policies take no command."""


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
            and `distance`, the mean shortfall as a share of the range; where `takes_commands` is
            false nothing was, and it compares with what they returned in training. `steps` is the
            number of all environment steps, `steps_by_phase` its parts, `seconds` the time,
            `cpu_seconds` that of all processes, `made_with` versions and the processor, `policies`
            the number of policies, `tolerances` up to which difference returns are equal, in each
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
        executed = self.is_executed
        volume = self.metrics["executed" if executed else "archive"]["hypervolume"]
        mark = "" if executed else " of the data, NOT EXECUTED"
        count = len(self.coverage_set)
        return (
            f"Run({self.settings.algorithm} on {self.settings.environment}, "
            f"seed {self.settings.seed}: {count} {'policy' if count == 1 else 'policies'}, "
            f"hypervolume {volume:.6g}{mark}{where})"
        )

    @property
    def is_executed(self) -> bool:
        """Whether its policies were run; False if it was trained on logged episodes alone."""
        return self.coverage_set.is_executed

    @property
    def takes_commands(self) -> bool:
        """Whether its policies take a command; those of MONES and RA do not."""
        older = self.settings.algorithm not in WITHOUT_COMMANDS
        return bool(self.metrics.get("takes_commands", older))

    @property
    def spec(self) -> EnvironmentSpec:
        """The spec of the environment; for runs of format 1 the environment is created to get
        it."""
        if self._spec is None:
            self._spec = self.environment().spec
        return self._spec

    def environment(self) -> "pcn.envs.environment.AbstractEnvironment":
        """The environment that the run was trained on; created when first used, and kept."""
        if self._environment is None:
            from pcn.envs.finding import find_environment

            found = find_environment(
                self.settings.environment, self.settings.arguments, spec=self._spec
            )
            self._environment = found.environment
        return self._environment

    def policy(self, index: int) -> "pcn.runs.policy.Policy":
        """The policy with that id in `coverage_set` and `front.csv`, at the start of an episode."""
        return self._policy_of(self.coverage_set, self._checked_index(index))

    def agent(self, index: int) -> "pcn.rollout.AbstractAgent":
        """The same policy as an agent: its network and its memory of an episode."""
        return self._agent_of(self.coverage_set, self._checked_index(index))

    def _checked_index(self, index: int) -> int:
        is_whole = isinstance(index, int | np.integer) and not isinstance(index, bool)
        if not is_whole or not 0 <= index < len(self.coverage_set):
            raise UserError(
                f"there is no policy {index!r}; the run has policies 0 to "
                f"{len(self.coverage_set) - 1}"
            )
        return int(index)

    def policy_for(
        self, desired_return: Sequence[float], desired_horizon: float | None = None
    ) -> "pcn.runs.policy.Policy":
        """A policy for a command of your own, whose return need not be on the front.

        It uses the network of the front policy that is nearest to the desired return and, if no
        horizon is given, that policy's horizon.
        """
        desired = self._a_return(desired_return)
        index = self.nearest_policy(desired)[0]
        horizons, requested = self.coverage_set.horizons.copy(), self.coverage_set.requested.copy()
        requested[index] = desired
        if desired_horizon is not None:
            if not 1 <= desired_horizon < np.inf:
                raise UserError(f"desired_horizon must be at least 1, got {desired_horizon!r}")
            horizons[index] = desired_horizon
        asked = replace(self.coverage_set, requested=requested, horizons=horizons)
        policy = self._policy_of(asked, index)
        if policy.command is None:
            raise UserError(
                f"policies of {self.settings.algorithm} take no command: pick one of the front"
            )
        return policy

    def nearest_policy(self, point: Sequence[float] | np.ndarray) -> tuple[int, float]:
        """The front policy whose executed return is nearest to a point, and how far away it is.

        The distance is the largest difference in any objective, as a share of the front's range.
        """
        place, distance = nearest_point(self._a_return(point), self.coverage_set.front)
        return int(np.flatnonzero(self.coverage_set.front_mask)[place]), distance

    def _a_return(self, values: Sequence[float] | np.ndarray) -> Float[np.ndarray, " objective"]:
        """Convert numbers of the user to a return of this environment."""
        point = np.asarray(values, dtype=np.float64)
        if point.shape != (self.spec.num_objectives,) or not np.isfinite(point).all():
            raise UserError(
                f"a return must be {self.spec.num_objectives} finite numbers, got {values!r}"
            )
        return point

    def _policy_of(self, coverage_set: CoverageSet, index: int) -> "pcn.runs.policy.Policy":
        from pcn.runs.policy import Policy

        return Policy(self._agent_of(coverage_set, index), self.spec)

    def _agent_of(self, coverage_set: CoverageSet, index: int) -> "pcn.rollout.AbstractAgent":
        from pcn.algorithms import ALGORITHMS

        config = self.settings.config  # names an algorithm that does not exist
        algorithm = ALGORITHMS[self.settings.algorithm]
        return algorithm.agent(self.spec, config, self.weights, coverage_set, index)

    def taking(self, index: int) -> "Run":
        """The run with one policy only, and only the weights that it needs."""
        from pcn.algorithms import ALGORITHMS

        self.policy(index)  # refuses an index without a policy, and a policy that cannot act
        arrays = ALGORITHMS[self.settings.algorithm].arrays_of(
            self.weights, self.coverage_set, index
        )
        coverage_set = self.coverage_set.taking(index)
        kept = ("steps", "steps_by_phase", "probe", "seconds", "cpu_seconds", "made_with")
        metrics = {
            **{name: self.metrics[name] for name in kept if name in self.metrics},
            "policies": 1,
            "tolerances": coverage_set.tolerance_vector.tolist(),
            "dominance": coverage_set.order.to_json(),
            **metrics_of(coverage_set, self.spec),
            **({} if self.is_executed else {"not_executed": self.metrics["not_executed"]}),
            "taken_from": {
                "run": None if self.path is None else self.path.name,
                "policy": int(index),
            },
        }
        return Run(
            self.settings,
            coverage_set,
            metrics,
            self.progress,
            arrays,
            spec=self.spec,
            environment=self._environment,
        )

    def save(self, path: str | Path) -> None:
        """Write the run to a new folder, which `load` reads; it has no checkpoint to resume."""
        probe = self.metrics.get("probe", {"episodes": 0, "steps": 0})
        folder = RunFolder.create(Path(path), self.settings, self.spec, probe)
        try:
            folder.write_progress(self.progress)
            folder.write_weights(self.weights)
            folder.write_coverage_set(self.coverage_set, self.spec.objective_names)
            folder.write_metrics(self.metrics)
        finally:
            folder.release()

    def explore(self, *, height: int = 800) -> Any:
        """Show the explorer in a notebook: its page in a frame, its server in a thread.

        It needs the extra `pcn[explore]`.
        """
        # Looked up by name, because the explorer imports runs and not the other way round.
        return find_function("pcn.explorer.notebook:show")(self, height=height)

    def _repr_html_(self) -> str:
        """What notebooks display: the metrics, a picture of the front and the first policies."""
        return run_html(self)

    @telling_of_memory("give fewer executions")
    def execute(
        self, *, executions: int | None = None, seed: int = 1
    ) -> tuple[CoverageSet, dict[str, Any]]:
        """Execute every policy again; return the new coverage set and its metrics.

        `executions` is the number of episodes per policy; by default 1 in a deterministic
        environment, and otherwise the median number at the end of training.
        """
        from pcn.algorithms import ALGORITHMS

        _check_whole("executions", executions, 1)
        _check_whole("seed", seed, 0)
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
            close_all([environment], self.spec.name)
        archive = self.metrics["archive"]  # the archive of the training does not change
        return coverage_set, {**metrics_of(coverage_set, self.spec), "archive": archive}


def _check_whole(name: str, value: int | None, least: int) -> None:
    """Refuse a number that is not whole, or too small."""
    if value is not None and (not isinstance(value, int | np.integer) or value < least):
        raise UserError(f"{name} must be a whole number, {least} or more, got {value!r}")


def load(path: str | Path, *, weights: bool = True) -> Run:
    """Load a finished run from its folder; without `weights` its policies cannot act."""
    folder = RunFolder.open(Path(path))
    settings = folder.read_settings()
    if not folder.finished:
        raise UserError(f"{path} is not finished; continue it with `{resuming(path)}`")
    described = folder.read_spec()
    metrics, fingerprints = folder.read_metrics()
    run = Run(
        settings,
        folder.read_coverage_set(
            num_policies=metrics["policies"],
            tolerances=np.asarray(metrics["tolerances"], dtype=np.float64)
            if "tolerances" in metrics
            else settings.return_tolerance,
            order=folder.order_in(metrics),
        ),
        metrics,
        folder.read_progress(),
        folder.read_weights() if weights else {},
        spec=None if described is None else described[0],
        path=folder.path,
    )
    folder.check_files(fingerprints, weights=weights)  # report unreadable files first
    return run
