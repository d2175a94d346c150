"""Whole networks as ONNX graphs: from observation and command to action."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.export.graphs.embeddings import Observed, embedded
from pcn.export.graphs.graph import BATCH, Graph
from pcn.export.graphs.heads import head_graph
from pcn.export.graphs.inputs import observation_inputs
from pcn.export.graphs.layers import linear, relu_mlp
from pcn.nets.expectations import Expectations
from pcn.nets.heads import JointHead
from pcn.nets.plain_policy import PlainPolicy
from pcn.nets.policy import ConditionedPolicy


def policy_graph(policy: Any, spec: EnvironmentSpec, num_networks: int) -> Graph:
    """The graph of a stack of networks of one shape, with all its inputs and outputs.

    Inputs: the parts of an observation; for a network that takes commands `desired_return` and
    `desired_horizon`; `action_mask` where the environment masks actions; `network` where there are
    several. Outputs: `action`, the `outputs` of the network that determine it, and `expected` where
    the network has expectations.
    """
    make = POLICY_GRAPHS.get(type(policy))
    if make is None:
        raise UserError(f"networks of the type {type(policy).__name__} cannot be exported")
    graph = Graph(num_networks)
    head, parts = policy.action_head, head_graph(policy.action_head)
    observation = observation_inputs(graph, spec.observation_space)
    outputs = make(graph, policy, observation, spec.num_objectives)
    mask = None
    if spec.masked_actions:
        mask = graph.input("action_mask", np.dtype(bool), (BATCH, head.mask_size))
    action = parts.greedy(graph, head, outputs, mask)
    mixed = isinstance(head, JointHead)  # several arrays in one: they stay side by side
    shape = (head.num_parts,) if mixed else spec.action_space.shape or ()
    graph.output("action", graph.reshaped(action, -1, *shape), parts.kind, (BATCH, *shape))
    graph.output("outputs", outputs, np.float32, (BATCH, head.num_outputs))
    expectations = getattr(policy, "expectations", None)
    if expectations is not None:
        features = parts.features(graph, head, action)
        expected = _expected(graph, expectations, observation, features)
        graph.output("expected", expected, np.float32, (BATCH, spec.num_objectives + 1))
    return graph


def _conditioned(
    graph: Graph, policy: ConditionedPolicy, observation: Observed, num_objectives: int
) -> str:
    single = np.dtype(np.float32)
    wanted = graph.input("desired_return", single, (BATCH, num_objectives))
    horizon = graph.reshaped(graph.input("desired_horizon", single, (BATCH,)), -1, 1)
    numbers = graph.add("Concat", wanted, horizon, axis=1)
    scaled = graph.add("Mul", numbers, graph.weight(policy.command_scale))
    state = embedded(graph, policy.embed_state, observation)
    command = linear(graph, policy.embed_command, scaled)
    if policy.gate == "sigmoid":
        gated = graph.add("Mul", graph.add("Sigmoid", state), graph.add("Sigmoid", command))
    else:
        factor = graph.add("Add", command, graph.constant(1.0))
        gated = graph.add("Mul", graph.add("Relu", state), factor)
    return relu_mlp(graph, policy.head, gated)


def _plain(graph: Graph, policy: PlainPolicy, observation: Observed, num_objectives: int) -> str:
    del num_objectives
    state = embedded(graph, policy.embed_state, observation)
    return state if policy.head is None else linear(graph, policy.head, graph.add("Tanh", state))


def _expected(
    graph: Graph, expectations: Expectations, observation: Observed, features: str
) -> str:
    """The mean reward of an action, then the probability of going on."""
    state = graph.add("Relu", embedded(graph, expectations.embed_state, observation))
    outputs = relu_mlp(graph, expectations.head, graph.add("Concat", state, features, axis=1))
    num_objectives = np.shape(expectations.reward_mean)[-1]
    sizes = graph.constant([num_objectives, 1], np.int64)
    standardised, end = graph.add_split("Split", outputs, sizes, num_outputs=2, axis=1)
    scaled = graph.add("Mul", standardised, graph.weight(expectations.reward_deviation))
    reward = graph.add("Add", scaled, graph.weight(expectations.reward_mean))
    going_on = graph.add("Sub", graph.constant(1.0), graph.add("Sigmoid", end))
    random = graph.weight(expectations.random_ends)
    chance = graph.add("Where", random, going_on, graph.constant(1.0))
    return graph.add("Concat", reward, chance, axis=1)


POLICY_GRAPHS: dict[type, Callable[[Graph, Any, Observed, int], str]] = {
    ConditionedPolicy: _conditioned,
    PlainPolicy: _plain,
}
"""How each kind of network gets from its inputs to its outputs."""
