"""The common part of all algorithms' configs: shared fields, options by name, JSON."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, TypeVar, get_origin

import numpy as np
from jaxtyping import Float

from pcn.checks import at_least, fits, share, type_name
from pcn.errors import UserError, perhaps
from pcn.field_docs import field_docs
from pcn.pareto import tolerances_for

Config = TypeVar("Config", bound="AlgorithmConfig")


@dataclass(frozen=True)
class Option:
    """One hyperparameter as a command line or a form shows it."""

    name: str
    kind: Any
    """Its type, as annotated."""
    default: Any
    read_help: Callable[[], str]
    """Returns its help, which stands in source code: reading all of it takes a while."""
    group: str = ""
    """The part of the algorithm that it belongs to; empty for the algorithm itself."""

    @property
    def help(self) -> str:
        """What it does."""
        return self.read_help()


@dataclass(frozen=True, kw_only=True)
class AlgorithmConfig:
    """The hyperparameters that every algorithm has; `recipes/` overrides them per environment."""

    total_steps: int = 100_000
    """Environment steps in all, from probing to the final executions."""
    discount: float = 1.0
    """Weight of a reward one step later; the paper's experiments do not discount."""
    tolerance_share: float = 1e-4
    """Returns closer than this share of the spread of returns, in each objective, are equal."""
    return_tolerance: float | None = None
    """Returns closer than this in every objective are equal, if given: in the rewards' unit."""
    evaluations: int = 20
    """How often during training the policies are executed greedily and logged."""
    executions: int = 20
    """Episodes per policy when a stochastic environment is evaluated."""

    before: ClassVar[Mapping[str, Any]] = {}
    """Values that describe the behaviour of runs before a hyperparameter existed; see
    `recorded`."""

    def __post_init__(self) -> None:
        at_least(self, 1, "total_steps", "executions")
        at_least(self, 0, "tolerance_share", "evaluations")
        if self.return_tolerance is not None:
            at_least(self, 0, "return_tolerance")
        share(self, "discount")

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """Every hyperparameter, in the order of declaration."""
        return options_of(cls)

    @classmethod
    def names(cls) -> set[str]:
        """The names of all options; unlike `options` it reads no source code."""
        return {item.name for item in dataclasses.fields(cls)}

    @classmethod
    def of(cls: type[Config], *layers: Mapping[str, Any]) -> Config:
        """The config with these values by name; later layers override earlier ones."""
        return made(cls, merged(layers))

    def tolerances(
        self, returns: Float[np.ndarray, "point objective"]
    ) -> Float[np.ndarray, " objective"]:
        """The difference up to which returns like these are equal, in each objective."""
        if self.return_tolerance is not None:
            return np.full(returns.shape[1], self.return_tolerance, dtype=np.float64)
        return tolerances_for(returns, self.tolerance_share)

    @classmethod
    def recorded(cls: type[Config], content: Mapping[str, Any]) -> Config:
        """The config of a run's `config.json`, which may be an old one.

        Hyperparameters that are missing there get the value that means the behaviour of that time.
        """
        return cls.of(cls.before, content)

    @classmethod
    def from_format_1(cls: type[Config], content: Mapping[str, Any]) -> Config:
        """The config as `config.json` held it in run folders of format 1."""
        return cls.recorded(content)

    def to_json(self) -> dict[str, Any]:
        """As it stands in a run's `config.json`; `of` reads it again."""
        return dataclasses.asdict(self)


def options_of(cls: type[Any], *, prefix: str = "", group: str = "") -> tuple[Option, ...]:
    """The fields of a dataclass as options, their names behind a prefix."""
    return tuple(
        Option(prefix + item.name, item.type, item.default, partial(_doc_of, cls, item.name), group)
        for item in dataclasses.fields(cls)
    )


def _doc_of(cls: type[Any], field_name: str) -> str:
    return field_docs(cls).get(field_name, "")


def merged(layers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One mapping of several, in which later ones override earlier ones; lists become tuples."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for layer in layers
        for name, value in layer.items()
    }


def made(cls: type[Any], values: Mapping[str, Any], *, also_known: Iterable[str] = ()) -> Any:
    """The dataclass with these values, after their names and types have been checked.

    `also_known` are names that an error lists beside the fields.
    """
    kinds = {item.name: item.type for item in dataclasses.fields(cls)}
    for name, value in values.items():
        if name not in kinds:
            known = sorted({*kinds, *also_known})
            raise UserError(
                f"there is no hyperparameter {name!r}{perhaps(name, known)}; there are: "
                f"{', '.join(known)}"
            )
        kind = kinds[name]
        # Words that stand for a choice are checked by the config, which names the choices.
        if get_origin(kind) is not Literal and not fits(value, kind):
            raise UserError(f"{name} must be of type {type_name(kind)}, got {value!r}")
    try:
        return cls(**values)
    except (TypeError, ValueError) as error:
        raise UserError(str(error)) from None
