"""The agent of section 4.3: follows its command, with exploration mixed in while training."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray, PyTree

from pcn.command import Command
from pcn.nets.policy import ConditionedPolicy
from pcn.rollout.agent import AbstractAgent, plain_method
from pcn.types import Action, AnyArray


class ConditionedAgent(AbstractAgent):
    """A policy under a command. One agent serves warm-up, exploration and execution.

    Warm-up is `noise` 1; execution is `greedy` with `noise` 0.
    """

    shared: ClassVar[tuple[str, ...]] = (
        "policy", "greedy", "discount", "upper_bound", "lower_bound", "follows_rewards",
    )  # fmt: skip

    policy: ConditionedPolicy
    command: Command
    noise: Float[AnyArray, "*episode"]
    """Probability of a random action."""
    repeat: Float[AnyArray, "*episode"]
    """Probability that a random action is the last action again."""
    last_action: Action
    """The action head's `none` before the first one."""
    greedy: Bool[AnyArray, ""]
    discount: Float[AnyArray, ""]
    upper_bound: Float[AnyArray, " objective"]
    follows_rewards: Bool[AnyArray, ""]
    """Whether rewards are deducted from the desired return; otherwise it stays as it is.

    A policy with expectations deducts what it expects, whatever is said here."""
    expected: Float[AnyArray, "*episode step"] | None = None
    """What the policy expects of the action under way; None where it has no expectations."""
    lower_bound: Float[AnyArray, " objective"] | None = None
    """The smallest desired return after the first step; None for no bound."""

    def act(
        self,
        observation: PyTree[Array],
        key: PRNGKeyArray,
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """Sample from the network, take its first choice, or act at random."""
        return self.act_drawn(observation, self.draw(key), mask)

    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...] = ()) -> Float[Array, "*shape drawn"]:
        """Noise for the network's choice and for a random one, and two chances."""
        policy_key, random_key, chance_key = jax.random.split(key, 3)
        noise = self.policy.action_head.noise
        chance = jax.random.uniform(chance_key, (*shape, 2))
        return jnp.concatenate(
            [noise(policy_key, shape), noise(random_key, shape), chance], axis=-1
        )

    def draw_on_host(
        self, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> Float[np.ndarray, "*shape drawn"] | None:
        """The same, drawn by NumPy if the head can."""
        noise = plain_method(self.policy.action_head, "noise_on_host")
        wanted, random = noise(rng, shape), noise(rng, shape)
        if wanted is None:
            return None
        return np.concatenate([wanted, random, rng.random((*shape, 2), np.float32)], axis=-1)

    def needs_random_numbers(self) -> bool:
        """Greedy agents that never act at random need none."""
        return not (bool(self.greedy) and np.max(self.noise) == 0)

    def act_drawn(
        self,
        observation: PyTree[Array],
        drawn: Float[Array, " drawn"],
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """What `act` does, with random numbers that were drawn before."""
        head = self.policy.action_head
        outputs = head.masked(self.policy(observation, self.command), mask)
        policy_noise, random_noise, chance = jnp.split(drawn, (head.num_noise, 2 * head.num_noise))
        sampled = head.sampled(outputs, policy_noise)
        wanted = jnp.where(self.greedy, head.greedy(outputs), sampled)
        fresh = head.random(random_noise, mask)
        # An episode cannot begin by repeating: there is no last action yet.
        has_acted = ~head.is_none(self.last_action)
        repeats = (chance[1] < self.repeat) & has_acted & head.allowed(self.last_action, mask)
        random = jnp.where(repeats, self.last_action, fresh)
        return jnp.where(chance[0] < self.noise, random, wanted)

    def option_probabilities(
        self, observation: PyTree[Array], mask: Bool[Array, " choice"] | None = None
    ) -> list[Float[Array, " option"]] | None:
        """What the network thinks of each option under the command."""
        head = self.policy.action_head
        return head.option_probabilities(head.masked(self.policy(observation, self.command), mask))

    def having_acted(
        self, observation: PyTree[Array], action: Num[Array, " part"]
    ) -> "ConditionedAgent":
        """The agent that remembers what its policy expects of the action."""
        expectations = self.policy.expectations
        if expectations is None:
            return self
        expected = expectations(observation, action)
        changed: ConditionedAgent = eqx.tree_at(lambda agent: agent.expected, self, expected)
        return changed

    def observing(
        self, action: Num[Array, " part"], reward: Float[Array, " objective"]
    ) -> "ConditionedAgent":
        """The agent with what is left of its command.

        A command that does not follow the rewards keeps its desired return; its horizon counts
        down all the same, so that it tells how much time has passed. Where the policy has
        expectations, what it expected is deducted instead of what was random.
        """
        after = self.command.after(
            reward,
            discount=self.discount,
            upper_bound=self.upper_bound,
            lower_bound=self.lower_bound,
        )
        desired = jnp.where(self.follows_rewards, after.desired_return, self.command.desired_return)
        expectations = self.policy.expectations
        if expectations is not None:
            assert self.expected is not None, "an agent whose policy expects remembers what"
            desired = expectations.left(
                self.command.desired_return, self.expected, reward, discount=self.discount
            )
        command = Command(desired, after.desired_horizon)
        changed: ConditionedAgent = eqx.tree_at(
            lambda agent: (agent.command, agent.last_action), self, (command, action)
        )
        return changed
