"""Episodes of MO-Gymnasium's environments and of ours, for the same actions."""

import warnings

import jax
import jax.numpy as jnp
import mo_gymnasium
import numpy as np

from pcn.rollout import ScriptedAgent, rollout


def make_theirs(name, **options):
    """MO-Gymnasium's environment, without its time limit."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*precision lowered by casting.*")
        return mo_gymnasium.make(name, **options).unwrapped


def run_ours(environment, scripts, seed=0):
    """One episode for each script of actions."""
    scripts = np.asarray(scripts, np.int32)[:, :, None]
    agents = ScriptedAgent(jnp.asarray(scripts), jnp.zeros(len(scripts), jnp.int32))
    episodes = rollout(environment, agents, jax.random.key(seed), len(scripts))
    return jax.tree.map(np.asarray, episodes)


def run_theirs(theirs, script, seed=None):
    """Observations, rewards and whether it was terminated, for one script of actions."""
    first, _ = theirs.reset(seed=seed)
    seen, rewards, terminated = [first], [], False
    for action in script:
        observation, reward, terminated, _, _ = theirs.step(int(action))
        seen.append(observation)
        rewards.append(np.asarray(reward, np.float64))
        if terminated:
            break
    return seen, np.array(rewards), terminated


def assert_same(episodes, number, theirs_episode):
    """Observations, rewards, length and end of one episode are the same to the last bit."""
    seen, rewards, terminated = theirs_episode
    length = int(episodes.lengths[number])
    assert length == len(rewards)
    assert bool(episodes.terminated[number]) == terminated
    np.testing.assert_array_equal(episodes.rewards[number, :length], rewards)
    np.testing.assert_array_equal(episodes.observations[number, :length], np.stack(seen[:-1]))
    np.testing.assert_array_equal(episodes.last_observations[number], seen[-1])
