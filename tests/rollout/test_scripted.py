from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe
from pcn.nets.heads import CategoricalHead, action_head_for
from pcn.rollout import ScriptedAgent, rollout
from pcn.rollout.stepped import episode_seeds
from winding import LIMIT, Winding

HEAD = CategoricalHead((3, 2))


def acts(script, mask, action_head=HEAD):
    """What the agent does at its first step, for many keys."""
    agent = ScriptedAgent(np.asarray([script], np.int32), jnp.asarray(0, jnp.int32), action_head)
    keys = jax.random.split(jax.random.key(0), 50)
    return {tuple(np.asarray(agent.act(None, key, jnp.asarray(mask))).tolist()) for key in keys}


def test_a_forbidden_action_gives_way_to_any_allowed_one():
    assert acts([2, 0], [True, True, False, True, False]) == {(0, 0), (1, 0)}


def test_an_allowed_action_stands_as_it_is():
    assert acts([1, 1], [True, True, False, False, True]) == {(1, 1)}


def test_without_an_action_head_the_script_is_all_that_counts():
    assert acts([2, 0], [True, True, False, True, True], action_head=None) == {(2, 0)}


def test_the_last_action_goes_on():
    agent = ScriptedAgent(np.asarray([[0], [1]], np.int32), jnp.asarray(0, jnp.int32))
    taken = []
    for _ in range(4):
        action = agent.act(None, jax.random.key(0))
        taken.append(int(action[0]))
        agent = agent.observing(action, jnp.zeros(2))
    assert taken == [0, 1, 1, 1]


def by_hand(several, seed, actions):
    """What these actions lead to in one environment."""
    environment = Winding(several)
    seen, info = environment.reset(seed=int(seed))
    steps = []
    for action in np.asarray(actions):
        taken = action.astype(np.int64) if several else int(action[0])
        following, reward, terminated, truncated, after = environment.step(taken)
        steps.append((seen, info, reward))
        seen, info = following, after
        if terminated or truncated:
            return steps, terminated, seen
    return steps, False, seen


@pytest.mark.slow
@pytest.mark.parametrize("workers", [False, True], ids=["here", "workers"])
@pytest.mark.parametrize("several", [False, True], ids=["discrete", "several"])
@pytest.mark.parametrize("most_steps", [20, LIMIT])
def test_whole_scripts_equal_stepping_by_hand(several, workers, most_steps):
    environment = GymnasiumEnvironment.from_source(
        GymnasiumSource("winding", partial(Winding, several)),
        Probe((0.0, 0.0), True, True, LIMIT),
        num_slots=3,
        workers=workers,
    )
    action_head = action_head_for(environment.spec.action_space)
    rng, key = np.random.default_rng(1), np.array([3, 4], np.uint32)
    scripts = rng.integers(action_head.sizes, size=(8, LIMIT - 9, action_head.num_parts))
    scripts = scripts.astype(np.int32)
    agents = ScriptedAgent(scripts, np.zeros(8, np.int32), action_head)
    episodes = rollout(environment, agents, key, 8, count=7, most_steps=most_steps)
    environment.slots().close()
    lengths = np.asarray(episodes.lengths)
    assert lengths.max() == most_steps
    assert lengths[7] == 0
    assert episodes.real_mask.tolist() == [True] * 7 + [False]
    assert most_steps < LIMIT or lengths[:7].min() < LIMIT  # both ways to end are seen
    num_replaced = 0
    for number, seed in enumerate(episode_seeds(key, 8)[:7]):
        actions = np.asarray(episodes.actions[number, : lengths[number]])
        steps, terminated, after = by_hand(several, seed, actions)
        last = jax.tree.map(lambda leaf: leaf[number], episodes.last_observations)  # noqa: B023
        np.testing.assert_array_equal(last["real"], after["real"].astype(np.float32))
        assert int(last["parts"][0]) == after["parts"][0]
        assert len(steps) == lengths[number]
        assert bool(episodes.terminated[number]) == terminated
        for time, (seen, info, reward) in enumerate(steps):
            there = jax.tree.map(lambda leaf: leaf[number, time], episodes.observations)  # noqa: B023
            np.testing.assert_array_equal(there["real"], seen["real"].astype(np.float32))
            assert int(there["parts"][0]) == seen["parts"][0]
            np.testing.assert_array_equal(there["parts"][1], seen["parts"][1])
            np.testing.assert_array_equal(episodes.rewards[number, time], reward.astype(np.float32))
            mask = np.ones(action_head.mask_size, bool)
            if "action_mask" in info:
                given = info["action_mask"]
                mask = np.concatenate(given if several else [given]).astype(bool)
            np.testing.assert_array_equal(episodes.action_masks[number, time], mask)
            asked = scripts[number, min(time, LIMIT - 10)]
            if mask[asked[0]]:  # the second choice is always free
                np.testing.assert_array_equal(actions[time], asked)
            else:
                num_replaced += 1
                assert mask[actions[time][0]]
    assert num_replaced > 0
    beyond = np.arange(LIMIT) >= lengths[:, None]
    parts = (episodes.observations, episodes.actions, episodes.rewards, episodes.action_masks)
    for part in jax.tree.leaves(parts):
        assert not np.asarray(part)[beyond].any()


def test_a_forbidden_choice_gives_way_to_any_allowed_one():
    rng = np.random.default_rng(0)

    def choices(choice, mask):
        drawn = (
            HEAD.allowed_row(np.asarray(choice, np.int32), np.asarray(mask, bool), rng)
            for _ in range(50)
        )
        return {tuple(choice.tolist()) for choice in drawn}

    assert choices([2, 0], [1, 1, 0, 1, 0]) == {(0, 0), (1, 0)}
    assert choices([1, 1], [1, 1, 0, 0, 1]) == {(1, 1)}
    assert choices([1, 0], [0, 0, 0, 1, 1]) == {
        (number, side) for number in range(3) for side in range(2)
    }
