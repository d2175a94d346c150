"""PCN's training loop (section 4 of the paper): explore with commands, keep the best, learn.

Reymond, Bargiacchi and Nowé, Pareto Conditioned Networks, AAMAS 2022, arXiv:2204.05036. What goes
beyond the paper is in `refinements/`; without any, this file is the paper's algorithm.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pcn.algorithms.pcn.command_selection import select_commands
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.data_ending import DataEnding
from pcn.algorithms.pcn.ending import Ending, begun_ending, restored_ending
from pcn.algorithms.pcn.evaluating import Evaluations
from pcn.algorithms.pcn.fitting import fit
from pcn.algorithms.pcn.logged_beginning import LoggedBeginning
from pcn.algorithms.pcn.logging import stored_episodes
from pcn.algorithms.pcn.raced_ending import RacedEnding
from pcn.algorithms.pcn.schedule import MOST_EPISODES
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.pcn.update import Learner
from pcn.algorithms.trainer import AbstractTrainer, Outcome, Progress, Snapshot, too_few_steps
from pcn.datasets.use import LoggedData
from pcn.envs.environment import AbstractEnvironment
from pcn.episodes import Episodes
from pcn.serialisation.arrays import named_arrays, with_named_arrays


class PCNTrainer(AbstractTrainer):
    """PCN on one environment, an iteration at a time."""

    def __init__(
        self,
        environment: AbstractEnvironment,
        config: PCNConfig,
        *,
        seed: int,
        steps_before: int = 0,
        logged: LoggedData | None = None,
    ) -> None:
        """`steps_before` were spent before the training begins, and count.

        With `logged` data training begins with its episodes instead of random ones.
        """
        self.config = config
        self._training = Training(
            environment,
            config,
            config.refinements,
            seed=seed,
            steps_before=steps_before,
            explores=logged is None or logged.explores,
        )
        self._logged = None if logged is None else LoggedBeginning(logged, config.logged_updates)
        self._warmed_up = False
        self._ending: Ending | RacedEnding | DataEnding | None = None
        self._evaluations = Evaluations(self._training)
        self._loss = float("nan")

    @property
    def steps(self) -> int:
        """Environment steps taken so far, those of the ending included."""
        return self._training.steps

    @property
    def done(self) -> bool:
        """Whether the budget is spent and everything that is offered has been executed."""
        return self._ending is not None and self._ending.done

    def iterate(self) -> Progress:
        """Updates, commands, episodes, pruning; once the budget is spent, a step of the ending."""
        training = self._training
        if self._ending is None and not self._warmed_up:
            self._warmed_up = True
            if self._logged is not None:
                self._logged.fill(training)
                self._prepare()
            else:
                self._warm_up()
                if training.exploring_steps_left <= 0:  # random episodes took the whole budget
                    return Progress(self.steps, self._loss, training.dataset.archive().returns)
        if self._logged is not None and self._logged.updates_left > 0:
            self._loss = self._logged.learn(training)
            archive = training.dataset.archive().returns
            return Progress(self.steps, self._loss, archive, phase="learning from data")
        if self._ending is not None or not training.explores or training.exploring_steps_left <= 0:
            return self._end()
        steps_before = self.steps
        self._loss = self._update()
        self._explore()
        due = self._evaluations.due(steps_before)
        execution = self._evaluations.execute() if due else None
        self._follow_scale()
        return Progress(self.steps, self._loss, training.dataset.archive().returns, execution)

    @property
    def contradicted(self) -> bool:
        """Whether a refinement has seen the same actions have another outcome."""
        training = self._training
        return any(refinement.contradicts(training) for refinement in training.refinements)

    def take_over(self, other: AbstractTrainer) -> None:
        """Begin with the episodes that another training has stored, besides random ones."""
        assert isinstance(other, PCNTrainer), "it is a training of PCN, too"
        training, known = self._training, other._training.dataset.to_arrays()
        episodes = stored_episodes(training.spec, known, training.spec.name)
        for batch in episodes.batches(MOST_EPISODES):
            training.dataset.add(batch)

    def take_notices(self) -> list[str]:
        """What refinements want the user to read, since the last call."""
        notices, self._training.notices = self._training.notices, []
        return notices

    def _warm_up(self) -> None:
        """Fill the dataset with random episodes (Algorithm 1, line 1), then scale the network."""
        training, config, schedule = self._training, self.config, self._training.schedule
        size, num_objectives = schedule.num_episodes, training.spec.num_objectives
        allowed = config.warmup_share * config.total_steps
        num_episodes, lengths = 0, []
        while training.exploring_steps_left > 0 and (
            (num_episodes < config.warmup_episodes and training.steps < allowed)
            or num_episodes == 0
            or len(training.dataset) == 0
            or any(one.extends_warm_up(training) for one in training.refinements)
        ):
            missing = config.warmup_episodes - num_episodes
            wanted = min(size, missing) if missing > 0 else size
            batch = schedule.batch(wanted, training.exploring_steps_left)
            repeat = training.repeat_probabilities(size)
            episodes = training.actor.run(
                training.learner.policy,
                np.zeros((size, num_objectives)),
                np.ones(size),
                noise=np.ones(size),
                repeat=repeat,
                upper_bound=np.full(num_objectives, np.inf),
                key=training.next_key(),
                count=batch.count,
                most_steps=batch.most_steps,
            )
            self._store(episodes)
            num_episodes += batch.count
            lengths.append(episodes.num_steps)
            schedule.mean_length = sum(lengths) / num_episodes
        if len(training.dataset) == 0:
            raise too_few_steps(config.total_steps, training.spec)
        schedule.measure(sum(lengths) / num_episodes)
        steps_before = training.steps
        for refinement in training.refinements:
            refinement.after_warming_up(training)
        schedule.collected(sum(lengths) + training.steps - steps_before)
        self._prepare()

    def _prepare(self) -> None:
        """Scale the network by the episodes that the dataset begins with."""
        training = self._training
        scale = jax.device_put(training.dataset.command_scale().astype(np.float32))
        policy = eqx.tree_at(lambda policy: policy.command_scale, training.learner.policy, scale)
        for refinement in training.refinements:
            policy = refinement.prepared(policy, training)
        training.learner = Learner.fresh(policy)

    def _update(self) -> float:
        """Fit the network to batches of the dataset (section 4.2); returns the mean loss."""
        num_updates = self._training.schedule.next_updates()
        return self._loss if num_updates == 0 else fit(self._training, num_updates)

    def _explore(self) -> None:
        """Let the network explore, and then the refinements."""
        training = self._training
        steps_before = training.steps
        if all(one.lets_explore(training) for one in training.refinements):
            self._follow_commands()
        for refinement in training.refinements:
            refinement.after_exploring(training)
        collected = training.steps - steps_before
        training.schedule.collected(collected, share=training.share_of_updates())

    def _follow_commands(self) -> None:
        """Ask for a little more than is known (section 4.3) and store what comes of it (4.4)."""
        training, config, schedule = self._training, self.config, self._training.schedule
        dataset, count = training.dataset, config.command_candidates
        known = dataset.archive() if count is None else dataset.best(count)
        returns, horizons = select_commands(known, schedule.num_episodes, config, training.rng)
        size = len(horizons)
        uniform = training.rng.uniform(size=size)
        noise = config.action_noise * uniform**config.action_noise_exponent
        repeat = training.repeat_probabilities(size)
        bound, key = training.upper_bound(), training.next_key()
        batch = schedule.batch(size, training.exploring_steps_left)
        episodes = training.actor.run(
            training.learner.policy,
            returns,
            horizons,
            noise=noise,
            repeat=repeat,
            upper_bound=bound,
            lower_bound=training.lower_bound(),
            bounded_first=config.bounded_first_command,
            key=key,
            count=batch.count,
            most_steps=np.minimum(batch.most_steps, training.most_steps(horizons)),
        )
        schedule.mean_length = episodes.num_steps / batch.count
        self._store(episodes)

    def _store(self, episodes: Episodes) -> None:
        """Add episodes to the dataset, which is pruned to its capacity (section 4.4)."""
        for refinement in self._training.refinements:
            episodes = refinement.before_storing(self._training, episodes)
        self._training.dataset.add(episodes)
        for refinement in self._training.refinements:
            refinement.after_storing(self._training, episodes)

    def _follow_scale(self) -> None:
        """Let an automatic command scale follow the archive once its range has changed enough."""
        training, change = self._training, self.config.command_spread_change
        wanted = training.dataset.command_scale()
        ratio = wanted / np.asarray(training.learner.policy.command_scale)
        if np.any((ratio > change) | (ratio < 1 / change)):
            training.learner = training.learner.rescaled(jnp.asarray(wanted, jnp.float32))

    def _end(self) -> Progress:
        if self._ending is None:
            self._ending = (
                DataEnding(self._training)
                if self._without_environment
                else begun_ending(self._training)
            )
        self._ending.iterate()
        archive = self._training.dataset.archive().returns
        return Progress(self.steps, self._loss, archive, phase=self._ending.phase)

    @property
    def _without_environment(self) -> bool:
        return self._logged is not None and self._logged.data.interaction == "none"

    def outcome(self) -> Outcome:
        """The commands that the run offers, what each returned, and the networks."""
        assert self._ending is not None, "the training is not done"
        return Outcome(
            self._ending.coverage_set(),
            self._ending.arrays(),
            self._ending.facts(),
            self._training.dataset.archive().returns,
        )

    def snapshot(self) -> Snapshot:
        """Network, optimiser, dataset, random state and, once it has begun, the ending."""
        training = self._training
        arrays = {
            **named_arrays(training.learner, "learner"),
            **training.dataset.to_arrays(),
            **training.state_arrays(),
        }
        facts = {
            "steps": self.steps,
            "evaluation_steps": self._evaluations.num_steps,
            "warmed_up": self._warmed_up,
            "loss": self._loss,
            "schedule": training.schedule.to_json(),
            "updates_on_data": 0 if self._logged is None else self._logged.updates_left,
            "rng": training.rng.bit_generator.state,
        }
        if self._ending is not None:
            ending, facts["ending"] = self._ending.snapshot()
            arrays |= ending
        return Snapshot(arrays, facts)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        training, arrays, facts = self._training, snapshot.arrays, snapshot.facts
        training.learner = with_named_arrays(training.learner, arrays, "learner")
        training.dataset.from_arrays(arrays)
        training.restore_states(arrays)
        training.runner.steps = facts["steps"]
        self._evaluations.num_steps = facts["evaluation_steps"]
        self._loss = facts.get("loss", self._loss)  # format 1 has none
        self._warmed_up = facts.get("warmed_up", len(training.dataset) > 0)  # older ones have none
        if "schedule" in facts:  # older checkpoints have none
            training.schedule.from_json(facts["schedule"])
        if self._logged is not None:
            self._logged.updates_left = facts.get("updates_on_data", 0)
        training.rng.bit_generator.state = facts["rng"]
        if "ending" in facts:
            self._ending = (
                DataEnding.restored(training, arrays, facts["ending"])
                if self._without_environment
                else restored_ending(training, arrays, facts["ending"])
            )
