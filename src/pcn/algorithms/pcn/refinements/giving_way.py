"""Giving way: the network explores less while it finds nothing and other refinements do.

Late in a training the network repeats what is known. Where junctions or variations still find
better returns, the environment steps are worth more there.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.envs.observations import whole_numbers
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes


class Finds(AbstractState):
    """When the archive last grew, and by whom. Numbers count environment steps."""

    def __init__(self) -> None:
        self.by_network = 0
        """When exploring episodes last added to the archive."""
        self.by_others = 0
        """When anything else that an iteration plays last did."""
        self.taken = 0
        """What exploring episodes have taken since they last added to the archive."""
        self.asked = -1
        """When it was last asked whether the network explores."""
        self.front: Float[np.ndarray, "point objective"] | None = None
        """The archive before what is being played now."""

    def has_grown(self, training: Training) -> bool:
        """Whether the archive has changed since it was last looked at."""
        before, self.front = self.front, training.dataset.archive().returns
        return before is not None and not np.array_equal(before, self.front)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The counts; the archive is looked at anew in each iteration."""
        return {"counts": np.array([self.by_network, self.by_others, self.taken, self.asked])}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.by_network, self.by_others, self.taken, self.asked = arrays["counts"].tolist()


@dataclass(frozen=True, kw_only=True)
class GivingWay(AbstractRefinement):
    """Skip the network's exploring episodes while others find more.

    Only where junctions are: in deterministic environments whose observations are real numbers.
    """

    share: float = 0.1
    """Which share of the steps exploring episodes take at most once they find nothing any more,
    while variations or junctions do."""
    patience: float = 0.01
    """So many steps more they may take without a find, as a share of the budget."""
    fewest_steps: int = 300_000
    """With a smaller budget the network always explores; nothing is joined there."""

    def __post_init__(self) -> None:
        at_least(self, 0, "share", "patience", "fewest_steps")
        at_most(self, 1, "share", "patience")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions have the same outcome, and observations are real numbers."""
        return spec.deterministic and not spec.masked_actions and not whole_numbers(spec)

    def fresh_state(self, training: Training) -> Finds:
        """Nothing has been found yet."""
        del training
        return Finds()

    def lets_explore(self, training: Training) -> bool:
        """Whether the network has found something lately, or more than others, or is due."""
        finds = self.state_in(training, Finds)
        finds.front = training.dataset.archive().returns
        others_play = training.steps > finds.asked
        finds.asked = training.steps
        if training.config.total_steps < self.fewest_steps or not others_play:
            return True
        since = training.steps - finds.by_network
        allowed = self.patience * training.config.total_steps + self.share * since
        return finds.by_others <= finds.by_network or finds.taken <= allowed

    def after_storing(self, training: Training, episodes: Episodes) -> None:
        """Note what exploring episodes took and whether they added to the archive."""
        finds = self.state_in(training, Finds)
        finds.taken += episodes.num_steps
        if finds.has_grown(training):
            finds.by_network, finds.taken = training.steps, 0

    def after_exploring(self, training: Training) -> None:
        """Note whether anything else added to the archive."""
        finds = self.state_in(training, Finds)
        if finds.has_grown(training):
            finds.by_others = training.steps
