"""Variations: episodes of the front played again with a few of their actions changed.

Sampling from the network varies an episode everywhere at once. Where the environment is
deterministic, a stored list of actions can be changed in one place, or cut and continued as
another episode does: a small step from a point of the front, which finds its neighbours and the
last improvements in each objective.
"""

import numpy as np
from jaxtyping import Int

from pcn.envs.environment import AbstractEnvironment
from pcn.episodes import Episodes
from pcn.nets.heads import ActionHeads
from pcn.rollout import ScriptedAgent, rollout
from pcn.types import RandomKey

CROSSED = 0.5
"""Share of variations that begin as one episode and end as another; half of them are edited too."""
SHIFT = 3
"""How many steps earlier or later, at most, the other episode is joined."""
MORE_EDITS = 0.5
"""Probability that an edited script gets one more edit, again and again."""
EXTRA_STEPS = 4
"""How long a variation may go on, with its last action, after its script."""

Script = Int[np.ndarray, "_ head"]
"""The actions of one episode."""


def variation(
    script: Script, other: Script, action_sizes: tuple[int, ...], rng: np.random.Generator
) -> Script:
    """A script like the first one, perhaps with an end like the other's."""
    if rng.uniform() >= CROSSED:
        return edited(script, action_sizes, rng)
    joined = crossed(script, other, rng)
    return edited(joined, action_sizes, rng) if rng.uniform() < 0.5 else joined


def crossed(script: Script, other: Script, rng: np.random.Generator) -> Script:
    """The beginning of one script and then the end of another, from about the same step on."""
    cut = int(rng.integers(len(script)))
    end = max(0, cut + int(rng.integers(-SHIFT, SHIFT + 1)))
    joined = np.concatenate([script[:cut], other[end:]])
    return joined if len(joined) else other


def edited(script: Script, action_sizes: tuple[int, ...], rng: np.random.Generator) -> Script:
    """A copy with one or more actions replaced, added, dropped or moved."""
    actions = list(script)
    for _ in range(rng.geometric(1 - MORE_EDITS)):
        kind = rng.integers(4)
        place = int(rng.integers(len(actions)))
        fresh = rng.integers(action_sizes).astype(script.dtype)
        if kind == 0:
            actions[place] = fresh
        elif kind == 1:
            actions.insert(place, fresh)
        elif len(actions) > 1:
            dropped = actions.pop(place)
            if kind == 3:
                actions.insert(int(rng.integers(len(actions) + 1)), dropped)
    return np.asarray(actions)


def played(environment: AbstractEnvironment, scripts: list[Script], *, key: RandomKey) -> Episodes:
    """What the scripts lead to; those that do not end soon after their last action are cut off."""
    limit, heads = environment.spec.step_limit, ActionHeads.for_space(environment.spec.action_space)
    padded = np.zeros((len(scripts), limit, len(heads.sizes)), np.int32)
    for row, script in zip(padded, scripts, strict=True):
        row[: len(script)] = script[:limit]
        row[len(script) :] = script[-1]
    return rollout(
        environment,
        ScriptedAgent(padded, np.zeros(len(scripts), np.int32), heads),
        key,
        len(scripts),
        most_steps=max(map(len, scripts)) + EXTRA_STEPS,
    )
