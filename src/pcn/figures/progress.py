"""How a training went: hypervolume of the archive and of executed policies, step by step."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.figures.canvas import new_figure, tidy
from pcn.figures.front import EXECUTED
from pcn.metrics import hypervolume
from pcn.runs.run import Run

ARCHIVE = "#d98c00"


def progress_figure(runs: list[Run]) -> Figure:
    """Archive and executed hypervolume against environment steps, one pair of lines per run.

    Where the front is known, what is missing from its hypervolume is drawn, on a log scale: the
    last hundredth of a hypervolume can be half of the front.
    """
    specs = [run.spec for run in runs]
    names = sorted({spec.name for spec in specs})
    if len(names) > 1:
        raise UserError(f"runs of different environments: {', '.join(names)}")
    spec = specs[0]
    if any(other.reference_point != spec.reference_point for other in specs):
        raise UserError("runs with different reference points cannot be compared")
    best = _best(spec)
    figure, axes = new_figure(6.8, 4.4)
    for number, run in enumerate(runs):
        if not run.progress:
            raise UserError("the run was never evaluated during training; there is nothing to draw")
        steps = [evaluation.steps for evaluation in run.progress]
        steps.append(max(run.metrics["steps"], steps[-1]))
        for name, colour in (("archive", ARCHIVE), ("executed", EXECUTED)):
            volume = np.array(
                [
                    *(getattr(evaluation, f"{name}_hypervolume") for evaluation in run.progress),
                    run.metrics[name]["hypervolume"],
                ]
            )
            axes.plot(
                steps,
                volume if best is None else np.maximum(best - volume, 1e-9 * best),
                "--" if name == "archive" else "-",
                color=colour,
                linewidth=1.2,
                alpha=max(0.4, 1 / len(runs)),
                label=name if number == 0 else None,
            )
    reference = ", ".join(f"{value:g}" for value in spec.reference_point)
    axes.set_ylabel(f"hypervolume at ({reference})")
    if best is not None and spec.front is not None:
        axes.set_yscale("log")
        axes.set_ylabel(f"missing from the {spec.front.status} hypervolume {best:.6g}")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel("environment steps")
    seeds = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    axes.set_title(f"{spec.name}: {seeds}", fontsize=11)
    tidy(axes)
    return figure


def _best(spec: EnvironmentSpec) -> float | None:
    """The hypervolume of the known front; what an environment merely claims does not count."""
    if spec.front is None or spec.front.status == "claimed":
        return None
    return hypervolume(spec.front.returns, np.asarray(spec.reference_point, dtype=np.float64))
