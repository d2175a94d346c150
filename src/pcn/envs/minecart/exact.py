"""Float64 arithmetic that rounds as MO-Gymnasium's does, and float64 numbers as 32-bit words."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float32, Float64, UInt32

# Keeps 26 of a float64's 53 binary digits; low word first.
_UPPER_DIGITS = np.array([0xF8000000, 0xFFFFFFFF], np.uint32)

Bits = UInt32[Array, "*shape 2"]


def as_float32(bits: Bits) -> Float32[Array, "*shape"]:
    """The numbers that `…_bits` stand for, rounded to float32."""
    with jax.enable_x64(True):
        return as_float64(bits).astype(jnp.float32)


def as_float64(bits: Bits) -> Float64[Array, "*shape"]:
    """The numbers that these bits stand for; 64-bit numbers must be enabled."""
    return lax.bitcast_convert_type(bits, jnp.float64)


def as_bits(numbers: Float64[Array, "*shape"]) -> Bits:
    """The bits of numbers, low word first."""
    return lax.bitcast_convert_type(numbers, jnp.uint32)


def unfused(product: Float64[Array, "*shape"]) -> Float64[Array, "*shape"]:
    """The product, such that no compiler may fuse it with the sum it enters.

    A fused sum rounds once where MO-Gymnasium rounds twice.
    """
    return jnp.clip(product, -1.0, 1.0)  # changes nothing: no product here is larger


def length(vector: Float64[Array, "*batch 2"]) -> Float64[Array, "*batch"]:
    """Euclidean length, rounded as by MO-Gymnasium's `np.sqrt(np.dot(v, v))`.

    OpenBLAS fuses the second product with the sum, on processors that can.
    """
    x, y = vector[..., 0], vector[..., 1]
    x_squared = unfused(x * x)
    # y = high + low, with so few digits each that high * high and high * low are exact.
    bits = as_bits(y)
    high = as_float64(bits & jnp.broadcast_to(_UPPER_DIGITS, bits.shape))
    low = y - high
    total = x_squared + high * high
    part = total - x_squared
    lost = (x_squared - (total - part)) + (high * high - part)  # what rounding `total` lost
    return jnp.sqrt(total + (lost + (2 * high * low + low * low)))
