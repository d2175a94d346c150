import jax
import jax.numpy as jnp
import numpy as np

from pcn.nets.heads import ActionHeads
from pcn.rollout import ScriptedAgent

HEADS = ActionHeads((3, 2))


def acts(script, mask, heads=HEADS):
    """What the agent does at its first step, for many keys."""
    agent = ScriptedAgent(np.asarray([script], np.int32), jnp.asarray(0, jnp.int32), heads)
    keys = jax.random.split(jax.random.key(0), 50)
    return {tuple(np.asarray(agent.act(None, key, jnp.asarray(mask))).tolist()) for key in keys}


def test_a_forbidden_action_gives_way_to_any_allowed_one():
    assert acts([2, 0], [True, True, False, True, False]) == {(0, 0), (1, 0)}


def test_an_allowed_action_stands_as_it_is():
    assert acts([1, 1], [True, True, False, False, True]) == {(1, 1)}


def test_without_heads_the_script_is_all_that_counts():
    assert acts([2, 0], [True, True, False, True, True], heads=None) == {(2, 0)}


def test_the_last_action_goes_on():
    agent = ScriptedAgent(np.asarray([[0], [1]], np.int32), jnp.asarray(0, jnp.int32))
    taken = []
    for _ in range(4):
        action = agent.act(None, jax.random.key(0))
        taken.append(int(action[0]))
        agent = agent.observing(action, jnp.zeros(2))
    assert taken == [0, 1, 1, 1]
