"""Replay check: episodes of the archive are played again to see whether they return the same.

Random episodes may never have met the chance that good ones meet. Where an environment that seemed
deterministic is not, loop erasure and variations store what happened to go well, and one execution
proves nothing. So a training that finds out begins again as in a stochastic environment, or at
least the user is told.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.envs.spec import EnvironmentSpec
from pcn.rollout import ScriptedAgent


class Replayed(AbstractState):
    """How many steps replays took, and whether one of them differed."""

    def __init__(self) -> None:
        self.num_steps = 0
        self.differed = False

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays."""
        return {"num_steps": np.array(self.num_steps), "differed": np.array(self.differed)}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.num_steps, self.differed = int(arrays["num_steps"]), bool(arrays["differed"])


@dataclass(frozen=True, kw_only=True)
class ReplayCheck(AbstractRefinement):
    """Play an episode of the archive again now and then, to see whether it returns the same.

    Only in environments that are said to be deterministic.
    """

    share: float = 0.01
    """Most of the steps that replays may take, as a share of all steps so far; but one episode is
    replayed in any case, once half of the budget is spent."""

    def __post_init__(self) -> None:
        at_least(self, 0, "share")
        at_most(self, 1, "share")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions should have the same outcome."""
        return spec.deterministic

    def fresh_state(self, training: Training) -> Replayed:
        """Nothing replayed yet."""
        del training
        return Replayed()

    def after_exploring(self, training: Training) -> None:
        """Replay one episode, if it is due."""
        state = self.state_in(training, Replayed)
        archive = training.dataset.archive()
        # The training's own random numbers stay as they are without this check.
        rng = np.random.default_rng(training.steps)
        row = archive.rows.taking(rng.integers(len(archive), size=1))
        steps, allowed = int(row.lengths[0]), self.share * training.steps
        if state.num_steps == 0 and training.steps >= training.config.total_steps / 2:
            allowed = max(allowed, steps)  # one at least, however long episodes are
        if (
            state.differed
            or self.share == 0
            or state.num_steps + steps > allowed
            or steps > training.exploring_steps_left
        ):
            return
        state.num_steps += steps
        if self._differs(training, row.returns[0], training.dataset.actions(row)[0], rng):
            state.differed = True

    def contradicts(self, training: Training) -> bool:
        """Whether a replay returned something else."""
        return self.state_in(training, Replayed).differed

    def _differs(
        self,
        training: Training,
        expected: np.ndarray,
        actions: np.ndarray,
        rng: np.random.Generator,
    ) -> bool:
        """Whether the same actions lead to another return or another length."""
        size, limit = training.schedule.num_episodes, training.spec.step_limit
        script = np.zeros((size, limit, *actions.shape[1:]), actions.dtype)
        script[0, : len(actions)], script[0, len(actions) :] = actions, actions[-1]
        agents = ScriptedAgent(
            script, np.zeros(size, np.int32), training.learner.policy.action_head
        )
        key = rng.integers(1 << 32, size=2, dtype=np.uint32)
        replay = training.runner.run(agents, key, size, count=1, most_steps=len(actions))
        returned = replay.returns(discount=training.config.discount)[0]
        same = np.all(np.abs(returned - expected) <= training.dataset.tolerances)
        return not (same and int(np.asarray(replay.lengths)[0]) == len(actions))
