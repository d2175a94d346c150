"""Logged episodes that are written by hand."""

from dataclasses import replace

import gymnasium as gym
import numpy as np

from made_runs import toy_spec
from pcn.datasets.logged import LoggedEpisodes

LENGTHS = [2, 3, 1]
REWARDS = np.array([[1, -1], [2, -1], [0, -1], [5, -2], [0.25, -1], [7, -3]], np.float32)
# By hand: 1 + 2 and -1 - 1; 0 + 5 + .25 and -1 - 2 - 1; 7 and -3.
RETURNS = [[3, -2], [5.25, -4], [7, -3]]


def by_hand(*, masked=False, parts=False, last=True):
    """Three episodes of two, three and one steps."""
    rng = np.random.default_rng(0)

    def observed(count):
        real = rng.normal(size=(count, 2)).astype(np.float32)
        return (
            {"where": real, "what": rng.integers(3, size=count, dtype=np.int32)} if parts else real
        )

    real = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    space = gym.spaces.Dict({"where": real, "what": gym.spaces.Discrete(3)}) if parts else real
    spec = replace(
        toy_spec(2), observation_space=space, action_space=gym.spaces.Discrete(4),
        masked_actions=masked,
    )  # fmt: skip
    return LoggedEpisodes(
        spec=spec,
        observations=observed(6),
        actions=np.array([[0], [3], [1], [2], [0], [1]], np.int32),
        rewards=REWARDS,
        lengths=np.array(LENGTHS),
        terminated=np.array([True, False, True]),
        action_masks=rng.random((6, 4)) < 0.5 if masked else None,
        last_observations=observed(3) if last else None,
        source="by hand",
        environment="toy",
        arguments={"size": 3},
        discount=0.5,
    )


def assert_same(one, other):
    """Two sets of episodes that are equal bit for bit."""
    import jax

    for name in ("observations", "last_observations"):
        found, expected = getattr(one, name), getattr(other, name)
        assert jax.tree.structure(found) == jax.tree.structure(expected)
        for left, right in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            assert left.dtype == right.dtype
            np.testing.assert_array_equal(left, right)
    for name in ("actions", "rewards", "lengths", "terminated"):
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype, name
        np.testing.assert_array_equal(left, right)
    if other.action_masks is None:
        assert one.action_masks is None
    else:
        np.testing.assert_array_equal(one.action_masks, other.action_masks)
    assert one.spec.to_json() == other.spec.to_json()
    assert one.environment == other.environment
