"""Ways to damage what is read: bytes, values of JSON and CSV files, arrays of npz files."""

import io
import json
import zipfile
from typing import Any

import numpy as np

STRANGE: list[Any] = [
    None, True, -1, 0, 10**30, 1.5, float("nan"), float("inf"), "", "a", "[/bold]", [], {}, [[]],
    {"a": 1}, [1, "a"], "__main__:x", "os:system", "../../etc", "\x00",
]  # fmt: skip


def mutate_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(data) or 1))
        kind = rng.integers(4)
        if kind == 0 and data:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data[at:at] = rng.bytes(int(rng.integers(1, 20)))
        else:
            data = data[:at] + data[at : at + 50] + data[at:]
    return bytes(data)


def mutate_json(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace or remove a value somewhere."""
    tree = json.loads(content)
    place: Any = tree
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = keys[int(rng.integers(len(keys)))]
        if isinstance(place[key], dict | list) and place[key] and rng.uniform() < 0.7:
            place = place[key]
            continue
        if rng.uniform() < 0.2 and isinstance(place, dict):
            del place[key]
        else:
            place[key] = STRANGE[int(rng.integers(len(STRANGE)))]
        break
    return json.dumps(tree).encode()


def mutate_csv(content: bytes, rng: np.random.Generator) -> bytes:
    rows = [line.split(",") for line in content.decode(errors="replace").splitlines()]
    if not rows:
        return content
    row = rows[int(rng.integers(len(rows)))]
    row[int(rng.integers(len(row)))] = str(STRANGE[int(rng.integers(len(STRANGE)))])
    return ("\n".join(",".join(row) for row in rows) + "\n").encode()


def mutate_arrays(content: bytes, rng: np.random.Generator) -> bytes:
    """Change the type, shape or values of an array of an npz file, or remove it."""
    with np.load(io.BytesIO(content)) as file:
        arrays = {name: file[name] for name in file.files}
    name = list(arrays)[int(rng.integers(len(arrays)))]
    array = arrays[name]
    kind = int(rng.integers(9))
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name] = array[..., None]
    elif kind == 2:
        arrays[name] = array.reshape(-1)[: int(rng.integers(array.size + 1))]
    elif kind == 3 and array.dtype.kind in "fiub":
        types = (np.float64, np.int64, np.uint8, np.complex64, np.float16, bool, "U5", "S3")
        arrays[name] = array.astype(types[int(rng.integers(len(types)))])
    elif kind == 4 and array.dtype.kind == "f" and array.size:
        array.reshape(-1)[int(rng.integers(array.size))] = (np.nan, np.inf, 1e300)[
            int(rng.integers(3))
        ]
    elif kind == 5 and array.dtype.kind in "iu" and array.size:
        array.reshape(-1)[int(rng.integers(array.size))] = np.iinfo(array.dtype).max
    elif kind == 6 and array.ndim:
        arrays[name] = array[:-1] if rng.uniform() < 0.5 else array[:0]
    elif kind == 7:
        arrays[name] = np.array(str(STRANGE[int(rng.integers(len(STRANGE)))]))
    else:
        arrays[f"{name}.x"] = array
    packed = io.BytesIO()
    (np.savez_compressed if rng.uniform() < 0.3 else np.savez)(packed, **arrays)
    return packed.getvalue()


def bomb(name: str, shape: tuple[int, ...]) -> bytes:
    """A small npz file whose only array unpacks to zeros of a large shape."""
    header = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, described)
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(f"{name}.npy", "w", force_zip64=True) as file,
    ):
        file.write(header.getvalue())
        for _ in range(64):
            file.write(bytes(1 << 20))
    return packed.getvalue()
