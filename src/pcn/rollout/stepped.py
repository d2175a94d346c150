"""Rollouts of Gymnasium environments: one compiled policy call per step for all slots."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Int

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.observations import empty_observations
from pcn.episodes import Episodes
from pcn.nets.heads import action_head_for
from pcn.rollout.agent import AbstractAgent
from pcn.rollout.recorder import Recorder
from pcn.rollout.slot_agents import SlotAgents, raw_key
from pcn.types import RandomKey


def stepped_rollout(
    environment: GymnasiumEnvironment,
    agents: AbstractAgent,
    key: RandomKey,
    num_episodes: int,
    count: int,
    most_steps: Int[np.ndarray, " episode"],
    numbers: Int[np.ndarray, " episode"] | None = None,
) -> Episodes:
    """Run episodes of a Gymnasium environment, with one policy call per step for all slots
    together.

    A slot whose episode has ended begins the next one, so that no slot waits for another.
    """
    spec, slots = environment.spec, environment.slots()
    action_head = action_head_for(spec.action_space)
    # Looking up a method of an Equinox module at every step would be slower than calling it.
    to_environment, from_info = action_head.to_environment, action_head.from_info
    num_slots = environment.num_slots
    slot_agents = SlotAgents(agents, key, num_slots, no_action=action_head.none())
    seeds = episode_seeds(key, num_episodes, numbers)
    # The observations of the slots, written in place: a compiled call has ended before they change.
    observations = empty_observations(spec.observation_space, (num_slots,))
    leaves, one_array = jax.tree.leaves(observations), isinstance(observations, np.ndarray)
    masks = np.ones((num_slots, action_head.mask_size), dtype=bool) if spec.masked_actions else None
    recorder = Recorder(spec, num_episodes, observations, count)
    waiting = list(range(count))[::-1]
    playing: dict[int, int] = {}  # slot -> episode
    episodes = np.full(num_slots, -1, dtype=np.int32)  # the same; -1 for a slot without one
    times = np.zeros(num_slots, dtype=np.int32)
    rewards = np.zeros((num_slots, spec.num_objectives), dtype=np.float32)

    def show(slot: int, observation: Any, info: dict[str, Any]) -> None:
        if one_array:
            observations[slot] = observation
        else:
            for leaf, part in zip(leaves, jax.tree.leaves(observation), strict=True):
                leaf[slot] = part
        if masks is not None:
            masks[slot] = from_info(info)

    while playing or waiting:
        replaced = None
        if waiting and len(playing) < num_slots:
            free = [slot for slot in range(num_slots) if slot not in playing][: len(waiting)]
            for slot in free:
                playing[slot] = episodes[slot] = waiting.pop()
            times[free] = 0
            first = slots.reset({slot: int(seeds[playing[slot]]) for slot in free})
            for slot, (observation, info) in first.items():
                show(slot, observation, info)
            replaced = (episodes.copy(), np.isin(np.arange(num_slots), free))
        actions = slot_agents.act(observations, masks, rewards, replaced)
        chosen = to_environment(actions)
        rewards = np.zeros_like(rewards)
        recorder.add(episodes, times, leaves, masks, actions, rewards)
        times += 1
        outcomes = slots.step({slot: chosen[slot] for slot in playing})
        for slot, (observation, reward, terminated, truncated, info) in outcomes.items():
            rewards[slot] = reward
            show(slot, observation, info)
            if terminated or truncated or times[slot] >= most_steps[playing[slot]]:
                recorder.end(
                    playing.pop(slot),
                    int(times[slot]),
                    [leaf[slot] for leaf in leaves],
                    terminated=terminated,
                    truncated=truncated,
                )
                episodes[slot] = -1
    return recorder.episodes()


def episode_seeds(
    key: RandomKey, num_episodes: int, numbers: Int[np.ndarray, " episode"] | None = None
) -> Int[np.ndarray, " episode"]:
    """The seed that each episode's environment is reset with; with `numbers`, one per number."""
    parts = raw_key(key)
    if numbers is None:
        return np.random.default_rng(parts).integers(1 << 31, size=num_episodes)
    of_number = {
        number: np.random.default_rng([*parts.tolist(), number + 1]).integers(1 << 31)
        for number in np.unique(numbers).tolist()
    }
    return np.array([of_number[number] for number in numbers.tolist()])
