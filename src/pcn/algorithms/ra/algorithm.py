"""RA as an entry of `ALGORITHMS`."""

from pcn.algorithms.ra.config import RAConfig
from pcn.algorithms.ra.train import RATrainer
from pcn.algorithms.stacked.algorithm import AbstractStackedAlgorithm
from pcn.envs.environment import AbstractEnvironment


class RA(AbstractStackedAlgorithm):
    """The Radial Algorithm, as an entry of `ALGORITHMS`."""

    config_class = RAConfig

    def trainer(
        self,
        environment: AbstractEnvironment,
        config: RAConfig,
        *,
        seed: int,
        steps_before: int = 0,
    ) -> RATrainer:
        """Create a training; `steps_before` were spent already and count."""
        return RATrainer(environment, config, seed=seed, steps_before=steps_before)
