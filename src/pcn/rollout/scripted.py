"""An agent with a given list of actions, and how Gymnasium environments run such lists."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray, PyTree

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.observations import empty_observations
from pcn.envs.slots import Script
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead
from pcn.rollout.agent import AbstractAgent, Plan, plain_method
from pcn.rollout.recorder import Recorder
from pcn.rollout.stepped import episode_seeds
from pcn.types import AnyArray, RandomKey


class ScriptedAgent(AbstractAgent):
    """Takes the actions of a given list, whatever it observes, and repeats the last one after its
    end.

    With an `action_head`, actions that a mask forbids are replaced by random allowed ones. Without
    one, masks are ignored.
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
        """The agent at its next action."""
        del action, reward
        return ScriptedAgent(self.script, self.step + 1, self.action_head)

    def plan(self, num_steps: int) -> Plan:
        """The next actions of each script."""
        steps = np.asarray(self.step)[:, None, None] + np.arange(num_steps)[:, None]
        steps = np.minimum(steps, self.script.shape[1] - 1)
        actions = np.take_along_axis(np.asarray(self.script), steps, axis=1)
        return Plan(actions, obeys_masks=self.action_head is not None)


def stacked(observations: list[Any]) -> PyTree[np.ndarray]:
    """The observations of several steps as arrays [time, ...]."""
    if isinstance(observations[0], np.ndarray):
        return np.asarray(observations)
    return jax.tree.map(lambda *seen: np.stack(seen), *observations)


def scripted_rollout(
    environment: GymnasiumEnvironment,
    plan: Plan,
    key: RandomKey,
    num_episodes: int,
    count: int,
    most_steps: Int[np.ndarray, " episode"],
) -> Episodes:
    """Run episodes whose actions are known: each is sent to its slot as a whole.

    A simulator in a worker process then runs at its own speed, and no network is evaluated.
    """
    spec, slots = environment.spec, environment.slots()
    action_head = environment.action_head
    from_info = plain_method(action_head, "from_info")
    seeds = episode_seeds(key, num_episodes)
    observations = empty_observations(spec.observation_space, (1,))
    recorder = Recorder(spec, num_episodes, observations, count, action_head)
    for first in range(0, count, environment.num_slots):
        episodes = range(first, min(first + environment.num_slots, count))
        played = slots.play(
            {
                slot: Script(
                    int(seeds[episode]),
                    plan.actions[episode, : most_steps[episode]],
                    plan.obeys_masks,
                )
                for slot, episode in enumerate(episodes)
            }
        )
        for slot, episode in enumerate(episodes):
            part = played[slot]
            masks = [from_info(info) for info in part.infos] if spec.masked_actions else None
            recorder.add_episode(
                episode,
                stacked(part.observations),
                None if masks is None else np.stack(masks),
                part.actions,
                np.asarray(part.rewards),
                part.last_observation,
                terminated=part.terminated,
                truncated=part.truncated,
            )
    return recorder.episodes()
