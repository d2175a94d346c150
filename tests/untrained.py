"""Networks with random weights, and runs of them: what acts in the same way needs no training."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pcn import CoverageSet, PCNConfig, Run
from pcn.algorithms.pcn.network import expectations_of, fresh_policy, network_name
from pcn.envs.finding import find_environment
from pcn.nets.embeddings import VectorEmbedding
from pcn.runs.measures import metrics_of
from pcn.runs.settings import Settings
from pcn.serialisation.arrays import named_arrays

CONFIG = PCNConfig(width=16, hidden_layers=2)


def with_random_data(make, seed=0):
    """The network that `make` makes, with random numbers in place of those it begins with.

    Only shapes are taken from `make`: to compile weights takes seconds for each network.
    """
    rng = np.random.default_rng(seed)

    def changed(leaf):
        if not jnp.issubdtype(leaf.dtype, jnp.floating):
            return jnp.zeros(leaf.shape, leaf.dtype)
        scale = 1 / np.sqrt(leaf.shape[-1]) if len(leaf.shape) > 1 else 0.3
        return jnp.asarray(rng.normal(scale=scale, size=leaf.shape), leaf.dtype)

    def positive(leaf):
        return jnp.asarray(rng.uniform(0.5, 2, size=leaf.shape), leaf.dtype)

    def is_shape(leaf):
        return isinstance(leaf, jax.ShapeDtypeStruct)

    policy = jax.tree.map(
        lambda x: changed(x) if is_shape(x) else x, eqx.filter_eval_shape(make), is_leaf=is_shape
    )
    is_vector = lambda node: isinstance(node, VectorEmbedding)  # noqa: E731
    policy = jax.tree.map(
        lambda node: (
            eqx.tree_at(lambda e: e.deviation, node, positive(node.deviation))
            if is_vector(node)
            else node
        ),
        policy,
        is_leaf=is_vector,
    )
    if not hasattr(policy, "command_scale"):
        return policy
    scale = positive(policy.command_scale)
    return eqx.tree_at(lambda policy: policy.command_scale, policy, scale)


def random_policy(spec, config=CONFIG, *, seed=0, expects=False):
    """A network of PCN that fits an environment; with `expects`, one with expectations."""

    def make():
        policy = fresh_policy(spec, config, np.array([0, seed], np.uint32))
        if expects:
            policy = policy.expecting(expectations_of(policy, np.array([1, seed], np.uint32)))
        return policy

    policy = with_random_data(make, seed)
    if not expects:
        return policy
    expectations, objectives = policy.expectations, spec.num_objectives
    return policy.expecting(
        eqx.tree_at(
            lambda e: (
                e.random_rewards, e.random_ends, e.lowest, e.highest, e.least_survival,
            ),
            expectations,
            (
                jnp.arange(objectives) % 2 == 0,
                jnp.asarray(True),
                jnp.full(objectives, -50.0),
                jnp.full(objectives, 50.0),
                jnp.asarray(0.05),
            ),
        )
    )  # fmt: skip


def untrained_run(
    name, *, commands, config=CONFIG, arguments=None, environment=None, networks=None, **about
):
    """A run of PCN whose networks have random weights, under commands (return and horizon).

    `networks` says for each command which network acts; `about` are arguments of `random_policy`.
    """
    if environment is None:
        environment = find_environment(name, arguments or {}).environment
    spec = environment.spec
    desired = np.array([command[:-1] for command in commands], np.float64)
    horizons = np.array([command[-1] for command in commands], np.float64)
    networks = np.zeros(len(commands), np.int64) if networks is None else np.array(networks)
    coverage_set = CoverageSet(
        desired, horizons, desired, np.zeros_like(desired), 1e-3, network=networks
    )
    arrays = {"upper_bound": desired.max(axis=0)}
    for number in np.unique(networks).tolist():
        policy = random_policy(spec, config, seed=number, **about)
        arrays |= named_arrays(policy, network_name(number))
    settings = Settings(name, arguments or {}, "pcn", None, 0, config.to_json())
    metrics = {"steps": 0, "policies": len(commands), **metrics_of(coverage_set, spec)}
    return Run(settings, coverage_set, metrics, [], arrays, spec=spec, environment=environment)
