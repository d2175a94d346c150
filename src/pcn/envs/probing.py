"""Probing: random episodes that find out what an unknown Gymnasium environment does not say.

They take at most a share of a training's steps; the last one is cut where the share ends.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pcn.envs.evidence import Evidence
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.reference_points import never_negative, reference_point
from pcn.envs.step_limits import UNLIMITED_STEPS, StepLimit, observed_limit, written_limit
from pcn.errors import UserError
from pcn.nets.heads import AbstractActionHead, action_head_for

PROBE_EPISODES = 20
"""Random episodes that returns are measured in."""
MOST_SCRIPTS = 200
"""As long as all seems deterministic, so many random episodes are played a second time at most."""
FIRST_STATES = 8
"""How many seeds the first observation is compared under; this takes no step."""
PROBE_SHARE = 0.05
"""Share of a training's steps that probing may take."""
FEW_STEPS = 500
"""A share of so few steps tells little: short trainings may spend up to a fifth instead."""
DEFAULT_STEPS = 10_000
"""Most steps of a probe that belongs to no training."""


def most_probe_steps(total_steps: int) -> int:
    """How many steps of a training probing may take.

    >>> [most_probe_steps(total) for total in (1, 1_500, 200_000)]
    [1, 300, 10000]
    """
    return max(int(PROBE_SHARE * total_steps), min(FEW_STEPS, total_steps // 5), 1)


@dataclass(frozen=True)
class Probe:
    """What training needs to know about an environment, as probing finds it or a user says it."""

    reference_point: tuple[float, ...]
    deterministic: bool
    masked_actions: bool
    step_limit: int
    num_episodes: int = 0
    """Episodes that were played to find this out."""
    num_steps: int = 0
    """Environment steps that they took."""
    evidence: Evidence | None = None
    """How it was found out; None where everything was given."""


@dataclass(frozen=True)
class _RandomEpisode:
    observations: list[Any]
    actions: list[Any]
    rewards: Float[np.ndarray, "time objective"]
    masked: bool
    terminated: bool
    truncated: bool
    """By the environment itself."""
    cut: bool
    """Whether the probe ran out of steps."""

    def differs_from(self, other: "_RandomEpisode") -> bool:
        """Whether observations, rewards or ends differ, as far as neither was cut."""
        both = min(len(self.actions), len(other.actions))
        longer = max(len(self.actions), len(other.actions))
        if both < longer and not (self if len(self.actions) == both else other).cut:
            return True
        if not np.array_equal(self.rewards[:both], other.rewards[:both]):
            return True
        seen = zip(self.observations[: both + 1], other.observations[: both + 1], strict=True)
        return not all(_equal(mine, theirs) for mine, theirs in seen)


class _Prober:
    """One instance, random numbers, and the steps that are left."""

    def __init__(self, source: GymnasiumSource, most_steps: int, seed: int) -> None:
        self.environment, self._name = source.instance(), source.name
        # An error here is clearer than one in an episode.
        self._head: AbstractActionHead = action_head_for(self.environment.action_space)
        self._rng = np.random.default_rng(seed)
        self.environment.action_space.seed(seed)
        self._most_steps = most_steps
        self.num_episodes = self.num_steps = 0
        self.evidence = Evidence()

    @property
    def steps_left(self) -> int:
        return self._most_steps - self.num_steps

    def fresh_seed(self) -> int:
        return int(self._rng.integers(1 << 31))

    def first_states_differ(self) -> bool:
        """Whether episodes begin differently under other seeds."""
        try:
            states = [self.environment.reset(seed=self.fresh_seed()) for _ in range(FIRST_STATES)]
        except Exception as error:  # whatever the environment's own code raises
            raise UserError(f"{self._name} failed in a random episode: {error!r}") from None
        return not all(_equal(states[0][0], observation) for observation, _ in states)

    def play(
        self, step_limit: int, *, seed: int, script: list[Any] | None = None, repeat: float = 0.0
    ) -> _RandomEpisode:
        """One episode of random actions, or of a script; `repeat` makes the last action likely."""
        started = time.perf_counter()
        try:
            episode = self._played(step_limit, seed=seed, script=script, repeat=repeat)
        except UserError:
            raise
        except Exception as error:  # whatever the environment's own code raises
            raise UserError(f"{self._name} failed in a random episode: {error!r}") from None
        self.evidence.seconds += time.perf_counter() - started
        self.num_episodes += 1
        self.num_steps += len(episode.actions)
        return episode

    def _played(
        self, step_limit: int, *, seed: int, script: list[Any] | None, repeat: float
    ) -> _RandomEpisode:
        environment, head = self.environment, self._head
        observation, info = environment.reset(seed=seed)
        observations: list[Any] = [observation]
        actions: list[Any] = []
        rewards: list[Float[np.ndarray, " objective"]] = []
        masked = "action_mask" in info
        space, rng = environment.action_space, np.random.default_rng(seed)
        terminated = truncated = False
        wanted_steps = step_limit if script is None else len(script)
        for number in range(min(wanted_steps, self.steps_left)):
            if script is not None:
                action = script[number]
            elif actions and rng.uniform() < repeat:
                action = actions[-1]
            else:
                action = space.sample()
            if "action_mask" in info:
                wanted = head.from_environment(action)
                allowed = head.allowed_row(wanted, head.from_info(info), rng)
                if script is not None and not np.array_equal(allowed, wanted):
                    break  # what was allowed is forbidden now, so something is random
                action = head.to_environment(allowed[None])[0]
            observation, gained, terminated, truncated, info = environment.step(action)
            observations.append(observation)
            actions.append(action)
            rewards.append(self._checked(gained))
            if terminated or truncated:
                break
        return _RandomEpisode(
            observations,
            actions,
            np.array(rewards) if rewards else np.zeros((0, 0)),
            masked,
            terminated=bool(terminated),
            truncated=bool(truncated),
            cut=not (terminated or truncated) and len(actions) < wanted_steps
            and self.steps_left <= len(actions),
        )  # fmt: skip

    def _checked(self, reward: Any) -> Float[np.ndarray, " objective"]:
        if np.ndim(reward) != 1 or np.size(reward) < 2:
            raise UserError(
                f"{self._name} gives rewards of shape {np.shape(reward)}; "
                "a vector with at least two objectives is needed"
            )
        if not np.isfinite(np.asarray(reward)).all():
            raise UserError(
                f"{self._name} gives the reward {reward}; every objective must be finite"
            )
        return np.asarray(reward, dtype=np.float64)

    def compare(self, first: _RandomEpisode, seed: int) -> bool:
        """Whether the same actions led to something else under another seed."""
        again = self.play(len(first.actions), seed=self.fresh_seed(), script=first.actions)
        if not again.actions and first.actions and again.cut:
            return False
        evidence, differs = self.evidence, first.differs_from(again)
        evidence.num_compared += 1
        evidence.num_differing += differs
        if differs:
            self.test_seed(first, seed)
        return differs

    def test_seed(self, first: _RandomEpisode, seed: int) -> None:
        """Play an episode that randomness takes part in once more under its own seed."""
        if self.evidence.seed_respected is not None or self.steps_left <= 0:
            return
        again = self.play(len(first.actions), seed=seed, script=first.actions)
        self.evidence.seed_respected = not first.differs_from(again)


def probe(
    source: GymnasiumSource,
    *,
    step_limit: int | None = None,
    deterministic: bool | None = None,
    total_steps: int | None = None,
    compare_all: bool = False,
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
        compare_all: Whether episodes are compared also when something has differed.
        seed: Seeds the actions and the environment.
    """
    most_steps = DEFAULT_STEPS if total_steps is None else most_probe_steps(total_steps)
    prober = _Prober(source, most_steps, seed)
    evidence = prober.evidence
    limit = (
        written_limit(prober.environment)
        if step_limit is None
        else StepLimit(step_limit, "the user")
    )
    longest = UNLIMITED_STEPS if limit is None else limit.steps
    evidence.first_states_differ = prober.first_states_differ()
    random = evidence.first_states_differ if deterministic is None else not deterministic
    first_ones: list[_RandomEpisode] = []
    while prober.steps_left > 0 and (
        len(first_ones) < PROBE_EPISODES
        or (not random and deterministic is None and evidence.num_compared < MOST_SCRIPTS)
    ):
        episode_seed = prober.fresh_seed()
        repeat = float(np.random.default_rng(episode_seed).uniform()) * (len(first_ones) % 2)
        first = prober.play(longest, seed=episode_seed, repeat=repeat)
        first_ones.append(first)
        if evidence.first_states_differ:
            prober.test_seed(first, episode_seed)
        if deterministic is None and (compare_all or not random) and prober.steps_left > 0:
            random |= prober.compare(first, episode_seed)
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
            step_limit=limit.steps,
            never_negative=never_negative(prober.environment, rewards[0].shape[1]),
        ),
        deterministic=not random,
        masked_actions=any(episode.masked for episode in first_ones),
        step_limit=limit.steps,
        num_episodes=prober.num_episodes,
        num_steps=prober.num_steps,
        evidence=evidence,
    )


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return all(_equal(one[name], other[name]) for name in one)
    if isinstance(one, tuple):
        return all(_equal(a, b) for a, b in zip(one, other, strict=True))
    return bool(np.array_equal(one, other))
