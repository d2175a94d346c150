"""Any Gymnasium environment with vector rewards and discrete actions, ready for rollouts."""

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Bool, Float

from pcn.envs.observations import ObservationReader
from pcn.envs.slots import LocalSlots, Slots, WorkerSlots
from pcn.envs.spec import EnvironmentSpec, Front, Objective
from pcn.errors import UserError
from pcn.lookup import find_function
from pcn.nets.heads import action_head_for

PROBE_EPISODES = 20
UNLIMITED_STEPS = 1000
PROBE_DISCOUNTS = (0.99, 0.95, 0.9, 0.5)
"""The reference point is settled before the discount: returns must beat it with any of these."""
"""Step limit of environments that have none."""

MakeEnv = Callable[..., gym.Env[Any, Any]]


@dataclass(frozen=True)
class Probe:
    """What random episodes tell about an environment; settled once and stored with the run."""

    reference_point: tuple[float, ...]
    deterministic: bool
    masked_actions: bool
    step_limit: int


class GymnasiumEnvironment:
    """Environments of one kind in slots; `rollout` steps them with one policy call per step."""

    def __init__(
        self,
        name: str,
        make: MakeEnv,
        probe: Probe,
        *,
        num_slots: int = 16,
        workers: bool = False,
        frame_stack: int = 2,
        front: Front | None = None,
        discount: float = 1.0,
    ) -> None:
        self._make = make
        self._workers = workers
        self._frame_stack = frame_stack
        self._slots: Slots | None = None
        self.num_slots = num_slots
        environment = _made(make, name)
        self._shown_space = environment.observation_space
        self.spec = EnvironmentSpec(
            name=name,
            objectives=_objectives(environment, len(probe.reference_point)),
            observation_space=self.reader().space,
            action_space=environment.action_space,
            step_limit=probe.step_limit,
            reference_point=probe.reference_point,
            front=front or _claimed_front(environment, len(probe.reference_point), discount),
            deterministic=probe.deterministic,
            masked_actions=probe.masked_actions,
            action_names=getattr(environment.unwrapped, "action_names", ()),
        )
        environment.close()

    def reader(self) -> ObservationReader:
        """What turns an observation into what policies see."""
        return ObservationReader(self._shown_space, frame_stack=self._frame_stack)

    def warm_up(self) -> None:
        """Start the workers, so that what keeps them from working is told before training."""
        if self._workers:
            self.slots().reset(dict.fromkeys(range(self.num_slots), 0))

    def slots(self) -> Slots:
        """The environments, made when first needed and kept."""
        if self._slots is None or self._slots.closed:
            kind = WorkerSlots if self._workers else LocalSlots
            self._slots = kind(self._make, self.num_slots, frame_stack=self._frame_stack)
        return self._slots

    def person_view(self, render_mode: str | None) -> gym.Env[Any, Any]:
        """One environment in this process, for a person to step and look at."""
        if render_mode is None:
            return self._make()
        try:
            return self._make(render_mode=render_mode)
        except TypeError:
            raise UserError(
                f"{self.spec.name} cannot be made with render_mode={render_mode!r}"
            ) from None


def find_make(name: str) -> MakeEnv:
    """How to make the environment behind a Gymnasium id or `module:function`."""
    if ":" in name:
        return find_function(name)
    return partial(_make_by_id, name)


def _make_by_id(name: str, **options: Any) -> gym.Env[Any, Any]:
    importlib.import_module("mo_gymnasium")  # registers its ids
    with warnings.catch_warnings():
        # Many environments give the bounds of their boxes in double precision.
        warnings.filterwarnings("ignore", message=".*precision lowered by casting.*")
        return gym.make(name, disable_env_checker=True, **options)


def is_gymnasium_id(name: str) -> bool:
    """Whether Gymnasium or MO-Gymnasium knows an environment of that id."""
    importlib.import_module("mo_gymnasium")
    return name in gym.registry


def _made(make: MakeEnv, name: str) -> gym.Env[Any, Any]:
    try:
        return make()
    except Exception as error:  # whatever the environment's own code raises
        raise UserError(f"cannot make {name}: {error}") from None


