"""The table of benchmarks."""

from pcn.envs.benchmark import Benchmark
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.errors import UserError

BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
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
    )
}


def find_benchmark(name: str) -> Benchmark:
    """The benchmark of that name, or an error that lists those there are."""
    if name not in BENCHMARKS:
        known = ", ".join(BENCHMARKS)
        raise UserError(f"no environment is called {name!r}; there are: {known}")
    return BENCHMARKS[name]
