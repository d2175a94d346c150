"""Spaces survive a file exactly: what a policy sees and does must not change with it."""

import json

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pcn.errors import UserError
from pcn.serialisation.spaces import space_from_json, space_to_json

INTEGERS = [np.int8, np.int32, np.int64, np.uint8, np.uint16]
FLOATS = [np.float16, np.float32, np.float64]


@st.composite
def discretes(draw):
    kind = draw(st.sampled_from(INTEGERS))
    return gym.spaces.Discrete(
        draw(st.integers(1, 100)), start=draw(st.integers(0, 20)), dtype=kind
    )


@st.composite
def multi_discretes(draw):
    kind = draw(st.sampled_from(INTEGERS))
    shape = draw(array_shapes(max_dims=2, max_side=4))
    nvec = draw(arrays(kind, shape, elements=st.integers(1, 50)))
    start = draw(arrays(kind, shape, elements=st.integers(0, 9)))
    return gym.spaces.MultiDiscrete(nvec, dtype=kind, start=start)


multi_binaries = st.one_of(
    st.integers(1, 9), st.lists(st.integers(1, 4), min_size=1, max_size=3)
).map(gym.spaces.MultiBinary)


@st.composite
def real_boxes(draw):
    """Bounds of every size, open or closed on either side, of each element by itself."""
    kind = draw(st.sampled_from(FLOATS))
    width = 8 * np.dtype(kind).itemsize
    shape = draw(array_shapes(min_dims=0, max_dims=3, max_side=3))
    bounds = st.floats(width=width, allow_nan=False)
    one, other = (draw(arrays(kind, shape, elements=bounds)) for _ in range(2))
    low, high = np.minimum(one, other), np.maximum(one, other)
    # No box lies at infinity.
    return gym.spaces.Box(
        np.where(low == np.inf, kind(0), low),
        np.where(high == -np.inf, kind(0), high),
        dtype=kind,
    )


@st.composite
def whole_boxes(draw):
    kind = draw(st.sampled_from(INTEGERS))
    limits = np.iinfo(kind)
    shape = draw(array_shapes(max_dims=3, max_side=3))
    bounds = st.integers(max(limits.min, -(2**63)), min(limits.max, 2**63 - 2))
    one, other = (draw(arrays(kind, shape, elements=bounds)) for _ in range(2))
    return gym.spaces.Box(np.minimum(one, other), np.maximum(one, other), dtype=kind)


simple = st.one_of(discretes(), multi_discretes(), multi_binaries, real_boxes(), whole_boxes())
spaces = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(gym.spaces.Tuple),
        st.lists(st.tuples(st.text(max_size=4), inner), min_size=1, max_size=3,
                 unique_by=lambda pair: pair[0]).map(gym.spaces.Dict),
    ),
    max_leaves=5,
)  # fmt: skip


def assert_identical(one, other):
    """Field by field: `==` of boxes forgives small differences of bounds."""
    assert type(one) is type(other)
    if isinstance(one, gym.spaces.Dict):
        assert list(one) == list(other)
        for name in one:
            assert_identical(one[name], other[name])
    elif isinstance(one, gym.spaces.Tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_identical(mine, theirs)
    else:
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        for name in ("n", "start", "nvec", "low", "high", "bounded_below", "bounded_above"):
            mine, theirs = getattr(one, name, None), getattr(other, name, None)
            np.testing.assert_array_equal(mine, theirs)
            assert np.asarray(mine).dtype == np.asarray(theirs).dtype
        assert repr(one) == repr(other)


ZEROS = np.array([0.0, -0.0], np.float32)


@given(spaces)
@example(gym.spaces.Box(ZEROS, ZEROS, dtype=np.float32))
def test_a_space_comes_back_exactly(space):
    text = json.dumps(space_to_json(space), allow_nan=False)
    assert_identical(space_from_json(json.loads(text)), space)


def test_open_sides_of_integers_stay_open():
    low = np.array([-np.inf, 0.0])
    space = gym.spaces.Box(low, np.array([3.0, np.inf]), dtype=np.int32)
    back = space_from_json(space_to_json(space))
    assert_identical(back, space)
    assert back.bounded_below.tolist() == [False, True]
    assert back.bounded_above.tolist() == [True, False]


def test_a_box_of_truth_values_comes_back():
    space = gym.spaces.Box(np.array([0, 1]), np.array([1, 1]), dtype=np.bool_)
    assert_identical(space_from_json(space_to_json(space)), space)


def test_many_equal_bounds_take_one_number():
    content = space_to_json(gym.spaces.Box(0, 255, (210, 160, 3), np.uint8))
    assert len(json.dumps(content)) < 120


def test_what_cannot_be_written_or_read_is_told():
    with pytest.raises(UserError, match=r"Text.* cannot be written to a file; there are: Disc"):
        space_to_json(gym.spaces.Text(5))
    with pytest.raises(UserError, match="is not a space"):
        space_from_json({"kind": "Sphere"})
    with pytest.raises(UserError, match="is not a space"):
        space_from_json({"kind": "Discrete", "n": 0, "start": 0, "dtype": "int64"})
