"""Probing: random episodes that find the properties of an unknown Gymnasium environment.

They take at most a share of a training's steps; the last episode is cut where the share ends. The
search for bounds of actions takes steps of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np

from pcn.envs.action_bounds import find_bounds, is_unbounded, most_search_steps, within
from pcn.envs.evidence import Evidence
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.random_episodes import Prober, RandomEpisode
from pcn.envs.reference_points import never_negative, reference_point
from pcn.envs.silence import ignore_answer
from pcn.envs.step_limits import (
    UNLIMITED_STEPS,
    StepLimit,
    longest_useful,
    observed_limit,
    written_limit,
)

PROBE_EPISODES = 20
"""Random episodes in which returns are measured."""
MOST_SCRIPTS = 200
"""The most random episodes that are replayed while the environment seems deterministic."""
PROBE_SHARE = 0.05
"""Share of a training's steps that probing may take."""
FEW_STEPS = 500
"""Where the share is smaller than this, short trainings may spend up to a fifth instead."""
DEFAULT_STEPS = 10_000
"""Most steps of a probe without a training."""


def most_probe_steps(total_steps: int) -> int:
    """How many steps of a training probing may take.

    >>> [most_probe_steps(total) for total in (1, 1_500, 200_000)]
    [1, 300, 10000]
    """
    return max(int(PROBE_SHARE * total_steps), min(FEW_STEPS, total_steps // 5), 1)


def announced_steps(actions: gym.Space[Any], total_steps: int | None) -> int:
    """The most steps that a probe takes: random episodes, and the search for bounds of actions.

    >>> announced_steps(gym.spaces.Box(0.0, np.inf, (1,)), total_steps=2_000)
    1400
    """
    random = DEFAULT_STEPS if total_steps is None else most_probe_steps(total_steps)
    return random + most_search_steps(actions, total_steps)


@dataclass(frozen=True)
class Probe:
    """The properties of an environment that training needs, found by probing or given by the
    user."""

    reference_point: tuple[float, ...]
    deterministic: bool
    masked_actions: bool
    step_limit: int
    num_episodes: int = 0
    """Random episodes of the probe."""
    num_steps: int = 0
    """Environment steps of these episodes."""
    action_space: gym.Space[Any] | None = None
    """The action space with bounds; None where the environment's own space is used."""
    evidence: Evidence | None = None
    """The evidence; None if everything was given."""


def probe(
    source: GymnasiumSource,
    *,
    step_limit: int | None = None,
    deterministic: bool | None = None,
    total_steps: int | None = None,
    most_seconds: float = float("inf"),
    compare_all: bool = False,
    action_low: tuple[float, ...] | None = None,
    action_high: tuple[float, ...] | None = None,
    answered: Callable[[], None] = ignore_answer,
    seed: int = 0,
) -> Probe:
    """Play random episodes to find the number of objectives, a reference point and more.

    Each episode is played again with the same actions and another seed, until something differs:
    then the environment is stochastic. Every second episode repeats its actions often: it goes
    further than one that changes its mind at each step.

    Args:
        source: What makes the environment.
        step_limit: The longest episode; the environment's own, if not given.
        deterministic: Whether it is deterministic, if that is known.
        total_steps: The training's steps, of which probing takes a share.
        most_seconds: After how long no more episodes are played, for environments that are slow.
        compare_all: Whether episodes are compared also when something has differed.
        action_low: The smallest continuous action, if the environment's own is not to be used.
        action_high: The largest one.
        answered: Called after each answer of the environment.
        seed: Seeds the actions and the environment.
    """
    most_steps = DEFAULT_STEPS if total_steps is None else most_probe_steps(total_steps)
    prober = Prober(source, most_steps, seed, most_seconds=most_seconds, answered=answered)
    space = within(prober.environment.action_space, action_low, action_high)
    if is_unbounded(space):
        space = find_bounds(prober, space, most_search_steps(space, total_steps))
    prober.act_within(space)
    evidence = prober.evidence
    limit = (
        written_limit(prober.environment)
        if step_limit is None
        else StepLimit(step_limit, "the user")
    )
    longest = UNLIMITED_STEPS if limit is None else limit.steps
    evidence.first_states_differ = prober.first_states_differ()
    random = evidence.first_states_differ if deterministic is None else not deterministic
    first_ones: list[RandomEpisode] = []
    while not first_ones or (
        prober.may_go_on
        and (
            len(first_ones) < PROBE_EPISODES
            or (not random and deterministic is None and evidence.num_compared < MOST_SCRIPTS)
        )
    ):
        episode_seed = prober.fresh_seed()
        repeat = float(np.random.default_rng(episode_seed).uniform()) * (len(first_ones) % 2)
        # A first episode that took all steps could not be compared, and randomness not be found.
        share = 0.5 if deterministic is None and not first_ones else 1.0
        first = prober.play(longest, seed=episode_seed, repeat=repeat, share=share)
        if evidence.first_states_differ:
            prober.test_seed(first, episode_seed)
        if deterministic is None and (compare_all or not random) and prober.may_go_on:
            random |= prober.compare(first, episode_seed)
        first_ones.append(replace(first, observations=[]))  # pictures would fill the memory
    if limit is None:
        limit = observed_limit(
            [len(one.actions) for one in first_ones if one.truncated],
            [len(one.actions) for one in first_ones if one.terminated],
            total_steps,
        )
    evidence.step_limit_source = limit.source
    whole = [one for one in first_ones if not one.cut] or first_ones
    evidence.rewards = [one.rewards for one in whole]
    rewards = [one.rewards for one in first_ones]
    return Probe(
        reference_point=reference_point(
            rewards,
            [one.terminated for one in first_ones],
            step_limit=longest_useful(
                limit,
                [len(one.actions) for one in first_ones],
                all_ended=all(one.terminated for one in whole),
            ),
            never_negative=never_negative(prober.environment, rewards[0].shape[1]),
        ),
        deterministic=not random,
        masked_actions=any(episode.masked for episode in first_ones),
        step_limit=limit.steps,
        num_episodes=prober.num_episodes,
        num_steps=prober.num_steps,
        evidence=evidence,
        action_space=space,
    )
