"""Gymnasium spaces as JSON and back, exactly: kind, shape, type and bounds."""

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from pcn.errors import UserError

Space = gym.Space[Any]
Json = dict[str, Any]


def space_to_json(space: Space) -> Json:
    """A space as JSON has it; raises a `UserError` for a kind that has no such form."""
    for name, (kind, to_json, _) in KINDS.items():
        if isinstance(space, kind):
            return {"kind": name, **to_json(space)}
    raise UserError(f"the space {space} cannot be written to a file; there are: {', '.join(KINDS)}")


def space_from_json(content: Mapping[str, Any]) -> Space:
    """The space that `space_to_json` wrote."""
    try:
        _, _, from_json = KINDS[content["kind"]]
        return from_json(content)
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError) as error:
        raise UserError(f"{content!r} is not a space: {error!r}") from None


def _discrete_to_json(space: Any) -> Json:
    return {"n": int(space.n), "start": int(space.start), "dtype": str(space.dtype)}


def _discrete_from_json(content: Mapping[str, Any]) -> Space:
    return gym.spaces.Discrete(content["n"], start=content["start"], dtype=content["dtype"])


def _multi_discrete_to_json(space: Any) -> Json:
    return {
        "nvec": space.nvec.tolist(),
        "start": space.start.tolist(),
        "dtype": str(space.dtype),
    }


def _multi_discrete_from_json(content: Mapping[str, Any]) -> Space:
    return gym.spaces.MultiDiscrete(content["nvec"], dtype=content["dtype"], start=content["start"])


def _multi_binary_to_json(space: Any) -> Json:
    return {"n": space.n if isinstance(space.n, int) else list(space.n)}


def _multi_binary_from_json(content: Mapping[str, Any]) -> Space:
    return gym.spaces.MultiBinary(content["n"])


def _box_to_json(space: Any) -> Json:
    return {
        "shape": list(space.shape),
        "dtype": str(space.dtype),
        "low": _bounds_to_json(space.low, space.bounded_below, "-inf"),
        "high": _bounds_to_json(space.high, space.bounded_above, "inf"),
    }


def _box_from_json(content: Mapping[str, Any]) -> Space:
    kind, shape = np.dtype(content["dtype"]), tuple(content["shape"])
    low, bounded_below = _bounds_from_json(content["low"], kind, shape, "-inf")
    high, bounded_above = _bounds_from_json(content["high"], kind, shape, "inf")
    box = gym.spaces.Box(low, high, shape, kind.type)
    # A box of integers keeps no infinity: which sides are open has to be said once more.
    box.bounded_below, box.bounded_above = bounded_below, bounded_above
    return box


def _bounds_to_json(values: np.ndarray, bounded: Any, unbounded: str) -> Any:
    """One number where all are equal, otherwise a flat list; a word where there is no bound."""
    flat = [
        value if has_bound else unbounded
        for value, has_bound in zip(values.ravel().tolist(), np.ravel(bounded), strict=True)
    ]
    # Written out, zero and minus zero differ.
    return flat[0] if len({repr(value) for value in flat}) == 1 else flat


def _bounds_from_json(
    content: Any, kind: np.dtype[Any], shape: tuple[int, ...], unbounded: str
) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of a box, and where there are any."""
    size = int(np.prod(shape))
    flat = content if isinstance(content, list) else [content] * size
    if kind.kind == "f":
        extreme: float = float(unbounded)
    else:
        limits = np.iinfo(kind) if kind.kind in "iu" else None
        low, high = (0, 1) if limits is None else (limits.min, limits.max)
        extreme = low if unbounded == "-inf" else high
    values = np.array([extreme if value == unbounded else value for value in flat], kind)
    bounded = np.array([value != unbounded for value in flat], bool)
    return values.reshape(shape), bounded.reshape(shape)


def _dict_to_json(space: Any) -> Json:
    return {"spaces": [[name, space_to_json(part)] for name, part in space.items()]}


def _dict_from_json(content: Mapping[str, Any]) -> Space:
    return gym.spaces.Dict([(name, space_from_json(part)) for name, part in content["spaces"]])


def _tuple_to_json(space: Any) -> Json:
    return {"spaces": [space_to_json(part) for part in space]}


def _tuple_from_json(content: Mapping[str, Any]) -> Space:
    return gym.spaces.Tuple([space_from_json(part) for part in content["spaces"]])


ToJson = Callable[[Any], Json]
FromJson = Callable[[Mapping[str, Any]], Space]

KINDS: dict[str, tuple[type[Space], ToJson, FromJson]] = {
    "Discrete": (gym.spaces.Discrete, _discrete_to_json, _discrete_from_json),
    "MultiDiscrete": (
        gym.spaces.MultiDiscrete, _multi_discrete_to_json, _multi_discrete_from_json,
    ),
    "MultiBinary": (gym.spaces.MultiBinary, _multi_binary_to_json, _multi_binary_from_json),
    "Box": (gym.spaces.Box, _box_to_json, _box_from_json),
    "Dict": (gym.spaces.Dict, _dict_to_json, _dict_from_json),
    "Tuple": (gym.spaces.Tuple, _tuple_to_json, _tuple_from_json),
}  # fmt: skip
"""The kinds of space that can be written: class, to JSON, from JSON."""
