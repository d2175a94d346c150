"""All hyperparameters of PCN, refinements included, and the three presets."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from pcn.algorithms.config import Option, made, merged, options_of
from pcn.algorithms.pcn.core_config import CoreConfig
from pcn.algorithms.pcn.refinements import REFINEMENTS, AbstractRefinement, BoundedCommands
from pcn.errors import UserError

Config = TypeVar("Config", bound="PCNConfig")

RETIRED = {
    "consolidation.stochastic_budget",
    "expected_returns.check_share",
    "expected_returns.checking_share",
    "expected_returns.checks",
    "expected_returns.executing_share",
    "planning.most_along",
    "planning.most_cells",
    "planning.most_numbers",
    "weighted_values.least_share",
    "weighted_values.trial_share",
}
"""Hyperparameters of earlier versions that change nothing any more."""
OLDER: dict[str, dict[str, Any]] = {
    "sticky_actions": {"ending_exponent": 2.0},
    "variations": {"alike": 0, "stochastic": False},
    "longer_warm_up": {"leaves_to_scouts": False},
    "planning": {
        "fewest_steps": 1,
        "raced_visits": 20,
        "rehearsed_visits": 20,
        "rehearsed_numbers": 0,
    },
    "scouting": {"most_numbers": 0},
    "junctions": {"branch_share": 0.0, "renewal_steps": 1, "most_equal": 1, "rejoining": 0.0},
    "weighted_values": {
        "huber_delta_undiscounted": 1.0,
        "long_share": 0.0,
        "normalises": False,
        "num_steps_undiscounted": 3,
        "polishing": 0.0,
        "quiet_share": 0.0,
        "update_share": 1.0,
    },
}
"""What refinements did before a hyperparameter of theirs was recorded."""

NAMES = {kind: name for name, kind in REFINEMENTS.items()}


@dataclass(frozen=True, kw_only=True)
class PCNConfig(CoreConfig):
    """Hyperparameters of PCN: those of the core, and the refinements that are on.

    In Python, `PCNConfig(refinements=(LoopErasure(), Variations(shift=5)))` has just these two. By
    name, as in a recipe or on the command line, `variations` says whether one is on, and
    `variations.shift` sets a hyperparameter of it.
    """

    refinements: tuple[AbstractRefinement, ...] = tuple(kind() for kind in REFINEMENTS.values())
    """What goes beyond the paper; by default every entry of `REFINEMENTS` (paper: none)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        order = list(REFINEMENTS.values())
        for refinement in self.refinements:
            if type(refinement) not in order:
                raise UserError(f"{refinement!r} is no refinement; there are: {_known()}")
        # They act in the order of the table: results depend on no other order.
        in_order = sorted(self.refinements, key=lambda one: order.index(type(one)))
        if len({type(one) for one in in_order}) < len(in_order):
            raise UserError("a refinement is given twice")
        object.__setattr__(self, "refinements", tuple(in_order))

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """The core's options, then for each refinement whether it is on, and its own."""
        core = (option for option in options_of(cls) if option.name != "refinements")
        return (*core, *_refinement_options())

    @classmethod
    def names(cls) -> set[str]:
        """The core's names, those of refinements, and those of their fields."""
        of_fields = {
            f"{name}.{item.name}"
            for name, kind in REFINEMENTS.items()
            for item in dataclasses.fields(kind)
        }
        return super().names() - {"refinements"} | {*REFINEMENTS} | of_fields

    @classmethod
    def of(cls: type[Config], *layers: Mapping[str, Any]) -> Config:
        """The config with these values by name; a later layer wins over an earlier one.

        `refinements` in a layer says which are on, as a tuple or by name as in `config.json`.
        """
        values: dict[str, Any] = {}
        chosen = {name: dict[str, Any]() for name in REFINEMENTS}
        for layer in layers:
            _refuse_contradictions(layer)
            for name, value in merged([layer]).items():
                if name == "refinements":
                    chosen = _by_name(value)
                elif name.partition(".")[0] in REFINEMENTS:
                    _apply(chosen, name, value)
                else:
                    values[name] = value
        refinements = tuple(made(REFINEMENTS[name], fields) for name, fields in chosen.items())
        config: Config = made(cls, {**values, "refinements": refinements}, also_known=REFINEMENTS)
        return config

    @classmethod
    def recorded(cls: type[Config], content: Mapping[str, Any]) -> Config:
        """The config that stands in a run's `config.json`, which may be an old one."""
        on = content.get("refinements")
        if isinstance(on, Mapping):
            kept = {
                name: _older(name, fields)
                | {key: fields[key] for key in fields if f"{name}.{key}" not in RETIRED}
                for name, fields in on.items()
            }
            content = {**content, "refinements": kept}
        return cls.of(cls.before, content)

    @classmethod
    def from_format_1(cls: type[Config], content: Mapping[str, Any]) -> Config:
        """The config as run folders of format 1 hold it, in which refinements were flat words."""
        core = {item.name for item in dataclasses.fields(CoreConfig)}
        values = {name: value for name, value in content.items() if name in core}
        switches = {
            **dict.fromkeys(REFINEMENTS, False),  # those that are not named below came later
            "standardise": content["standardise"],
            "sticky_actions": content["sticky_actions"],
            "loop_erasure": content["erase_loops"],
            "variations": content["variations"],
            "bounded_commands": content["bound_commands"],
            "stored_evaluations": content["store_evaluations"],
            "longer_warm_up": content["warmup_front"] > 0,
            "breaking_off": content["patience"] is not None,
            "consolidation": content["consolidation_updates"] > 0,
            "expected_returns": True,
        }
        details = {
            "bounded_commands.upper_bound": content["upper_bound"],
            "longer_warm_up.trade_offs": content["warmup_front"],
            "breaking_off.horizons": content["patience"],
            "consolidation.updates": content["consolidation_updates"],
            "variations.stochastic": False,
        }
        on = {name: value for name, value in details.items() if switches[name.partition(".")[0]]}
        return cls.of(cls.before, values, switches, on)

    def to_json(self) -> dict[str, Any]:
        """As it stands in `config.json`: refinements by name, those that are off left out."""
        values = {
            item.name: getattr(self, item.name)
            for item in dataclasses.fields(self)
            if item.name != "refinements"
        }
        on = {NAMES[type(one)]: dataclasses.asdict(one) for one in self.refinements}
        return {**values, "refinements": on}


