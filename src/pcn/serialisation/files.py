"""Read and write files atomically: a file is always the old one or the new one."""

import csv
import io
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from pcn.errors import UserError


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file's content in one step, so that a kill leaves the old or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(missing_ok=True)
        with temporary.open("xb") as file:  # does not follow a link at this path
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def refuse_missing_folder(path: Path) -> None:
    """Raise a `UserError` if the folder that a file is to be written to does not exist."""
    if not path.resolve().parent.is_dir():
        raise UserError(f"cannot write {path}: {path.parent} is not a folder; create it first")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON that a person can read: a line for each entry, and for each row of numbers."""
    write_bytes(path, (_readable(content) + "\n").encode())


def _readable(value: Any, indent: str = "") -> str:
    """JSON with a line for each entry of an object and for each row of a table."""
    inner = indent + "  "
    if isinstance(value, Mapping) and value:
        entries = (f"{json.dumps(name)}: {_readable(value[name], inner)}" for name in value)
    elif isinstance(value, list | tuple) and any(isinstance(item, list | dict) for item in value):
        entries = (_readable(item, inner) for item in value)
    else:
        return json.dumps(value)
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    return opening + "\n" + ",\n".join(inner + entry for entry in entries) + f"\n{indent}{closing}"


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object, with an error that names the file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged: {error}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path} is damaged: expected a JSON object")
    return content


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_bytes(path, text.getvalue().encode())


def read_csv(path: Path) -> tuple[list[str], list[list[str]]]:
    """Read a table: its header and its rows."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"{path} is damaged: {error}") from None
    if any(len(row) != len(header) for row in rows):
        raise UserError(f"{path} is damaged: its rows have different lengths")
    return header, rows


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], **facts: Any) -> None:
    """Write named arrays, and facts about them as JSON, into one npz file."""
    text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    write_npz(path, {**arrays, "__facts__": text})


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays into one npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    write_bytes(path, buffer.getvalue())


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `write_arrays` wrote; pickled objects and compressed arrays are refused."""
    try:
        _refuse_swollen(path)
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        facts = json.loads(arrays.pop("__facts__").tobytes())
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except Exception as error:  # damaged bytes can raise anything in the reader
        raise UserError(f"{path} is damaged: {error}") from None
    return arrays, facts


def fingerprint_of_arrays(arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> str:
    """A hash of names, types, shapes, numbers and facts."""
    digest = blake2b(digest_size=16)
    written = json.loads(json.dumps(facts))  # as it is read again
    digest.update(json.dumps(written, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {arrays[name].shape} ".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def fingerprint_of_file(path: Path) -> str:
    """A hash of a file's content, without differences in the line ends of text."""
    content = path.read_bytes()
    if path.suffix != ".npz":
        content = content.replace(b"\r\n", b"\n")
    return blake2b(content, digest_size=16).hexdigest()


def _refuse_swollen(path: Path) -> None:
    """Refuse a file whose arrays would take more memory than the file has bytes."""
    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        for item in archive.infolist():
            if item.compress_type != zipfile.ZIP_STORED or item.file_size > size:
                raise ValueError(f"{item.filename} is compressed, which pcn never does")
            with archive.open(item) as file:
                version = np.lib.format.read_magic(file)
                read = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, _, kind = read(file)
                if math.prod(shape) * kind.itemsize > item.file_size:
                    raise ValueError(f"{item.filename} is shorter than its header says")
