"""Settle a request: one environment, one config, and every check that is possible before
training."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.config import AlgorithmConfig
from pcn.checks import fits
from pcn.datasets.logged import LoggedEpisodes
from pcn.datasets.use import LoggedData
from pcn.envs.finding import environment_name, find_environment
from pcn.envs.recorded import RecordedEnvironment
from pcn.envs.registry import check_arguments, parameters_of
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.lookup import is_importable, name_of
from pcn.recipes import recipe_for
from pcn.runs.events import Probing
from pcn.runs.folder import RunFolder
from pcn.runs.logged import read_dataset
from pcn.runs.request import Request
from pcn.runs.settings import Settings, with_tuples
from pcn.runs.settled import NOT_PROBED, Settled
from pcn.version import __version__


def settle(request: Request, report: Callable[[Probing], None] | None = None) -> Settled:
    """Create the environment once and settle every hyperparameter; a `UserError` says what is
    wrong.

    `report` is called before random episodes probe an unknown environment. Nothing is written.
    Checks that do not need the environment come before it is created.
    """
    algorithm = _algorithm_of(request)
    preset = _preset_of(request, algorithm)
    check_checkpoint_seconds(request.checkpoint_seconds)
    if not fits(request.seed, int) or request.seed < 0:
        raise UserError(f"seed must be a whole number, zero or more, got {request.seed!r}")
    given = {
        option: name_of(value) if callable(value) else value
        for option, value in request.hyperparameters.items()
    }
    if request.environment is None:
        return settle_without_environment(request, algorithm, preset, given)
    logged = None if request.dataset is None else opened_data(request, algorithm)
    own = {
        argument: name_of(value) if callable(value) else value
        for argument, value in request.arguments.items()
    }
    environment = request.environment
    thing = None if isinstance(environment, str) else environment
    name = environment if isinstance(environment, str) else environment_name(environment)
    _refuse_arguments(given, algorithm, name)
    if request.out is not None:
        RunFolder.refuse_existing(request.out)
        _check_importable(name, {**given, **own})
    arguments = check_arguments(name, with_tuples(own), parameters_of(name))

    def settle_config(spec: EnvironmentSpec | None) -> tuple[AlgorithmConfig, dict[str, Any]]:
        entry = ALGORITHMS[algorithm]
        if request.config is not None:
            return entry.config_class.of(request.config.to_json(), given), {}
        recipe, _ = recipe_for(name, arguments, algorithm, preset, spec)
        known = {} if logged is None else _of_data(logged)
        return entry.config_class.of(entry.presets[preset], recipe, known, given), recipe

    # Wrong values are refused before an environment is created and probed.
    before, _ = settle_config(None)

    def before_probing(num_steps: int) -> None:
        if report is not None:
            report(Probing(name, num_steps))

    found = find_environment(
        name,
        with_tuples(own),
        thing=thing,
        before_probing=before_probing,
        total_steps=before.total_steps,
    )
    spec = found.environment.spec
    config, recipe = settle_config(spec)
    settings = Settings(
        environment=name,
        arguments=found.arguments,
        algorithm=algorithm,
        preset=preset if request.config is None else None,
        seed=request.seed,
        hyperparameters=with_tuples(config.to_json()),
        data=None if logged is None else _described(request, logged),
    )
    probe = {"episodes": found.num_episodes, "steps": found.num_steps}
    if found.evidence is not None and found.evidence.num_compared:
        probe["compared"] = found.evidence.num_compared
    spec = spec.at_discount(config.discount)
    begins = None
    if logged is not None:
        fitting = logged.fitting(spec)
        begins = LoggedData(lambda: fitting, "execute" if request.only_execute else "train")
    remarks = () if found.evidence is None else tuple(found.evidence.remarks)
    return Settled(
        settings, found.environment, spec, probe, recipe, found.evidence, begins, remarks
    )


def settle_without_environment(
    request: Request, algorithm: str, preset: str, given: Mapping[str, Any]
) -> Settled:
    """Settle a request for a training on logged episodes alone."""
    if request.dataset is None:
        raise UserError("which environment? Name one, as in `pcn train deep-sea-treasure`")
    if request.arguments:
        raise UserError(
            f"{next(iter(request.arguments))} belongs to an environment, and none is given"
        )
    logged = opened_data(request, algorithm)
    if request.out is not None:
        RunFolder.refuse_existing(request.out)
    entry, name = ALGORITHMS[algorithm], logged.environment or logged.spec.name
    recipe: dict[str, Any] = {}
    if request.config is not None:
        config = entry.config_class.of(request.config.to_json(), given)
    else:
        recipe, _ = recipe_for(name, logged.arguments, algorithm, preset, logged.spec)
        config = entry.config_class.of(entry.presets[preset], recipe, _of_data(logged), given)
    settings = Settings(
        environment=name,
        arguments=with_tuples(logged.arguments),
        algorithm=algorithm,
        preset=preset if request.config is None else None,
        seed=request.seed,
        hyperparameters=with_tuples(config.to_json()),
        data=_described(request, logged),
    )
    spec = logged.spec.at_discount(config.discount)
    fitting = logged.fitting(spec)
    return Settled(
        settings,
        RecordedEnvironment(spec),
        spec,
        NOT_PROBED,
        recipe,
        logged=LoggedData(lambda: fitting, "none"),
    )


def opened_data(request: Request, algorithm: str) -> LoggedEpisodes:
    """The episodes of a request's dataset, if the algorithm can learn from them."""
    if not ALGORITHMS[algorithm].learns_from_data:
        able = ", ".join(name for name, entry in ALGORITHMS.items() if entry.learns_from_data)
        raise UserError(f"{algorithm} cannot learn from logged episodes; these can: {able}")
    assert request.dataset is not None
    return read_dataset(request.dataset)


