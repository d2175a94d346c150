"""Random episodes in an unknown Gymnasium environment, and tests whether they can be repeated."""

import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Float

from pcn.envs.answers import AnswerCheck
from pcn.envs.evidence import Evidence
from pcn.envs.failures import failure_of
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.silence import ignore_answer
from pcn.errors import UserError
from pcn.nets.heads import AbstractActionHead, action_head_for

FIRST_STATES = 8
"""The number of seeds under which the first observation is compared; this takes no step."""


@dataclass(frozen=True)
class RandomEpisode:
    """An episode of random actions, or of the actions of another episode."""

    observations: list[Any]
    actions: list[Any]
    rewards: Float[np.ndarray, "time objective"]
    masked: bool
    terminated: bool
    truncated: bool
    """Truncated by the environment itself."""
    cut: bool
    """Whether the probe ran out of steps or time."""

    def differs_from(self, other: "RandomEpisode") -> bool:
        """Whether observations, rewards or ends differ, as far as neither was cut."""
        both = min(len(self.actions), len(other.actions))
        longer = max(len(self.actions), len(other.actions))
        if both < longer and not (self if len(self.actions) == both else other).cut:
            return True
        ends = (self.terminated, self.truncated), (other.terminated, other.truncated)
        if both == longer and not (self.cut or other.cut) and ends[0] != ends[1]:
            return True
        if not np.array_equal(self.rewards[:both], other.rewards[:both]):
            return True
        seen = zip(self.observations[: both + 1], other.observations[: both + 1], strict=True)
        return not all(_equal(mine, theirs) for mine, theirs in seen)


