"""A plan: the runs of an experiment, as the data of `plan.json`."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pcn.checks import fits
from pcn.errors import UserError
from pcn.runs.request import Request
from pcn.runs.settings import with_tuples
from pcn.serialisation.files import read_json, write_json
from pcn.version import __version__

FORMAT = 1
"""The format of `plan.json` that this version writes."""
PLAN_FILE = "plan.json"


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """One run of a plan: its request, and its names in tables."""

    group: str
    """The group within which it is compared: the environment's name in tables."""
    label: str
    """The name that is compared: the algorithm, and its differences from the defaults."""
    request: Request
    """What to train; its `out` is relative to the experiment's folder."""

    @classmethod
    def of(cls, group: str, label: str, request: Request) -> "PlannedRun":
        """A run with its folder inside the experiment's folder."""
        out = Path("runs") / _in_a_path(group) / _in_a_path(label) / f"seed-{request.seed}"
        return cls(group=group, label=label, request=replace(request, out=out))

    @property
    def place(self) -> Path:
        """The run's folder, relative to the experiment's."""
        assert self.request.out is not None, "a planned run has a place"
        return self.request.out

    def to_json(self) -> dict[str, Any]:
        """As it stands in `plan.json`."""
        request = self.request
        return {
            "group": self.group,
            "label": self.label,
            "run": self.place.as_posix(),
            "request": {
                "environment": request.environment,
                "arguments": dict(request.arguments),
                "algorithm": request.algorithm,
                "preset": request.preset,
                "hyperparameters": dict(request.hyperparameters),
                "seed": request.seed,
            },
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "PlannedRun":
        """The run that `to_json` wrote."""
        given = with_tuples(content["request"])
        request = Request(**given, out=Path(content["run"]))
        return cls(group=content["group"], label=content["label"], request=request)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The runs of an experiment, in the order in which they are begun."""

    name: str
    """The name of the experiment, or `sweep`."""
    runs: tuple[PlannedRun, ...]
    preset: str | None = None
    """The only preset of PCN, if one was chosen."""
    scale: float = 1.0
    """The factor of every number of steps."""

    def __post_init__(self) -> None:
        if not self.runs:
            raise UserError("the plan has no runs")
        [(place, number)] = Counter(run.place for run in self.runs).most_common(1)
        if number > 1:
            raise UserError(f"the plan has {number} runs for {place}: give each value once")

    @property
    def seeds(self) -> tuple[int, ...]:
        """All seeds of its runs."""
        return tuple(sorted({run.request.seed for run in self.runs}))

    def to_json(self) -> dict[str, Any]:
        """The content of `plan.json`."""
        return {
            "format": FORMAT,
            "pcn": __version__,
            "name": self.name,
            "preset": self.preset,
            "scale": self.scale,
            "seeds": list(self.seeds),
            "runs": [run.to_json() for run in self.runs],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Plan":
        """The plan that `to_json` wrote."""
        if content.get("format") != FORMAT:
            raise UserError(
                f"the plan has format {content.get('format')}, this version of pcn reads {FORMAT}"
            )
        check_types(content)
        try:
            return cls(
                name=content["name"],
                runs=tuple(PlannedRun.from_json(run) for run in content["runs"]),
                preset=content["preset"],
                scale=content["scale"],
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"the plan is damaged: {error!r}") from None

    def write(self, folder: Path) -> None:
        """Write `plan.json` into an experiment's folder, which is created if needed."""
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / PLAN_FILE, self.to_json())

    @classmethod
    def read(cls, folder: Path) -> "Plan":
        """The plan of an experiment's folder."""
        return cls.from_json(read_json(folder / PLAN_FILE))


TYPES: Mapping[str, Any] = {"name": str, "preset": str | None, "scale": float, "runs": list}
RUN_TYPES: Mapping[str, Any] = {"group": str, "label": str, "run": str, "request": dict}
REQUEST_TYPES: Mapping[str, Any] = {
    "environment": str,
    "arguments": dict,
    "algorithm": str,
    "preset": str | None,
    "hyperparameters": dict,
    "seed": int,
}


def check_types(content: Mapping[str, Any], damaged: str = "the plan") -> None:
    """Raise a `UserError` that names the first value of a plan which is of a wrong type."""

    def check(values: Any, types: Mapping[str, Any], whose: str) -> None:
        if not isinstance(values, Mapping):
            raise UserError(f"{damaged} is damaged: {whose or 'it'} is {values!r:.40}")
        for name, kind in types.items():
            value = values.get(name)
            if name in values and not fits(value, kind):
                raise UserError(f"{damaged} is damaged: {name}{whose} is {value!r:.40}")

    check(content, TYPES, "")
    if "scale" in content and not 0 < content["scale"] < math.inf:
        raise UserError(f"{damaged} is damaged: scale is {content['scale']}")
    for number, run in enumerate(content.get("runs", [])):
        check(run, RUN_TYPES, f" of run {number}")
        check(run.get("request", {}), REQUEST_TYPES, f" of run {number}")


def label_of(algorithm: str, preset: str, settings: Mapping[str, Any]) -> str:
    """The label of a run in tables: its algorithm, and its differences from the defaults.

    >>> label_of("pcn", "default", {})
    'pcn'
    >>> label_of("pcn", "paper", {"learning_rate": 0.001})
    'pcn-paper-learning-rate=0.001'
    """
    parts = [algorithm] + ([] if preset == "default" else [preset])
    parts += [
        f"{name.replace('_', '-')}={_value_in_name(value)}" for name, value in settings.items()
    ]
    return "-".join(parts)


def shard_of(runs: Sequence[PlannedRun], shard: str) -> tuple[PlannedRun, ...]:
    """The part `i/n` of some runs: every n-th one, beginning with number i of 1 to n."""
    number, _, count = shard.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise UserError(f"a shard is i/n with i from 1 to n, such as 2/4; got {shard!r}")
    return tuple(runs[int(number) - 1 :: int(count)])


def _value_in_name(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _in_a_path(name: str) -> str:
    """A name as the name of one folder; ids such as `ALE/Pong-v5` and `module:Name` contain
    separators."""
    return "".join(character if character not in '/\\:*?"<>|' else "-" for character in name)
