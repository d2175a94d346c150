"""The model card beside an exported model: what it is, what was executed, and its limits."""

from collections.abc import Iterator
from typing import Any

from pcn.export.checking import Agreement
from pcn.export.onnx_files import OnnxFiles
from pcn.export.runner import MARK
from pcn.runs.run import Run
from pcn.version import __version__

MOST_ROWS = 40
"""Longer fronts are shown in part; the whole is in the model's metadata."""


def model_card(run: Run, facts: dict[str, Any], files: OnnxFiles, agreement: Agreement) -> str:
    """The card as Markdown."""
    parts = (
        _title(run, facts, files),
        _objectives(run),
        _executed(run, facts),
        _provenance(run),
        _use(facts, files, agreement),
        _limits(run),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _title(run: Run, facts: dict[str, Any], files: OnnxFiles) -> Iterator[str]:
    ids = [policy["id"] for policy in facts["policies"]]
    what = f"Policy {ids[0]}" if len(ids) == 1 else f"All {len(ids)} policies"
    taken = run.metrics.get("taken_from", {}).get("run")
    name = taken or (None if run.path is None else run.path.name)
    of = f" of the run `{name}`" if name else ""
    yield f"# {files.model.name}"
    yield ""
    yield (
        f"{MARK} {__version__}. {what}{of}: `{run.settings.algorithm}` on "
        f"`{run.settings.environment}`{_arguments(run)}, seed {run.settings.seed}."
    )
    yield ""


def _arguments(run: Run) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in run.settings.arguments.items())
    return f" ({given})" if given else ""


def _objectives(run: Run) -> Iterator[str]:
    yield "## Objectives"
    yield ""
    yield from _table(
        ["objective", "unit", "a person wants to", "reference point"],
        [
            [one.name, one.unit or "-", one.direction, f"{point:g}"]
            for one, point in zip(run.spec.objectives, run.spec.reference_point, strict=True)
        ],
    )
    yield ""
    yield (
        "Returns are always maximised: what a person minimises is rewarded with its negative. "
        f"Returns are discounted by {run.settings.config.discount:g}."
    )
    yield ""


def _executed(run: Run, facts: dict[str, Any]) -> Iterator[str]:
    coverage_set, names = run.coverage_set, run.spec.objective_names
    metrics = run.metrics["executed"]
    yield "## What was executed" if run.is_executed else "## NOT EXECUTED"
    yield ""
    if not run.is_executed:
        yield f"{run.metrics['not_executed']}. The columns below repeat the data."
        yield ""
    header = [
        "policy",
        *(f"requested {name}" for name in names),
        *(f"executed {name}" for name in names),
        "executions",
    ]
    rows = []
    for row in range(min(len(coverage_set), MOST_ROWS)):
        margins = coverage_set.margin[row]
        rows.append(
            [
                str(facts["policies"][row]["id"]),
                *(f"{value:.6g}" for value in coverage_set.requested[row]),
                *(
                    f"{value:.6g}" + (f" ± {margin:.2g}" if margin > 0 else "")
                    for value, margin in zip(coverage_set.executed[row], margins, strict=True)
                ),
                str(int(coverage_set.executions[row])),
            ]
        )
    yield from _table(header, rows)
    yield ""
    if len(coverage_set) > MOST_ROWS:
        yield f"... and {len(coverage_set) - MOST_ROWS} more, in the model's metadata."
        yield ""
    if coverage_set.is_repeated:
        yield "Executed returns are means with half of their 95 % intervals."
        yield ""
    if not run.is_executed:
        return
    yield (
        f"Hypervolume of the executed returns: {metrics['hypervolume']:.6g}, from the reference "
        "point above. The executions were made by the network in JAX, before the export."
    )
    yield ""


def _provenance(run: Run) -> Iterator[str]:
    yield "## Where it comes from"
    yield ""
    steps = run.metrics.get("steps")
    yield f"- Training: {steps:,} environment steps, seed {run.settings.seed}" if steps else ""
    made_with = run.metrics.get("made_with", {})
    versions = ", ".join(f"{name} {value}" for name, value in made_with.items())
    yield f"- Made with: {versions}" if versions else "- Made with: not recorded"
    yield f"- Exported with: pcn {__version__}"
    yield ""


def _use(facts: dict[str, Any], files: OnnxFiles, agreement: Agreement) -> Iterator[str]:
    which = "3" if len(facts["policies"]) > 3 else "0"
    argument = which if len(facts["policies"]) > 1 else ""
    mask = ', info["action_mask"]' if facts["mask_size"] else ""
    yield "## How to act with it"
    yield ""
    yield f"`{files.runner.name}` needs NumPy and onnxruntime, neither pcn nor JAX:"
    yield ""
    yield "```python"
    yield f"from {files.runner.stem} import Policy"
    yield ""
    yield f"policy = Policy({argument})"
    yield f"action = policy.act(observation{mask})"
    yield "policy.observe(reward)  # the whole reward vector, after every step"
    yield "```"
    yield ""
    yield (
        f"At the export the model and the network were compared on {agreement.num_observations} "
        f"random observations: {agreement.num_equal} greedy actions are equal, and outputs differ "
        f"by at most {agreement.largest_difference:.1e}."
    )
    yield ""


def _limits(run: Run) -> Iterator[str]:
    spec = run.spec
    yield "## Limits"
    yield ""
    yield "- The policy is greedy: it always takes the network's first choice."
    yield f"- It was trained for episodes of at most {spec.step_limit:,} steps."
    if spec.deterministic:
        yield (
            "- The environment was taken to be deterministic, and each policy was executed once. "
            "Where the real one differs, nothing was measured."
        )
    else:
        yield "- Outcomes are stochastic: single episodes differ from the means above."
    yield "- Commands far from the executed returns were never tried."
    yield "- Rounding differs between runtimes: where two actions are almost equally likely, the "
    yield "  choice may differ from the one that JAX makes."


def _table(header: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield "| " + " | ".join(header) + " |"
    yield "|" + "|".join("---" for _ in header) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
