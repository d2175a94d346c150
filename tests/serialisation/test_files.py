import contextlib
import json
import os
import pickle

import numpy as np
import pytest

from pcn.errors import UserError
from pcn.serialisation.files import (
    read_arrays,
    read_csv,
    read_json,
    write_arrays,
    write_bytes,
    write_csv,
    write_json,
)


def test_json_comes_back_as_it_was(tmp_path):
    content = {"name": "Crête", "numbers": [1, 0.1, -1e-300], "nested": {"none": None}}
    write_json(tmp_path / "a.json", content)
    assert read_json(tmp_path / "a.json") == content


def test_a_table_comes_back_as_text(tmp_path):
    rows = [["a, with comma", 1.5], ['a "quote"', 2]]
    write_csv(tmp_path / "a.csv", ["name", "value"], rows)
    header, read = read_csv(tmp_path / "a.csv")
    assert header == ["name", "value"]
    assert read == [[str(cell) for cell in row] for row in rows]


def test_arrays_and_facts_come_back_as_they_were(tmp_path):
    arrays = {
        "learner.policy.head.layers[0].weight": np.random.default_rng(0).normal(size=(3, 2)),
        "counts": np.arange(4, dtype=np.int32),
        "nothing": np.zeros((0, 2)),
    }
    write_arrays(tmp_path / "a.npz", arrays, steps=7, rng={"state": 1 << 100})
    read, facts = read_arrays(tmp_path / "a.npz")
    assert facts == {"steps": 7, "rng": {"state": 1 << 100}}
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype
        np.testing.assert_array_equal(read[name], array)


WRITERS = {
    "json": (lambda path: write_json(path, {"new": 1}), "os.fsync"),
    "csv": (lambda path: write_csv(path, ["new"], [[1]]), "os.fsync"),
    "arrays": (lambda path: write_arrays(path, {"new": np.ones(2)}), "os.fsync"),
    "bytes, when renaming": (lambda path: write_bytes(path, b"new"), "pathlib.Path.replace"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_fails_leaves_the_old_file_and_nothing_else(name, tmp_path, monkeypatch):
    write, failing = WRITERS[name]
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(failing, fail)
        with pytest.raises(OSError, match="no space left"):
            write(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
    write(path)
    assert path.read_bytes() != b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_content_that_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(TypeError):
        write_json(path, {"fine": 1, "not": object()})
    with pytest.raises(TypeError):
        write_arrays(path, {"fine": np.ones(1)}, fact=object())
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_the_new_content_is_complete_before_the_old_file_goes(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    seen = []

    def watching(descriptor):
        seen.append(path.read_bytes())
        return None

    monkeypatch.setattr("os.fsync", watching)
    write_bytes(path, b"new")
    assert seen == [b"old"]
    assert path.read_bytes() == b"new"


class _Bomb:
    """Does something when it is unpickled."""

    def __reduce__(self):
        return (os.mkdir, ("pickle-was-loaded",))


def test_pickled_objects_are_refused_and_never_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bomb = np.empty(1, dtype=object)
    bomb[0] = _Bomb()
    np.savez(tmp_path / "a.npz", weights=bomb, __facts__=np.frombuffer(b"{}", np.uint8))
    (tmp_path / "b.npz").write_bytes(pickle.dumps(_Bomb()))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(UserError, match=name):
            read_arrays(tmp_path / name)
    assert not (tmp_path / "pickle-was-loaded").exists()


@pytest.mark.parametrize("read", [read_json, read_csv, read_arrays])
def test_a_missing_file_is_named(read, tmp_path):
    with pytest.raises(UserError, match=r"gone\.file does not exist"):
        read(tmp_path / "gone.file")


DAMAGED = {
    "json cut off": (read_json, b'{"a": [1, 2'),
    "json not an object": (read_json, b"[1, 2]"),
    "json not text": (read_json, b"\xff\xfe\x00"),
    "json empty": (read_json, b""),
    "csv empty": (read_csv, b""),
    "csv not text": (read_csv, b"\xff\xfe\n"),
    "csv ragged": (read_csv, b"a,b\n1,2\n3\n"),
    "csv quote never closed": (read_csv, b'a,b\n1,"' + b"2," * 100_000),
    "arrays empty": (read_arrays, b""),
    "arrays not an archive": (read_arrays, b"hello, world" * 10),
    "arrays a zip's first bytes": (read_arrays, b"PK\x03\x04" + bytes(40)),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_named(name, tmp_path):
    read, content = DAMAGED[name]
    path = tmp_path / "a.file"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.file is damaged"):
        read(path)


def test_a_single_array_is_not_an_archive_of_arrays(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(3))
    with pytest.raises(UserError, match=r"a\.npy is damaged"):
        read_arrays(tmp_path / "a.npy")


def test_arrays_without_facts_are_damaged(tmp_path):
    np.savez(tmp_path / "a.npz", weights=np.ones(3))
    with pytest.raises(UserError, match=r"a\.npz is damaged"):
        read_arrays(tmp_path / "a.npz")


def test_arrays_cut_off_anywhere_or_with_a_flipped_byte_are_never_read_as_something_else(tmp_path):
    path = tmp_path / "a.npz"
    write_arrays(path, {"weights": np.arange(6.0)}, steps=3)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    damaged = [whole[:length] for length in rng.integers(0, len(whole), 40)]
    for place in rng.integers(0, len(whole), 200):
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        damaged.append(bytes(changed))
    for content in damaged:
        path.write_bytes(content)
        with contextlib.suppress(UserError):
            arrays, facts = read_arrays(path)
            # The flipped bit lay in a part that means nothing, such as a date.
            assert list(arrays) == ["weights"]
            np.testing.assert_array_equal(arrays["weights"], np.arange(6.0))
            assert facts == {"steps": 3}


def test_facts_are_plain_json_inside_the_file(tmp_path):
    write_arrays(tmp_path / "a.npz", {}, steps=3)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert json.loads(file["__facts__"].tobytes()) == {"steps": 3}
