"""ONNX graphs put out what the networks put out, for every embedding, gate and head."""

from dataclasses import replace
from typing import get_args

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import pytest

from made_runs import toy_spec
from pcn.command import Command
from pcn.errors import UserError
from pcn.export.graphs.embeddings import EMBEDDING_GRAPHS
from pcn.export.graphs.heads import HEAD_GRAPHS
from pcn.export.graphs.policies import policy_graph
from pcn.nets.heads import ACTION_HEADS, CategoricalHead, ContinuousHead
from pcn.nets.plain_policy import PlainPolicy
from pcn.nets.policy import Gate
from untrained import CONFIG, random_policy, with_random_data

BATCH = 7
SPACES = {
    "discrete": gym.spaces.Discrete(5, start=3),
    "several integers": gym.spaces.MultiDiscrete([3, 4, 2]),
    "bits": gym.spaces.MultiBinary(6),
    "box of integers": gym.spaces.Box(-2, 3, (2, 2), np.int16),
    "vector": gym.spaces.Box(-1, 1, (4,), np.float32),
    "double precision": gym.spaces.Box(-5, 5, (2, 3), np.float64),
    "picture": gym.spaces.Box(0, 255, (3, 40, 40), np.uint8),
    "strip": gym.spaces.Box(0, 255, (2, 4, 10), np.uint8),
    "long strip": gym.spaces.Box(0, 255, (1, 3, 12), np.uint8),
    "dict": gym.spaces.Dict(
        {
            "where": gym.spaces.Box(-1, 1, (2,), np.float64),
            "holds": gym.spaces.Tuple([gym.spaces.Discrete(3), gym.spaces.MultiBinary(2)]),
            "a map": gym.spaces.Box(0, 255, (1, 16, 16), np.uint8),
        }
    ),
}  # fmt: skip
ACTIONS = {
    "discrete": gym.spaces.Discrete(4),
    "several choices": gym.spaces.MultiDiscrete([[2, 3], [4, 2]]),
    "bits": gym.spaces.MultiBinary(3),
    "real numbers": gym.spaces.Box(np.array([-2, 0, 5]), np.array([1, 10, 5]), dtype=np.float32),
    "a matrix": gym.spaces.Box(-1, 1, (2, 2), np.float64),
    "mixed": gym.spaces.Dict(
        {
            "turn": gym.spaces.Box(-1, 1, (2,), np.float32),
            "gear": gym.spaces.Discrete(4),
            "lights": gym.spaces.MultiBinary(2),
        }
    ),
}


def spec_of(observation="vector", action="discrete", **others):
    return replace(
        toy_spec(3),
        observation_space=SPACES[observation],
        action_space=ACTIONS[action],
        **others,
    )


def stacked(*policies):
    arrays = [eqx.filter(policy, eqx.is_array) for policy in policies]
    return eqx.combine(jax.tree.map(lambda *leaves: np.stack(leaves), *arrays), policies[0])


def leaves_of(observation, name="observation"):
    """Names of inputs and the arrays for them, written once more: Dict by name, Tuple by place."""
    if isinstance(observation, dict):
        observation = {key: observation[key] for key in sorted(observation)}
        pairs = observation.items()
    elif isinstance(observation, tuple):
        pairs = enumerate(observation)
    else:
        return {name: np.asarray(jnp.asarray(observation))}
    return {k: v for key, part in pairs for k, v in leaves_of(part, f"{name}.{key}").items()}


def batch_of(space):
    space.seed(1)
    samples = [space.sample() for _ in range(BATCH)]
    return jax.tree.map(lambda *parts: np.stack(parts), *samples)


def said(policy, spec, *, networks=1, **inputs):
    """What the graph of a policy puts out."""
    model = policy_graph(policy, spec, networks).model({})
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def jitted(policy):
    return jax.jit(jax.vmap(policy))


def assert_close(found, expected):
    """Equal but for the rounding of sums in single precision."""
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def commands():
    rng = np.random.default_rng(2)
    desired = rng.normal(scale=3, size=(BATCH, 3)).astype(np.float32)
    return Command(desired, rng.integers(1, 30, BATCH).astype(np.float32))


def command_inputs(command):
    return {
        "desired_return": command.desired_return,
        "desired_horizon": command.desired_horizon,
    }


def check_same(spec, config=CONFIG, **about):
    policy, command = random_policy(spec, config, **about), commands()
    observations = batch_of(spec.observation_space)
    expected = np.asarray(jitted(policy)(observations, command))
    found = said(stacked(policy), spec, **leaves_of(observations), **command_inputs(command))
    assert_close(found["outputs"], expected)
    actions = np.asarray(jitted(policy.action_head.greedy)(expected))
    np.testing.assert_allclose(
        found["action"].reshape(actions.shape), actions, rtol=1e-5, atol=1e-6
    )
    parts = (policy.action_head.num_parts,)
    mixed = isinstance(spec.action_space, gym.spaces.Dict)
    assert found["action"].shape == (BATCH, *(parts if mixed else spec.action_space.shape or ()))
    assert np.all(np.ptp(expected, axis=0) > 0.01)  # otherwise a constant would pass
    return policy, observations, found


def test_every_kind_of_embedding_has_its_example():
    kinds = set()

    def collect(embedding):
        kinds.add(type(embedding))
        for part in getattr(embedding, "parts", ()):
            collect(part)

    for name in SPACES:
        collect(random_policy(spec_of(name)).embed_state)
    assert kinds == set(EMBEDDING_GRAPHS)


def test_every_head_can_be_written():
    assert set(HEAD_GRAPHS) >= set(ACTION_HEADS.values())


