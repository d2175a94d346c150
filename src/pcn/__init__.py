"""Pareto Conditioned Networks: learn every non-dominated policy, and verify that it executes."""

import os

# The networks are small: threads inside one matrix product cost more than they bring, and
# results must not depend on how many cores there are. Read when JAX makes its first array.
_FLAG = "--xla_cpu_multi_thread_eigen"
if _FLAG not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_FLAG}=false".strip()

__version__ = "0.1.0"

from pcn.envs.gymnasium_ids import register_all  # noqa: E402

register_all()  # `gymnasium.make("pcn/deep-sea-treasure-v0")` works from here on

from pcn.coverage import CoverageSet  # noqa: E402
from pcn.errors import UserError  # noqa: E402
from pcn.runs import Run, load, resume, train  # noqa: E402

__all__ = ["CoverageSet", "Run", "UserError", "__version__", "load", "resume", "train"]
