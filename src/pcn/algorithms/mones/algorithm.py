"""MONES as an entry of `ALGORITHMS`."""

import numpy as np

from pcn.algorithms.mones.config import MONESConfig
from pcn.algorithms.mones.train import MONESTrainer
from pcn.algorithms.stacked.algorithm import AbstractStackedAlgorithm, fresh_policy
from pcn.envs.environment import AbstractEnvironment
from pcn.errors import UserError
from pcn.nets.plain_policy import WeightVector


class MONES(AbstractStackedAlgorithm):
    """Multi-Objective Natural Evolution Strategies, as an entry of `ALGORITHMS`."""

    config_class = MONESConfig

    def trainer(
        self,
        environment: AbstractEnvironment,
        config: MONESConfig,
        *,
        seed: int,
        steps_before: int = 0,
    ) -> MONESTrainer:
        """Create a training; `steps_before` were spent already and count."""
        policy = fresh_policy(environment.spec, config, np.zeros(2, np.uint32))
        size = WeightVector(policy).size
        if config.covariance == "full" and size > config.most_weights:
            raise UserError(
                f"a full covariance of {size:,} weights is more than most_weights allows, "
                f"{config.most_weights:,}; take covariance=diagonal or a smaller width"
            )
        return MONESTrainer(environment, config, seed=seed, steps_before=steps_before)
