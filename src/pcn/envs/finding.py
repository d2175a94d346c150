"""From a name or an object to an environment: created once, and probed once if needed."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import gymnasium as gym

from pcn.envs.action_bounds import within
from pcn.envs.entry_points import installed_names
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.evidence import Evidence, slow_steps
from pcn.envs.from_gymnasium import GymnasiumEnvironment, check_answer_seconds
from pcn.envs.from_object import as_environment
from pcn.envs.given import check_counts
from pcn.envs.gymnasium_source import GymnasiumSource, is_gymnasium_id, vector_reward_ids
from pcn.envs.inquiry import (
    ACTION_BOUNDS,
    BeforeProbing,
    Findings,
    Inquiry,
    bounds_unlike,
    watched,
)
from pcn.envs.registry import (
    ENVIRONMENTS,
    GYMNASIUM,
    JAX_PACKAGE,
    JAX_PACKAGES,
    check_arguments,
    package_of,
)
from pcn.envs.silence import told_when_silent
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError, perhaps, resuming
from pcn.lookup import GivenName, find_object, is_importable, name_in_file, name_of


@dataclass(frozen=True)
class FoundEnvironment:
    """An environment, and how it was created."""

    environment: AbstractEnvironment
    arguments: Mapping[str, Any]
    """All arguments it was created with, including defaults and findings of probing."""
    num_episodes: int = 0
    """Random episodes of probing."""
    num_steps: int = 0
    """Environment steps of these episodes."""
    evidence: Evidence | None = None
    """The findings of these episodes; None if there were none."""


def find_environment(
    name: str,
    arguments: Mapping[str, Any],
    *,
    thing: Any = None,
    spec: EnvironmentSpec | None = None,
    before_probing: BeforeProbing | None = None,
    total_steps: int | None = None,
    most_seconds: float = float("inf"),
    compare_all: bool = False,
) -> FoundEnvironment:
    """Make the environment of that name: one of ours, a Gymnasium id, or `module:Name`.

    What a Gymnasium environment does not say and `arguments` do not give is found out by random
    episodes, once.

    Args:
        name: The environment's name.
        arguments: What to make it with.
        thing: The object that `name` stands for, where it was given as such.
        spec: What is known of it, as in the folder of a run: then nothing is found out, and no
            Gymnasium environment is constructed before it is needed.
        before_probing: Called with the most steps that probing will take, before it begins.
        total_steps: The steps of the training that it is for; probing takes a share of them.
        most_seconds: After how long probing ends; a training is repeatable, so it has no limit.
        compare_all: Whether probing compares episodes even once they have differed, or it is given
            whether they can.
    """

    inquiry = Inquiry(total_steps, most_seconds, compare_all)
    if name in ENVIRONMENTS:
        entry = ENVIRONMENTS[name]
        settled = check_arguments(name, arguments, entry.parameters)
        return FoundEnvironment(entry.make(**settled), settled)
    if package_of(name) is not None and thing is None:
        return _find_adapted(name, arguments, spec, inquiry, before_probing)
    short = installed_names() if ":" not in name else {}
    if name in short:
        thing = find_object(short[name]) if thing is None else thing
    if ":" in name or name in short:
        thing = find_object(name) if thing is None else thing
        if spec is not None and GYMNASIUM.keys() <= arguments.keys():
            # All is known, so the function need not be called to see what it makes.
            return _find_gymnasium(GymnasiumSource(name, thing), arguments, spec, inquiry)
        with told_when_silent(name):
            found = as_environment(thing, name)
        if isinstance(found, AbstractEnvironment):
            return FoundEnvironment(found, check_arguments(name, arguments, {}))
        return _find_gymnasium(found, arguments, spec, inquiry, before_probing)
    if is_gymnasium_id(name):
        source = GymnasiumSource.by_id(name)
        return _find_gymnasium(source, arguments, spec, inquiry, before_probing)
    _refuse_file(name)
    meant = perhaps(name, [*ENVIRONMENTS, *short, *vector_reward_ids()])
    if meant:
        raise UserError(f"no environment is called {name!r}{meant}; `pcn envs` lists ours")
    known = ", ".join([*ENVIRONMENTS, *short])
    raise UserError(
        f"no environment is called {name!r}; there are: {known}, every Gymnasium id with "
        f"vector rewards, {', '.join(f'{package}:NAME' for package in JAX_PACKAGES)}, and "
        "module:function for one of your own"
    )


def _refuse_file(name: str) -> None:
    """Raise a `UserError` if the name is that of a run's folder or of a Python file."""
    path = Path(name)
    if os.path.isfile(path / "config.json"):  # unlike Path.is_file, no error for a name too long
        raise UserError(
            f"{name} is the folder of a run, not an environment; `{resuming(name)}` continues a run"
        )
    file = path if path.suffix == ".py" else Path(f"{name}.py")
    if path.suffix == ".py" or os.path.isfile(file):
        raise UserError(
            f"no environment is called {name!r}; one that is defined in {file} is called "
            f"{name_in_file(str(file))}"
        )


