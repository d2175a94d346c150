"""Rhythms: constant actions and waves are tried where actions are real numbers.

Random actions of many numbers cancel out over a long episode: a random walk of six joints neither
stands still nor gets anywhere. So a few episodes hold every number still, at the middle of its
range and at its bounds, and others move all numbers in waves of one period, each with an amplitude,
a phase and a middle of its own. The waves whose returns are non-dominated are tried again, slightly
changed, for as long as that is so. Open loops of this kind are strong where things have to move:
Raffin et al., "An open-loop baseline for reinforcement learning locomotion tasks", 2024,
arXiv:2310.05808. The network learns from them as from all other episodes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most, positive
from pcn.nets.heads import AbstractActionHead
from pcn.nets.heads.box_rows import AbstractBoxHead
from pcn.rollout import ScriptedAgent

Waves = Float[np.ndarray, "wave number"]
"""Each row: the logarithm of the period in steps, then of every part of an action the middle and
the amplitude (the range of the part is -1 to 1) and the phase."""


class Played(AbstractState):
    """The waves that were played and are still non-dominated, and what they returned."""

    def __init__(self, num_parts: int, num_objectives: int) -> None:
        self.waves: Waves = np.zeros((0, 1 + 3 * num_parts))
        self.returns: Float[np.ndarray, "wave objective"] = np.zeros((0, num_objectives))
        self.horizons: Float[np.ndarray, " wave"] = np.zeros(0)

    def add(
        self,
        waves: Waves,
        returns: Float[np.ndarray, "wave objective"],
        horizons: Float[np.ndarray, " wave"],
    ) -> None:
        """Remember what some waves returned."""
        self.waves = np.concatenate([self.waves, waves])
        self.returns = np.concatenate([self.returns, returns])
        self.horizons = np.concatenate([self.horizons, horizons])

    def keep(self, mask: Bool[np.ndarray, " wave"]) -> None:
        """Forget all others."""
        self.waves, self.returns = self.waves[mask], self.returns[mask]
        self.horizons = self.horizons[mask]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Waves and returns."""
        return {"waves": self.waves, "returns": self.returns, "horizons": self.horizons}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.waves, self.returns = np.array(arrays["waves"]), np.array(arrays["returns"])
        self.horizons = np.array(arrays["horizons"])


