import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.errors import UserError
from pcn.serialisation.arrays import named_arrays, with_named_arrays


def network(seed):
    return eqx.nn.MLP(2, 3, 4, 1, key=jax.random.key(seed))


def test_names_are_paths():
    names = named_arrays(network(0), "policy").keys()
    assert "policy.layers[0].weight" in names
    assert len(names) == 4  # two layers, each with weights and biases


def test_arrays_move_from_one_tree_to_another():
    saved, other = network(0), network(1)
    loaded = with_named_arrays(other, named_arrays(saved, "p"), "p")
    assert eqx.tree_equal(loaded, saved)
    assert not eqx.tree_equal(loaded, other)


def test_what_is_no_array_stays_that_of_the_tree():
    tree = {"array": jnp.zeros(2), "name": "kept", "number": 3}
    loaded = with_named_arrays(tree, {"p['array']": np.ones(2)}, "p")
    assert loaded["name"] == "kept"
    assert loaded["number"] == 3
    assert loaded["array"].tolist() == [1, 1]
    assert loaded["array"].dtype == jnp.float32


def test_a_missing_array_is_named():
    arrays = named_arrays(network(0), "policy")
    del arrays["policy.layers[1].bias"]
    with pytest.raises(UserError, match=r"policy\.layers\[1\]\.bias"):
        with_named_arrays(network(1), arrays, "policy")


def test_a_wrong_shape_is_named_with_both_shapes():
    arrays = named_arrays(network(0), "policy")
    arrays["policy.layers[0].bias"] = np.zeros(7)
    with pytest.raises(UserError, match=r"layers\[0\]\.bias.*\(7,\).*\(4,\)"):
        with_named_arrays(network(1), arrays, "policy")


def test_shapes_are_enough_to_load_into():
    saved = network(0)
    shapes = eqx.filter_eval_shape(lambda: network(1))
    assert eqx.tree_equal(with_named_arrays(shapes, named_arrays(saved, "p"), "p"), saved)
