"""Check an environment: report what a training would find out, without training."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from pcn.algorithms import ALGORITHMS
from pcn.envs.compiled import AbstractCompiledEnvironment
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.evidence import Evidence
from pcn.envs.failures import close_all
from pcn.envs.finding import environment_name, find_environment
from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.inquiry import Inquiry, watched
from pcn.envs.probing import PROBE_EPISODES, Probe
from pcn.envs.registry import GYMNASIUM, check_arguments, parameters_of
from pcn.envs.spec import EnvironmentSpec
from pcn.nets.heads import action_head_for
from pcn.pareto import rounded, spread, unique_front
from pcn.recipes import recipe_for
from pcn.rollout import ScriptedAgent, rollout
from pcn.runs.settings import with_tuples

CHECK_SECONDS = 60.0
"""Seconds after which a check runs no more random episodes."""
BATCH = 64
"""Parallel episodes for measuring the speed of a compiled environment."""


@dataclass(frozen=True)
class EnvironmentCheck:
    """The findings about an environment before training; `pcn.check` returns it."""

    spec: EnvironmentSpec
    """Objectives, spaces, step limit and reference point, as a training would use them."""
    evidence: Evidence
    """What random episodes showed: scripts compared, seeds, lengths, rewards."""
    found_deterministic: bool
    """Whether every sequence of random actions led to the same outcome when it was repeated."""
    num_steps: int
    """Environment steps that the check took."""
    discount: float
    """The discount of returns in a training with the default preset."""
    returns: Float[np.ndarray, "episode objective"]
    """The discounted returns of the random episodes."""
    front_size: int
    """How many distinct returns are non-dominated."""
    correlation: Float[np.ndarray, "objective other"]
    """The correlation between objectives; zero where one is constant."""
    total_steps: int
    """Steps of a training with the default preset."""
    steps_per_second: float
    """Speed of the environment alone, without learning."""
    advice: tuple[str, ...]
    """What may be wrong, and the option that corrects it; empty if nothing was noticed."""

    @property
    def seconds(self) -> float:
        """Seconds that the environment alone takes in a training with the default preset."""
        return self.total_steps / self.steps_per_second

    @property
    def conflict(self) -> bool:
        """Whether random episodes show more than one trade-off."""
        return self.front_size > 1


def check(
    environment: str | AbstractEnvironment | Callable[[], Any],
    *,
    arguments: Mapping[str, Any] | None = None,
) -> EnvironmentCheck:
    """Run random episodes and report on an environment; nothing is trained.

    The episodes take 10,000 steps and a minute at most. Compiled environments are also timed, in
    three batches. `environment` and `arguments` are those of `pcn.train`.
    """
    thing = None if isinstance(environment, str) else environment
    name = environment if isinstance(environment, str) else environment_name(environment)
    given = with_tuples(arguments or {})
    check_arguments(name, given, parameters_of(name))
    found = find_environment(name, given, thing=thing, most_seconds=CHECK_SECONDS, compare_all=True)
    made = found.environment
    try:
        made.prepare()
        evidence, num_steps = found.evidence, found.num_steps
        if evidence is None:  # nothing was probed: check the spec
            seen = _probe_of_spec(made, name, {**given, **found.arguments})
            assert seen.evidence is not None, "a probe has evidence"
            evidence, num_steps = seen.evidence, seen.num_steps
            given_by_hand = isinstance(made, GymnasiumEnvironment) and "step_limit" in given
            evidence.step_limit_source = "the user" if given_by_hand else "its spec"
        speed = num_steps / max(evidence.seconds, 1e-9)
        if isinstance(made, AbstractCompiledEnvironment):
            speed, timed = _compiled_speed(made)
            num_steps += timed
    finally:
        close_all([made], made.spec.name)
    recipe, _ = recipe_for(name, found.arguments, "pcn", "default", made.spec)
    config = ALGORITHMS["pcn"].config_class.of(recipe)
    returns = evidence.returns(config.discount)
    differs = evidence.first_states_differ or evidence.num_differing > 0
    return EnvironmentCheck(
        spec=made.spec,
        evidence=evidence,
        found_deterministic=not differs,
        num_steps=num_steps,
        discount=config.discount,
        returns=returns,
        front_size=len(unique_front(rounded(returns, config.tolerances(returns)))),
        correlation=correlation_of(returns),
        total_steps=config.total_steps,
        steps_per_second=speed,
        advice=_advice(
            made.spec,
            evidence,
            returns,
            config.discount,
            differs=differs,
            options=isinstance(made, GymnasiumEnvironment) and parameters_of(name) is GYMNASIUM,
        ),
    )


def _probe_of_spec(made: AbstractEnvironment, name: str, arguments: Mapping[str, Any]) -> Probe:
    """Random episodes of an environment of which all is known; `arguments` are its own."""
    if isinstance(made, GymnasiumEnvironment):
        made = made.unstarted()  # one that a worker process can be sent
    source = GymnasiumSource(name, made.person_view)
    given = {key: arguments.get(key) for key in ("action_low", "action_high")}
    inquiry = Inquiry(most_seconds=CHECK_SECONDS, compare_all=True)
    settled = {"workers": False, **arguments}
    probe = partial(inquiry.probe, source, {**given, "step_limit": made.spec.step_limit})
    seen: Probe = watched(probe, source, settled)
    source.close()
    return seen


def correlation_of(
    returns: Float[np.ndarray, "episode objective"],
) -> Float[np.ndarray, "objective other"]:
    """The correlation between objectives; zero where one of them is constant.

    >>> correlation_of(np.array([[0.0, 2.0, 5.0], [1.0, 0.0, 5.0]])).round(6)
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  1.]])
    """
    centred = returns - returns.mean(axis=0)
    # Divide by the largest entry first: the squares of small numbers would be zero.
    largest = np.abs(centred).max(axis=0, initial=0.0)
    centred = centred / np.where(largest > 0, largest, 1.0)
    length = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(length > 0, length, 1.0)
    result = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(result, 1.0)
    return result


def _compiled_speed(environment: AbstractCompiledEnvironment) -> tuple[float, int]:
    """Steps per second of a batch of random episodes, without compilation; and all steps taken."""
    spec = environment.spec
    head, rng = action_head_for(spec.action_space), np.random.default_rng(0)
    script = np.array(
        [[head.random_row(rng) for _ in range(spec.step_limit)] for _ in range(BATCH)]
    )
    agents = ScriptedAgent(script, np.zeros(BATCH, np.int32), head)
    seconds, steps = 0.0, []
    for number in range(3):
        started = time.perf_counter()
        episodes = rollout(environment, agents, np.array([0, number], np.uint32), BATCH)
        steps.append(episodes.num_steps)
        if number > 0:  # the first call compiles
            seconds += time.perf_counter() - started
    return sum(steps[1:]) / max(seconds, 1e-9), sum(steps)


def _advice(
    spec: EnvironmentSpec,
    evidence: Evidence,
    returns: Float[np.ndarray, "episode objective"],
    discount: float,
    *,
    differs: bool,
    options: bool,
) -> tuple[str, ...]:
    """A sentence for each possible problem, with its remedy.

    For Gymnasium environments the remedy is one of the `options`; for others it is a change of
    their spec.
    """
    sentences = list(evidence.remarks)
    stochastic = "give --deterministic False" if options else "say so in its spec"
    if differs and spec.deterministic:
        sentences.append(
            "its spec says deterministic, but the same actions had different outcomes: "
            + stochastic
        )
    if not differs and spec.deterministic and evidence.num_compared < PROBE_EPISODES:
        sentences.append(
            f"only {evidence.num_compared} sequences of actions were compared: if outcomes are "
            f"random, {stochastic}"
        )
    if evidence.seed_respected is False:
        sentences.append("it ignores its seed: give --workers for runs that can be repeated")
    if evidence.step_limit_source.startswith("ours"):
        sentences.append(
            f"no step limit was found in it: if {spec.step_limit} is wrong, give --step-limit STEPS"
        )
    best, extent = returns.max(axis=0), spread(returns)
    rows = zip(spec.objective_names, best, spec.reference_point, extent, strict=True)
    for name, highest, reference, size in rows:
        if highest <= reference:
            mended = "give --reference-point" if options else "change it in its spec"
            sentences.append(f"no random episode beats the reference point in {name}: {mended}")
        if size == 0:
            sentences.append(
                f"{name} was {highest:.6g} in every random episode: it is rare to get, or constant"
            )
    if len(unique_front(returns)) == 1 and len(returns) > 1:
        sentences.append(
            "one random episode is the best in every objective: the objectives may not conflict"
            + ("; where time matters, give --discount 0.95" if discount == 1 else "")
        )
    return tuple(sentences)
