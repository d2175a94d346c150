"""Evidence: the findings of random episodes of an environment, also in words."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

SLOW_SECONDS = 0.002
"""Seconds of a step above which a process of its own for each instance pays off."""


@dataclass
class Evidence:
    """The findings of random episodes."""

    step_limit_source: str = ""
    """Where the step limit comes from."""
    rewards: list[Float[np.ndarray, "_ objective"]] = field(default_factory=list)
    """Rewards of the episodes that were not cut; of all, if every one was cut."""
    num_compared: int = 0
    """Sequences of actions that were repeated under another seed."""
    num_differing: int = 0
    """How many of them had a different outcome."""
    first_states_differ: bool = False
    """Whether the seed changes how an episode begins."""
    seed_respected: bool | None = None
    """Whether the same seed and the same actions have the same outcome; None in a deterministic
    environment, where this says nothing."""
    remarks: list[str] = field(default_factory=list)
    """Problems that the user should correct, although training is possible."""
    seconds: float = 0.0
    """Seconds that the steps took."""

    @property
    def lengths(self) -> list[int]:
        """How many steps the episodes took."""
        return [len(rewards) for rewards in self.rewards]

    def returns(self, discount: float = 1.0) -> Float[np.ndarray, "episode objective"]:
        """The returns of the episodes."""
        return np.array([discount ** np.arange(len(rewards)) @ rewards for rewards in self.rewards])

    @property
    def determinism_summary(self) -> str:
        """How determinism was found, in a few words."""
        if self.first_states_differ:
            return "episodes begin differently under other seeds"
        if self.num_compared == 0:
            return "no episode was compared"
        return (
            f"{self.num_differing} of {self.num_compared} sequences of random actions "
            "had another outcome when repeated"
        )


def slow_steps(seconds: float, num_steps: int, num_environments: int) -> list[str]:
    """A sentence for an environment whose steps should run in several processes at once.

    >>> slow_steps(30.0, 600, 16)
    ['a step takes 50 ms: --workers gives each of 16 environments a process of its own']
    >>> slow_steps(96.0, 600, 2)
    ['a step takes 160 ms: --workers gives each of 2 environments a process of its own']
    """
    if num_steps == 0 or seconds / num_steps < SLOW_SECONDS:
        return []
    each = f"{1000 * seconds / num_steps:.0f} ms"
    return [
        f"a step takes {each}: --workers gives each of {num_environments} environments a process "
        "of its own"
    ]
