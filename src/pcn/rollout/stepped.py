"""Rollouts of Gymnasium environments: one compiled policy call per step for all slots."""

import numpy as np
from jaxtyping import Int

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.observations import empty_observations
from pcn.episodes import Episodes
from pcn.rollout.agent import AbstractAgent, plain_method
from pcn.rollout.recorder import Recorder
from pcn.rollout.slot_agents import SlotAgents, raw_key
from pcn.rollout.slot_steps import SlotSteps
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
    action_head = environment.action_head
    to_environment = plain_method(action_head, "to_environment")
    from_info = plain_method(action_head, "from_info")
    num_slots = environment.num_slots
    slot_agents = SlotAgents(agents, key, num_slots, no_action=action_head.none())
    seeds = episode_seeds(key, num_episodes, numbers)
    observations = empty_observations(spec.observation_space, (num_slots,))
    masks = np.ones((num_slots, action_head.mask_size), dtype=bool) if spec.masked_actions else None
    rewards = np.zeros((num_slots, spec.num_objectives), dtype=np.float32)
    actions = np.tile(action_head.none(), (num_slots, 1))
    recorder = Recorder(spec, num_episodes, observations, count, action_head)
    steps = SlotSteps(recorder, observations, masks, actions, rewards)
    limits = most_steps.tolist()
    waiting = list(range(count))[::-1]
    left: dict[int, int] = {}  # slot -> steps until its episode is broken off
    playing = np.full(num_slots, -1, dtype=np.int32)  # the episode in each slot

    while left or waiting:
        replaced = None
        if waiting and len(left) < num_slots:
            free = [slot for slot in range(num_slots) if slot not in left][: len(waiting)]
            for slot in free:
                playing[slot] = episode = waiting.pop()
                left[slot] = limits[episode]
                steps.begin(slot, episode)
            first = slots.reset({slot: int(seeds[playing[slot]]) for slot in free})
            for slot, (observation, info) in first.items():
                steps.show(slot, observation, None if masks is None else from_info(info))
            replaced = (playing.copy(), np.isin(np.arange(num_slots), free))
        actions = slot_agents.act(steps.observations, steps.masks, rewards, replaced)
        steps.actions[steps.row] = actions
        chosen, rewards = to_environment(actions), steps.rewards[steps.row]
        outcomes = slots.step({slot: chosen[slot] for slot in left})
        for slot, (observation, reward, terminated, truncated, info) in outcomes.items():
            rewards[slot] = reward
            steps.show(slot, observation, None if masks is None else from_info(info), later=1)
            left[slot] -= 1
            if terminated or truncated or left[slot] <= 0:
                steps.end(slot, terminated=terminated, truncated=truncated)
                del left[slot]
        steps.advance()
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
