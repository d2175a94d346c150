"""Run a stack of policies and collect the returns."""

import jax
import numpy as np
from jaxtyping import Int, UInt32

from pcn.algorithms.execution import Execution, nth_key
from pcn.algorithms.stacked.agent import PolicyAgent
from pcn.episodes import Episodes
from pcn.nets.plain_policy import PlainPolicy
from pcn.rollout.runner import Runner

BATCH_SIZE = 64
"""Episodes at a time: a fixed number, so that the same compiled code is used again."""


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
    total_steps: int | None = None,
    most_steps: int | None = None,
) -> Execution:
    """Run every policy of a stack, `executions` times each.

    Args:
        total_steps: What all episodes may take together. Once one more might take too much,
            policies have fewer executions than they should, or none.
        most_steps: When an episode is broken off; it is then no part of what is returned. If all
            are, the first policy has one that is not.
    """
    limit = runner.environment.spec.step_limit
    longest = limit if most_steps is None else min(most_steps, limit)
    order = np.tile(np.arange(num_policies), executions)
    left = (len(order) + 1) * limit if total_steps is None else total_steps
    execution = Execution.none(num_policies, runner.environment.spec.num_objectives)
    number = 0

    def run(index: Int[np.ndarray, " episode"], most_steps: int) -> None:
        nonlocal left, number, execution
        episodes = run_each(
            runner,
            taking(stack, np.resize(index, batch_size)),
            batch_size,
            sharpness=sharpness,
            key=nth_key(key, number),
            count=len(index),
            most_steps=most_steps,
        )
        left, number = left - episodes.num_steps, number + 1
        ended = episodes.ended[: len(index)]
        returns = episodes.returns(discount=discount)[: len(index)]
        lengths = np.asarray(episodes.lengths)[: len(index)]
        execution = execution.adding(index[ended], returns[ended], lengths[ended])

    begun = 0
    while begun < len(order):
        nothing_ended = len(execution.policies) == 0
        available = left - limit if nothing_ended and longest < limit else left
        if available < longest:
            break
        count = min(batch_size, len(order) - begun, available // longest)
        run(order[begun : begun + count], longest)
        begun += count
    if len(execution.policies) == 0 and left > 0:
        run(order[:1], min(limit, left))
    return execution
