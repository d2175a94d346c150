"""The report of an experiment: commands, versions, times, and where it falls short."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pcn.experiments.commands import experiment_command, ranges, train_command
from pcn.experiments.comparison.comparison import ARCHIVE, EXECUTED, Comparison
from pcn.experiments.comparison.tables import HEADLINE, NAMES
from pcn.experiments.published import BENCHMARKS, PUBLISHED, PUBLISHED_STEPS
from pcn.experiments.table1 import DECIMALS, algorithm_of, title_of
from pcn.experiments.tables import NOTHING, markdown_table
from pcn.metrics import METRICS
from pcn.runs.run import Run

HOUR = 3600.0


def report(
    plan: Mapping[str, Any], comparisons: Sequence[Comparison], left_out: Sequence[str]
) -> str:
    """The report in Markdown; `plan` is the content of `plan.json`, or empty without one."""
    runs = [one.run for comparison in comparisons for one in comparison.entrants if one.run]
    scale = float(plan.get("scale", 1.0))
    parts = [
        f"# Report: {plan.get('name', 'runs')}\n",
        *(
            [f"**Scaled down: every run had {scale:g} of its steps. Nothing here is a result.**\n"]
            if scale != 1
            else []
        ),
        f"## Commands\n\n{_commands(plan, comparisons)}\n",
        f"## Made with\n\n{_circumstances(runs)}\n",
        f"## Time\n\n{_times(comparisons, runs)}\n",
        f"## Below the paper\n\n{_below(comparisons, scale)}\n",
    ]
    missing = [*left_out, *_not_there(plan, runs)]
    if missing:
        parts.append("## Left out\n\n" + "\n".join(f"- {line}" for line in missing) + "\n")
    return "\n".join(parts)


def _commands(plan: Mapping[str, Any], comparisons: Sequence[Comparison]) -> str:
    """The command of the experiment, and of the first seed of each label."""
    lines = [experiment_command(plan)] if plan else []
    given = {run["run"]: run["request"] for run in plan.get("runs", [])}
    rows = []
    for comparison in comparisons:
        for label in comparison.labels:
            entrants = comparison.of_label(label)
            if entrants[0].run is None:
                continue
            place = "/".join(entrants[0].source.resolve().parts[-4:])
            lines.append(train_command(entrants[0].run, given.get(place, {})))
            rows.append([comparison.environment, label, ranges([one.seed for one in entrants])])
    code = "\n".join(lines)
    explanation = "The `pcn train` lines show the first seed of each algorithm" + (
        "; `plan.json` lists every run." if plan else "; the others differ in the seed."
    )
    table = markdown_table(["environment", "algorithm", "seeds"], rows, words=3)
    return f"```bash\n{code}\n```\n\n{explanation}\n\n{table}"


def _circumstances(runs: Sequence[Run]) -> str:
    """Processors and versions, each with the number of its runs where there are several."""
    counts = Counter(tuple(run.metrics.get("made_with", {}).items()) for run in runs)
    lines = []
    for facts, number in counts.most_common():
        text = ", ".join(
            f"{name} {value}" if name != "processor" else value for name, value in facts
        )
        where = "" if len(counts) == 1 else f" ({number} runs)"
        lines.append(f"- {text or 'not recorded, by an older version'}{where}")
    return "\n".join(lines)


def _times(comparisons: Sequence[Comparison], runs: Sequence[Run]) -> str:
    """What the runs took, all together and by label."""
    rows = []
    for comparison in comparisons:
        for label in comparison.labels:
            own = [one.run for one in comparison.of_label(label) if one.run is not None]
            if own:
                steps = sum(run.metrics["steps"] for run in own) / len(own)
                seconds, cpu = _total(own, "seconds"), _total(own, "cpu_seconds")
                published = PUBLISHED_STEPS.get((comparison.environment, algorithm_of(label)))
                rows.append(
                    [comparison.environment, label, str(len(own)), f"{steps:,.0f}"]
                    + [NOTHING if published is None else f"{published:,}"]
                    + [NOTHING if time is None else f"{time:,.0f}" for time in (seconds, cpu)]
                )
    header = ["environment", "algorithm", "runs", "steps of a run", "in the paper"]
    header += ["seconds", "CPU seconds"]
    seconds, cpu = _total(runs, "seconds"), _total(runs, "cpu_seconds")
    sentence = f"{len(runs)} runs took {(seconds or 0.0) / HOUR:.2f} hours one after the other"
    sentence += ", compiling included"
    if cpu is not None:
        sentence += f", and {cpu / HOUR:.2f} CPU hours"
    return f"{sentence}.\n\n{markdown_table(header, rows, words=2)}"


def _total(runs: Sequence[Run], name: str) -> float | None:
    """The sum over runs; None if a run has not recorded it."""
    if any(name not in run.metrics for run in runs):
        return None
    return float(sum(run.metrics[name] for run in runs))


def _below(comparisons: Sequence[Comparison], scale: float) -> str:
    """Where an executed mean is worse than the published one, and what may be the reason."""
    compared = [one for one in comparisons if one.environment in BENCHMARKS]
    if not compared:
        return "There is no run of an environment of the paper's Table 1."
    lines = [line for one in compared for line in _shortfalls(one, scale)]
    if not lines:
        return "Nowhere: every executed mean is at least as good as the published one."
    return "\n".join(f"- {line}" for line in lines)


def _shortfalls(comparison: Comparison, scale: float) -> Iterator[str]:
    for label in comparison.labels:
        key = comparison.environment, algorithm_of(label)
        for metric in HEADLINE if key in PUBLISHED else ():
            if metric not in comparison.metrics:
                continue
            ours = float(comparison.values(metric, EXECUTED)[label].mean())
            published, _ = PUBLISHED[key][metric]
            if not _worse(metric, ours, published):
                continue
            digits = DECIMALS[metric]
            reasons = list(_reasons(comparison, label, metric, published, scale))
            yield (
                f"{BENCHMARKS[comparison.environment].title}, {title_of(label)}, {NAMES[metric]}: "
                f"{ours:.{digits}f}, published {published:.{digits}f}"
                + (f" ({'; '.join(reasons)})" if reasons else "")
            )


def _worse(metric: str, ours: float, published: float) -> bool:
    """Whether ours is worse in the digits that were published."""
    difference = round(ours, DECIMALS[metric]) - published
    return difference < 0 if METRICS[metric].higher_is_better else difference > 0


def _reasons(
    comparison: Comparison, label: str, metric: str, published: float, scale: float
) -> Iterator[str]:
    key = comparison.environment, algorithm_of(label)
    archive = comparison.values(metric, ARCHIVE).get(label)
    if archive is not None and not _worse(metric, float(archive.mean()), published):
        yield f"the archive, which the paper counts, has {archive.mean():.{DECIMALS[metric]}f}"
    if scale != 1:
        yield "scaled down"
    runs = [one.run for one in comparison.of_label(label) if one.run is not None]
    steps = sum(run.metrics["steps"] for run in runs) / max(len(runs), 1)
    if runs and key in PUBLISHED_STEPS and steps < 0.9 * PUBLISHED_STEPS[key]:
        yield f"{steps:,.0f} steps, the paper had {PUBLISHED_STEPS[key]:,}"
    if metric != "hypervolume" and comparison.spec.front is None:
        yield f"against {comparison.measured_against}, the paper against its own"


def _not_there(plan: Mapping[str, Any], runs: Sequence[Run]) -> Iterator[str]:
    """Planned runs whose folders are not there at all."""
    there = {"/".join(run.path.resolve().parts[-4:]) for run in runs if run.path is not None}
    missing = [run["run"] for run in plan.get("runs", []) if run["run"] not in there]
    if missing:
        yield f"{len(missing)} of {len(plan['runs'])} planned runs are not finished"
