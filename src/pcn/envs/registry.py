"""The table of benchmarks, and families of benchmarks that take arguments."""

from collections.abc import Callable
from typing import Any

from pcn.envs.benchmark import Benchmark
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.walkroom import Walkroom
from pcn.errors import UserError


def walkroom(objectives: int = 2, size: int | None = None, room_seed: int = 0) -> Benchmark:
    """A walkroom with the paper's budget and dataset for its number of objectives."""
    return Benchmark(
        name="walkroom",
        make=lambda: Walkroom(objectives, size=size, room_seed=room_seed),
        summary=f"walk to the border of a room with {objectives} dimensions",
        total_steps=100 * objectives * (300 + 100 * objectives),
        settings={
            "default": {
                "capacity": 10 * objectives**3,
                "evaluations": 20 if objectives < 7 else 5,
            },
            "paper": {"capacity": 10 * objectives**3, "evaluations": 5},
            "authors": {
                "capacity": 10 * objectives**3,
                "evaluations": 5,
                "hidden_layers": 0,
                "command_scale": (0.1,) * objectives + (0.01,),
                "upper_bound": (0.0,) * objectives,
            },
        },
        why="The dataset is the paper's, 10 n^3 episodes: fronts have up to thousands of points. "
        "From seven objectives on there are fewer evaluations, as each measures a hypervolume.",
    )


FAMILIES: dict[str, Callable[..., Benchmark]] = {"walkroom": walkroom}
"""Environments that take arguments: `pcn train walkroom --objectives 7 --room-seed 3`."""

BENCHMARKS: dict[str, Benchmark] = {
    "deep-sea-treasure": Benchmark(
        name="deep-sea-treasure",
        make=DeepSeaTreasure,
        summary="a submarine trades treasure against time (concave map)",
        total_steps=100_000,
        settings={
            "paper": {"joint_one_hot": True},
            "authors": {
                "joint_one_hot": True,
                "hidden_layers": 0,
                "command_scale": (0.1, 0.1, 0.01),
                "upper_bound": (124.0, -1.0),
            },
        },
    ),
    **{f"walkroom-{number}": walkroom(number) for number in range(2, 10)},
}


def find_benchmark(name: str, **arguments: Any) -> Benchmark:
    """The benchmark of that name, or an error that lists those there are."""
    if name in FAMILIES:
        return FAMILIES[name](**arguments)
    if name not in BENCHMARKS:
        known = ", ".join([*BENCHMARKS, *FAMILIES])
        raise UserError(f"no environment is called {name!r}; there are: {known}")
    if arguments:
        raise UserError(f"{name} takes no arguments, got {', '.join(arguments)}")
    return BENCHMARKS[name]
