"""What algorithms train on: a compiled environment, or Gymnasium environments in slots."""

from typing import Any

import gymnasium as gym

from pcn.envs.compiled import AbstractCompiledEnvironment
from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.observations import ObservationReader
from pcn.envs.to_gymnasium import CompiledGymEnv

AbstractEnvironment = AbstractCompiledEnvironment | GymnasiumEnvironment


def observation_reader(environment: AbstractEnvironment) -> ObservationReader:
    """How what an environment shows becomes what policies see: pictures are reduced and stacked."""
    if isinstance(environment, GymnasiumEnvironment):
        return environment.reader()
    return ObservationReader(environment.spec.observation_space, frame_stack=1)


def person_view(environment: AbstractEnvironment, *, render: bool) -> gym.Env[Any, Any]:
    """One environment for a person to step and look at; it ends at its step limit."""
    if isinstance(environment, GymnasiumEnvironment):
        single = environment.person_view("rgb_array" if render else None)
    else:
        single = CompiledGymEnv(environment, "rgb_array" if render else None)
    return gym.wrappers.TimeLimit(single, environment.spec.step_limit)
