"""Probing: random episodes that find out what an unknown Gymnasium environment does not say."""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Bool, Float

from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.errors import UserError
from pcn.nets.heads import action_head_for

PROBE_EPISODES = 20
"""Random episodes; as long as all seems deterministic, each is played a second time."""
UNLIMITED_STEPS = 1000
"""Step limit of environments that have none."""
PROBE_DISCOUNTS = (0.99, 0.95, 0.9, 0.5)
"""The reference point is settled before the discount is: it is worse than the returns of random
episodes with any of these."""


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


@dataclass(frozen=True)
class _RandomEpisode:
    observations: list[Any]
    actions: list[Any]
    rewards: Float[np.ndarray, "time objective"]
    masked: bool

    def returns(self, discount: float) -> Float[np.ndarray, " objective"]:
        """The return of the episode."""
        return discount ** np.arange(len(self.rewards)) @ self.rewards

    def same_as(self, other: "_RandomEpisode") -> bool:
        """Whether observations and rewards are the same."""
        if self.rewards.shape != other.rewards.shape:
            return False
        pairs = zip(self.observations, other.observations, strict=True)
        return bool(np.array_equal(self.rewards, other.rewards)) and all(
            _equal(mine, theirs) for mine, theirs in pairs
        )


def probe(source: GymnasiumSource, *, step_limit: int | None = None, seed: int = 0) -> Probe:
    """Play random episodes to find the number of objectives, a reference point and more.

    Each episode is played again with the same actions and another seed: if anything differs, the
    environment is stochastic. `step_limit` is the environment's own where none is given.
    """
    environment, name = source.instance(), source.name
    action_head_for(environment.action_space)  # an error here is clearer than one in an episode
    if step_limit is None:
        spec = environment.spec
        step_limit = (spec.max_episode_steps if spec is not None else None) or UNLIMITED_STEPS
    rng = np.random.default_rng(seed)
    environment.action_space.seed(seed)
    first_ones: list[_RandomEpisode] = []
    again_ones: list[_RandomEpisode] = []
    deterministic = True
    for _ in range(PROBE_EPISODES):
        first = _random_episode(environment, name, step_limit, seed=int(rng.integers(1 << 31)))
        first_ones.append(first)
        if deterministic:
            again = _random_episode(
                environment, name, step_limit, seed=int(rng.integers(1 << 31)), script=first.actions
            )
            again_ones.append(again)
            deterministic = first.same_as(again)
    return Probe(
        reference_point=_reference_point(environment, first_ones),
        deterministic=deterministic,
        masked_actions=any(episode.masked for episode in first_ones),
        step_limit=step_limit,
        num_episodes=len(first_ones) + len(again_ones),
        num_steps=sum(len(episode.actions) for episode in first_ones + again_ones),
    )


def _reference_point(
    environment: gym.Env[Any, Any], episodes: list[_RandomEpisode]
) -> tuple[float, ...]:
    """A point a little worse than all returns of random episodes, in three digits."""
    returns = [episode.returns(1.0) for episode in episodes]
    discounted = [episode.returns(discount) for episode in episodes for discount in PROBE_DISCOUNTS]
    lowest, highest = np.min(returns, axis=0), np.max(returns, axis=0)
    # Random episodes gain a little of everything; a policy may do without some of it.
    lowest = np.where(_never_negative(environment, len(lowest)), np.minimum(lowest, 0.0), lowest)
    margin = np.maximum(0.1 * (highest - lowest), 1e-3 * np.maximum(np.abs(lowest), 1.0))
    lowest = np.minimum(lowest, np.min(discounted, axis=0))
    return tuple(float(f"{value:.3g}") for value in lowest - margin)


def _never_negative(
    environment: gym.Env[Any, Any], num_objectives: int
) -> Bool[np.ndarray, " objective"]:
    """Which objectives are never negative, as far as the environment's `reward_space` says."""
    space = getattr(environment.unwrapped, "reward_space", None)
    if not isinstance(space, gym.spaces.Box) or space.shape != (num_objectives,):
        return np.zeros(num_objectives, dtype=bool)
    return np.asarray(space.low) >= 0


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return all(_equal(one[name], other[name]) for name in one)
    if isinstance(one, tuple):
        return all(_equal(a, b) for a, b in zip(one, other, strict=True))
    return bool(np.array_equal(one, other))


def _random_episode(
    environment: gym.Env[Any, Any],
    name: str,
    step_limit: int,
    *,
    seed: int,
    script: list[Any] | None = None,
) -> _RandomEpisode:
    try:
        return _played(environment, name, step_limit, seed=seed, script=script)
    except UserError:
        raise
    except Exception as error:  # whatever the environment's own code raises
        raise UserError(f"{name} failed in a random episode: {error!r}") from None


def _played(
    environment: gym.Env[Any, Any],
    name: str,
    step_limit: int,
    *,
    seed: int,
    script: list[Any] | None,
) -> _RandomEpisode:
    observation, info = environment.reset(seed=seed)
    observations, actions, rewards = [observation], [], []
    masked = "action_mask" in info
    space, rng = environment.action_space, np.random.default_rng(seed)
    action_head = action_head_for(space)
    for time in range(step_limit if script is None else len(script)):
        action = space.sample() if script is None else script[time]
        if "action_mask" in info:
            wanted = action_head.from_environment(action)
            allowed = action_head.allowed_row(wanted, action_head.from_info(info), rng)
            if script is not None and not np.array_equal(allowed, wanted):
                break  # what was allowed is forbidden now, so something is random
            action = action_head.to_environment(allowed[None])[0]
        observation, gained, terminated, truncated, info = environment.step(action)
        reward: Any = gained
        if np.ndim(reward) != 1 or np.size(reward) < 2:
            raise UserError(
                f"{name} gives rewards of shape {np.shape(reward)}; "
                "a vector with at least two objectives is needed"
            )
        if not np.isfinite(np.asarray(reward)).all():
            raise UserError(f"{name} gives the reward {reward}; every objective must be finite")
        observations.append(observation)
        actions.append(action)
        rewards.append(np.asarray(reward, dtype=np.float64))
        if terminated or truncated:
            break
    all_rewards = np.array(rewards) if rewards else np.zeros((0, 0))
    return _RandomEpisode(observations, actions, all_rewards, masked)
