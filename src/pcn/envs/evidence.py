"""Evidence: what random episodes of an environment showed, and in words."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

SLOW_SECONDS = 0.002
"""A step that takes longer is worth the message to a process of its own."""


@dataclass
class Evidence:
    """What random episodes showed."""

    step_limit_source: str = ""
    """Who says what the step limit is."""
    rewards: list[Float[np.ndarray, "_ objective"]] = field(default_factory=list)
    """Of the episodes that were not cut; of all where every one was."""
    num_compared: int = 0
    """Scripts of actions that were played again under another seed."""
    num_differing: int = 0
    """How many of them led to something else."""
    first_states_differ: bool = False
    """Whether seeds decide how an episode begins."""
    seed_respected: bool | None = None
    """Whether the same seed and the same actions have the same outcome, where that says something:
    None in a deterministic environment."""
    remarks: list[str] = field(default_factory=list)
    """What the user should mend, though training can go on."""
    seconds: float = 0.0
    """Time that the steps took."""

    @property
    def lengths(self) -> list[int]:
        """How many steps the episodes took."""
        return [len(rewards) for rewards in self.rewards]

    def returns(self, discount: float = 1.0) -> Float[np.ndarray, "episode objective"]:
        """What the episodes returned."""
        return np.array([discount ** np.arange(len(rewards)) @ rewards for rewards in self.rewards])

    @property
    def told(self) -> str:
        """How it was found out whether the environment is deterministic, in a few words."""
        if self.first_states_differ:
            return "episodes begin differently under other seeds"
        if self.num_compared == 0:
            return "no episode was compared"
        return (
            f"{self.num_differing} of {self.num_compared} scripts of random actions led to "
            "something else when played again"
        )


def slow_steps(seconds: float, num_steps: int, num_environments: int) -> list[str]:
    """A sentence for an environment whose steps are better taken in several processes at once.

    >>> slow_steps(30.0, 600, 16)
    ['a step takes 50 ms: --workers gives each of 16 environments a process of its own']
    """
    if num_steps == 0 or seconds / num_steps < SLOW_SECONDS:
        return []
    each = f"{1000 * seconds / num_steps:.2g} ms"
    return [
        f"a step takes {each}: --workers gives each of {num_environments} environments a process "
        "of its own"
    ]
