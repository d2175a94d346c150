"""Compiled programs on disk: whole or not there, whatever was killed."""

import os
import subprocess
import sys

import pytest

from pcn.program_cache import write_entry

COMPILE = """
import warnings
warnings.simplefilter("error")
import pcn
pcn.configure_jax()
import jax, jax.numpy as jnp
print(float(jax.jit(lambda x: jnp.sin(x) @ x)(jnp.arange(64.0).reshape(8, 8)).sum()))
"""


def test_an_entry_is_never_half_written(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            write_entry(tmp_path / "entry", b"program")
    assert list(tmp_path.iterdir()) == []
    write_entry(tmp_path / "entry", b"program")
    write_entry(tmp_path / "entry", b"another")  # as JAX does it: what is there stays
    assert (tmp_path / "entry").read_bytes() == b"program"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_broken_entries_are_replaced_without_a_word(tmp_path):
    def compiled():
        environment = {**os.environ, "PCN_CACHE": str(tmp_path)}
        command = [sys.executable, "-c", COMPILE]
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stdout

    first = compiled()
    entries = {path: path.read_bytes() for path in tmp_path.glob("*-cache")}
    assert entries
    for path, content in entries.items():
        path.write_bytes(content[: len(content) // 2])
    assert compiled() == first
    for path, content in entries.items():
        assert len(path.read_bytes()) >= len(content) // 2 + 1, "the broken entry was left"
