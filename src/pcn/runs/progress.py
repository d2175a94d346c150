"""The evaluations during a training."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pcn.errors import UserError


@dataclass(frozen=True)
class Evaluation:
    """One row of `progress.csv`: the policies were executed greedily after so many steps."""

    steps: int
    """Environment steps taken so far."""
    seconds: float
    """Seconds of training so far, those before an interruption included."""
    loss: float
    """The loss; each algorithm defines its own."""
    archive_hypervolume: float
    """Hypervolume of the non-dominated returns found so far.

    It falls a little where a wider front raises the tolerances: of returns that are equal then, one
    stays. It also falls where `capacity` is too small for all of them. The draws of MONES and the
    policies of RA have no archive of their own: theirs is what the evaluation executed."""
    archive_cardinality: int
    """The number of these returns."""
    executed_hypervolume: float
    """Hypervolume of the executed returns."""
    executed_cardinality: int
    """The number of non-dominated executed returns."""
    fidelity: float
    """Share of the policies that returned at least what was requested; those that were stuck did
    not."""

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> "Evaluation":
        """An evaluation from a row of numbers, or of strings that represent numbers."""
        fields = dataclasses.fields(cls)
        if len(row) != len(fields):
            raise ValueError(f"expected rows of {len(fields)} numbers, got {len(row)}")
        numbers: dict[str, Any] = {
            field.name: _number(field.name, value, int if field.type is int else float)
            for field, value in zip(fields, row, strict=True)
        }
        for name, value in numbers.items():
            # The loss is NaN before the first update.
            if name not in ("loss", "fidelity") and not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} is {value}")
        return cls(**numbers)

    def row(self) -> list[float]:
        """The numbers in the order of the columns."""
        return list(dataclasses.astuple(self))


def _number(name: str, value: Any, kind: type[int] | type[float]) -> float:
    try:
        return kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise ValueError(f"{name} is {value!r}, which is not {what}") from None


COLUMNS = [field.name for field in dataclasses.fields(Evaluation)]
"""The header of `progress.csv`."""


def evaluations_of(header: list[str], rows: list[list[str]], where: object) -> list[Evaluation]:
    """Evaluations from a table that was read from a file."""
    try:
        if header != COLUMNS:
            raise ValueError(f"expected the columns {', '.join(COLUMNS)}")
        return [Evaluation.of_row(row) for row in rows]
    except ValueError as error:
        raise UserError(f"{where} is damaged: {error}") from None