class Prober:
    """One instance, random numbers, and the remaining steps and time."""

    def __init__(
        self,
        source: GymnasiumSource,
        most_steps: int,
        seed: int,
        *,
        most_seconds: float = float("inf"),
        answered: Callable[[], None] = ignore_answer,
    ) -> None:
        self.environment, self._name = source.instance(), source.name
        self._check = AnswerCheck(source.name)
        self._answered = answered
        self._rng = np.random.default_rng(seed)
        self._seed = seed
        self._head: AbstractActionHead | None = None
        self._most_steps = most_steps
        self._ends = time.perf_counter() + most_seconds
        self.num_episodes = self.num_steps = 0
        self.evidence = Evidence()

    def act_within(self, space: gym.Space[Any]) -> None:
        """Draw random actions from this space, which may be smaller than the environment's own."""
        # An error here is clearer than one in an episode.
        self._head = action_head_for(space)
        self._check = AnswerCheck(self._name, self._head)
        self._space = space
        space.seed(self._seed)

    def allow(self, num_steps: int) -> None:
        """Change the number of allowed steps by this number."""
        self._most_steps += num_steps

    @property
    def steps_left(self) -> int:
        """Steps that may still be taken."""
        return self._most_steps - self.num_steps

    @property
    def may_go_on(self) -> bool:
        """Whether steps and time are left."""
        return self.steps_left > 0 and time.perf_counter() < self._ends

    def fresh_seed(self) -> int:
        """A seed for an episode."""
        return int(self._rng.integers(1 << 31))

    def first_states_differ(self) -> bool:
        """Whether episodes begin differently under other seeds."""
        try:
            states = [
                deepcopy(self._first_observation(self.fresh_seed())) for _ in range(FIRST_STATES)
            ]
        except (UserError, KeyboardInterrupt):
            raise
        except BaseException as error:  # whatever the environment's own code raises
            raise self._check.refusal(failure_of(error)) from None
        return not all(_equal(states[0], observation) for observation in states)

    def _first_observation(self, seed: int) -> Any:
        return self._reset(seed)[0]

    def _reset(self, seed: int) -> tuple[Any, Any]:
        answer = self.environment.reset(seed=seed)
        self._answered()
        return self._check.episode_start(answer)

    def play(
        self,
        step_limit: int,
        *,
        seed: int,
        script: list[Any] | None = None,
        repeat: float = 0.0,
        share: float = 1.0,
    ) -> RandomEpisode:
        """Run one episode of random actions, or of given ones; `repeat` makes the last action
        likely.

        It is cut when it has taken a `share` of the remaining steps.
        """
        started = time.perf_counter()
        room = max(1, int(share * self.steps_left))
        try:
            episode = self._played(step_limit, room, seed=seed, script=script, repeat=repeat)
        except (UserError, KeyboardInterrupt):
            raise
        except BaseException as error:  # whatever the environment's own code raises
            raise self._check.refusal(failure_of(error)) from None
        self.evidence.seconds += time.perf_counter() - started
        self.num_episodes += 1
        self.num_steps += len(episode.actions)
        return episode

    def _played(
        self, step_limit: int, room: int, *, seed: int, script: list[Any] | None, repeat: float
    ) -> RandomEpisode:
        environment, head, check = self.environment, self._head, self._check
        check.begin()
        observation, info = self._reset(seed)
        self._look_at(observation)
        info = check.mask(info)
        # Copies: some environments change one array in place.
        observations: list[Any] = [deepcopy(observation)]
        actions: list[Any] = []
        rewards: list[Float[np.ndarray, " objective"]] = []
        masked = "action_mask" in info
        rng = np.random.default_rng(seed)
        terminated = truncated = cut = False
        wanted_steps = step_limit if script is None else len(script)
        for number in range(min(wanted_steps, room)):
            if actions and time.perf_counter() > self._ends:
                cut = True
                break
            if script is not None:
                action = script[number]
            elif actions and rng.uniform() < repeat:
                action = actions[-1]
            else:
                action = self._space.sample()
            if head is not None and "action_mask" in info:
                wanted = head.from_environment(action)
                allowed = head.allowed_row(wanted, head.from_info(info), rng)
                if script is not None and not np.array_equal(allowed, wanted):
                    break  # an action that was allowed is forbidden now, so something is random
                action = head.to_environment(allowed[None])[0]
            check.advance()
            answer = environment.step(action)
            self._answered()
            observation, gained, terminated, truncated, info = check.outcome(answer)
            terminated = check.flag("terminated", terminated)
            truncated = check.flag("truncated", truncated)
            self._look_at(observation)
            info = check.mask(info, over=terminated or truncated)
            observations.append(deepcopy(observation))
            actions.append(action)
            rewards.append(check.reward(gained).astype(np.float64))
            if terminated or truncated:
                break
        else:
            cut = len(actions) < wanted_steps
        return RandomEpisode(
            observations,
            actions,
            np.array(rewards) if rewards else np.zeros((0, 0)),
            masked,
            terminated=terminated,
            truncated=truncated,
            cut=cut,
        )

    def _look_at(self, observation: Any) -> None:
        """Refuse an observation that cannot be learnt from; note one outside its space."""
        outside = self._check.observation(self.environment.observation_space, observation)
        if outside is not None and not self.evidence.remarks:
            self.evidence.remarks.append(outside)

    def compare(self, first: RandomEpisode, seed: int) -> bool:
        """Whether the same actions had another outcome under another seed."""
        again = self.play(len(first.actions), seed=self.fresh_seed(), script=first.actions)
        if not again.actions and first.actions and again.cut:
            return False
        evidence, differs = self.evidence, first.differs_from(again)
        evidence.num_compared += 1
        evidence.num_differing += differs
        if differs:
            self.test_seed(first, seed)
        return differs

    def test_seed(self, first: RandomEpisode, seed: int) -> None:
        """Repeat an episode with random outcomes under its own seed."""
        if self.evidence.seed_respected is not None or not self.may_go_on:
            return
        again = self.play(len(first.actions), seed=seed, script=first.actions)
        self.evidence.seed_respected = not first.differs_from(again)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return all(_equal(one[name], other[name]) for name in one)
    if isinstance(one, tuple):
        return all(_equal(a, b) for a, b in zip(one, other, strict=True))
    return bool(np.array_equal(one, other))
