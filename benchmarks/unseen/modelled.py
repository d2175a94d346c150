"""A Gymnasium environment that is made of its rules, and the true front of these rules."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

import gymnasium as gym
import numpy as np

from pcn.pareto import unique_front
from pcn.planning import Plans
from pcn.planning.weighted_planning import plan_for_weights
from proofs.tabular import Outcome, solve, tabulate

MOST_NODES = 100_000_000


class Demonstration(NamedTuple):
    """A policy by hand and its expected return, which is a point of the front."""

    policy: Callable[[Any, int], Any]
    """The action for a state and a number of steps so far."""
    expected: tuple[float, ...]


class ModelledEnvironment(gym.Env):
    """Steps are drawn from `outcomes`; an action of several choices is numbered in the rules."""

    steps: ClassVar[int]
    """The budget of a training."""
    step_limit: ClassVar[int]
    """Of an episode; where `truncates` is off, no good policy needs more."""
    truncates: ClassVar[bool] = True
    pays_at_the_end: ClassVar[bool] = False
    """Whether the sum of all rewards is paid with the last step, and nothing before."""
    reference_point: ClassVar[tuple[float, ...]]
    discount: ClassVar[float] = 1.0
    """Which a training is given."""
    num_weights: ClassVar[int | None] = None
    """Where given, the truth is the convex hull, by so many weights of the objectives."""
    demonstrations: ClassVar[tuple[Demonstration, ...]]

    def starts(self) -> dict[Any, float]:
        """The states in which episodes begin, and how likely each is."""
        raise NotImplementedError

    def actions(self, state: Any) -> Iterable[int]:
        """The numbers of the actions that are available in a state: all of one choice."""
        assert isinstance(self.action_space, gym.spaces.Discrete)
        return range(int(self.action_space.n))

    def outcomes(self, state: Any, action: int) -> list[Outcome]:
        """All that an action may lead to: probability, next state, reward, terminated."""
        raise NotImplementedError

    def observed(self) -> Any:
        """What the agent sees of the state."""
        raise NotImplementedError

    def number(self, action: Any) -> int:
        """The number of an action in the rules."""
        return int(action)

    def info(self) -> dict[str, Any]:
        """Action masks, where there are any."""
        return {}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        states, probabilities = zip(*self.starts().items(), strict=True)
        self.state = states[self.np_random.choice(len(states), p=probabilities)]
        self.time, self.owed = 0, np.zeros(len(self.reference_point))
        return self.observed(), self.info()

    def step(self, action: Any) -> tuple[Any, np.ndarray, bool, bool, dict[str, Any]]:
        outcomes = self.outcomes(self.state, self.number(action))
        chosen = self.np_random.choice(len(outcomes), p=[outcome[0] for outcome in outcomes])
        _, self.state, reward, terminated = outcomes[chosen]
        reward = np.array(reward, np.float64)
        self.time += 1
        truncated = self.truncates and not terminated and self.time == self.step_limit
        if self.pays_at_the_end:
            self.owed += reward
            reward = self.owed if terminated or truncated else np.zeros_like(reward)
        return self.observed(), reward, terminated, truncated, self.info()

    @classmethod
    def plans(cls) -> tuple[Plans, dict[Any, int]]:
        """A plan for every point of the true front, and the number of each state in them."""
        rules = cls()
        if cls.num_weights is None:
            return solve(rules, discount=cls.discount, step_limit=cls.step_limit)
        model, numbers = tabulate(rules)
        plans = plan_for_weights(
            model,
            discount=cls.discount,
            horizon=cls.step_limit,
            num_weights=cls.num_weights,
            most_nodes=MOST_NODES,
        )
        return plans, numbers

    @classmethod
    def true_front(cls) -> np.ndarray:
        """All non-dominated expected returns, or the corners of their convex hull."""
        points = cls.plans()[0].vectors.round(9)
        return points[unique_front(points)]