@pytest.mark.parametrize("head", get_args(ContinuousHead))
@pytest.mark.parametrize("action", ["real numbers", "mixed"])
def test_every_head_of_real_numbers_is_written(head, action):
    check_same(spec_of(action=action), replace(CONFIG, continuous_head=head))


@pytest.mark.parametrize("observation", SPACES)
def test_outputs_and_actions_are_the_networks(observation):
    check_same(spec_of(observation))


@pytest.mark.parametrize("gate", get_args(Gate))
def test_every_gate_is_written(gate):
    check_same(spec_of(), replace(CONFIG, gate=gate))


def test_combinations_of_integers_may_have_rows_of_their_own():
    check_same(spec_of("several integers"), replace(CONFIG, joint_one_hot=True))


@pytest.mark.parametrize("action", ["bits", "a matrix"])  # the others: see the tests beside
def test_actions_have_the_shape_of_their_space(action):
    check_same(spec_of(action=action))


@pytest.mark.parametrize("action", ["discrete", "several choices"])
def test_a_forbidden_option_is_never_chosen(action):
    spec = spec_of(action=action, masked_actions=True)
    policy, command = random_policy(spec), commands()
    head = policy.action_head
    observations = batch_of(spec.observation_space)
    outputs = jitted(policy)(observations, command)
    first = np.asarray(jitted(head.greedy)(outputs))
    # What the network likes best is forbidden: its second choice has to come.
    mask = 1 - np.asarray(jitted(head.features)(first))
    found = said(
        stacked(policy),
        spec,
        **leaves_of(observations),
        **command_inputs(command),
        action_mask=mask.astype(bool),
    )
    expected = jitted(lambda o, m: head.greedy(head.masked(o, m)))(outputs, mask.astype(bool))
    actions = found["action"].reshape(BATCH, -1)
    np.testing.assert_array_equal(actions, expected)
    assert not np.any(actions == first)


@pytest.mark.parametrize("action", ["discrete", "several choices", "real numbers", "mixed"])
def test_what_a_network_expects_of_its_action_is_put_out(action):
    policy, observations, found = check_same(spec_of(action=action), expects=True)
    rows = found["action"].reshape(BATCH, -1).astype(policy.action_head.dtype)
    expected = jitted(policy.expectations)(observations, rows)
    assert_close(found["expected"], expected)
    assert np.any(found["expected"][:, -1] < 1)


def test_ends_that_are_not_random_are_no_chance():
    spec = spec_of()
    policy = random_policy(spec, expects=True)
    sure = policy.expecting(
        eqx.tree_at(lambda e: e.random_ends, policy.expectations, jnp.asarray(False))
    )
    observations, command = batch_of(spec.observation_space), commands()
    found = said(stacked(sure), spec, **leaves_of(observations), **command_inputs(command))
    assert found["expected"][:, -1].tolist() == [1.0] * BATCH


@pytest.mark.parametrize("observation", ["vector", "picture", "several integers"])
@pytest.mark.parametrize("width", [0, 8])
def test_policies_without_a_command_are_written_too(observation, width):
    spec = spec_of(observation, "several choices")
    policy = with_random_data(
        lambda: PlainPolicy.for_spaces(
            spec.observation_space, spec.action_space, width=width, joint_one_hot=False,
            key=jax.random.key(0),
        )
    )  # fmt: skip
    observations = batch_of(spec.observation_space)
    found = said(stacked(policy), spec, **leaves_of(observations))
    assert_close(found["outputs"], jitted(policy)(observations))
    assert found["action"].shape == (BATCH, 2, 2)


@pytest.mark.parametrize("observation", ["dict", "strip"])
def test_an_input_says_which_of_several_networks_acts(observation):
    spec = spec_of(observation)
    policies = [random_policy(spec, seed=seed) for seed in range(3)]
    observations, command = batch_of(spec.observation_space), commands()
    for number, policy in enumerate(policies):
        found = said(
            stacked(*policies),
            spec,
            networks=3,
            network=np.array(number),
            **leaves_of(observations),
            **command_inputs(command),
        )
        expected = jitted(policy)(observations, command)
        assert_close(found["outputs"], expected)


def test_ties_go_to_the_first_option():
    head = CategoricalHead((3,))
    spec = spec_of()
    policy = random_policy(spec)
    flat = eqx.tree_at(lambda p: p.head, policy, jax.tree.map(
        lambda leaf: jnp.zeros_like(leaf) if eqx.is_array(leaf) else leaf, policy.head
    ))  # fmt: skip
    observations, command = batch_of(spec.observation_space), commands()
    found = said(stacked(flat), spec, **leaves_of(observations), **command_inputs(command))
    assert found["action"].tolist() == [int(head.greedy(jnp.zeros(3))[0])] * BATCH


class OwnModule(eqx.Module):
    width: int = eqx.field(static=True)

    def __init__(self, space, width, *, key):
        self.width = width

    def __call__(self, observation):
        return jnp.zeros(self.width)


def test_an_embedding_of_ones_own_is_refused_in_a_sentence():
    spec = spec_of()
    config = replace(CONFIG, embedding=f"{__name__}:OwnModule")
    try:
        policy = random_policy(spec, config)
    except UserError:  # the test's module cannot be found by its name
        from pcn.nets.embeddings import OwnEmbedding

        policy = eqx.tree_at(
            lambda p: p.embed_state, random_policy(spec), OwnEmbedding(OwnModule(None, 16, key=0))
        )
    with pytest.raises(UserError, match="OwnModule, which is your own"):
        policy_graph(stacked(policy), spec, 1)
