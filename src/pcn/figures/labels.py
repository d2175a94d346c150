"""Labels of the runs in a figure."""

from collections import Counter
from collections.abc import Sequence

from pcn.errors import UserError
from pcn.runs.run import Run


def labels_of(runs: Sequence[Run]) -> list[str]:
    """A name for each run: its algorithm and seed, and its folder where that is not enough."""
    named = [f"{run.settings.algorithm}, seed {run.settings.seed}" for run in runs]
    often = Counter(named)
    labels = [
        f"{name} ({run.path.name})" if often[name] > 1 and run.path is not None else name
        for name, run in zip(named, runs, strict=True)
    ]
    again = Counter(labels)
    return [
        f"{label} #{number}" if again[label] > 1 else label
        for number, label in enumerate(labels, start=1)
    ]


def refuse_different_environments(runs: Sequence[Run]) -> None:
    """Raise a `UserError` unless all runs have one environment's name and one discount."""
    names = sorted({run.spec.name for run in runs})
    if len(names) > 1:
        raise UserError(f"runs of different environments: {', '.join(names)}")
    discounts = sorted({run.settings.discount for run in runs})
    if len(discounts) > 1:
        raise UserError(
            f"runs with different discounts: {', '.join(map('{:g}'.format, discounts))}"
        )