@dataclass(frozen=True, kw_only=True)
class Rhythms(AbstractRefinement):
    """Try constant actions and waves at first, and change those whose returns are non-dominated.

    Each iteration plays as many changed waves, in shares of its episodes, as there are waves in the
    archive. Only where an action is two or more real numbers.
    """

    budget_share: float = 0.2
    """Most of the budget that constants and the first waves may take."""
    waves_per_number: int = 16
    """How many first waves there are for each number of an action, if the budget allows."""
    shortest: float = 4.0
    """Shortest period of a wave, in steps."""
    longest: float = 100.0
    """Longest period of a first wave; periods are drawn evenly by their logarithms."""
    change: float = 0.2
    """Largest typical change of a wave, where the range of an action is -1 to 1."""

    def __post_init__(self) -> None:
        at_least(self, 0, "budget_share", "waves_per_number", "change")
        at_most(self, 1, "budget_share")
        positive(self, "shortest")
        at_least(self, self.shortest, "longest")

    def handles(self, head: AbstractActionHead) -> bool:
        """Only real numbers, and no single one: `sticky_actions` holds that still for a while."""
        return isinstance(head, AbstractBoxHead) and head.num_parts > 1

    def fresh_state(self, training: Training) -> Played:
        """Nothing has been played yet."""
        head = training.learner.policy.action_head
        return Played(head.num_parts, training.spec.num_objectives)

    def after_warming_up(self, training: Training) -> None:
        """Play constants, then random waves, until their share of the budget is spent."""
        head = training.learner.policy.action_head
        assert isinstance(head, AbstractBoxHead)
        first = self.random(self.waves_per_number * head.num_parts, head.num_parts, training.rng)
        waves = np.concatenate([self.constants(head), first])
        last = training.steps + self.budget_share * training.config.total_steps
        while len(waves) and training.exploring_steps_left > 0 and training.steps < last:
            steps_left = min(training.exploring_steps_left, int(last - training.steps))
            waves = waves[self._play(training, waves, steps_left) :]

    def after_exploring(self, training: Training) -> None:
        """Play changed waves: the more of the archive are waves, the more of them."""
        played, archive = self.state_in(training, Played), training.dataset.archive()
        same = np.all(played.returns[:, None] == archive.returns[None], axis=-1)
        played.keep(same.any(axis=1))
        count = len(played.waves)
        if count == 0 or training.exploring_steps_left <= 0:
            return
        size = training.schedule.num_episodes
        wanted = max(1, round(size * min(1.0, count / len(archive))))
        chosen = training.rng.integers(count, size=wanted)
        waves = self.changed(played.waves[chosen], training.rng)
        self._play(training, waves, training.exploring_steps_left, played.horizons[chosen])

    def constants(self, head: AbstractBoxHead) -> Waves:
        """The middle of the box, its lower and its upper bounds, and zero where it is none."""
        lows, extents = head.box.lows(), head.box.extents()
        zero = np.clip(-2 * lows / extents - 1, -1.0, 1.0)
        middles = [np.zeros(head.num_parts), zero, -np.ones(head.num_parts)]
        middles.append(np.ones(head.num_parts))
        waves = np.zeros((len(middles), 1 + 3 * head.num_parts))
        waves[:, 0] = np.log(self.longest)
        waves[:, 1 : 1 + head.num_parts] = middles
        _, first = np.unique(waves, axis=0, return_index=True)
        return waves[np.sort(first)]

    def random(self, count: int, num_parts: int, rng: np.random.Generator) -> Waves:
        """Waves around a point in the inner half of the box, of any amplitude and phase."""
        size = (count, num_parts)
        periods = rng.uniform(np.log(self.shortest), np.log(self.longest), size=(count, 1))
        middles, amplitudes = rng.uniform(-0.5, 0.5, size=size), rng.uniform(size=size)
        phases = rng.uniform(0, 2 * np.pi, size=size)
        return np.concatenate([periods, middles, amplitudes, phases], axis=1)

    def changed(self, waves: Waves, rng: np.random.Generator) -> Waves:
        """Waves near the given ones, some much nearer than others."""
        parts = (waves.shape[1] - 1) // 3
        scale = self.change * np.exp(rng.uniform(-2.0, 0.5, size=(len(waves), 1)))
        steps = scale * rng.normal(size=waves.shape)
        changed = waves + steps
        changed[:, 0] = np.maximum(changed[:, 0], np.log(self.shortest))
        middles, amplitudes = changed[:, 1 : 1 + parts], changed[:, 1 + parts : 1 + 2 * parts]
        np.clip(middles, -1.0, 1.0, out=middles)
        np.clip(amplitudes, 0.0, 2.0, out=amplitudes)
        changed[:, 1 + 2 * parts :] += steps[:, 1 + 2 * parts :]  # a phase is of a wider range
        return changed

    def actions(
        self, waves: Waves, head: AbstractBoxHead, num_steps: int
    ) -> Float[np.ndarray, "wave step part"]:
        """The actions of each wave, as near as the head can choose them."""
        middles, amplitudes, phases = np.split(waves[:, None, 1:], 3, axis=2)
        time = np.arange(num_steps)[:, None] / np.exp(waves[:, :1, None])
        values = middles + amplitudes * np.sin(2 * np.pi * time + phases)
        unit = np.clip(0.5 + 0.5 * values, 0.0, 1.0).astype(np.float32)
        rows = head.box.lows() + head.in_units(unit) * head.box.extents()
        return rows.astype(np.float32)

    def _play(
        self,
        training: Training,
        waves: Waves,
        steps_left: int,
        horizons: Float[np.ndarray, " wave"] | None = None,
    ) -> int:
        """Play as many of the first waves as fit, and store what they bring; returns how many."""
        schedule, head = training.schedule, training.learner.policy.action_head
        assert isinstance(head, AbstractBoxHead)
        size = schedule.num_episodes
        batch = schedule.batch(min(size, len(waves)), steps_left)
        padded = np.resize(waves[: batch.count], (size, waves.shape[1]))
        most_steps = np.full(size, batch.most_steps)
        if horizons is not None:
            wanted = training.most_steps(np.resize(horizons[: batch.count], size))
            most_steps = np.minimum(most_steps, wanted)
        # One length, as another one would be compiled anew: the steps left differ every time.
        actions = self.actions(padded, head, training.spec.step_limit)
        episodes = training.runner.run(
            ScriptedAgent(actions, np.zeros(size, np.int32), head),
            training.next_key(),
            size,
            count=batch.count,
            most_steps=most_steps,
        )
        for refinement in training.refinements:
            episodes = refinement.before_storing(training, episodes)
        training.dataset.add(episodes)
        ended = np.flatnonzero(episodes.ended[: batch.count])
        returns = episodes.returns(discount=training.config.discount)
        lengths = np.asarray(episodes.lengths, np.float64)
        self.state_in(training, Played).add(waves[ended], returns[ended], lengths[ended])
        return batch.count
