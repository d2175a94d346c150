"""An agent that knows beforehand what it will do."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from pcn.nets.heads import ActionHeads
from pcn.rollout.agent import AbstractAgent
from pcn.typing import AnyArray


class ScriptedAgent(AbstractAgent):
    """Plays a given list of actions, whatever it observes; its last one for ever.

    With `heads`, an action that a mask forbids gives way to any that it allows.
    """

    script: Int[AnyArray, "*episode time head"]
    step: Int[AnyArray, "*episode"]
    heads: ActionHeads | None = None

    def act(
        self,
        observation: PyTree[Array],
        key: PRNGKeyArray,
        mask: Bool[Array, " logit"] | None = None,
    ) -> Int[Array, " head"]:
        """The next action of the script."""
        del observation
        action = jnp.asarray(self.script)[jnp.minimum(self.step, self.script.shape[0] - 1)]
        if self.heads is None or mask is None:
            return action
        allowed = self.heads.masked(jnp.zeros(self.heads.num_logits), mask)
        return jnp.where(self.heads.allowed(action, mask), action, self.heads.sampled(allowed, key))

    def observing(
        self, action: Int[Array, " head"], reward: Float[Array, " objective"]
    ) -> "ScriptedAgent":
        """The agent one step further."""
        del action, reward
        return ScriptedAgent(self.script, self.step + 1, self.heads)
