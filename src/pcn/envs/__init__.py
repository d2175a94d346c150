"""Environments: what one is, the compiled ones, and the table of benchmarks."""

from pcn.envs.benchmark import Benchmark
from pcn.envs.compiled import AbstractCompiledEnvironment, Step
from pcn.envs.registry import BENCHMARKS, find_benchmark
from pcn.envs.spec import EnvironmentSpec, Front, Objective

__all__ = [
    "BENCHMARKS",
    "AbstractCompiledEnvironment",
    "Benchmark",
    "EnvironmentSpec",
    "Front",
    "Objective",
    "Step",
    "find_benchmark",
]
