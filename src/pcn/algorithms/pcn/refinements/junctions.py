"""Junctions: what begins as one episode and goes on as another from about the same place.

Two episodes that pass the same place can be joined there. In a deterministic environment whose
observation is its state, the return of the joint is known before it is played: what the first
episode had returned up to the place, and what the other one returned from there on. So the best
way to each place is combined with the best ways from it, which is dynamic programming over all
that was ever seen. Real-valued observations hardly ever repeat; there a place is a cell of a grid,
and a joint only counts once it has been played.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Num

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.joining.junction_memory import Joints, JunctionMemory
from pcn.algorithms.pcn.refinements.joining.stored import episodes_of
from pcn.algorithms.pcn.refinements.routes import promising
from pcn.algorithms.pcn.refinements.scripts import Actions, play_scripts
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most, positive
from pcn.envs.observations import num_parts, whole_numbers
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes, flat
from pcn.pareto import covered_mask, has_changed, spread

Draw = Callable[[np.random.Generator], Num[np.ndarray, " part"]]
"""A random action."""
CHANGE = 2.0
"""Places are measured anew when the deviation of an observed number has changed by this factor."""


@dataclass(frozen=True, kw_only=True)
class Junctions(AbstractRefinement):
    """Join episodes at places that both pass, and play the joints that promise a better return.

    Only in deterministic environments whose observations are real numbers, and few of them; where
    they are whole numbers, routes are searched.
    """

    least_width: float = 0.25
    """Least width of a place, in standard deviations of each observed number."""
    most_width: float = 1.0
    """Most width of a place; each grid has one between them and is shifted, both by chance."""
    grids: int = 2
    """How many grids there are at a time: what one divides, another one joins."""
    renewals: int = 30
    """How often in a training the oldest grid is replaced by a new one, at most."""
    renewal_steps: int = 100_000
    """Fewest environment steps from one such replacement to the next."""
    ties: float = 0.05
    """Share of the ways as good as a known one that are kept, too: they may lead further."""
    most_equal: int = 4
    """Most ways of equal return that a place keeps; beyond that, the oldest is replaced."""
    steps_share: float = 0.25
    """Most of the environment steps that playing joints may take, as a share of all steps."""
    rounds: int = 8
    """Most batches of joints in an iteration."""
    patience: float = 0.01
    """Joints wait until a quarter of a batch has gathered, or for this share of the budget."""
    branch_share: float = 0.5
    """Most of all environment steps that branches may take: ways to places that go on with random
    actions. When a share of the budget is spent, it is that share of this."""
    branch_length: int = 3
    """Most random actions of a branch; after them it is broken off."""
    branch_margin: float = 0.2
    """Ways branch that lead close to the front: each time up to another margin, drawn by chance,
    of at most this share of the spread of the front's returns."""
    rejoining: float = 0.5
    """Share of branches that go on, after their random actions, as a known way from the place."""
    rejoining_shift: int = 4
    """How many steps of that way come before the random actions, at most."""
    branch_patience: float = 0.002
    """After this share of the budget the ways that branch are chosen anew."""
    extra_steps: int = 4
    """How long a joint may go on, with its last action, after its last one."""
    most_waiting: int = 4096
    """How many joints wait to be played, at most."""
    most_places: int = 100_000
    """How many places each grid has, at most."""
    most_parts: int = 128
    """Most numbers that an observation may have."""
    remembered: int = 1_000_000
    """How many joints that have been played are remembered."""
    fewest_steps: int = 300_000
    """With a smaller budget nothing is joined: exploration finds more with the steps and time."""

    def __post_init__(self) -> None:
        positive(self, "least_width", "most_width")
        at_most(self, self.most_width, "least_width")
        at_least(
            self, 0, "steps_share", "extra_steps", "patience", "renewals", "ties", "fewest_steps",
            "branch_share", "branch_margin", "branch_patience", "rejoining", "rejoining_shift",
        )  # fmt: skip
        at_least(self, 1, "branch_length", "most_equal")
        at_least(self, 1, "grids", "rounds", "most_waiting", "most_places", "most_parts")
        at_least(self, 1, "remembered", "renewal_steps")
        at_most(self, 1, "steps_share", "patience", "ties", "branch_share", "branch_patience",
                "rejoining")  # fmt: skip

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions have the same outcome, and observations are real numbers."""
        return (
            spec.deterministic
            and not spec.masked_actions
            and not whole_numbers(spec)
            and num_parts(spec) <= self.most_parts
        )

    def fresh_state(self, training: Training) -> JunctionMemory:
        """No place is known yet."""
        return JunctionMemory(
            training.spec.num_objectives,
            most_places=self.most_places,
            most_tried=self.remembered,
        )

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Note what every episode passed; joints that promise a better return wait."""
        memory = self.state_in(training, JunctionMemory)
        if not memory.grids or training.exploring_steps_left <= 0:
            return
        dataset = training.dataset
        longest = int(dataset.archive().horizons.max())
        joints = memory.learn(
            episodes,
            longest,
            training.config.discount,
            dataset.tolerances,
            ties=self.ties,
            most_equal=self.most_equal,
            rng=training.rng,
        )
        self._wait(training, joints)

    def _wait(self, training: Training, joints: Joints) -> None:
        memory, dataset = self.state_in(training, JunctionMemory), training.dataset
        if len(joints.returns) == 0:
            return
        front, tolerances = dataset.archive().returns, dataset.tolerances
        covered = covered_mask(joints.returns, front, tolerances=tolerances)
        waiting = memory.waiting.followed_by(joints.taking(np.flatnonzero(~covered)))
        memory.waiting = waiting.taking(np.arange(len(waiting.returns))[-self.most_waiting :])

    def after_exploring(self, training: Training) -> None:
        """Play joints as long as there are promising ones."""
        if training.config.total_steps < self.fewest_steps:
            return
        memory = self.state_in(training, JunctionMemory)
        self._follow_scales(training, memory)
        memory.forget_unused()
        for _ in range(self.rounds):
            if not self._play_batch(training, memory):
                break
        for _ in range(self.rounds):
            if not self._play_branches(training, memory):
                break

    def _follow_scales(self, training: Training, memory: JunctionMemory) -> None:
        """Measure places by the deviations of what is stored, anew when these have changed.

        Now and then the oldest grid is replaced: a new one joins what the others have divided.
        """
        scales = flat(training.dataset.observations(), 1).std(axis=0)
        total = training.config.total_steps
        most = min(self.renewals, total // self.renewal_steps)
        due = training.steps * most // total
        count = int(due > memory.num_renewals)
        if not memory.grids or has_changed(scales, memory.scales, CHANGE).any():
            memory.begin(scales)
            count = self.grids
        for _ in range(count):
            width = np.exp(training.rng.uniform(np.log(self.least_width), np.log(self.most_width)))
            memory.add_grid(float(width), training.rng.uniform(size=len(scales)), self.grids)
        if count:
            memory.num_renewals = due
            stored = episodes_of(training.dataset, training.config.discount)
            self.after_running(training, stored)

    def _play_batch(self, training: Training, memory: JunctionMemory) -> bool:
        """Play joints that promise a return that is not covered; tell whether there were any."""
        dataset, config, size = training.dataset, training.config, training.schedule.num_episodes
        allowed = int(self.steps_share * training.steps) - memory.steps
        allowed = min(allowed, training.exploring_steps_left)
        front, tolerances = dataset.archive().returns, dataset.tolerances
        covered = dataset.order.covered_mask(memory.waiting.returns, front, tolerances)
        waiting = memory.waiting.taking(np.flatnonzero(~covered))
        memory.waiting = waiting
        overdue = training.steps - memory.last_played >= self.patience * config.total_steps
        if len(waiting.returns) < (1 if overdue else size // 4):
            return False
        scripts, taken = self._scripts(waiting, memory, front, tolerances, size)
        lengths = np.array([len(script) for script in scripts], np.int64) + self.extra_steps
        count = int((np.cumsum(lengths) <= allowed).sum())
        memory.waiting = waiting.taking(np.setdiff1d(np.arange(len(waiting.returns)), taken))
        if count == 0:
            return False
        before, head = training.steps, training.learner.policy.action_head
        filled = [scripts[row % len(scripts)] for row in range(size)]
        limits = np.resize(lengths, size)
        episodes = play_scripts(training, filled, head, most_steps=limits, count=count)
        memory.steps += training.steps - before
        memory.last_played = training.steps
        covered = dataset.order.covered_mask(
            episodes.returns(discount=config.discount), front, tolerances
        )
        dataset.add(episodes, stored_mask=~covered)
        return True

    def _play_branches(self, training: Training, memory: JunctionMemory) -> bool:
        """Let good ways go on with random actions; tell whether any did.

        They are seldom finished episodes, but better ways to places may be among them. In some
        batches they go on as a known way from the place after that, to find better ways from it.
        """
        dataset, size, rng = training.dataset, training.schedule.num_episodes, training.rng
        longest = int(dataset.archive().horizons.max()) + self.branch_length
        spent = training.steps / training.config.total_steps
        allowed = int(self.branch_share * spent * training.steps) - memory.branch_steps
        allowed = min(allowed, training.exploring_steps_left)
        if allowed < size * longest:
            return False
        self._follow_front(training, memory)
        head, scripts = training.learner.policy.action_head, list[Actions]()
        draw = head.random_row  # looking it up takes longer than drawing
        most, rejoins = len(memory.branches), rng.uniform() < self.rejoining
        for branch in rng.integers(most, size=size if most else 0).tolist():
            way, onward = memory.branch(branch)
            script = self.branched(way, onward if rejoins else onward[:0], draw, rng)
            if memory.tried.is_new(script):
                scripts.append(script)
        if not scripts:
            return False
        filled = [scripts[row % len(scripts)] for row in range(size)]
        lengths = np.array([len(script) for script in filled]) + rejoins * self.extra_steps
        # Those that rejoin may be longer.
        before, count = training.steps, int((np.cumsum(lengths[: len(scripts)]) <= allowed).sum())
        episodes = play_scripts(training, filled, head, most_steps=lengths, count=count)
        memory.branch_steps += training.steps - before
        returns = episodes.returns(discount=training.config.discount)
        front = dataset.archive().returns
        covered = dataset.order.covered_mask(returns, front, dataset.tolerances)
        dataset.add(episodes, stored_mask=~covered)
        return True

    def branched(
        self, way: Actions, onward: Actions, draw: Draw, rng: np.random.Generator
    ) -> Actions:
        """A way to a place and random actions; then what follows of a way onward, if it has any.

        Random actions stand before, within or instead of the first steps of that way.
        """
        least = 0 if len(onward) else 1
        count, skipped = rng.integers(least, self.branch_length + 1, size=2).tolist()
        fresh = [draw(rng) for _ in range(count)]
        kept = int(rng.integers(min(len(onward), self.rejoining_shift) + 1))
        middle = np.asarray(fresh, way.dtype).reshape(count, *way.shape[1:])
        return np.concatenate([way, onward[:kept], middle, onward[kept + skipped :]])

    def _follow_front(self, training: Training, memory: JunctionMemory) -> None:
        """Choose the ways that branch anew, if it is due."""
        due = memory.last_chosen + self.branch_patience * training.config.total_steps
        if len(memory.branches) and training.steps < due:
            return
        front, tolerances = training.dataset.archive().returns, training.dataset.tolerances
        extents = np.where(spread(front) > 0, spread(front), training.dataset.extents)
        margins = training.rng.uniform(0, self.branch_margin) * extents
        memory.choose_branches(front, margins, training.config.discount, tolerances)
        memory.last_chosen = training.steps

    def _scripts(
        self,
        waiting: Joints,
        memory: JunctionMemory,
        front: Float[np.ndarray, "point objective"],
        tolerances: Float[np.ndarray, " objective"],
        most: int,
    ) -> tuple[list[Actions], list[int]]:
        """Joints that were never played, those that add most first; and which were looked at."""
        scripts: list[Actions] = []
        taken: list[int] = []
        order = promising(waiting.returns, front, tolerances, most).tolist()
        others = np.setdiff1d(np.arange(len(waiting.returns)), order)[::-1].tolist()
        for joint in [*order, *others]:
            taken.append(joint)
            script = memory.script(waiting.sources[joint])
            if memory.tried.is_new(script):
                scripts.append(script)
                if len(scripts) == most:
                    break
        return scripts, taken
