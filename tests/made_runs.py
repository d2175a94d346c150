"""Runs of toys that nobody can make, in memory and on disk: looking at a run needs no training."""

import gymnasium as gym
import numpy as np

from pcn import CoverageSet, EnvironmentSpec, Front, Objective, Run
from pcn.runs.folder import RunFolder
from pcn.runs.measures import metrics_of
from pcn.runs.progress import Evaluation
from pcn.runs.settings import Settings

TREASURES = np.array(
    [[1, -1], [2, -3], [3, -5], [5, -7], [8, -8], [16, -9], [24, -13], [50, -14], [74, -17],
     [124, -19]], float,
)  # fmt: skip
"""The front of Deep Sea Treasure (Vamplew et al. 2011)."""


def toy_spec(num_objectives=2, *, name="toy", front=None, status="proven", reference_point=None):
    return EnvironmentSpec(
        name=name,
        objectives=(
            Objective("gain", "kg"),
            *(Objective(f"cost {i}", direction="minimise") for i in range(num_objectives - 1)),
        ),
        observation_space=gym.spaces.Discrete(2),
        action_space=gym.spaces.Discrete(2),
        step_limit=10,
        reference_point=tuple(reference_point or (0.0,) * num_objectives),
        front=None if front is None else Front(np.array(front, dtype=np.float64), status, "hand"),
    )


def made_run(
    executed,
    requested=None,
    *,
    spec=None,
    progress=(),
    algorithm="pcn",
    preset="default",
    seed=0,
    hyperparameters=None,
    **about_spec,
):
    """A run whose policies returned `executed`."""
    executed = np.array(executed, dtype=np.float64)
    requested = executed if requested is None else np.array(requested, dtype=np.float64)
    spec = spec or toy_spec(executed.shape[1], **about_spec)
    coverage_set = CoverageSet(
        requested, np.ones(len(executed)), executed, np.zeros_like(executed), tolerances=1e-3
    )
    settings = Settings(
        "nowhere:Nothing", {}, algorithm, preset, seed,
        {"return_tolerance": 1e-3, "total_steps": 100, "discount": 1.0, **(hyperparameters or {})},
    )  # fmt: skip
    metrics = {
        "steps": 100,
        "seconds": 20.0,
        "cpu_seconds": 30.0,
        "policies": len(executed),
        "tolerances": coverage_set.tolerance_vector.tolist(),
        "made_with": {"processor": "an abacus", "pcn": "1.2.3"},
        **metrics_of(coverage_set, spec),
    }
    return Run(settings, coverage_set, metrics, list(progress), {}, spec=spec)


def save_run(path, executed, requested=None, **about):
    """The same run in a folder, as a training leaves it but for its weights."""
    run = made_run(executed, requested, **about)
    folder = RunFolder.create(path, run.settings, run.spec, {"episodes": 0, "steps": 0})
    folder.write_progress(run.progress)
    folder.write_coverage_set(run.coverage_set, run.spec.objective_names)
    folder.write_metrics(run.metrics)
    return path


def evaluations(*volumes):
    """Rows of steps, archive and executed hypervolume; ten steps take a second."""
    return [
        Evaluation(steps, steps / 10, 0.5, archive, 2, executed, 2, 1.0)
        for steps, archive, executed in volumes
    ]
