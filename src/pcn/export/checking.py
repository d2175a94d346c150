"""Check that an exported model agrees with the network."""

import copy
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import onnxruntime
from jaxtyping import Float, PyTree

from pcn.command import Command
from pcn.envs.observations import array_reader
from pcn.errors import UserError
from pcn.export.graphs.inputs import observation_parts
from pcn.export.networks import Networks
from pcn.runs.run import Run

NUM_OBSERVATIONS = 64
"""Random observations for each network."""
MOST_NETWORKS = 8
"""Networks of a stack that are compared."""
MOST_DIFFERENCE = 1e-3
"""Largest relative difference of outputs that rounding can explain."""


@dataclass(frozen=True)
class Agreement:
    """The agreement of a model and its network on random observations."""

    num_observations: int
    num_equal: int
    """The number of equal greedy actions."""
    largest_difference: float
    """The largest difference of any output."""


def check_agreement(model: bytes, run: Run, networks: Networks) -> Agreement:
    """Compare a model with its networks; a `UserError` where they differ by more than rounding."""
    session = onnxruntime.InferenceSession(model)
    observations = _observations(run)
    count, equal, largest = 0, 0, 0.0
    for number in range(min(len(networks), MOST_NETWORKS)):
        policy = jax.tree.map(
            lambda leaf, number=number: leaf[number] if isinstance(leaf, np.ndarray) else leaf,
            networks.stack,
        )
        begins = [one for one in networks.policies if one["network"] == number]
        inputs, outputs = _asked(policy, begins, observations)
        inputs |= {
            part.name: _at(observations, part.path).astype(part.kind)
            for part in observation_parts(run.spec.observation_space)
        }
        if len(networks) > 1:
            inputs["network"] = np.array(number)
        if run.spec.masked_actions:
            inputs["action_mask"] = np.ones((NUM_OBSERVATIONS, policy.action_head.mask_size), bool)
        said, action = session.run(["outputs", "action"], inputs)
        wanted = np.asarray(jax.jit(jax.vmap(policy.action_head.greedy))(outputs))
        same = np.isclose(action.reshape(wanted.shape), wanted, rtol=1e-4, atol=1e-5)
        difference = float(np.abs(said - outputs).max())
        if not difference <= MOST_DIFFERENCE * (1 + float(np.abs(outputs).max())):
            raise UserError(
                f"the exported model differs from its network by {difference:g}: please report "
                f"this, with the versions of onnx and onnxruntime ({onnxruntime.__version__})"
            )
        count, equal = count + len(same), equal + int(same.all(axis=1).sum())
        largest = max(largest, difference)
    return Agreement(count, equal, largest)


def _asked(
    policy: Any, begins: list[dict[str, Any]], observations: PyTree[np.ndarray]
) -> tuple[dict[str, np.ndarray], Float[np.ndarray, "observation output"]]:
    """The inputs besides the observations, and the outputs of the network itself."""
    if "desired_return" not in begins[0]:
        return {}, np.asarray(jax.jit(jax.vmap(policy))(observations))
    chosen = [begins[number % len(begins)] for number in range(NUM_OBSERVATIONS)]
    inputs = {
        name: np.array([begin[name] for begin in chosen], np.float32)
        for name in ("desired_return", "desired_horizon")
    }
    outputs = jax.jit(jax.vmap(policy))(observations, Command(*inputs.values()))
    return inputs, np.asarray(outputs)


def _observations(run: Run) -> PyTree[np.ndarray]:
    """Random observations, each leaf [observation, ...]."""
    space = copy.deepcopy(run.spec.observation_space)
    space.seed(0)
    read = array_reader(space)
    samples = [read(space.sample()) for _ in range(NUM_OBSERVATIONS)]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *samples)


def _at(observations: Any, path: tuple[str | int, ...]) -> np.ndarray:
    for step in path:
        observations = observations[step]
    return observations
