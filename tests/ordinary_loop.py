"""Acting with a policy as the README shows it."""

import numpy as np


def return_of(policy, environment):
    """What one episode in an ordinary loop returns."""
    observation, _ = environment.reset(seed=0)
    total, done = np.zeros(2), False
    while not done:
        observation, reward, terminated, truncated, _ = environment.step(policy.act(observation))
        policy.observe(reward)
        total, done = total + reward, terminated or truncated
    return total
