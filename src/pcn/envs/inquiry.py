"""Inquiry: the description of a Gymnasium environment by one instance and its random episodes."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from pcn.envs.action_bounds import is_unbounded, within
from pcn.envs.discounts import DISCOUNTS
from pcn.envs.from_gymnasium import describe
from pcn.envs.given import check_reference_point
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe, announced_steps, probe
from pcn.envs.silence import told_when_silent
from pcn.envs.spec import EnvironmentSpec
from pcn.envs.watched_call import call_in_worker
from pcn.envs.worker_slots import is_importable

ACTION_BOUNDS = ("action_low", "action_high")
"""The arguments for bounds of continuous actions."""
BeforeProbing = Callable[[int], None]
"""Called with the most steps that probing will take."""


@dataclass(frozen=True)
class Findings:
    """The description of an environment."""

    probe: Probe
    spec: EnvironmentSpec
    bounds: Mapping[str, tuple[float, ...]]
    """The bounds of continuous actions as arguments, if they are not the environment's own."""


@dataclass(frozen=True)
class Inquiry:
    """How an environment is probed, whichever it is."""

    total_steps: int | None = None
    """The steps of the training that it is for; probing takes a share of them."""
    most_seconds: float = float("inf")
    """After how long probing ends."""
    compare_all: bool = False
    """Whether episodes are compared also when something has differed."""

    def probe(
        self,
        source: GymnasiumSource,
        given: Mapping[str, Any],
        before_probing: BeforeProbing | None,
        answered: Callable[[], None],
    ) -> Probe:
        """Run random episodes, given what is known already."""
        source.instance()  # report first what cannot be created
        if before_probing is not None:
            bounds = given.get("action_low"), given.get("action_high")
            actions = within(source.instance().action_space, *bounds)
            before_probing(announced_steps(actions, self.total_steps))
        return probe(
            source,
            step_limit=given.get("step_limit"),
            deterministic=None if self.compare_all else given.get("deterministic"),
            total_steps=self.total_steps,
            most_seconds=self.most_seconds,
            compare_all=self.compare_all,
            action_low=given.get("action_low"),
            action_high=given.get("action_high"),
            answered=answered,
        )

    def find(
        self,
        source: GymnasiumSource,
        settled: Mapping[str, Any],
        *,
        before_probing: BeforeProbing | None,
        answered: Callable[[], None],
    ) -> Findings:
        """Describe the environment by its one instance, which is closed afterwards.

        `settled` are its arguments. What they do not give is found by random episodes.
        """
        found = self._probe_unless_known(source, settled, before_probing, answered)
        spec = describe(
            source,
            found,
            frame_stack=settled["frame_stack"],
            discount=DISCOUNTS.get(source.name, 1.0),
        )
        bounds = bounds_unlike(source.instance().action_space, found.action_space)
        source.close()
        return Findings(found, spec, bounds)

    def _probe_unless_known(
        self,
        source: GymnasiumSource,
        settled: Mapping[str, Any],
        before_probing: BeforeProbing | None,
        answered: Callable[[], None],
    ) -> Probe:
        """The given values, and the findings of random episodes for the others."""
        names = ("reference_point", "deterministic", "masked_actions", "step_limit")
        given = {name: settled[name] for name in names if settled[name] is not None}
        bounds = {name: settled[name] for name in ACTION_BOUNDS}
        space = within(source.instance().action_space, *bounds.values())
        if len(given) == len(names) and not is_unbounded(space):
            found = Probe(**given, action_space=space)
            num_objectives = len(found.reference_point)
        else:
            found = self.probe(source, {**given, **bounds}, before_probing, answered)
            num_objectives = len(found.reference_point)
            found = dataclasses.replace(found, **given)
        check_reference_point(found.reference_point, num_objectives)
        return found


def watched(
    function: Callable[..., Any],
    source: GymnasiumSource,
    settled: Mapping[str, Any],
    before_probing: BeforeProbing | None = None,
) -> Any:
    """Call a function that probes an environment, and notify the user if that does not answer.

    With `workers` it is called in a worker process, which is ended after `answer_seconds` without
    an answer. The nodes of a Ray cluster are sent environments that a worker process could not
    import; these are probed in this process.
    """
    workers = settled["workers"]
    if workers == "ray":
        workers = is_importable(source.make)
    if workers:
        source.close()  # the worker process makes its own
        return call_in_worker(
            function,
            source.name,
            answer_seconds=settled["answer_seconds"],
            before_probing=before_probing,
        )
    with told_when_silent(source.name) as answered:
        return function(before_probing=before_probing, answered=answered)


def bounds_unlike(
    own: gym.Space[Any], found: gym.Space[Any] | None
) -> dict[str, tuple[float, ...]]:
    """The bounds of continuous actions as arguments, if they are not the environment's own."""
    if not isinstance(found, gym.spaces.Box) or found == own:
        return {}
    sides = zip(ACTION_BOUNDS, (found.low, found.high), strict=True)
    return {name: tuple(np.ravel(side).tolist()) for name, side in sides}
