import jax.numpy as jnp
import numpy as np
import pytest

from pcn.rollout.packing import Packing

ARRAYS = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.array([7, 8], dtype=np.int32),
    np.array([True, False]),
    np.arange(8, dtype=np.float32).reshape(2, 2, 2) + 10,
    np.zeros((2, 0), dtype=np.int32),
]


@pytest.mark.parametrize("leading", [0, 1])
def test_what_is_packed_is_unpacked_in_its_order(leading):
    packing = Packing.of(ARRAYS, leading=leading)
    packed = packing.packed([jnp.asarray(array) for array in ARRAYS])
    assert len(packed) == 3  # floats, integers, booleans
    for array, original in zip(packing.unpacked(packed), ARRAYS, strict=True):
        assert array.dtype == original.dtype
        np.testing.assert_array_equal(array, original)


def test_rows_of_packed_arrays_are_packed_rows():
    packing = Packing.of(ARRAYS, leading=1)
    packed = packing.packed([jnp.asarray(array) for array in ARRAYS])
    for array, original in zip(packing.unpacked([p[1] for p in packed]), ARRAYS, strict=True):
        np.testing.assert_array_equal(array, original[1])


def test_nothing_is_packed_into_nothing():
    packing = Packing.of([], leading=0)
    assert packing.packed([]) == []
    assert packing.unpacked([]) == []


def test_arrays_are_packed_on_the_host_as_on_the_device():
    packing = Packing.of(ARRAYS, leading=1)
    on_host, on_device = packing.packed(ARRAYS, library=np), packing.packed(ARRAYS)
    for one, other in zip(on_host, on_device, strict=True):
        assert isinstance(one, np.ndarray)
        np.testing.assert_array_equal(one, other)
