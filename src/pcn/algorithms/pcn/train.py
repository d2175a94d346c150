"""PCN's training loop: explore with commands, keep the best episodes, learn from them."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray, UInt32

from pcn.algorithms.pcn.command_selection import select_commands
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.consolidate import batch_counts, consolidate
from pcn.algorithms.pcn.dataset import Archive, Dataset
from pcn.algorithms.pcn.evaluate import Actor, execute
from pcn.algorithms.pcn.loop_erasure import promising_shortcuts, replayed
from pcn.algorithms.pcn.update import Learner, update_many
from pcn.coverage import CoverageSet
from pcn.envs.compiled import AbstractCompiledEnvironment
from pcn.episodes import Episodes
from pcn.nets.heads import ActionHeads
from pcn.nets.policy import ConditionedPolicy
from pcn.nets.spaces import embedding_for


@dataclass(frozen=True)
class Progress:
    """Where training stands after an iteration."""

    steps: int
    loss: float
    archive: Float[np.ndarray, "point objective"]
    executed: Float[np.ndarray, "point objective"] | None
    """What the network reached when it executed the archive; only now and then."""


class PCNTrainer:
    """PCN on one environment, an iteration at a time."""

    def __init__(
        self, environment: AbstractCompiledEnvironment, config: PCNConfig, *, seed: int
    ) -> None:
        self.environment = environment
        self.config = config
        self._rng = np.random.default_rng(seed)
        self._actor = Actor(environment, config.episodes_per_iteration, config.discount)
        self.learner = Learner.fresh(fresh_policy(environment, config, self._next_key()))
        self.dataset: Dataset | None = None
        self.steps = 0

    @property
    def done(self) -> bool:
        """Whether the budget of environment steps is spent."""
        return self.steps >= self.config.total_steps

    def _next_key(self) -> UInt32[np.ndarray, " 2"]:
        # One generator for host and device: there is a single random state to save.
        return self._rng.integers(1 << 32, size=2, dtype=np.uint32)

    def _store(self, episodes: Episodes, count: int) -> None:
        if self.dataset is None:
            self.dataset = Dataset(episodes, self.config)
        self.dataset.add(episodes, count=count)
        self.steps += int(np.asarray(episodes.lengths)[:count].sum())

    def _store_with_shortcuts(self, episodes: Episodes, count: int) -> None:
        """Store episodes and, where one becomes non-dominated without its loops, that too."""
        self._store(episodes, count)
        if not (self.config.erase_loops and self.environment.spec.deterministic):
            return
        shortcuts = promising_shortcuts(
            episodes,
            self._dataset.archive().returns,
            discount=self.config.discount,
            tolerance=self.config.return_tolerance,
        )
        if len(shortcuts) == 0:
            return
        replay, count, num_steps = replayed(
            self.environment,
            shortcuts,
            batch_size=self._actor.batch_size,
            discount=self.config.discount,
            tolerance=self.config.return_tolerance,
            key=self._next_key(),
        )
        self._dataset.add(replay, count=count)
        self.steps += num_steps

    def _warm_up(self) -> None:
        """Random episodes; they go on until a few distinct trade-offs are known."""
        config, size = self.config, self._actor.batch_size
        num_objectives = self.environment.spec.num_objectives
        num_episodes, front_size = 0, 0
        while not self.done and (
            num_episodes < config.warmup_episodes or front_size < config.warmup_front
        ):
            count = min(size, config.warmup_episodes - num_episodes)
            count = count if count > 0 else size
            episodes = self._actor.run(
                self.learner.policy,
                np.zeros((size, num_objectives)),
                np.ones(size),
                upper_bound=np.full(num_objectives, np.inf),
                key=self._next_key(),
                steps_until_wandering=0.0,
                repeat=self._repeat(size),
            )
            self._store_with_shortcuts(episodes, count)
            num_episodes += count
            front_size = len(self._dataset.archive())

    @property
    def _dataset(self) -> Dataset:
        if self.dataset is None:
            raise RuntimeError("no episode has been collected yet")
        return self.dataset

    def _upper_bound(self) -> Float[np.ndarray, " objective"]:
        if not self.config.bound_commands:
            return np.full(self.environment.spec.num_objectives, np.inf)
        if self.config.upper_bound is not None:
            return np.asarray(self.config.upper_bound, dtype=np.float64)
        return self._dataset.upper_bound()

    def _follow_scale(self) -> None:
        """Let the command scale follow the archive's range when that has changed a lot."""
        if self.config.command_scale is not None:
            wanted = np.asarray(self.config.command_scale)
        else:
            ranges = self._dataset.command_ranges()
            wanted = self.config.command_spread / np.where(ranges > 0, ranges, 1.0)
        ratio = wanted / np.asarray(self.learner.policy.command_scale)
        if np.any((ratio > 2) | (ratio < 0.5)) or self.config.command_scale is not None:
            self.learner = self.learner.rescaled(jnp.asarray(wanted, jnp.float32))

    def iterate(self) -> Progress:
        """Warm up the first time; then updates, commands, episodes, pruning."""
        config = self.config
        if self.dataset is None:
            self._warm_up()
            self._first_scale()
        dataset = self._dataset
        loss = self._update()
        archive = dataset.archive()
        returns, horizons = select_commands(
            archive, config.episodes_per_iteration, config, self._rng
        )
        episodes = self._actor.run(
            self.learner.policy,
            returns,
            horizons,
            upper_bound=self._upper_bound(),
            key=self._next_key(),
            noise=config.action_noise * self._rng.uniform(size=len(returns)) ** 2,
            steps_until_wandering=self._steps_until_wandering(horizons),
            repeat=self._repeat(len(returns)),
        )
        steps_before = self.steps
        self._store_with_shortcuts(episodes, episodes.num_episodes)
        executed = None
        if self._evaluation_due(steps_before):
            executed = self._evaluate(dataset.archive())
        self._follow_scale()
        return Progress(self.steps, loss, dataset.archive().returns, executed)

    def _repeat(self, size: int) -> Float[np.ndarray, " episode"]:
        """Between almost never switching to another random action and choosing at every step."""
        if not self.config.sticky_warmup:
            return np.zeros(size)
        return np.clip(0.95 - self._rng.uniform(size=size) ** 2, 0, 1)

    def _steps_until_wandering(
        self, horizons: Float[np.ndarray, " episode"]
    ) -> Float[np.ndarray, " episode"]:
        """Some episodes follow their command for a part of the way only, then act at random."""
        wanders = self._rng.uniform(size=len(horizons)) < self.config.wander_fraction
        return np.where(wanders, np.floor(self._rng.uniform(0, horizons)), np.inf)

    def _first_scale(self) -> None:
        ranges = self._dataset.command_ranges()
        wanted = self.config.command_spread / np.where(ranges > 0, ranges, 1.0)
        if self.config.command_scale is not None:
            wanted = np.asarray(self.config.command_scale)
        import equinox as eqx

        policy = eqx.tree_at(
            lambda p: p.command_scale, self.learner.policy, jnp.asarray(wanted, jnp.float32)
        )
        self.learner = Learner.fresh(policy)

    def _update(self) -> float:
        config, dataset = self.config, self._dataset
        counts = batch_counts(config)
        drawings = (dataset.drawing(dataset.rows), dataset.drawing(dataset.archive().rows))
        self.learner, loss = update_many(
            self.learner,
            dataset.store,
            drawings[: len(counts)],
            np.full(config.updates_per_iteration, config.learning_rate, np.float32),
            np.float32(1.0),
            self._next_key(),
            counts,
        )
        return float(loss)

    def _evaluation_due(self, steps_before: int) -> bool:
        if self.config.evaluations == 0:
            return False
        every = self.config.total_steps / self.config.evaluations
        return int(steps_before / every) < int(self.steps / every)

    def _evaluate(self, archive: Archive) -> Float[np.ndarray, "point objective"]:
        execution = execute(
            self._actor,
            self.learner.policy,
            archive.returns,
            archive.horizons.astype(np.float64),
            key=self._next_key(),
            upper_bound=self._upper_bound(),
            keep=self._store if self.config.store_evaluations else None,
        )
        return execution.returns

    def finish(self) -> tuple[CoverageSet, ConditionedPolicy, Any]:
        """Consolidate, execute the archive and report what was reached."""
        archive = self._dataset.archive()
        executions = 1 if self.environment.spec.deterministic else self.config.executions
        final = consolidate(
            self.learner.policy,
            self._dataset,
            archive,
            self._actor,
            self.config,
            upper_bound=self._upper_bound(),
            executions=executions,
            key=self._next_key(),
        )
        coverage = CoverageSet(
            requested=archive.returns,
            horizons=archive.horizons.astype(np.float64),
            executed=final.execution.returns,
            deviation=final.execution.deviation,
            tolerance=self.config.return_tolerance,
        )
        return coverage, final.policy, final


def fresh_policy(
    environment: AbstractCompiledEnvironment, config: PCNConfig, key: PRNGKeyArray
) -> ConditionedPolicy:
    """An untrained network that fits the environment."""
    state_key, policy_key = jax.random.split(key)
    spec = environment.spec
    return ConditionedPolicy(
        embedding_for(
            spec.observation_space, config.width, joint_one_hot=config.joint_one_hot, key=state_key
        ),
        ActionHeads.for_space(spec.action_space),
        num_objectives=spec.num_objectives,
        width=config.width,
        hidden_layers=config.hidden_layers,
        gate=config.gate,
        key=policy_key,
    )
