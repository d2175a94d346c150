"""The state of a PCN training: what the core loop and its refinements read and change."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int, UInt32

from pcn.algorithms.pcn.acting import Actor
from pcn.algorithms.pcn.core_config import CoreConfig
from pcn.algorithms.pcn.dataset import Dataset
from pcn.algorithms.pcn.network import fresh_head, fresh_policy
from pcn.algorithms.pcn.rows import Archive
from pcn.algorithms.pcn.schedule import MOST_EPISODES, Schedule
from pcn.algorithms.pcn.units import check_units
from pcn.algorithms.pcn.update import Learner
from pcn.envs.environment import AbstractEnvironment
from pcn.episodes import Episodes
from pcn.pareto import spread_out
from pcn.rollout.runner import Runner

if TYPE_CHECKING:
    from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState


class Training:
    """Network, dataset, random numbers and the count of steps."""

    def __init__(
        self,
        environment: AbstractEnvironment,
        config: CoreConfig,
        refinements: Sequence[Any],
        *,
        seed: int,
        steps_before: int = 0,
        explores: bool = True,
    ) -> None:
        """`steps_before` were spent before the training begins, and count.

        Without `explores` the environment is for the final executions only, or there is none.
        """
        self.explores = explores
        self.spec = environment.spec
        self.config = config
        head = fresh_head(self.spec, config)
        self.refinements: tuple[AbstractRefinement, ...] = tuple(
            refinement
            for refinement in refinements
            if refinement.applies_to(self.spec) and refinement.handles(head)
        )
        for refinement in self.refinements:
            refinement.check(self.spec)
        self.rng = np.random.default_rng(seed)
        self.runner = Runner(environment)
        self.runner.steps = steps_before
        self.schedule = Schedule(config, self.spec)
        self.actor = Actor(self.runner, config.execution_batch, config.discount)
        self.learner = Learner.fresh(fresh_policy(self.spec, config, self.next_key()))
        copies = (refinement.most_copies() for refinement in self.refinements)
        self.dataset = Dataset(
            self.spec,
            config,
            room=max(MOST_EPISODES, config.execution_batch),
            most_copies=next((most for most in copies if most is not None), None),
        )
        off = [one for one in refinements if one not in self.refinements]
        reasons = (one.off_because(self.spec, head) for one in off)
        self.notices: list[str] = [reason for reason in reasons if reason is not None]
        """Sentences that the user should read, each told once."""
        check_units(config, self.spec, self.notices)
        states = {type(one).__name__: one.fresh_state(self) for one in self.refinements}
        self.states: dict[str, AbstractState] = {
            name: state for name, state in states.items() if state is not None
        }
        """What refinements remember, by the name of their class; it is part of a snapshot."""
        self.runner.listeners.append(self._after_running)

    def _after_running(self, episodes: Episodes) -> None:
        for refinement in self.refinements:
            refinement.after_running(self, episodes)

    @property
    def steps(self) -> int:
        """Environment steps taken so far."""
        return self.runner.steps

    @property
    def steps_left(self) -> int:
        """Environment steps that are left of the whole budget; never negative."""
        return max(0, self.config.total_steps - self.steps)

    @property
    def exploring_steps_left(self) -> int:
        """Environment steps that exploration may still take; the end of the training needs some."""
        executed = int(self.dataset.archive().horizons.sum()) if len(self.dataset) else 0
        kept = self.schedule.ending_steps(executed)
        return self.config.total_steps - kept - self.steps

    def affordable(self, lengths: Int[np.ndarray, " episode"]) -> int:
        """How many episodes of these lengths, the first ones, exploration may still run."""
        return int((np.cumsum(lengths) <= self.exploring_steps_left).sum())

    def next_key(self) -> UInt32[np.ndarray, " 2"]:
        """A fresh key; host and device share one generator, so there is one state to save."""
        return self.rng.integers(1 << 32, size=2, dtype=np.uint32)

    def upper_bound(self) -> Float[np.ndarray, " objective"]:
        """The largest desired return while acting; infinity where no refinement bounds it."""
        bounds = (refinement.bound_on_returns(self) for refinement in self.refinements)
        unbounded = np.full(self.spec.num_objectives, np.inf)
        return next((bound for bound in bounds if bound is not None), unbounded)

    def lower_bound(self) -> Float[np.ndarray, " objective"] | None:
        """The smallest desired return while acting; None where no refinement bounds it."""
        bounds = (refinement.lower_bound_on_returns(self) for refinement in self.refinements)
        return next((bound for bound in bounds if bound is not None), None)

    def bound_arrays(self) -> dict[str, np.ndarray]:
        """The bounds of desired returns as arrays of a run."""
        lower = self.lower_bound()
        return {
            "upper_bound": self.upper_bound(),
            **({} if lower is None else {"lower_bound": lower}),
        }

    def repeat_probabilities(self, num_episodes: int) -> Float[np.ndarray, " episode"]:
        """For each episode, how likely a random action is the last action again."""
        for refinement in self.refinements:
            repeat = refinement.repeat_probabilities(num_episodes, self)
            if repeat is not None:
                return repeat
        return np.zeros(num_episodes)

    def share_of_updates(self) -> float:
        """Which share of the usual updates the exploring network needs."""
        return min((one.share_of_updates(self) for one in self.refinements), default=1.0)

    def most_steps(
        self, desired_horizons: Float[np.ndarray, " episode"]
    ) -> Int[np.ndarray, " episode"]:
        """After how many steps exploring episodes are broken off."""
        limits = np.full(len(desired_horizons), self.spec.step_limit)
        for refinement in self.refinements:
            limits = np.minimum(limits, refinement.most_steps(desired_horizons, self))
        return limits

    def commands(self) -> Archive:
        """The commands among which the end of the training chooses.

        Every policy that is offered is executed. Where the steps that are left do not allow that,
        some commands stand for the others.
        """
        given = (refinement.commands(self) for refinement in self.refinements)
        commands = next((some for some in given if some is not None), self.dataset.archive())
        if not self.spec.deterministic:
            return commands
        steps = int(commands.horizons.sum())
        if steps * self.config.ending_executions <= self.steps_left * 2:
            return commands
        order = spread_out(commands.returns, len(commands))
        fitting = np.cumsum(commands.horizons[order]) * self.config.ending_executions
        count = max(1, int(np.searchsorted(fitting, self.steps_left * 2, side="right")))
        return Archive(commands.rows.taking(np.sort(order[:count])))

    def state_arrays(self) -> dict[str, np.ndarray]:
        """What refinements remember, as named arrays for a checkpoint.

        They are copies: refinements change their own arrays in place.
        """
        return {
            f"state.{name}.{key}": np.array(array)
            for name, state in self.states.items()
            for key, array in state.to_arrays().items()
        }

    def restore_states(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `state_arrays` gave; checkpoints from before a state existed have none."""
        for name, state in self.states.items():
            prefix = f"state.{name}."
            own = {
                key.removeprefix(prefix): arrays[key] for key in arrays if key.startswith(prefix)
            }
            if own:
                state.from_arrays(own)
