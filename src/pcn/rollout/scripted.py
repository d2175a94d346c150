"""An agent that knows beforehand what it will do."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from pcn.rollout.agent import AbstractAgent
from pcn.typing import AnyArray


class ScriptedAgent(AbstractAgent):
    """Plays a given list of actions, whatever it observes; its last one for ever."""

    script: Int[AnyArray, "*episode time head"]
    step: Int[AnyArray, "*episode"]

    def act(
        self,
        observation: PyTree[Array],
        key: PRNGKeyArray,
        mask: Bool[Array, " logit"] | None = None,
    ) -> Int[Array, " head"]:
        """The next action of the script."""
        del observation, key, mask
        return self.script[jnp.minimum(self.step, self.script.shape[0] - 1)]

    def observing(
        self, action: Int[Array, " head"], reward: Float[Array, " objective"]
    ) -> "ScriptedAgent":
        """The agent one step further."""
        del action, reward
        return ScriptedAgent(self.script, self.step + 1)
