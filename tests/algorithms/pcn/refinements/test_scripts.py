"""Which scripts were played, against a set that forgets nothing."""

import numpy as np
import pytest

from pcn.algorithms.pcn.refinements import scripts
from pcn.algorithms.pcn.refinements.scripts import Tried


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Hashes are sorted in after every eight."""
    monkeypatch.setattr(scripts, "LATEST", 8)


def random_scripts(count, seed=0):
    """Lists of actions, many of them twice."""
    rng = np.random.default_rng(seed)
    return [rng.integers(2, size=(int(rng.integers(1, 7)), 1)) for _ in range(count)]


def test_a_script_is_new_once():
    tried, seen = Tried(10_000), set()
    for script in random_scripts(300):
        key = (len(script), script.tobytes())
        assert tried.is_new(script) == (key not in seen)
        seen.add(key)
    assert 30 < len(seen) <= 126  # all lists of one to six bits


def test_beyond_the_limit_the_oldest_are_forgotten():
    tried = Tried(16)
    numbered = [np.array([[number]]) for number in range(40)]
    assert all(tried.is_new(script) for script in numbered)
    assert len(tried.to_arrays()["hashes"]) <= 16 + 8
    assert [tried.is_new(script) for script in numbered[-16:]] == [False] * 16
    assert tried.is_new(numbered[0])


@pytest.mark.parametrize("after", [3, 8, 20, 61])
def test_what_was_played_survives_a_checkpoint(after):
    every = random_scripts(150, seed=1)
    tried = Tried(20)
    for script in every[:after]:
        tried.is_new(script)
    again = Tried(20)
    again.from_arrays(tried.to_arrays())
    rest = every[after:]
    assert [tried.is_new(one) for one in rest] == [again.is_new(one) for one in rest]


def test_checkpoints_of_older_versions_are_taken_over():
    tried = Tried(100)
    script = np.array([[1], [0]])
    assert tried.is_new(script)
    arrays = tried.to_arrays()
    del arrays["settled"]
    again = Tried(100)
    again.from_arrays(arrays)
    assert not again.is_new(script)
