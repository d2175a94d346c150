"""A command: the desired return of an episode and its desired number of steps."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from pcn.types import AnyArray


class Command(eqx.Module):
    """Desired return and desired horizon, for one episode or batched along leading axes."""

    desired_return: Float[AnyArray, "*episode objective"]
    desired_horizon: Float[AnyArray, "*episode"]

    def after(
        self,
        reward: Float[AnyArray, "*episode objective"],
        *,
        discount: Float[AnyArray, ""] | float,
        upper_bound: Float[AnyArray, " objective"] | None = None,
        lower_bound: Float[AnyArray, " objective"] | None = None,
    ) -> "Command":
        """The command that remains once `reward` has been received.

        The dataset holds discounted returns-to-go, R_t = r_t + g R_{t+1}, so the command becomes (R
        - r) / g. With g = 1 this is the paper's R - r. With g < 1 each step divides the rounding
        errors of all earlier steps by g. Measured from the start, where step t has the weight g^t,
        the error never exceeds single precision. But after some time (about 150 steps with g = 0.9)
        the command has no correct digit left. Bounds keep it within the returns that the network
        was trained on.

        >>> command = Command(jnp.array([1.0, -5.0]), jnp.array(5.0))
        >>> command.after(jnp.array([0.0, -1.0]), discount=1.0).desired_return.tolist()
        [1.0, -4.0]
        """
        remaining = (self.desired_return - reward) / discount
        if upper_bound is not None:
            remaining = jnp.minimum(remaining, jnp.broadcast_to(upper_bound, remaining.shape))
        if lower_bound is not None:
            remaining = jnp.maximum(remaining, jnp.broadcast_to(lower_bound, remaining.shape))
        # A horizon below one step was never seen in training.
        horizon = jnp.maximum(self.desired_horizon - 1.0, 1.0)
        return Command(remaining, horizon)
