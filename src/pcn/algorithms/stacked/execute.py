"""Running a stack of policies, and what its episodes return."""

from collections.abc import Iterator

import jax
import numpy as np
from jaxtyping import Int, UInt32

from pcn.algorithms.execution import Execution, nth_key
from pcn.algorithms.stacked.agent import PolicyAgent
from pcn.episodes import Episodes
from pcn.nets.plain_policy import PlainPolicy
from pcn.rollout.runner import Runner

BATCH_SIZE = 64
"""Episodes at a time: a fixed number, so that executing again runs the same compiled code."""


def taking(stack: PlainPolicy, index: Int[np.ndarray, " policy"] | int) -> PlainPolicy:
    """The policies of a stack at `index`, in that order."""
    taken: PlainPolicy = jax.tree.map(lambda leaf: leaf[index], stack)
    return taken


def run_each(
    runner: Runner,
    policies: PlainPolicy,
    num_policies: int,
    *,
    sharpness: float,
    key: UInt32[np.ndarray, " 2"],
    count: int | None = None,
    most_steps: int | None = None,
) -> Episodes:
    """One episode of each policy of a stack, all in one call; see `Runner.run` for the options."""
    agents = PolicyAgent(policies, np.asarray(sharpness, np.float32))
    return runner.run(agents, key, num_policies, count=count, most_steps=most_steps)


def execute(
    runner: Runner,
    stack: PlainPolicy,
    num_policies: int,
    *,
    discount: float,
    key: UInt32[np.ndarray, " 2"],
    executions: int = 1,
    sharpness: float = np.inf,
    batch_size: int = BATCH_SIZE,
) -> Execution:
    """Run every policy of a stack, `executions` times each."""
    order = np.tile(np.arange(num_policies), executions)

    def batches() -> Iterator[Episodes]:
        for number, start in enumerate(range(0, len(order), batch_size)):
            index = order[start : start + batch_size]
            yield run_each(
                runner,
                taking(stack, np.resize(index, batch_size)),
                batch_size,
                sharpness=sharpness,
                key=nth_key(key, number),
                count=len(index),
            )

    return Execution.of(batches(), executions=executions, discount=discount)
