"""Observations on a common scale, measured in random episodes."""

import equinox as eqx
import jax
import numpy as np
from jaxtyping import UInt32

from pcn.algorithms.stacked.algorithm import stacked
from pcn.algorithms.stacked.execute import run_each
from pcn.envs.environment import AbstractEnvironment
from pcn.nets.plain_policy import PlainPolicy, weight_mask

NUM_EPISODES = 16


def standardised(
    environment: AbstractEnvironment, policy: PlainPolicy, key: UInt32[np.ndarray, " 2"]
) -> tuple[PlainPolicy, int]:
    """The policy fitted to what random episodes show, and how many steps they took.

    Policies that have nothing to fit, as those that read integers, cost no steps.
    """
    data = eqx.filter(policy, weight_mask(policy), inverse=True)
    if not jax.tree.leaves(eqx.filter(data, eqx.is_array)):
        return policy, 0
    undecided = stacked(policy.undecided(), NUM_EPISODES)
    episodes = run_each(environment, undecided, NUM_EPISODES, sharpness=1.0, key=key)
    lengths = np.asarray(episodes.lengths)
    shown = np.arange(episodes.rewards.shape[1])[None, :] < lengths[:, None]
    seen = jax.tree.map(lambda leaf: np.asarray(leaf)[shown], episodes.observations)
    fitted = eqx.tree_at(lambda policy: policy.embed_state, policy, policy.embed_state.fitted(seen))
    return fitted, int(lengths.sum())