def probe(make: MakeEnv, name: str, *, step_limit: int | None, seed: int = 0) -> Probe:
    """Play random episodes: how many objectives, how bad returns get, is anything random?"""
    environment = _made(make, name)
    if not isinstance(environment, gym.Env):
        raise UserError(f"{name} makes {environment!r}, which is no Gymnasium environment")
    action_head_for(environment.action_space)
    if step_limit is None:
        spec = environment.spec
        step_limit = (spec.max_episode_steps if spec is not None else None) or UNLIMITED_STEPS
    rng = np.random.default_rng(seed)
    environment.action_space.seed(seed)
    returns: list[np.ndarray] = []
    discounted: list[np.ndarray] = []
    masked, deterministic = False, True
    for _ in range(PROBE_EPISODES):
        first = _random_episode(environment, name, step_limit, seed=int(rng.integers(1 << 31)))
        masked = masked or first.masked
        returns.append(first.returns(1.0))
        discounted.extend(first.returns(discount) for discount in PROBE_DISCOUNTS)
        if deterministic:
            again = _random_episode(
                environment, name, step_limit, seed=int(rng.integers(1 << 31)), script=first.actions
            )
            deterministic = first.same_as(again)
    environment.close()
    lowest, highest = np.min(returns, axis=0), np.max(returns, axis=0)
    # Random episodes gain a little of everything; a policy may do without some of it.
    lowest = np.where(_never_negative(environment, len(lowest)), np.minimum(lowest, 0.0), lowest)
    margin = np.maximum(0.1 * (highest - lowest), 1e-3 * np.maximum(np.abs(lowest), 1.0))
    lowest = np.minimum(lowest, np.min(discounted, axis=0))
    reference = tuple(float(f"{value:.3g}") for value in lowest - margin)
    return Probe(reference, deterministic, masked, step_limit)


def _never_negative(environment: gym.Env[Any, Any], count: int) -> Bool[np.ndarray, " objective"]:
    """Which objectives only ever gain, as far as the environment's `reward_space` says."""
    space = getattr(environment.unwrapped, "reward_space", None)
    if not isinstance(space, gym.spaces.Box) or space.shape != (count,):
        return np.zeros(count, dtype=bool)
    return np.asarray(space.low) >= 0


@dataclass(frozen=True)
class _RandomEpisode:
    observations: list[Any]
    actions: list[Any]
    rewards: Float[np.ndarray, "time objective"]
    masked: bool

    def returns(self, discount: float) -> Float[np.ndarray, " objective"]:
        """What the episode returned, later rewards discounted."""
        return discount ** np.arange(len(self.rewards)) @ self.rewards

    def same_as(self, other: "_RandomEpisode") -> bool:
        """Whether the same actions led to the same observations and rewards."""
        if self.rewards.shape != other.rewards.shape:
            return False
        pairs = zip(self.observations, other.observations, strict=True)
        return bool(np.array_equal(self.rewards, other.rewards)) and all(
            _equal(mine, theirs) for mine, theirs in pairs
        )


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
            wanted = np.ravel(action).astype(np.int64)
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


def _objectives(environment: gym.Env[Any, Any], count: int) -> tuple[Objective, ...]:
    """As the environment describes them or at least names them, otherwise numbered."""
    described = getattr(environment.unwrapped, "objectives", None)
    if isinstance(described, tuple) and all(isinstance(one, Objective) for one in described):
        return described
    names = getattr(environment.unwrapped, "objective_names", None)
    if names is None or len(names) != count:
        names = [f"objective_{number}" for number in range(count)]
    return tuple(Objective(str(name)) for name in names)


def _claimed_front(environment: gym.Env[Any, Any], count: int, discount: float) -> Front | None:
    """What the environment itself says its front is: information, not truth."""
    claim = getattr(environment.unwrapped, "pareto_front", None)
    if claim is None:
        return None
    try:
        returns = np.asarray(claim(discount), dtype=np.float64)
    except Exception:  # some need arguments of their own, or optional packages
        return None
    if returns.ndim != 2 or returns.shape[1] != count or len(returns) == 0:
        return None
    return Front(returns, "claimed", "the environment's own pareto_front()")
