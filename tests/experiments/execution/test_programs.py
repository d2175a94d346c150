"""Compiled programs reach other processes whole, or not at all."""

import os
import subprocess
import sys

import pytest

from pcn.experiments.execution.programs import SharedPrograms


def two(folder):
    """The programs of two processes; both live in this one, so the second gets another place."""
    first = SharedPrograms(folder)
    first.own = first.own.rename(folder / "first")
    return first, SharedPrograms(folder)


def test_what_is_published_is_fetched_by_others(tmp_path):
    first, second = two(tmp_path)
    (first.own / "a-cache").write_bytes(b"program")
    second.fetch()
    assert not list(second.own.iterdir()), "what was not published may be half of a program"
    first.publish()
    second.fetch()
    assert (second.own / "a-cache").read_bytes() == b"program"
    second.remove()
    assert (first.shared / "a-cache").read_bytes() == b"program"


def test_what_is_there_already_stays(tmp_path):
    first, second = two(tmp_path)
    (first.own / "a-cache").write_bytes(b"first")
    (second.own / "a-cache").write_bytes(b"second")
    first.publish()
    second.publish()
    second.fetch()
    assert (first.shared / "a-cache").read_bytes() == b"first"
    assert (second.own / "a-cache").read_bytes() == b"second"


def test_without_links_files_are_copied(tmp_path, monkeypatch):
    def refuse(*names):
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    first, second = two(tmp_path)
    (first.own / "a-cache").write_bytes(b"program")
    first.publish()
    second.fetch()
    assert (second.own / "a-cache").read_bytes() == b"program"
    assert [path.name for path in first.shared.iterdir()] == ["a-cache"]


KILLED = """
import os, signal, sys
from pathlib import Path
from pcn.experiments.execution.programs import SharedPrograms
programs = SharedPrograms(Path(sys.argv[1]))
(programs.own / "a-cache").write_bytes(b"half of a prog")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_nothing_to_others(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert len(list((tmp_path / "processes").iterdir())) == 1
    programs = SharedPrograms(tmp_path)
    assert list((tmp_path / "processes").iterdir()) == [programs.own]
    assert not list(programs.shared.iterdir())


COMPILE = """
import sys
from pathlib import Path
from pcn.compilation import configure_jax
from pcn.experiments.execution.programs import SharedPrograms
programs = SharedPrograms(Path(sys.argv[1]))
configure_jax(programs=programs.own)
programs.fetch()
before = len(list(programs.own.iterdir()))
import jax, jax.numpy as jnp
jax.jit(lambda x: jnp.sin(x) * 2)(jnp.ones(3)).block_until_ready()
after = len(list(programs.own.iterdir()))
programs.publish()
programs.remove()
print(before, after)
"""


@pytest.mark.slow
def test_jax_compiles_once_for_two_processes(tmp_path):
    counts = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", COMPILE, str(tmp_path)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        counts.append(tuple(map(int, done.stdout.split())))
    (before, compiled), again = counts
    assert (before, again) == (0, (compiled, compiled))
    assert compiled > 0
