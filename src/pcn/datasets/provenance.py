"""The facts about a run in a dataset that was exported from it, in each format."""

from pathlib import Path
from typing import Any

from pcn.datasets.logged import LoggedEpisodes
from pcn.errors import UserError

RUN = "pcn_run"
"""The key under which datasets hold the environment's name, its arguments and the discount."""
RUN_FIELDS: tuple[tuple[str, Any, Any], ...] = (
    ("environment", str, ""),
    ("arguments", dict, {}),
    ("discount", int | float | None, None),
    ("last_known", bool, True),
)
"""These facts: name, type, and the value if it is missing."""


def run_facts(logged: LoggedEpisodes) -> dict[str, Any]:
    """What a dataset keeps of the run that its episodes come from."""
    return {
        "environment": logged.environment,
        "arguments": dict(logged.arguments),
        "discount": logged.discount,
        "last_known": logged.last_observations is not None,
    }


def check_run_facts(source: Path, facts: Any) -> dict[str, Any]:
    """The facts in a dataset, complete; a `UserError` if they are invalid."""
    if not isinstance(facts, dict) or not all(
        isinstance(facts.get(name, default), kind) for name, kind, default in RUN_FIELDS
    ):
        raise UserError(f"{source} is damaged: {RUN} is {facts!r}")
    return {name: facts.get(name, default) for name, _, default in RUN_FIELDS}