def _of_data(logged: LoggedEpisodes) -> dict[str, Any]:
    """Hyperparameters that follow from the data: the discount of the run that the episodes come
    from."""
    return {} if logged.discount is None else {"discount": logged.discount}


def _described(request: Request, logged: LoggedEpisodes) -> dict[str, Any]:
    """The entry of `config.json` about the episodes."""
    only = "execute" if request.only_execute else "train"
    return {
        "path": str(Path(str(request.dataset)).resolve())
        if Path(str(request.dataset)).exists()
        else str(request.dataset),
        "episodes": len(logged),
        "steps": logged.num_steps,
        "interaction": "none" if request.environment is None else only,
    }


def check_checkpoint_seconds(seconds: float) -> None:
    """Raise a `UserError` for a negative time between checkpoints."""
    if not seconds >= 0:  # also refuses NaN
        raise UserError(f"checkpoint_seconds must not be negative, got {seconds:g}")


def _algorithm_of(request: Request) -> str:
    """The algorithm's name: as given, or by the config's type."""
    named = request.algorithm
    if named is not None and named not in ALGORITHMS:
        raise UserError(f"no algorithm is called {named!r}; there are: {', '.join(ALGORITHMS)}")
    if request.config is None:
        return named or next(iter(ALGORITHMS))
    kind = type(request.config)
    owners = [name for name, entry in ALGORITHMS.items() if entry.config_class is kind]
    if not owners:
        known = ", ".join(entry.config_class.__name__ for entry in ALGORITHMS.values())
        raise UserError(f"config is a {kind.__name__}; there are: {known}")
    if named is not None and named not in owners:
        raise UserError(f"config is a {kind.__name__}, which {named} does not take")
    return owners[0]


def _preset_of(request: Request, algorithm: str) -> str:
    """The preset's name; None where a config is given."""
    if request.config is not None and request.preset is not None:
        raise UserError(
            f"give config or preset={request.preset!r}, not both: a config sets every "
            "hyperparameter"
        )
    preset = "default" if request.preset is None else request.preset
    presets = ALGORITHMS[algorithm].presets
    if preset not in presets:
        raise UserError(f"{algorithm} has no preset {preset!r}; it has: {', '.join(presets)}")
    return preset


def _refuse_arguments(given: Mapping[str, Any], algorithm: str, environment: str) -> None:
    """Refuse arguments of the environment that were given as hyperparameters."""
    known = ALGORITHMS[algorithm].config_class.names()
    for name in given:
        if name not in known and name in parameters_of(environment):
            raise UserError(
                f"{name} belongs to the environment: give it as arguments={{{name!r}: ...}}"
            )


def _check_importable(environment: str, given: Mapping[str, Any]) -> None:
    """Refuse objects that a run on disk could not import again when it is resumed or played."""
    for name in (environment, *given.values()):
        if isinstance(name, str) and not is_importable(name):
            raise UserError(
                f"a run on disk needs functions that can be imported again, and {name} cannot: "
                "give one at the top of a module, no lambda, or leave out `out`"
            )


def reopen(folder: RunFolder) -> Settled:
    """Settle the request of an unfinished folder."""
    settings = folder.read_settings()
    remarks: tuple[str, ...] = ()
    described = folder.read_spec()
    spec, probe = (None, NOT_PROBED) if described is None else described
    data = settings.data
    begins = None
    if data is not None:
        begins = LoggedData(lambda: read_dataset(data["path"]), data["interaction"])
        if data["interaction"] == "none" and spec is not None:
            return Settled(settings, RecordedEnvironment(spec), spec, probe, {}, logged=begins)
    arguments = settings.arguments
    if folder.begins_again:
        settings = replace(settings, arguments={**arguments, "deterministic": False})
        folder.complete_beginning_again(settings)
    found = find_environment(settings.environment, settings.arguments, spec=spec)
    begun_with = folder.begun_with()
    if begun_with and begun_with != __version__:
        remarks = (
            f"the run was begun with pcn {begun_with} and goes on with {__version__}: its result "
            "may differ from that of an uninterrupted run",
        )
    return Settled(
        settings,
        found.environment,
        found.environment.spec if spec is None else spec,
        probe,
        {},
        logged=begins,
        remarks=remarks,
    )
