"""The table of environments that come with `pcn`, and the arguments of environments.

Reading the table imports neither the environments nor JAX or SUMO: each is imported when it is
created.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, Literal

from pcn.checks import fits, type_name
from pcn.errors import UserError

Workers = bool | Literal["ray"]
"""Whether environments run in processes of their own, or in actors of a Ray cluster."""


@dataclass(frozen=True)
class Parameter:
    """An argument that an environment takes, as the command line shows it."""

    kind: Any
    """Its type, such as `int | None`."""
    default: Any
    help: str


@dataclass(frozen=True)
class Entry:
    """An environment of the table."""

    summary: str
    make: Callable[..., Any]
    """A function that creates the environment, an `AbstractEnvironment`, from its arguments."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    """The extra that has to be installed."""


def _deep_sea_treasure() -> Any:
    from pcn.envs.deep_sea_treasure import DeepSeaTreasure

    return DeepSeaTreasure()


def _minecart(*, stochastic: bool) -> Any:
    from pcn.envs.minecart import Minecart

    return Minecart(stochastic=stochastic)


def _walkroom(objectives: int, size: int | None = None, room_seed: int = 0) -> Any:
    from pcn.envs.walkroom import Walkroom

    return Walkroom(objectives, size=size, room_seed=room_seed)


def _laboratory(module: str, name: str, **arguments: Any) -> Any:
    return getattr(import_module(f"pcn.envs.laboratory.{module}"), name)(**arguments)


def _crossroad(
    name: str, simulators: int, workers: Workers = True, answer_seconds: float = 600.0
) -> Any:
    from pcn.envs.crossroad.variants import crossroad

    return crossroad(name, simulators, workers, answer_seconds=answer_seconds)


WALKROOM: dict[str, Parameter] = {
    "objectives": Parameter(int, 2, "Dimensions of the room, one objective each."),
    "size": Parameter(
        int | None, None, "Cells along each dimension; 20 up to five objectives, 10 beyond."
    ),
    "room_seed": Parameter(int, 0, "Seeds the room's border."),
}
FISHWOOD: dict[str, Parameter] = {
    "fish_probability": Parameter(float, 0.1, "How likely a step at the water yields a fish."),
    "wood_probability": Parameter(float, 0.9, "How likely a step in the woods yields wood."),
}
FRUIT_TREE: dict[str, Parameter] = {
    "depth": Parameter(int, 6, "Forks on the way to a fruit: 5, 6 or 7."),
}
ANSWER_SECONDS = Parameter(
    float, 600.0, "A worker process that has not answered for so long is given up."
)
SUMO = ("libsumo",)
CROSSROAD: dict[str, Parameter] = {
    "simulators": Parameter(int, 8, "Simulations at once, each in a process of its own."),
    "workers": Parameter(
        Workers, True, "`ray` puts these processes on the Ray cluster that this machine is in."
    ),
    "answer_seconds": ANSWER_SECONDS,
}
GYMNASIUM: dict[str, Parameter] = {
    "environments": Parameter(int, 16, "How many environments are stepped together."),
    "workers": Parameter(
        Workers,
        False,
        "Whether each of them lives in a process of its own; with `ray`, on the Ray cluster that "
        "this machine is in.",
    ),
    "answer_seconds": ANSWER_SECONDS,
    "step_limit": Parameter(
        int | None, None, "Longest episode; the environment's own limit when not given."
    ),
    "reference_point": Parameter(
        tuple[float, ...] | None,
        None,
        "What hypervolume is measured from; found by random episodes when not given.",
    ),
    "deterministic": Parameter(
        bool | None, None, "Whether the same actions lead to the same episode; found likewise."
    ),
    "masked_actions": Parameter(
        bool | None, None, "Whether infos hold an `action_mask`; found likewise."
    ),
    "action_low": Parameter(
        tuple[float, ...] | None,
        None,
        "Smallest continuous action, one number or one for each; the environment's own bound, or "
        "found by random episodes where it has none.",
    ),
    "action_high": Parameter(
        tuple[float, ...] | None, None, "Largest continuous action; found likewise."
    ),
    "frame_stack": Parameter(int, 2, "How many of the last pictures a policy sees together."),
}
"""The arguments of every Gymnasium environment that is not in the table."""

ENVIRONMENTS: dict[str, Entry] = {
    "deep-sea-treasure": Entry(
        "a submarine trades treasure against time (concave map)", _deep_sea_treasure
    ),
    "minecart": Entry(
        "fetch two kinds of ore from five mines with little fuel",
        partial(_minecart, stochastic=False),
    ),
    "minecart-stochastic": Entry(
        "minecart, and how much ore a mine yields is random", partial(_minecart, stochastic=True)
    ),
    **{
        f"walkroom-{number}": Entry(
            f"walk to the border of a room with {number} dimensions", partial(_walkroom, number)
        )
        for number in range(2, 10)
    },
    "walkroom": Entry("a walkroom of any dimension, size and seed", _walkroom, WALKROOM),
    "resource-gathering": Entry(
        "fetch gold and a diamond past two enemies",
        partial(_laboratory, "resource_gathering", "ResourceGathering"),
    ),
    "breakable-bottles": Entry(
        "carry two bottles, at once or one after the other",
        partial(_laboratory, "breakable_bottles", "BreakableBottles"),
    ),
    "fishwood": Entry(
        "spend the day fishing or in the woods",
        partial(_laboratory, "fishwood", "FishWood"),
        FISHWOOD,
    ),
    "four-room": Entry(
        "collect shapes of three kinds on the way through four rooms",
        partial(_laboratory, "four_room", "FourRoom"),
    ),
    "fruit-tree": Entry(
        "choose a fruit with six nutrients at the end of a branch",
        partial(_laboratory, "fruit_tree", "FruitTree"),
        FRUIT_TREE,
    ),
    "water-reservoir": Entry(
        "release water from a dam against floods and thirst",
        partial(_laboratory, "water_reservoir", "WaterReservoir"),
    ),
    "crossroad": Entry(
        "traffic lights in SUMO trade flow against waiting",
        partial(_crossroad, "crossroad"),
        CROSSROAD,
        SUMO,
    ),
    "crossroad-authors": Entry(
        "crossroad with the authors' second objective and scaling",
        partial(_crossroad, "crossroad-authors"),
        CROSSROAD,
        SUMO,
    ),
    "crossroad-stochastic": Entry(
        "crossroad with other traffic in each episode",
        partial(_crossroad, "crossroad-stochastic"),
        CROSSROAD,
        SUMO,
    ),
}


JAX_PACKAGE: dict[str, Parameter] = {
    "rewards": Parameter(
        str | None,
        None,
        "The vector reward, `module:function` of state, action, next state and scalar reward.",
    ),
    **{
        name: GYMNASIUM[name]
        for name in ("step_limit", "reference_point", "deterministic", "action_low", "action_high")
    },
}
BRAX: dict[str, Parameter] = {
    **JAX_PACKAGE,
    "backend": Parameter(str, "spring", "What simulates: `spring`, `positional`, `generalized`."),
}


def _of_package(module: str, source: str) -> Callable[..., Any]:
    """A function that creates the source of an environment of another JAX package, which it
    imports."""

    def make(name: str, **arguments: Any) -> Any:
        return getattr(import_module(f"pcn.envs.adapted.{module}"), source)(name, **arguments)

    return make


JAX_PACKAGES: dict[str, Entry] = {
    "gymnax": Entry("of gymnax", _of_package("gymnax", "GymnaxSource"), JAX_PACKAGE, ("gymnax",)),
    "jumanji": Entry(
        "of jumanji", _of_package("jumanji", "JumanjiSource"), JAX_PACKAGE, ("jumanji",)
    ),
    "brax": Entry("of brax", _of_package("brax", "BraxSource"), BRAX, ("brax",)),
}
"""By the prefix of a name such as `gymnax:MountainCar-v0`."""


def package_of(name: str) -> str | None:
    """The JAX package of an environment's name; None for other names."""
    package, colon, _ = name.partition(":")
    return package if colon and package in JAX_PACKAGES else None


def parameters_of(name: str) -> Mapping[str, Parameter]:
    """The arguments that an environment takes; Gymnasium's for those that are not in a table."""
    package = package_of(name)
    if package is not None:
        return JAX_PACKAGES[package].parameters
    return ENVIRONMENTS[name].parameters if name in ENVIRONMENTS else GYMNASIUM


def check_arguments(
    name: str, arguments: Mapping[str, Any], parameters: Mapping[str, Parameter]
) -> dict[str, Any]:
    """All arguments of an environment, defaults included; a `UserError` names a wrong one."""
    if arguments and not parameters:
        raise UserError(f"{name} takes no arguments, got {', '.join(arguments)}")
    for argument, value in arguments.items():
        if argument not in parameters:
            known = ", ".join(parameters)
            raise UserError(f"{name} takes no argument {argument!r}; there are: {known}")
        kind = parameters[argument].kind
        if not fits(value, kind):
            raise UserError(f"{argument} must be of type {type_name(kind)}, got {value!r}")
    return {argument: item.default for argument, item in parameters.items()} | dict(arguments)
