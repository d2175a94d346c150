"""Rollouts of Gymnasium environments against a slow loop over one environment."""

from dataclasses import fields

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float, Int

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe
from pcn.rollout import AbstractAgent, rollout
from pcn.rollout.slot_agents import CALLS_AHEAD, SlotAgents
from winding import LIMIT, NUM_OBJECTIVES, Winding


class Wanderer(AbstractAgent):
    """Acts by what it sees, by chance, and by the rewards that it remembers."""

    shared = ("sizes", "bias")

    sizes: tuple[int, ...] = eqx.field(static=True)
    bias: Float[Array, " logit"]
    start: Float[Array, "*episode"]
    last_reward: Float[Array, "*episode objective"]
    last_action: Int[Array, "*episode head"]

    def act(self, observation, key, mask=None):
        real, parts = observation["real"], observation["parts"]
        total = real.sum() + parts[0] + parts[1].sum() + self.start + self.last_reward.sum()
        logits = self.bias * total + jax.random.normal(key, self.bias.shape) + self.last_action[0]
        logits = logits if mask is None else jnp.where(mask, logits, -1e9)
        split = jnp.split(logits, np.cumsum(self.sizes)[:-1].tolist())
        return jnp.stack([jnp.argmax(part) for part in split]).astype(jnp.int32)

    def having_acted(self, observation, action):
        seen = 0.5 * observation["parts"][0] - 0.25 * action[0]
        return eqx.tree_at(lambda a: a.start, self, self.start + seen)

    def observing(self, action, reward):
        # The reward itself is kept, not something computed from it.
        return eqx.tree_at(lambda a: (a.last_reward, a.last_action), self, (reward, action))


def wanderers(environment, count):
    space = environment.spec.action_space
    sizes = (int(space.n),) if isinstance(space, gym.spaces.Discrete) else tuple(space.nvec)
    sizes = tuple(int(size) for size in sizes)
    return Wanderer(
        sizes=sizes,
        bias=jnp.linspace(-0.3, 0.4, sum(sizes)),
        start=np.linspace(0, 3, count).astype(np.float32),
        last_reward=np.zeros((count, NUM_OBJECTIVES), np.float32),
        last_action=np.zeros((count, len(sizes)), np.int32),
    )


def slow_rollout(environment, agents, key, num_episodes, count, most_steps):
    """The same slots and keys, but every agent acts alone and nothing is kept in arrays."""
    num_slots = min(environment.num_slots, num_episodes)
    seeds = np.random.default_rng(key).integers(1 << 31, size=num_episodes)
    own = ("start", "last_reward", "last_action")

    def one(number):
        return eqx.tree_at(
            lambda agent: [getattr(agent, name) for name in own],
            agents,
            [jnp.asarray(getattr(agents, name)[number]) for name in own],
        )

    act = eqx.filter_jit(lambda agent, *args: agent.act(*args))
    heads = sum(agents.sizes)
    everywhere = [Winding(environment.several) for _ in range(num_slots)]
    slots, waiting, call, steps, ends = {}, list(range(count)), 0, {}, {}
    lasts = {}
    while waiting or slots:
        for slot in range(num_slots):
            if slot not in slots and waiting:
                number = waiting.pop(0)
                seen = everywhere[slot].reset(seed=int(seeds[number]))
                slots[slot] = [number, one(number), *seen]
                steps[number] = []
        first = jnp.asarray(call - call % CALLS_AHEAD, jnp.uint32)
        ahead = jax.random.split(
            jax.random.fold_in(jnp.asarray(key), first), (CALLS_AHEAD, num_slots)
        )
        keys = ahead[call % CALLS_AHEAD]
        call += 1
        for slot in list(slots):
            number, agent, seen, info = slots[slot]
            mask = np.ones(heads, bool)
            if "action_mask" in info:
                given = info["action_mask"]
                mask = np.concatenate(given if isinstance(given, tuple) else [given]).astype(bool)
            real = {
                "real": seen["real"].astype(np.float32),
                "parts": (np.int32(seen["parts"][0]), np.array(seen["parts"][1], np.int8)),
            }
            action = act(agent, real, keys[slot], jnp.asarray(mask))
            chosen = np.asarray(action)
            taken = chosen.astype(np.int64) if environment.several else int(chosen[0])
            following, reward, terminated, truncated, after = everywhere[slot].step(taken)
            reward = reward.astype(np.float32)
            steps[number].append((real, chosen, reward, mask))
            agent = agent.having_acted(real, action).observing(action, jnp.asarray(reward))
            slots[slot] = [number, agent, following, after]
            if terminated or truncated or len(steps[number]) >= most_steps:
                ends[number] = terminated
                lasts[number] = following
                del slots[slot]
    return steps, ends, lasts


@pytest.fixture(params=[False, True], ids=["discrete", "several"])
def environment(request):
    made = GymnasiumEnvironment.from_source(
        GymnasiumSource("winding", lambda: Winding(request.param)),
        Probe((0.0, 0.0), True, True, LIMIT),
        num_slots=3,
    )
    made.several = request.param
    return made


