"""MONES as an entry of `ALGORITHMS`."""

from pcn.algorithms.mones.config import MONESConfig
from pcn.algorithms.mones.train import MONESTrainer
from pcn.algorithms.stacked.algorithm import AbstractStackedAlgorithm
from pcn.envs.environment import Environment


class MONES(AbstractStackedAlgorithm):
    """Multi-Objective Natural Evolution Strategies, as an entry of `ALGORITHMS`."""

    config_class = MONESConfig

    def trainer(self, environment: Environment, config: MONESConfig, *, seed: int) -> MONESTrainer:
        """A training that has not begun."""
        return MONESTrainer(environment, config, seed=seed)
