"""The commands that repeat an experiment, or one of its runs."""

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pcn.runs.run import Run


def experiment_command(plan: Mapping[str, Any]) -> str:
    """The command of a whole experiment; `plan` is the content of its `plan.json`."""
    requests = [run["request"] for run in plan["runs"]]
    options = _sweep(requests) if plan["name"] == "sweep" else _reproduction(plan)
    return shlex.join(["pcn", *options])


def _reproduction(plan: Mapping[str, Any]) -> Iterator[str]:
    yield from ("reproduce", plan["name"])
    if plan["preset"] is not None:
        yield from ("--preset", plan["preset"])
    if plan["scale"] != 1:
        yield from ("--scale", f"{plan['scale']:g}")
    seeds: dict[str, set[int]] = defaultdict(set)
    for run in plan["runs"]:
        seeds[run["group"]].add(run["request"]["seed"])
    counts = set(map(len, seeds.values()))
    if len(counts) == 1:  # otherwise each part has its own number, as without the option
        yield from ("--seeds", str(*counts))
    yield from ("--first-seed", str(min(min(some) for some in seeds.values())))


def _sweep(requests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    def different(name: str) -> list[str]:
        return list(dict.fromkeys(str(request[name]) for request in requests))

    yield from ("sweep", *different("environment"))
    yield from ("--algorithm", ",".join(different("algorithm")))
    presets = [preset for preset in different("preset") if preset != "default"]
    if presets:
        yield from ("--preset", *presets)
    yield from ("--seeds", ranges([request["seed"] for request in requests]))
    grid: dict[str, list[str]] = defaultdict(list)
    for request in requests:
        for name, value in {**request["arguments"], **request["hyperparameters"]}.items():
            text = f"({','.join(map(str, value))})" if isinstance(value, list) else str(value)
            if text not in grid[name]:
                grid[name].append(text)
    if len(grid.get("total_steps", [])) == 1:
        yield from ("--total-steps", *grid.pop("total_steps"))
    if grid:
        yield "--set"
        yield from (f"{name.replace('_', '-')}={','.join(grid[name])}" for name in grid)


def train_command(run: Run, request: Mapping[str, Any]) -> str:
    """The command that repeats one run; without its request, only the steps are given."""
    settings = run.settings
    words = ["pcn", "train", settings.environment, "--seed", str(settings.seed)]
    words += ["--algorithm", settings.algorithm]
    if settings.preset not in (None, "default"):
        words += ["--preset", str(settings.preset)]
    steps = {"total_steps": settings.hyperparameters.get("total_steps")}
    options = {**request.get("arguments", {}), **(request.get("hyperparameters") or steps)}
    for name, value in options.items():
        values = value if isinstance(value, list | tuple) else [value]
        words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return shlex.join(words)


def ranges(seeds: Sequence[int]) -> str:
    """Seeds as people write them.

    >>> ranges([3, 0, 1, 2, 7])
    '0-3,7'
    """
    parts: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if parts and seed == parts[-1][-1] + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return ",".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(*part) for part in parts)