def _refuse_contradictions(layer: Mapping[str, Any]) -> None:
    """Refuse a refinement that is turned off while one of its fields is set."""
    for name in layer:
        refinement, _, field = name.partition(".")
        if field and refinement in REFINEMENTS and layer.get(refinement, True) in (False, None):
            raise UserError(f"{refinement} is turned off, but {name} is given")


def _older(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The hyperparameters of a refinement that were not recorded with these."""
    older = OLDER.get(name, {})
    if name == "weighted_values":  # these two came together
        return older | {"several_parts": "normalises" in fields}
    return older


def _known() -> str:
    return ", ".join(REFINEMENTS)


def _refinement_options() -> Iterator[Option]:
    for name, kind in REFINEMENTS.items():
        yield Option(name, bool, True, partial(_summary, kind), group=name)
        yield from options_of(kind, prefix=f"{name}.", group=name)


def _summary(kind: type[AbstractRefinement]) -> str:
    return (kind.__doc__ or "").partition("\n\n")[0]


def _by_name(given: Any) -> dict[str, dict[str, Any]]:
    """The refinements that are on and their fields, from a tuple of them or from JSON."""
    if isinstance(given, tuple) and all(isinstance(one, AbstractRefinement) for one in given):
        return {NAMES[type(one)]: dataclasses.asdict(one) for one in given}
    if isinstance(given, Mapping) and all(isinstance(fields, Mapping) for fields in given.values()):
        unknown = [name for name in given if name not in REFINEMENTS]
        if unknown:
            raise UserError(f"no refinement is called {unknown[0]!r}; there are: {_known()}")
        return {name: merged([fields]) for name, fields in given.items()}
    raise UserError(f"refinements must be a tuple of refinements, got {given!r}")


def _apply(chosen: dict[str, dict[str, Any]], name: str, value: Any) -> None:
    """Turn a refinement on or off, or set a field of one, which turns it on."""
    refinement, _, field = name.partition(".")
    if field:
        chosen.setdefault(refinement, {})[field] = value
    elif isinstance(value, REFINEMENTS[refinement]):
        chosen[refinement] = dataclasses.asdict(value)
    elif isinstance(value, Mapping):
        chosen[refinement] = {**chosen.get(refinement, {}), **merged([value])}
    elif value is True:
        chosen.setdefault(refinement, {})
    elif value is False or value is None:
        chosen.pop(refinement, None)
    else:
        raise UserError(
            f"{refinement} must be True, False, a {REFINEMENTS[refinement].__name__} or a mapping "
            f"of its fields, got {value!r}"
        )


_GRIDS: dict[str, object] = {
    "gate": "sigmoid",
    "hidden_layers": 1,
    "learning_rate": 1e-2,
    "archive_fraction": 0.0,
    "episodes_per_iteration": 10,
    "updates_per_iteration": 10,
    "shared_command": True,
    "normalised_distance": False,
    "action_noise": 0.0,
}
"""The paper's text and, where it is silent, the authors' values on grids."""

PRESETS: dict[str, dict[str, object]] = {
    "default": {},
    "paper": {**_GRIDS, "refinements": ()},
    "authors": {
        **_GRIDS,
        "sample_by": "episode",
        "horizon_offset": -2,
        "bounded_first_command": False,
        "newcomers_stay": True,
        "refinements": (BoundedCommands(),),
    },
}
"""What each preset sets differently from the defaults above."""