def environment_name(thing: Any) -> str:
    """The name of an environment that was given as an object, or as a function or class that makes
    one.

    An instance has its class's name if the class makes an equal one without arguments.
    """
    if isinstance(thing, gym.Env):
        raise UserError(
            f"{thing} is one Gymnasium environment, and training needs several: give its class, or "
            "a function that makes one"
        )
    if not isinstance(thing, AbstractEnvironment):
        return name_of(thing)
    name = name_of(type(thing))
    try:
        makes_the_same = is_importable(name) and _are_same(type(thing)(), thing)
    except Exception:  # whatever the user's class raises without arguments
        makes_the_same = False
    return name if makes_the_same else GivenName(str(name), thing)


def _are_same(one: AbstractEnvironment, other: AbstractEnvironment) -> bool:
    return bool(eqx.tree_equal(one, other)) and one.spec.to_json() == other.spec.to_json()


def _find_gymnasium(
    source: GymnasiumSource,
    arguments: Mapping[str, Any],
    spec: EnvironmentSpec | None,
    inquiry: Inquiry,
    before_probing: BeforeProbing | None = None,
) -> FoundEnvironment:
    settled = check_arguments(source.name, arguments, GYMNASIUM)
    check_counts(settled)
    check_answer_seconds(settled["answer_seconds"])
    num_episodes = num_steps = 0
    evidence = None
    if spec is None:
        find = partial(inquiry.find, source, settled)
        findings: Findings = watched(find, source, settled, before_probing)
        found, spec = findings.probe, findings.spec
        settled |= {
            "reference_point": found.reference_point,
            "deterministic": found.deterministic,
            "masked_actions": found.masked_actions,
            "step_limit": found.step_limit,
            **findings.bounds,
        }
        num_episodes, num_steps = found.num_episodes, found.num_steps
        evidence = found.evidence
        if evidence is not None and not settled["workers"]:
            evidence.remarks += slow_steps(evidence.seconds, num_steps, settled["environments"])
    environment = GymnasiumEnvironment(
        spec,
        source.make,
        num_slots=settled["environments"],
        workers=settled["workers"],
        answer_seconds=settled["answer_seconds"],
    )
    return FoundEnvironment(environment, settled, num_episodes, num_steps, evidence)


def _find_adapted(
    name: str,
    arguments: Mapping[str, Any],
    spec: EnvironmentSpec | None,
    inquiry: Inquiry,
    before_probing: BeforeProbing | None,
) -> FoundEnvironment:
    """An environment of another JAX package; values that are not given are found by random
    episodes."""
    from pcn.envs.adapted.environment import AdaptedEnvironment  # which imports JAX

    package = JAX_PACKAGES[str(package_of(name))]
    settled = check_arguments(name, arguments, package.parameters)
    options = {key: settled[key] for key in settled if key not in JAX_PACKAGE}
    try:
        source = package.make(name.partition(":")[2], **options)
    except UserError:
        raise
    except Exception as error:  # whatever the package raises, such as for a missing file
        raise UserError(f"cannot make {name}: {error}") from None
    bounds = {key: settled[key] for key in ACTION_BOUNDS}
    own = {key: settled[key] for key in JAX_PACKAGE if key not in bounds}
    environment = AdaptedEnvironment.of(source, name=name, **own)
    if spec is not None:
        return FoundEnvironment(dataclasses.replace(environment, spec=spec), settled)
    space = within(environment.spec.action_space, *bounds.values())
    settled |= bounds_unlike(environment.spec.action_space, space)
    spec = dataclasses.replace(environment.spec, action_space=space)
    environment = dataclasses.replace(environment, spec=spec)
    given = {**own, "step_limit": spec.step_limit}
    if given["reference_point"] is None or given["deterministic"] is None:
        with told_when_silent(name) as answered:
            viewed = GymnasiumSource(name, environment.person_view)
            found = inquiry.probe(viewed, given, before_probing, answered)
        if given["reference_point"] is None:
            settled["reference_point"] = found.reference_point
        if given["deterministic"] is None:
            settled["deterministic"] = found.deterministic
    else:
        found = None
    settled["step_limit"] = environment.spec.step_limit
    spec = dataclasses.replace(
        environment.spec,
        reference_point=tuple(settled["reference_point"]),
        deterministic=settled["deterministic"],
    )
    environment = dataclasses.replace(environment, spec=spec)
    if found is None:
        return FoundEnvironment(environment, settled)
    return FoundEnvironment(
        environment, settled, found.num_episodes, found.num_steps, found.evidence
    )
