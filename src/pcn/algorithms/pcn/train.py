"""PCN's training loop: explore with commands, keep the best episodes, learn from them."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, UInt32

from pcn.algorithms.pcn.command_selection import select_commands
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.dataset import Dataset
from pcn.algorithms.pcn.evaluate import Actor, execute
from pcn.algorithms.pcn.exploration import Randomness, most_steps
from pcn.algorithms.pcn.finish import coverage_set_of, finished
from pcn.algorithms.pcn.loop_erasure import promising_shortcuts, replayed
from pcn.algorithms.pcn.network import fresh_policy
from pcn.algorithms.pcn.update import Learner, update_many
from pcn.algorithms.pcn.variation import played, variation
from pcn.algorithms.trainer import (
    AbstractTrainer,
    Outcome,
    Progress,
    Snapshot,
    evaluation_due,
)
from pcn.coverage import CoverageSet
from pcn.envs.environment import AbstractEnvironment
from pcn.episodes import Episodes
from pcn.pareto import covered_mask
from pcn.serialisation.arrays import named_arrays, with_named_arrays

EVALUATION_SHARE = 0.1
"""Most of the steps that evaluations may take."""
WARMUP_SHARE = 0.1
"""Most of the budget that warm-up may take beyond its fixed number of episodes."""


class PCNTrainer(AbstractTrainer):
    """PCN on one environment, an iteration at a time."""

    def __init__(self, environment: AbstractEnvironment, config: PCNConfig, *, seed: int) -> None:
        self.environment = environment
        self.config = config
        self.steps = 0
        self._evaluation_steps = 0
        self._rng = np.random.default_rng(seed)
        self._actor = Actor(environment, config.episodes_per_iteration, config.discount)
        self._learner = Learner.fresh(fresh_policy(environment.spec, config, self._next_key()))
        self._dataset = Dataset(environment.spec, config)

    @property
    def done(self) -> bool:
        """Whether the budget of environment steps is spent."""
        return self.steps >= self.config.total_steps

    def iterate(self) -> Progress:
        """Warm up the first time; then updates, commands, episodes, pruning."""
        if len(self._dataset) == 0:
            self._warm_up()
        steps_before = self.steps
        loss = self._update()
        returns, horizons = select_commands(
            self._dataset.archive(), self._actor.batch_size, self.config, self._rng
        )
        episodes = self._actor.run(
            self._learner.policy,
            returns,
            horizons,
            Randomness.of_exploration(len(horizons), self.config, self._rng),
            upper_bound=self._dataset.upper_bound(),
            key=self._next_key(),
            most_steps=most_steps(
                horizons, self.steps / self.config.total_steps, self.config, self._rng
            ),
        )
        self._store_explored(episodes)
        self._vary()
        execution = self._evaluate() if self._evaluation_due(steps_before) else None
        self._follow_scale()
        return Progress(self.steps, loss, self._dataset.archive().returns, execution)

    def outcome(self) -> Outcome:
        """Consolidate, execute what is worth asking for and report what was reached."""
        final, coverage_set = finished(
            self._learner.policy, self._dataset, self._actor, self.config, next_key=self._next_key
        )
        bound = self._dataset.upper_bound()
        arrays = {**named_arrays(final.policy, "policy"), "upper_bound": bound}
        facts = {
            "consolidation": {"updates": final.num_updates, "steps": final.num_steps},
        }
        return Outcome(coverage_set, arrays, facts, self._dataset.archive().returns)

    def snapshot(self) -> Snapshot:
        """Network, optimiser, dataset and random state."""
        arrays = {**named_arrays(self._learner, "learner"), **self._dataset.to_arrays()}
        facts = {
            "steps": self.steps,
            "evaluation_steps": self._evaluation_steps,
            "rng": self._rng.bit_generator.state,
        }
        return Snapshot(arrays, facts)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        self._learner = with_named_arrays(self._learner, snapshot.arrays, "learner")
        self._dataset.from_arrays(snapshot.arrays)
        self.steps = snapshot.facts["steps"]
        self._evaluation_steps = snapshot.facts["evaluation_steps"]
        self._rng.bit_generator.state = snapshot.facts["rng"]

    def _next_key(self) -> UInt32[np.ndarray, " 2"]:
        # One generator for host and device: there is a single random state to save.
        return self._rng.integers(1 << 32, size=2, dtype=np.uint32)

    def _warm_up(self) -> None:
        """Random episodes; they go on until a few distinct trade-offs are known."""
        config, size = self.config, self._actor.batch_size
        num_objectives = self.environment.spec.num_objectives
        num_episodes = 0
        while not self.done and (
            num_episodes < config.warmup_episodes
            or (
                len(self._dataset.archive()) < config.warmup_front
                # There may be no more trade-offs than are known.
                and self.steps < WARMUP_SHARE * config.total_steps
            )
        ):
            missing = config.warmup_episodes - num_episodes
            count = min(size, missing) if missing > 0 else size
            episodes = self._actor.run(
                self._learner.policy,
                np.zeros((size, num_objectives)),
                np.ones(size),
                Randomness.of_warm_up(size, config, self._rng),
                upper_bound=np.full(num_objectives, np.inf),
                key=self._next_key(),
                count=count,
            )
            self._store(episodes, count)
            self._store_shortcuts(episodes, count)
            num_episodes += count
        scale = jnp.asarray(self._dataset.command_scale(), jnp.float32)
        policy = eqx.tree_at(lambda policy: policy.command_scale, self._learner.policy, scale)
        if config.standardise:
            embedding = policy.embed_state.fitted(self._dataset.observations())
            policy = eqx.tree_at(lambda policy: policy.embed_state, policy, embedding)
        self._learner = Learner.fresh(policy)

    def _update(self) -> float:
        config, dataset = self.config, self._dataset
        counts = config.batch_counts
        drawings = (dataset.drawing(dataset.rows), dataset.drawing(dataset.archive().rows))
        self._learner, loss = update_many(
            self._learner,
            dataset.store,
            drawings[: len(counts)],
            np.full(config.updates_per_iteration, config.learning_rate, np.float32),
            np.asarray(1.0, np.float32),
            self._next_key(),
            counts,
        )
        return float(loss)

    def _store(self, episodes: Episodes, count: int) -> None:
        self._dataset.add(episodes, count=count)
        self.steps += int(np.asarray(episodes.lengths)[:count].sum())

    def _marked_first(
        self, episodes: Episodes, mask: Bool[np.ndarray, " episode"]
    ) -> tuple[Episodes, int]:
        """The episodes to store first, and how many they are; the others have cost their steps."""
        self.steps += int(np.asarray(episodes.lengths)[~mask].sum())
        if not mask.all():
            episodes = episodes.taking(np.argsort(~mask, kind="stable"))
        return episodes, int(mask.sum())

    def _store_explored(self, episodes: Episodes) -> None:
        """Store the episodes that came to an end; those broken off cost their steps."""
        episodes, count = self._marked_first(episodes, episodes.ended)
        self._store(episodes, count)
        self._store_shortcuts(episodes, count)

    def _vary(self) -> None:
        """Play episodes of the front with a few actions changed; store those that add to it."""
        config, spec, size = self.config, self.environment.spec, self._actor.batch_size
        if not (config.variations and spec.deterministic):
            return
        archive, sizes = self._dataset.archive(), self._learner.policy.heads.sizes
        chosen = self._rng.integers(len(archive), size=2 * size)
        scripts = self._dataset.scripts(archive.rows.taking(chosen))
        pairs = zip(scripts[:size], scripts[size:], strict=True)
        varied = [variation(script, other, sizes, self._rng) for script, other in pairs]
        episodes = played(self.environment, varied, key=self._next_key())
        returns = episodes.returns(discount=config.discount)
        covered = covered_mask(returns, archive.returns, tolerance=config.return_tolerance)
        self._store(*self._marked_first(episodes, episodes.ended & ~covered))

    def _store_shortcuts(self, episodes: Episodes, count: int) -> None:
        """Where an episode becomes non-dominated without its loops, store that one too."""
        config = self.config
        if count == 0 or not (config.erase_loops and self.environment.spec.deterministic):
            return
        shortcuts = promising_shortcuts(
            episodes,
            count,
            self._dataset.archive().returns,
            discount=config.discount,
            tolerance=config.return_tolerance,
        )
        if len(shortcuts) == 0:
            return
        replay, num_faithful, num_steps = replayed(
            self.environment,
            shortcuts,
            batch_size=self._actor.batch_size,
            discount=config.discount,
            tolerance=config.return_tolerance,
            key=self._next_key(),
        )
        self._dataset.add(replay, count=num_faithful)
        self.steps += num_steps

    def _evaluation_due(self, steps_before: int) -> bool:
        due = evaluation_due(
            steps_before,
            self.steps,
            total_steps=self.config.total_steps,
            evaluations=self.config.evaluations,
        )
        # A front of thousands of policies would spend the budget on evaluations.
        cost = int(self._dataset.archive().horizons.sum())
        return due and self._evaluation_steps + cost <= EVALUATION_SHARE * self.steps

    def _evaluate(self) -> CoverageSet:
        archive, stores = self._dataset.archive(), self.config.store_evaluations
        execution = execute(
            self._actor,
            self._learner.policy,
            archive.returns,
            archive.horizons.astype(np.float64),
            key=self._next_key(),
            upper_bound=self._dataset.upper_bound(),
            keep=self._store if stores else None,
        )
        if not stores:
            self.steps += execution.num_steps
        self._evaluation_steps += execution.num_steps
        return coverage_set_of(archive, execution, self.config)

    def _follow_scale(self) -> None:
        """Let the command scale follow the archive once its range has changed twofold."""
        wanted = self._dataset.command_scale()
        ratio = wanted / np.asarray(self._learner.policy.command_scale)
        if np.any((ratio > 2) | (ratio < 0.5)):
            self._learner = self._learner.rescaled(jnp.asarray(wanted, jnp.float32))