@pytest.mark.slow
@pytest.mark.parametrize("most_steps", [20, LIMIT])
def test_slots_equal_a_slow_loop_over_single_agents(environment, most_steps):
    key = np.array([3, 4], np.uint32)
    agents = wanderers(environment, 8)
    episodes = rollout(environment, agents, key, 8, count=7, most_steps=most_steps)
    steps, ends, lasts = slow_rollout(environment, agents, key, 8, 7, most_steps)
    lengths = [len(steps[number]) for number in range(7)]
    assert np.asarray(episodes.lengths).tolist() == [*lengths, 0]
    assert max(lengths) == most_steps
    assert most_steps < LIMIT or min(lengths) < LIMIT  # both ways to end are seen
    for number in range(7):
        assert episodes.terminated[number] == ends[number]
        last = jax.tree.map(lambda leaf: leaf[number], episodes.last_observations)  # noqa: B023
        np.testing.assert_array_equal(last["real"], lasts[number]["real"].astype(np.float32))
        assert int(last["parts"][0]) == lasts[number]["parts"][0]
        np.testing.assert_array_equal(last["parts"][1], lasts[number]["parts"][1])
        for time, (seen, action, reward, mask) in enumerate(steps[number]):
            there = jax.tree.map(lambda leaf: leaf[number, time], episodes.observations)  # noqa: B023
            jax.tree.map(np.testing.assert_array_equal, there, seen)
            np.testing.assert_array_equal(episodes.actions[number, time], action)
            np.testing.assert_array_equal(episodes.rewards[number, time], reward)
            np.testing.assert_array_equal(episodes.action_masks[number, time], mask)
    assert episodes.real_mask.tolist() == [True] * 7 + [False]
    assert episodes.num_steps == sum(lengths)
    beyond = np.arange(LIMIT) >= np.asarray(episodes.lengths)[:, None]
    parts = (episodes.observations, episodes.actions, episodes.rewards, episodes.action_masks)
    for part in jax.tree.leaves(parts):
        assert not np.asarray(part)[beyond].any()


@pytest.mark.slow
def test_batches_of_other_sizes_compile_nothing(environment, caplog):
    key = np.array([5, 6], np.uint32)

    def run(size):
        episodes = rollout(environment, wanderers(environment, size), key, size, most_steps=5)
        assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(episodes))

    run(8)
    with jax.log_compiles():
        caplog.clear()
        run(2)  # fewer episodes than slots
        run(40)
        assert not [one for one in caplog.messages if "Compiling" in one]
        jax.jit(lambda number: number + 1)(environment.num_slots)
        assert [one for one in caplog.messages if "Compiling" in one]  # it would be told


class Drawing(Wanderer):
    """Its random numbers are drawn by NumPy."""

    def draw_on_host(self, rng, shape):
        return rng.standard_normal((*shape, len(self.bias)), np.float32)

    def draw(self, key, shape=()):
        raise AssertionError("NumPy draws")

    def act(self, observation, key, mask=None):
        logits = self.bias * self.start + key
        logits = logits if mask is None else jnp.where(mask, logits, -1e9)
        split = jnp.split(logits, np.cumsum(self.sizes)[:-1].tolist())
        return jnp.stack([jnp.argmax(part) for part in split]).astype(jnp.int32)


def test_numpy_draws_for_agents_that_say_how(environment):
    wandering = wanderers(environment, 8)
    agents = Drawing(**{field.name: getattr(wandering, field.name) for field in fields(wandering)})
    keys = (np.array(numbers, np.uint32) for numbers in ((3, 4), (3, 4), (3, 5)))
    first, again, other = (np.asarray(rollout(environment, agents, key, 8).actions) for key in keys)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert len(np.unique(first[:, :3].reshape(8, -1), axis=0)) > 1  # each slot has its own


class Certain(Wanderer):
    """Acts without chance."""

    def needs_random_numbers(self):
        return False

    def act(self, observation, key, mask=None):
        del key
        return super().act(observation, jax.random.key(0), mask)


@pytest.mark.slow
def test_random_numbers_are_drawn_once_for_agents_that_need_none(environment, monkeypatch):
    draws, draw = [], SlotAgents._draw
    monkeypatch.setattr(SlotAgents, "_draw", lambda agents: (draws.append(1), draw(agents)))
    wandering = wanderers(environment, 8)
    certain = Certain(**{field.name: getattr(wandering, field.name) for field in fields(wandering)})
    key = np.array([3, 4], np.uint32)
    counts = []
    for agents in (wandering, certain):
        draws.clear()
        episodes = rollout(environment, agents, key, 8)
        assert np.asarray(episodes.lengths).max() > CALLS_AHEAD
        counts.append(len(draws))
    assert counts[0] > 1
    assert counts[1] == 1
