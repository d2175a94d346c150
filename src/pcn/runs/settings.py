"""The settings of a run: the content of `config.json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pcn.errors import UserError
from pcn.version import __version__

if TYPE_CHECKING:
    import pcn.algorithms.config

FORMAT = 2
"""The format of run folders that this version writes: 2 has `spec.json`, 1 does not."""
READABLE = (1, 2)


@dataclass(frozen=True)
class Settings:
    """Environment, algorithm, hyperparameters and seed: everything that determines the result."""

    environment: str
    """The environment's name."""
    arguments: Mapping[str, Any]
    """The arguments of the environment, such as walkroom's number of objectives."""
    algorithm: str
    preset: str | None
    """None where the hyperparameters were given as a whole."""
    seed: int
    hyperparameters: Mapping[str, Any]
    """The value of every hyperparameter; `config` is the same in the algorithm's own type."""
    format: int = FORMAT
    data: Mapping[str, Any] | None = None
    """The logged episodes that training began with: their `path`, the numbers of `episodes` and
    `steps`, and `interaction`, the role of the environment."""

    @cached_property
    def config(self) -> "pcn.algorithms.config.AlgorithmConfig":
        """The hyperparameters as the algorithm's config; imports JAX when first used."""
        from pcn.algorithms import ALGORITHMS

        if self.algorithm not in ALGORITHMS:
            raise UserError(
                f"no algorithm is called {self.algorithm!r}; there are: {', '.join(ALGORITHMS)}"
            )
        config_class = ALGORITHMS[self.algorithm].config_class
        if self.format == 1:
            try:
                return config_class.from_format_1(self.hyperparameters)
            except (KeyError, TypeError) as error:
                raise UserError(f"config.json is damaged: {error!r}") from None
        try:
            return config_class.recorded(self.hyperparameters)
        except UserError as error:
            raise UserError(f"config.json is damaged: {error}") from None

    @property
    def discount(self) -> float:
        """The discount of returns; read without the algorithm's config, so without JAX."""
        discount = self.hyperparameters.get("discount", 1.0)
        return float(discount) if isinstance(discount, int | float) else 1.0

    @property
    def return_tolerance(self) -> float:
        """The tolerance that was given in the rewards' unit; read without the algorithm's config.

        Runs whose metrics do not record tolerances always have one.
        """
        tolerance = self.hyperparameters["return_tolerance"]
        if not isinstance(tolerance, int | float):
            raise UserError(f"config.json is damaged: return_tolerance is {tolerance!r}")
        return float(tolerance)

    def to_json(self) -> dict[str, Any]:
        """The content of `config.json`."""
        return {
            "format": self.format,
            "pcn": __version__,
            "environment": self.environment,
            "arguments": dict(self.arguments),
            "algorithm": self.algorithm,
            "preset": self.preset,
            "seed": self.seed,
            "config": dict(self.hyperparameters),
            **({} if self.data is None else {"data": dict(self.data)}),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Settings":
        """The settings of a `config.json`; hyperparameters are checked when `config` is used.

        >>> Settings.from_json({})
        Traceback (most recent call last):
        pcn.errors.UserError: config.json is damaged: format is missing
        """
        try:
            if content["format"] not in READABLE:
                raise UserError(
                    f"the run has format {content['format']!r}, this version of pcn reads "
                    f"{' and '.join(map(str, READABLE))}"
                )
            for name, kind in (
                ("environment", str),
                ("algorithm", str),
                ("preset", str | None),
                ("seed", int),
            ):
                if not isinstance(content[name], kind):
                    raise UserError(f"config.json is damaged: {name} is {content[name]!r}")
            if content["seed"] < 0:
                raise UserError(f"config.json is damaged: seed is {content['seed']}")
            return cls(
                environment=content["environment"],
                arguments=with_tuples(content["arguments"]),
                algorithm=content["algorithm"],
                preset=content["preset"],
                seed=content["seed"],
                hyperparameters=with_tuples(content["config"]),
                format=content["format"],
                data=content.get("data"),
            )
        except KeyError as error:
            raise UserError(f"config.json is damaged: {error.args[0]} is missing") from None
        except (TypeError, AttributeError) as error:
            raise UserError(f"config.json is damaged: {error!r}") from None


def with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with tuples for the lists of JSON, also in mappings among the values."""
    changed: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            changed[name] = with_tuples(value)
        else:
            changed[name] = tuple(value) if isinstance(value, list) else value
    return changed
