"""The one JSON document that the page reads: objectives, policies, overlays, suggestions."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from pcn.coverage import CoverageSet
from pcn.envs.spec import EnvironmentSpec
from pcn.explorer.shown_runs import ShownRun
from pcn.explorer.suggestions import NO_KNEE, suggest
from pcn.pareto import PARETO, rounded, unique_front
from pcn.runs.run import Run

FORMAT = 1
NOISE = 1e-6
"""The share of an objective's largest value that single precision cannot tell from zero."""


def document_of(
    runs: Sequence[ShownRun], *, live: bool, left_out: Sequence[str] = ()
) -> dict[str, Any]:
    """The data of runs of one environment; returns are raw, so all are maximised."""
    spec = runs[0].run.spec.at_discount(runs[0].run.settings.discount)
    suggestions = [
        {"run": number, **suggestion}
        for number, shown in enumerate(runs)
        for suggestion in suggest(shown.run)
    ]
    has_knee = any(one["kind"] == "knee" and one["run"] == 0 for one in suggestions)
    return plain(
        {
            "format": FORMAT,
            "title": spec.name,
            "live": live,
            "left_out": list(left_out),
            "environment": {
                "name": spec.name,
                "discount": runs[0].run.settings.discount,
                "step_limit": spec.step_limit,
                "action_names": spec.action_names or None,
            },
            "objectives": [
                {
                    "name": objective.name,
                    "unit": objective.unit or None,
                    "direction": objective.direction,
                }
                for objective in spec.objectives
            ],
            "runs": [_run(shown) for shown in runs],
            "known_front": _known_front(spec),
            "suggestions": suggestions,
            "no_knee": None if has_knee or _is_one_point(runs[0].run) else NO_KNEE,
        }
    )


def _is_one_point(run: Run) -> bool:
    """Whether all policies of the front have the same return, so that there is no trade-off."""
    front = rounded(run.coverage_set.front, run.coverage_set.tolerance_vector)
    return len(np.unique(front, axis=0)) < 2


def _run(shown: ShownRun) -> dict[str, Any]:
    run = shown.run
    return {
        "name": shown.name,
        "algorithm": run.settings.algorithm,
        "seed": run.settings.seed,
        "order": None if run.coverage_set.order == PARETO else run.coverage_set.order.description,
        "steps": run.metrics.get("steps"),
        "can_watch": shown.why_not_watched is None,
        "why_not": shown.why_not_watched,
        "takes_commands": shown.takes_commands,
        "can_ask": shown.why_not_asked is None,
        "why_no_ask": shown.why_not_asked,
        "hypervolume": run.metrics["executed"],
        "fidelity": run.metrics["fidelity"],
        "not_executed": run.metrics.get("not_executed"),
        "policies": _policies(run.coverage_set),
        "archive": _archive(run),
    }


def _policies(coverage_set: CoverageSet) -> dict[str, Any]:
    repeated = coverage_set.is_repeated
    executed, margin = without_noise(coverage_set.executed), coverage_set.margin
    return {
        "requested": without_noise(coverage_set.requested),
        "executed": executed,
        "horizons": coverage_set.horizons,
        "executions": coverage_set.executions if repeated else None,
        "interval": np.stack([executed - margin, executed + margin], axis=-1) if repeated else None,
        "quantiles": np.stack([coverage_set.low, coverage_set.high], axis=-1) if repeated else None,
        "on_front": coverage_set.front_mask,
    }


def _archive(run: Run) -> Float[np.ndarray, "point objective"]:
    """The non-dominated returns found in training; none where the folder does not hold them.

    They are the requested returns, unless the metrics were measured on another number of them.
    """
    requested = without_noise(run.coverage_set.requested)
    found = requested[unique_front(rounded(requested, run.coverage_set.tolerances))]
    recorded = run.metrics["archive"].get("cardinality")
    return found if len(found) == recorded else found[:0]


def without_noise(
    returns: Float[np.ndarray, "point objective"],
) -> Float[np.ndarray, "point objective"]:
    """The returns, in which values that are only rounding errors become zero.

    >>> without_noise(np.array([[5.0, 3e-8], [-1e-7, 2e-8]])).tolist()
    [[5.0, 3e-08], [0.0, 2e-08]]
    """
    size = np.abs(returns)
    return np.where(size < NOISE * size.max(axis=0, initial=0.0, keepdims=True), 0.0, returns)


def _known_front(spec: EnvironmentSpec) -> dict[str, Any] | None:
    front = spec.front
    if front is None:
        return None
    return {
        "returns": front.returns,
        "status": front.status,
        "source": front.source,
    }


def plain(value: Any) -> Any:
    """The value as JSON allows it: arrays become lists, NaN becomes null, rounding digits are
    dropped.

    Rewards have single precision, so seven significant digits are kept.

    >>> plain({"a": np.array([1.0, np.nan, 1 / 3]), "b": (True, np.int64(2))})
    {'a': [1, None, 0.3333333], 'b': [True, 2]}
    """
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return _short(value)
    return value


def _short(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.7g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def compact_json(content: Any) -> str:
    """JSON without spaces, and without numbers that JSON does not know."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
