"""Hypervolume of the archive and of executed policies during training."""

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.figures.canvas import new_figure, set_title, tidy
from pcn.figures.front import EXECUTED
from pcn.figures.labels import labels_of, refuse_different_environments
from pcn.figures.styles import COLOURS, styles_of
from pcn.metrics import hypervolume
from pcn.runs.run import Run

ARCHIVE = "#d98c00"


def progress_figure(runs: list[Run]) -> Figure:
    """Archive and executed hypervolume against environment steps, one pair of lines per run.

    Where the front is known, the difference to its hypervolume is drawn, on a log scale: the last
    hundredth of a hypervolume can be half of the front.
    """
    refuse_different_environments(runs)
    specs = [run.spec for run in runs]
    spec = specs[0]
    if any(other.reference_point != spec.reference_point for other in specs):
        raise UserError("runs with different reference points cannot be compared")
    if not any(run.progress for run in runs):
        raise UserError("no run was evaluated during its training; there is nothing to draw")
    best = _best(spec)
    figure, axes = new_figure(6.8, 4.4)
    labels = labels_of(runs)
    if len(runs) > len(COLOURS):  # then colours tell algorithms apart instead of runs
        algorithms = [run.settings.algorithm for run in runs]
        labels = [f"{name} ({algorithms.count(name)})" for name in algorithms]
    styles = styles_of(labels)
    in_legend = set[str]()
    smallest = np.inf
    for run, label in zip(runs, labels, strict=True):
        steps = [evaluation.steps for evaluation in run.progress]
        steps.append(max(run.metrics["steps"], *steps[-1:], 0))
        for name, colour in (("archive", ARCHIVE), ("executed", EXECUTED)):
            drawn = _curve(run, name, best)
            smallest = min(smallest, *drawn[drawn > 0], np.inf)
            shown = name == "executed" and label not in in_legend
            axes.plot(
                steps,
                drawn,
                "--" if name == "archive" else "-",
                color=colour if len(runs) == 1 else styles[label].colour,
                linewidth=1.2,
                # The end alone is no line.
                marker=None if run.progress else "o",
                markersize=3,
                label=name if len(runs) == 1 else (label if shown else None),
            )
        in_legend.add(label)
    reference = ", ".join(f"{value:g}" for value in spec.reference_point)
    axes.set_ylabel(f"hypervolume at ({reference})")
    if best is not None and spec.front is not None:
        # Below the smallest difference the scale is linear, so that zero has a place on it.
        least = float(smallest) if np.isfinite(smallest) else 1.0
        axes.set_yscale("symlog", linthresh=least, linscale=0.4)
        axes.set_ylim(bottom=-0.1 * least)
        axes.set_ylabel(f"missing from the {spec.front.status} hypervolume {best:.6g}")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel("environment steps")
    subtitle = (
        "1 run" if len(runs) == 1 else f"{len(runs)} runs: executed (solid), archive (dashed)"
    )
    set_title(axes, [f"{spec.name}: {subtitle}"])
    tidy(axes, legend=False)
    axes.legend(frameon=False, fontsize=8 if len(runs) > 3 else 10)
    return figure


def _curve(run: Run, name: str, best: float | None) -> Float[np.ndarray, " place"]:
    """Hypervolume after each evaluation and at the end; with a `best`, what is missing from it."""
    volume = np.array(
        [
            *(getattr(evaluation, f"{name}_hypervolume") for evaluation in run.progress),
            run.metrics[name]["hypervolume"],
        ],
        dtype=np.float64,
    )
    if best is None:
        return volume
    missing = best - volume
    # Sums in another order may differ in their last digits: that is not a difference.
    return np.where(missing < 1e-9 * abs(best), 0.0, missing)


def _best(spec: EnvironmentSpec) -> float | None:
    """The hypervolume of the known front; a front that the environment only claims does not
    count."""
    if spec.front is None or spec.front.status == "claimed":
        return None
    return hypervolume(spec.front.returns, np.asarray(spec.reference_point, dtype=np.float64))
