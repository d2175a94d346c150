import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.command import Command
from pcn.nets.embeddings import OneHotEmbedding, VectorEmbedding
from pcn.nets.heads import CategoricalHead
from pcn.nets.policy import ConditionedPolicy

WIDTH = 8
EMBEDDINGS = {
    "one-hot": (lambda key: OneHotEmbedding((3, 4), WIDTH, key=key), jnp.array([2, 1])),
    "joint": (lambda key: OneHotEmbedding((3, 4), WIDTH, joint=True, key=key), jnp.array([2, 1])),
    "vector": (lambda key: VectorEmbedding(3, WIDTH, key=key), jnp.array([0.5, -1.0, 2.0])),
}


def make_policy(num_objectives=2, embedding="one-hot", *, gate="sigmoid", hidden_layers=1):
    state_key, policy_key = jax.random.split(jax.random.key(3))
    return ConditionedPolicy(
        EMBEDDINGS[embedding][0](state_key),
        CategoricalHead((4,)),
        num_objectives=num_objectives,
        width=WIDTH,
        hidden_layers=hidden_layers,
        gate=gate,
        key=policy_key,
    )


def make_command(num_objectives=2):
    return Command(jnp.linspace(-1.0, 2.0, num_objectives), jnp.array(7.0))


gates = pytest.mark.parametrize("gate", ["sigmoid", "film"])


@pytest.mark.parametrize("num_objectives", [2, 3, 9])
@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_there_is_one_logit_for_each_action(num_objectives, embedding):
    policy = make_policy(num_objectives, embedding)
    logits = policy(EMBEDDINGS[embedding][1], make_command(num_objectives))
    assert logits.shape == (4,)
    assert np.isfinite(logits).all()


def test_the_network_is_that_of_section_4_2():
    policy = make_policy()
    policy = eqx.tree_at(lambda p: p.command_scale, policy, jnp.array([0.1, 0.5, 0.01]))
    sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    linear = lambda layer, x: np.asarray(layer.weight) @ x + np.asarray(layer.bias)  # noqa: E731
    one_hot = np.zeros(7)
    one_hot[[2, 3 + 1]] = 1
    command = make_command()
    asked = np.append(command.desired_return, command.desired_horizon) * [0.1, 0.5, 0.01]
    state = sigmoid(linear(policy.embed_state.linear, one_hot))
    gated = state * sigmoid(linear(policy.embed_command, asked))  # the Hadamard product
    hidden, last = policy.head.layers
    expected = linear(last, np.maximum(linear(hidden, gated), 0))
    np.testing.assert_allclose(policy(jnp.array([2, 1]), command), expected, atol=1e-5)


@gates
@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_gradients_reach_every_weight_and_nothing_that_is_data(gate, embedding):
    policy = make_policy(embedding=embedding, gate=gate)
    observations = jnp.stack([EMBEDDINGS[embedding][1]] * 5)
    returns = jnp.asarray(np.random.default_rng(0).normal(size=(5, 2)), jnp.float32)
    commands = Command(returns, jnp.arange(5.0))

    def loss(policy):
        return jnp.sum(jax.vmap(policy)(observations, commands) ** 2)

    gradient = eqx.filter_grad(loss)(policy)
    assert not gradient.command_scale.any()
    trained = [
        gradient.embed_state.linear, gradient.embed_command, *gradient.head.layers
    ]  # fmt: skip
    for layer in trained:
        assert layer.weight.any()
        assert layer.bias.any()
    # Every objective and the horizon have their say.
    assert np.all(np.any(np.asarray(gradient.embed_command.weight) != 0, axis=0))
    if embedding == "vector":
        assert not gradient.embed_state.mean.any()
        assert not gradient.embed_state.deviation.any()


@gates
@pytest.mark.parametrize("num_objectives", [2, 3, 9])
def test_rescaling_leaves_the_outputs_as_they_are(gate, num_objectives):
    policy = make_policy(num_objectives, gate=gate)
    scale = jnp.asarray(np.random.default_rng(0).uniform(0.01, 10, num_objectives + 1), jnp.float32)
    rescaled = policy.rescaled(scale)
    np.testing.assert_array_equal(rescaled.command_scale, scale)
    assert not np.allclose(rescaled.embed_command.weight, policy.embed_command.weight)
    for seed in range(5):
        desired = np.random.default_rng(seed).normal(size=num_objectives)
        command = Command(jnp.asarray(desired, jnp.float32), jnp.float32(seed))
        np.testing.assert_allclose(
            rescaled(jnp.array([1, 1]), command), policy(jnp.array([1, 1]), command), atol=1e-5
        )


def test_weights_are_kept_where_a_range_jumps():
    policy = make_policy()
    scale = jnp.array([1.0, 1e-3, 0.5], jnp.float32)  # the second objective hardly moved before
    before, after = (
        np.asarray(one.embed_command.weight) for one in (policy, policy.rescaled(scale))
    )
    np.testing.assert_allclose(after, before * np.array([1.0, 1.0, 2.0]), rtol=1e-6)


def test_the_command_and_the_state_both_matter():
    policy = make_policy()
    here, there = jnp.array([0, 0]), jnp.array([2, 3])
    little, much = make_command(), Command(jnp.array([5.0, 5.0]), jnp.array(7.0))
    longer = Command(little.desired_return, jnp.array(20.0))
    logits = [policy(here, little), policy(there, little), policy(here, much), policy(here, longer)]
    assert len({np.asarray(row).tobytes() for row in logits}) == 4


def test_no_hidden_layer_means_a_single_matrix():
    assert len(make_policy(hidden_layers=0).head.layers) == 1
