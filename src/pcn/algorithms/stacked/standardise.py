"""Observations on a common scale, measured in random episodes."""

import equinox as eqx
import jax
import numpy as np
from jaxtyping import UInt32

from pcn.algorithms.stacked.algorithm import stacked
from pcn.algorithms.stacked.execute import run_each
from pcn.nets.plain_policy import PlainPolicy, weight_mask
from pcn.rollout.runner import Runner


def standardise(
    runner: Runner,
    policy: PlainPolicy,
    num_episodes: int,
    key: UInt32[np.ndarray, " 2"],
    *,
    most_steps: int | None = None,
) -> PlainPolicy:
    """The policy fitted to random episodes, each broken off after `most_steps`.

    Policies that need no fitting, such as those for integers, cost no steps.
    """
    data = eqx.filter(policy, weight_mask(policy), inverse=True)
    if not jax.tree.leaves(eqx.filter(data, eqx.is_array)):
        return policy
    undecided = stacked(policy.undecided(), num_episodes)
    episodes = run_each(
        runner, undecided, num_episodes, sharpness=1.0, key=key, most_steps=most_steps
    )
    valid = np.asarray(episodes.valid_mask)
    seen = jax.tree.map(lambda leaf: np.asarray(leaf)[valid], episodes.observations)
    return eqx.tree_at(lambda policy: policy.embed_state, policy, policy.embed_state.fitted(seen))
