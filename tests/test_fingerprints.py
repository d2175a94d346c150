import tracemalloc

import numpy as np
import pytest

from pcn.fingerprints import fingerprints, row_fingerprints


def test_every_cell_of_a_large_grid_has_its_own_fingerprint():
    cells = np.stack(np.meshgrid(*[np.arange(10)] * 5), axis=-1).reshape(1, -1, 5)
    assert len(np.unique(fingerprints(cells.astype(np.int32), cells.shape[1]))) == 10**5


def test_nearby_real_numbers_have_their_own_fingerprints():
    rng = np.random.default_rng(0)
    values = np.round(rng.uniform(-1, 1, (1, 20_000, 7)), 2).astype(np.float32)
    distinct = len(np.unique(values[0], axis=0))
    assert len(np.unique(fingerprints(values, 20_000))) == distinct


@pytest.mark.parametrize("most_numbers", [1, 7, 40, 1 << 20])
def test_pieces_have_the_fingerprints_of_the_whole(most_numbers, monkeypatch):
    monkeypatch.setattr("pcn.fingerprints.MOST_NUMBERS", most_numbers)
    rng = np.random.default_rng(0)
    seen = (rng.integers(256, size=(5, 9, 3, 2), dtype=np.uint8), rng.normal(size=(5, 9)))
    first, second = (leaf[:, :7].reshape(5, 7, -1).astype(np.float64) for leaf in seen)
    wanted = row_fingerprints(first, seed=0) * np.uint64(31) + row_fingerprints(second, seed=1)
    np.testing.assert_array_equal(fingerprints(seen, 7), wanted)


def test_pictures_are_not_converted_all_at_once():
    pictures = np.zeros((16, 100, 84, 84), np.uint8)  # 11 MB; 90 MB as float64
    tracemalloc.start()
    fingerprints(pictures, 100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * pictures.nbytes
