"""The rollouts of a report: which policies are executed, and a sentence where some are missing."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pcn.errors import UserError
from pcn.explorer.pictures import FilmSize
from pcn.explorer.requests import PolicyRequest
from pcn.explorer.shown_runs import ShownRun
from pcn.explorer.stage import ExecutionError
from pcn.explorer.stages import Stages
from pcn.explorer.suggestions import suggest
from pcn.pareto import best_first

PICTURE_BYTES = 3_200_000
"""All pictures of a report together, before they are written as text, which adds a third."""
MOST_PICTURE_BYTES = 400_000
"""The pictures of one rollout in a report."""
REPORT_FRAMES = 60
"""Pictures of one rollout in a report, at most."""
REPORT_SECONDS = 300.0
"""A rollout is given up after so long: a report may wait longer than whoever looks at a page."""

OnProgress = Callable[[int, int], None]
"""Called at first and after each rollout with how many there are by then, and of how many."""
OnMissing = Callable[[str], None]
"""Called at the end with a sentence for each run of which rollouts are missing."""


def execute_chosen(
    runs: Sequence[ShownRun],
    num_rollouts: int | None,
    *,
    on_progress: OnProgress = lambda done, all_of_them: None,
    on_missing: OnMissing = lambda sentence: None,
    own_process: bool = True,
    answer_seconds: float = REPORT_SECONDS,
) -> dict[str, dict[str, Any]]:
    """Rollouts of chosen policies by `run/policy`; runs that cannot be watched have none.

    An environment that fails is told, and so is one that hangs, of which nothing more is executed.

    Args:
        runs: What the report shows.
        num_rollouts: How many policies of each run are chosen; with None all of them.
        on_progress: Called with how far it is.
        on_missing: Called with what is missing, and why.
        own_process: Whether runs on disk are executed in a process of their own, which can be ended
            when an environment hangs, rather than in a thread.
        answer_seconds: When a rollout is given up.
    """
    chosen = {
        number: chosen_policies(shown, num_rollouts)
        for number, shown in enumerate(runs)
        if num_rollouts != 0 and shown.why_not_watched is None
    }
    num_chosen = sum(map(len, chosen.values()))
    share = min(MOST_PICTURE_BYTES, PICTURE_BYTES // max(1, num_chosen))
    film = FilmSize(most_frames=REPORT_FRAMES, most_bytes=share)
    rollouts: dict[str, dict[str, Any]] = {}
    missing: list[str] = []
    stages = Stages(own_process=own_process)
    on_progress(0, num_chosen)
    try:
        for number, policies in chosen.items():
            shown, problem, before = runs[number], None, len(rollouts)
            for policy in policies:
                request = PolicyRequest(number, policy)
                try:
                    rollout = stages.of(shown).execute(
                        shown, request, seconds=answer_seconds, film=film
                    )
                except ExecutionError as error:
                    problem = problem or f"policy {policy} could not be executed: {error}"
                    continue
                except UserError as error:  # the next policy would meet the same
                    problem = str(error)
                    break
                rollouts[f"{number}/{policy}"] = {"run": number, **rollout}
                on_progress(len(rollouts), num_chosen)
            if problem is not None:
                there = len(rollouts) - before
                missing.append(
                    f"the report has {there} of {len(policies)} rollouts of {shown.name}: {problem}"
                )
    finally:
        stages.close()
    for sentence in missing:
        on_missing(sentence)
    return rollouts


def chosen_policies(shown: ShownRun, num_rollouts: int | None) -> list[int]:
    """The policies that are worth watching: suggestions first, then those that differ most."""
    coverage_set = shown.run.coverage_set
    if num_rollouts is None:
        return list(range(len(coverage_set)))
    front = np.flatnonzero(coverage_set.front_mask)
    spread = front[best_first(coverage_set.executed[front])].tolist()
    suggested = [suggestion["policy"] for suggestion in suggest(shown.run)]
    return list(dict.fromkeys([*suggested, *spread]))[:num_rollouts]
