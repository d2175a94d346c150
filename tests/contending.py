"""Trainings whose exploration is over, and what their contenders return when they are executed."""

import numpy as np

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.train import PCNTrainer


def explored(environment, config, seed=0):
    """A training whose exploration is over."""
    trainer = PCNTrainer(environment, config, seed=seed)
    while trainer._training.exploring_steps_left > 0:
        trainer.iterate()
    return trainer


def executed(training, contender, executions):
    """The mean return of each command."""
    batches = training.actor.execute(
        contender.policy,
        contender.desired_returns,
        contender.horizons,
        upper_bound=np.full(training.spec.num_objectives, np.inf),
        key=np.array([1, 2], np.uint32),
        follows_rewards=contender.follows_rewards,
        executions=executions,
    )
    return Execution.of(batches, executions=executions, discount=1.0).returns
