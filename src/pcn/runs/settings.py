"""What a run was asked to do, as it stands in `config.json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pcn
from pcn.algorithms import ALGORITHMS
from pcn.algorithms.trainer import AbstractAlgorithm
from pcn.checks import fits
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.registry import find_benchmark
from pcn.errors import UserError

FORMAT = 1
"""Raised when a run folder of an older version can no longer be read."""


@dataclass(frozen=True)
class Settings:
    """Environment, algorithm, its hyperparameters and the seed."""

    environment: str
    arguments: Mapping[str, Any]
    """What the environment is made with, such as walkroom's number of objectives."""
    algorithm: str
    preset: str
    seed: int
    config: Any
    """The algorithm's own config, every value in it settled."""

    @classmethod
    def of(
        cls,
        environment: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        algorithm: str = "pcn",
        preset: str = "default",
        seed: int = 0,
        **hyperparameters: Any,
    ) -> "Settings":
        """Settle every hyperparameter: given ones, then the benchmark's, the preset's, defaults."""
        benchmark = find_benchmark(environment, **_with_tuples(arguments or {}))
        entry = find_algorithm(algorithm)
        if preset not in entry.presets:
            known = ", ".join(entry.presets)
            raise UserError(f"no preset is called {preset!r}; there are: {known}")
        if not fits(seed, int) or seed < 0:
            raise UserError(f"seed must be a whole number, zero or more, got {seed!r}")
        values = {
            "total_steps": benchmark.total_steps,
            **entry.presets[preset],
            **benchmark.settings_for(algorithm, preset),
            **hyperparameters,
        }
        config = _config(entry, values)
        made_with = dict(benchmark.arguments or arguments or {})
        return cls(environment, made_with, algorithm, preset, seed, config)

    def make(self) -> AbstractEnvironment:
        """The environment."""
        return find_benchmark(self.environment, **self.arguments).make()

    def to_json(self) -> dict[str, Any]:
        """As it is written to `config.json`."""
        return {
            "format": FORMAT,
            "pcn": pcn.__version__,
            "environment": self.environment,
            "arguments": dict(self.arguments),
            "algorithm": self.algorithm,
            "preset": self.preset,
            "seed": self.seed,
            "config": self.config.to_json(),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Settings":
        """As it is read from `config.json`."""
        try:
            if content["format"] != FORMAT:
                raise UserError(
                    f"the run has format {content['format']}, this version of pcn reads {FORMAT}"
                )
            for name, kind in (("environment", str), ("preset", str), ("seed", int)):
                if not isinstance(content[name], kind):
                    raise UserError(f"config.json is damaged: {name} is {content[name]!r}")
            entry = find_algorithm(content["algorithm"])
            return cls(
                environment=content["environment"],
                arguments=_with_tuples(content["arguments"]),
                algorithm=content["algorithm"],
                preset=content["preset"],
                seed=content["seed"],
                config=_config(entry, dict(content["config"])),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"config.json is damaged: {error!r}") from None


def find_algorithm(name: str) -> AbstractAlgorithm:
    """The algorithm of that name, or an error that lists those there are."""
    if name not in ALGORITHMS:
        known = ", ".join(ALGORITHMS)
        raise UserError(f"no algorithm is called {name!r}; there are: {known}")
    return ALGORITHMS[name]


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Lists, as JSON has them, are tuples here."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }


def _config(entry: AbstractAlgorithm, values: Mapping[str, Any]) -> Any:
    return entry.config_class.of(values)
