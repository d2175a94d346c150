"""Environments: the interface, the compiled ones, and the table of those that come with `pcn`.

Names are imported when they are first used: describing environments needs no JAX.
"""

from typing import TYPE_CHECKING, Any

from pcn.lazy import attribute_of

if TYPE_CHECKING:
    from pcn.envs.compiled import AbstractCompiledEnvironment, Step
    from pcn.envs.environment import AbstractEnvironment
    from pcn.envs.finding import find_environment
    from pcn.envs.registry import ENVIRONMENTS
    from pcn.envs.spec import EnvironmentSpec, Front, Objective

__all__ = [
    "ENVIRONMENTS",
    "AbstractCompiledEnvironment",
    "AbstractEnvironment",
    "EnvironmentSpec",
    "Front",
    "Objective",
    "Step",
    "find_environment",
]

_MODULES = {
    "AbstractCompiledEnvironment": "pcn.envs.compiled",
    "AbstractEnvironment": "pcn.envs.environment",
    "ENVIRONMENTS": "pcn.envs.registry",
    "EnvironmentSpec": "pcn.envs.spec",
    "Front": "pcn.envs.spec",
    "Objective": "pcn.envs.spec",
    "Step": "pcn.envs.compiled",
    "find_environment": "pcn.envs.finding",
}


def __getattr__(name: str) -> Any:
    return attribute_of(__name__, name, _MODULES)
