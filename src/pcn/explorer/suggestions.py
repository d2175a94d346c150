"""Choose the policies that the page suggests, each with a sentence that says why."""

from typing import Any

import numpy as np

from pcn.explorer.words import share_in_words
from pcn.pareto import balanced, knee, rounded
from pcn.runs.run import Run

NO_KNEE = (
    "This front has no knee. A knee is a policy that is costly to leave: every other policy gives "
    "up more than it gains (each objective counted as a share of its range)."
)


def suggest(run: Run) -> list[dict[str, Any]]:
    """The knee and the balanced policy of a run's front, where there are such."""
    indices = np.flatnonzero(run.coverage_set.front_mask)
    # Differences that are only rounding would count as a whole range.
    front = rounded(run.coverage_set.front, run.coverage_set.tolerance_vector)
    suggested = []
    bend = knee(front)
    if bend is not None:
        suggested.append(
            {
                "policy": int(indices[bend.point]),
                "kind": "knee",
                "why": (
                    "The knee of the front: compared with it, every other policy gives up "
                    f"{_at_least(bend.ratio)} it gains (each objective as a share of its range)."
                ),
            }
        )
    middle = balanced(front)
    if middle is not None:
        name = run.spec.objective_names[middle.weakest]
        suggested.append(
            {
                "policy": int(indices[middle.point]),
                "kind": "balanced",
                "why": (
                    f"The most balanced policy: its weakest objective is {name}, where it reaches "
                    f"{share_in_words(middle.share)} of the range. No other policy reaches more "
                    "in its own weakest objective."
                ),
            }
        )
    return suggested


def _at_least(ratio: float) -> str:
    """How much more than its gain a move costs, rounded down."""
    tenths = int(10 * ratio)
    return "more than" if tenths <= 10 else f"at least {tenths / 10:g} times what"
