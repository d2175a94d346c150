"""Pareto Conditioned Networks: learn every non-dominated policy, and verify that it executes.

Importing this package imports neither JAX nor an environment, and changes nothing in the process
but Gymnasium's registry, which gets the ids `pcn/<name>-v0`. `configure_jax` sets JAX up for speed.
"""

from pcn.starting import quiet_while_starting

quiet_while_starting()  # before the first slow import

from typing import TYPE_CHECKING, Any  # noqa: E402

from pcn.envs.gymnasium_ids import register_all  # noqa: E402
from pcn.lazy import attribute_of  # noqa: E402
from pcn.version import __version__  # noqa: E402

if TYPE_CHECKING:
    from pcn.algorithms.mones.config import MONESConfig
    from pcn.algorithms.pcn.config import PCNConfig
    from pcn.algorithms.ra.config import RAConfig
    from pcn.compilation import configure_jax
    from pcn.coverage import CoverageSet
    from pcn.envs.compiled import AbstractCompiledEnvironment, Step
    from pcn.envs.spec import EnvironmentSpec, Front, Objective
    from pcn.errors import Stopped, UserError
    from pcn.runs.checking import EnvironmentCheck, check
    from pcn.runs.events import Advanced, Collecting, Noticed, Probing, Started
    from pcn.runs.policy import Policy
    from pcn.runs.request import Request
    from pcn.runs.run import Run, load
    from pcn.runs.training import carry_out, resume, train

__all__ = [
    "AbstractCompiledEnvironment",
    "Advanced",
    "Collecting",
    "CoverageSet",
    "EnvironmentCheck",
    "EnvironmentSpec",
    "Front",
    "MONESConfig",
    "Noticed",
    "Objective",
    "PCNConfig",
    "Policy",
    "Probing",
    "RAConfig",
    "Request",
    "Run",
    "Started",
    "Step",
    "Stopped",
    "UserError",
    "__version__",
    "carry_out",
    "check",
    "configure_jax",
    "load",
    "resume",
    "train",
]

_MODULES = {
    "AbstractCompiledEnvironment": "pcn.envs.compiled",
    "Advanced": "pcn.runs.events",
    "Collecting": "pcn.runs.events",
    "CoverageSet": "pcn.coverage",
    "EnvironmentCheck": "pcn.runs.checking",
    "EnvironmentSpec": "pcn.envs.spec",
    "Front": "pcn.envs.spec",
    "MONESConfig": "pcn.algorithms.mones.config",
    "Objective": "pcn.envs.spec",
    "PCNConfig": "pcn.algorithms.pcn.config",
    "Policy": "pcn.runs.policy",
    "Noticed": "pcn.runs.events",
    "Probing": "pcn.runs.events",
    "RAConfig": "pcn.algorithms.ra.config",
    "Request": "pcn.runs.request",
    "Run": "pcn.runs.run",
    "Started": "pcn.runs.events",
    "Step": "pcn.envs.compiled",
    "Stopped": "pcn.errors",
    "UserError": "pcn.errors",
    "carry_out": "pcn.runs.training",
    "check": "pcn.runs.checking",
    "configure_jax": "pcn.compilation",
    "load": "pcn.runs.run",
    "resume": "pcn.runs.training",
    "train": "pcn.runs.training",
}

register_all()  # `gymnasium.make("pcn/deep-sea-treasure-v0")` works from here on


def __getattr__(name: str) -> Any:
    return attribute_of(__name__, name, _MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)
