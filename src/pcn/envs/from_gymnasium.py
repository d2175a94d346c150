"""Any Gymnasium environment with vector rewards, ready for rollouts."""

from functools import cached_property, partial
from typing import Any

import gymnasium as gym
import numpy as np

from pcn.envs.environment import AbstractEnvironment, Watcher
from pcn.envs.gymnasium_source import GymnasiumSource, MakeEnv, TellingFailures
from pcn.envs.observations import ObservationReader
from pcn.envs.probing import Probe
from pcn.envs.registry import Workers
from pcn.envs.slots import LocalSlots, Slots
from pcn.envs.spec import EnvironmentSpec, Front, Objective
from pcn.envs.worker_slots import ANSWER_SECONDS, WorkerSlots
from pcn.errors import UserError
from pcn.nets.heads import AbstractActionHead, action_head_for

MOST_ANSWER_SECONDS = 1e6
"""An upper limit of the waiting time for a worker process."""


class GymnasiumEnvironment(AbstractEnvironment):
    """Several instances of a Gymnasium environment, stepped together with one policy call.

    Instances are created when they are needed; until then the spec is enough.
    """

    def __init__(
        self,
        spec: EnvironmentSpec,
        make: MakeEnv,
        *,
        num_slots: int = 16,
        workers: Workers = False,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        """`num_slots` instances at once, with `workers` each in a process of its own.

        With `workers="ray"` these processes are actors of a Ray cluster. A worker process that
        has not answered for `answer_seconds` is given up.
        """
        check_answer_seconds(answer_seconds)
        self.spec = spec
        self.num_slots = num_slots
        self._make = make
        self._workers = workers
        self._answer_seconds = answer_seconds
        self._slots: Slots | None = None
        self._watcher: Watcher | None = None

    @classmethod
    def from_source(
        cls,
        source: GymnasiumSource,
        probe: Probe,
        *,
        num_slots: int = 16,
        workers: Workers = False,
        frame_stack: int = 2,
        discount: float = 1.0,
    ) -> "GymnasiumEnvironment":
        """The environment as described by one instance, which is closed afterwards."""
        spec = describe(source, probe, frame_stack=frame_stack, discount=discount)
        source.close()
        return cls(spec, source.make, num_slots=num_slots, workers=workers)

    @cached_property
    def action_head(self) -> AbstractActionHead:
        """What its actions are made of; made once, because making a module takes long."""
        return action_head_for(self.spec.action_space)

    def slots(self) -> Slots:
        """The instances, created when first needed and kept."""
        if self._slots is None or self._slots.closed:
            self._slots = self._make_slots()
        return self._slots

    def _make_slots(self) -> Slots:
        if not self._workers:
            return LocalSlots(self._make, self.spec, watcher=self._tell)
        if self._workers == "ray":
            from pcn.envs.ray_slots import RaySlots

            kind: type[RaySlots] | type[WorkerSlots] = RaySlots
        else:
            kind = WorkerSlots
        return kind(
            self._make,
            self.spec,
            self.num_slots,
            answer_seconds=self._answer_seconds,
            watcher=self._tell,
        )

    def watch(self, watcher: Watcher | None) -> None:
        """Call `watcher` with steps as they are taken."""
        self._watcher = watcher

    def _tell(self, num_steps: int) -> None:
        if self._watcher is not None:
            self._watcher(num_steps)

    def unstarted(self) -> "GymnasiumEnvironment":
        """The same environment without its instances, so that it can be pickled."""
        return GymnasiumEnvironment(self.spec, self._make)

    def prepare(self) -> None:
        """Start the workers, so that their errors appear before training begins."""
        if self._workers:
            self.slots().reset(dict.fromkeys(range(self.num_slots), 0))

    def close(self) -> None:
        """Close the instances and end the workers."""
        if self._slots is not None:
            self._slots.close()

    def person_view(self, render_mode: str | None = None) -> gym.Env[Any, Any]:
        """One more instance in this process, truncated at the step limit."""
        options = {} if render_mode is None else {"render_mode": render_mode}
        source = GymnasiumSource(self.spec.name, partial(self._make, **options))
        try:
            single = source.instance()
        except UserError as error:
            if not options:
                raise
            raise UserError(
                f"{self.spec.name} cannot be made with render_mode={render_mode!r}, so it has no "
                f"pictures ({error})"
            ) from None
        telling = TellingFailures(single, self.spec.name)
        return gym.wrappers.TimeLimit(telling, self.spec.step_limit)


def check_answer_seconds(seconds: float) -> None:
    """Raise a `UserError` for a waiting time that is not positive, or endless."""
    if not 0 < seconds <= MOST_ANSWER_SECONDS:
        raise UserError(
            f"answer_seconds must be positive and at most {MOST_ANSWER_SECONDS:,.0f}, got {seconds}"
        )


def describe(
    source: GymnasiumSource,
    probe: Probe,
    *,
    frame_stack: int = 2,
    discount: float = 1.0,
) -> EnvironmentSpec:
    """The spec of an environment, read from its one instance.

    Args:
        source: Where the instance comes from.
        probe: What the instance does not say.
        frame_stack: How many of the last pictures a policy sees, where there are pictures.
        discount: The discount that the claimed front is for.
    """
    environment, num_objectives = source.instance(), len(probe.reference_point)
    shown = environment.observation_space
    seen = ObservationReader(shown, frame_stack=frame_stack).space
    return EnvironmentSpec(
        name=source.name,
        objectives=_objectives(source, num_objectives),
        observation_space=seen,
        action_space=probe.action_space or environment.action_space,
        step_limit=probe.step_limit,
        reference_point=probe.reference_point,
        front=_claimed_front(environment, num_objectives, discount),
        deterministic=probe.deterministic,
        masked_actions=probe.masked_actions,
        action_names=_action_names(environment),
        shown_space=None if seen is shown else shown,
        frame_stack=1 if seen is shown else frame_stack,
    )


def _action_names(environment: gym.Env[Any, Any]) -> tuple[str, ...]:
    """A name for each action of a `Discrete` space, if the environment has just as many."""
    space, names = environment.action_space, getattr(environment.unwrapped, "action_names", ())
    if not isinstance(space, gym.spaces.Discrete) or not isinstance(names, list | tuple):
        return ()
    return tuple(map(str, names)) if len(names) == space.n else ()


def _objectives(source: GymnasiumSource, count: int) -> tuple[Objective, ...]:
    """The objectives as the environment describes or at least names them, otherwise numbered."""
    environment = source.instance().unwrapped
    described = getattr(environment, "objectives", None)
    if isinstance(described, tuple) and all(isinstance(one, Objective) for one in described):
        if len(described) != count:
            raise UserError(
                f"{source.name} describes {len(described)} objectives, but its rewards have "
                f"{count} numbers"
            )
        return described
    names = getattr(environment, "objective_names", None)
    if names is None or len(names) != count:
        names = [f"objective_{number}" for number in range(count)]
    return tuple(Objective(str(name)) for name in names)


def _claimed_front(environment: gym.Env[Any, Any], count: int, discount: float) -> Front | None:
    """The front that the environment itself claims to have, which may be wrong."""
    claim = getattr(environment.unwrapped, "pareto_front", None)
    if claim is None:
        return None
    try:
        returns = np.asarray(claim(discount), dtype=np.float64)
    except Exception:  # some need arguments or optional packages
        return None
    if returns.ndim != 2 or returns.shape[1] != count or len(returns) == 0:
        return None
    return Front(returns, "claimed", "the environment's own pareto_front()", discount)
