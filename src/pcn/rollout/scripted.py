"""An agent that knows beforehand what it will do, and its rollouts in Gymnasium environments."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray, PyTree

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.observations import empty_observations
from pcn.envs.slots import Script
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead, action_head_for
from pcn.rollout.agent import AbstractAgent
from pcn.rollout.recorder import Recorder
from pcn.rollout.stepped import episode_seeds
from pcn.types import AnyArray, RandomKey


class ScriptedAgent(AbstractAgent):
    """Plays a given list of actions, whatever it observes; its last one for ever.

    With `action_head`, an action that a mask forbids gives way to any that it allows.
    """

    script: Num[AnyArray, "*episode time part"]
    step: Int[AnyArray, "*episode"]
    action_head: AbstractActionHead | None = None

    def act(
        self,
        observation: PyTree[Array],
        key: PRNGKeyArray,
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """The next action of the script."""
        del observation
        action = jnp.asarray(self.script)[jnp.minimum(self.step, self.script.shape[0] - 1)]
        if self.action_head is None or mask is None:
            return action
        instead = self.action_head.random(self.action_head.noise(key), mask)
        return jnp.where(self.action_head.allowed(action, mask), action, instead)

    def observing(
        self, action: Num[Array, " part"], reward: Float[Array, " objective"]
    ) -> "ScriptedAgent":
        """The agent one step further."""
        del action, reward
        return ScriptedAgent(self.script, self.step + 1, self.action_head)


def scripted_rollout(
    environment: GymnasiumEnvironment,
    agents: ScriptedAgent,
    key: RandomKey,
    num_episodes: int,
    count: int,
    most_steps: int,
) -> Episodes:
    """Episodes whose actions are known: each is sent to its slot as a whole.

    A simulator in a worker process then runs at its own speed, and no network is asked.
    """
    spec, slots = environment.spec, environment.slots()
    action_head = action_head_for(spec.action_space)
    seeds = episode_seeds(key, num_episodes)
    recorder = Recorder(spec, num_episodes, empty_observations(spec.observation_space, (1,)), count)
    steps = np.asarray(agents.step)[:, None, None] + np.arange(most_steps)[:, None]
    steps = np.minimum(steps, agents.script.shape[1] - 1)
    actions = np.take_along_axis(np.asarray(agents.script), steps, axis=1)
    for first in range(0, count, environment.num_slots):
        episodes = range(first, min(first + environment.num_slots, count))
        played = slots.play(
            {
                slot: Script(int(seeds[episode]), actions[episode], agents.action_head is not None)
                for slot, episode in enumerate(episodes)
            }
        )
        for slot, episode in enumerate(episodes):
            part = played[slot]
            recorder.add_episode(
                episode,
                jax.tree.map(lambda *seen: np.stack(seen), *part.observations),
                np.stack([action_head.from_info(info) for info in part.infos])
                if spec.masked_actions
                else None,
                np.stack(part.actions),
                np.stack(part.rewards),
                part.last_observation,
                terminated=part.terminated,
                truncated=part.truncated,
            )
    return recorder.episodes()
