"""What a refinement of PCN may do: hooks into the core loop, none of which the paper needs."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from jaxtyping import Float, Int, UInt32

from pcn.algorithms.pcn.contender import AbstractFitting
from pcn.algorithms.pcn.rows import Archive
from pcn.algorithms.pcn.training import Training
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead
from pcn.nets.policy import ConditionedPolicy


class AbstractState(ABC):
    """What a refinement remembers during a training."""

    @abstractmethod
    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything remembered, as named arrays for a checkpoint."""

    @abstractmethod
    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""


State = TypeVar("State", bound=AbstractState)


@dataclass(frozen=True, kw_only=True)
class AbstractRefinement:
    """One departure from the paper. Its fields are its hyperparameters; `config.json` records them.

    A refinement overrides the hooks that it needs; the others do nothing. The order of the table
    `REFINEMENTS` is the order in which refinements act.
    """

    def state_in(self, training: Training, kind: type[State]) -> State:
        """What the refinement remembers in a training: the state that `fresh_state` began."""
        state = training.states[type(self).__name__]
        assert isinstance(state, kind)
        return state

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Whether it makes sense in this environment; where not, it is as if it were off."""
        del spec
        return True

    def handles(self, head: AbstractActionHead) -> bool:
        """Whether it can deal with actions as this head chooses them; where not, it is off."""
        del head
        return True

    def off_because(self, spec: EnvironmentSpec, head: AbstractActionHead) -> str | None:
        """Why it is off with continuous actions, where it is on with others; else None."""
        del spec, head
        return None

    def check(self, spec: EnvironmentSpec) -> None:
        """Refuse values that do not fit the environment, before training begins."""
        del spec

    def fresh_state(self, training: Training) -> AbstractState | None:
        """What it will remember in this training, as `training.states[name of its class]`.

        The refinement itself never changes: it is a config. None if it remembers nothing.
        """
        del training
        return None

    def extends_warm_up(self, training: Training) -> bool:
        """Whether random episodes go on after the fixed number of them."""
        del training
        return False

    def goes_further(self, training: Training) -> bool:
        """Whether it explores places that random episodes do not get to."""
        del training
        return False

    def after_warming_up(self, training: Training) -> None:
        """Called when the random episodes of the warm-up have been stored."""

    def prepared(self, policy: ConditionedPolicy, training: Training) -> ConditionedPolicy:
        """The untrained policy made ready once warm-up is over."""
        del training
        return policy

    def repeat_probabilities(
        self, num_episodes: int, training: Training
    ) -> Float[np.ndarray, " episode"] | None:
        """For each episode, how likely a random action is the last action again."""
        del num_episodes, training
        return None

    def bound_on_returns(self, training: Training) -> Float[np.ndarray, " objective"] | None:
        """The largest desired return while acting; None for no bound."""
        del training
        return None

    def lower_bound_on_returns(self, training: Training) -> Float[np.ndarray, " objective"] | None:
        """The smallest desired return while acting; None for no bound."""
        del training
        return None

    def most_steps(
        self, desired_horizons: Float[np.ndarray, " episode"], training: Training
    ) -> Int[np.ndarray, " episode"]:
        """After how many steps exploring episodes are broken off."""
        return np.full(len(desired_horizons), training.spec.step_limit)

    def most_copies(self) -> int | None:
        """How many stored episodes may have the same return; None for any number."""
        return None

    def share_of_updates(self, training: Training) -> float:
        """Which share of the usual updates the exploring network needs; the smallest one counts."""
        del training
        return 1.0

    def contradicts(self, training: Training) -> bool:
        """Whether it has seen that an environment which is said to be deterministic is not."""
        del training
        return False

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Called with every batch of episodes that is run, whatever for.

        Some may only fill up the batch (`real_mask`) or be broken off."""

    def before_storing(self, training: Training, episodes: Episodes) -> Episodes:
        """The episodes of warm-up or exploration as they are to be stored."""
        del training
        return episodes

    def after_storing(self, training: Training, episodes: Episodes) -> None:
        """Called when episodes of warm-up or exploration have been stored."""

    def lets_explore(self, training: Training) -> bool:
        """Whether the network explores in this iteration; if one says no, it does not."""
        del training
        return True

    def after_exploring(self, training: Training) -> None:
        """Called at the end of each iteration's exploration."""

    def after_executing(self, training: Training, episodes: Episodes) -> None:
        """Called with each batch of episodes that an evaluation during training executed."""

    def commands(self, training: Training) -> Archive | None:
        """The commands among which the end of a training chooses; None for the archive's."""
        del training
        return None

    def contender(
        self, training: Training, key: UInt32[np.ndarray, " 2"]
    ) -> AbstractFitting | None:
        """A network and commands to be fitted once exploration is over; None for none.

        In stochastic environments the commands of all contenders race against one another.
        """
        del training, key
        return None
