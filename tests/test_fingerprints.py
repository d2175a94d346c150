import numpy as np

from pcn.fingerprints import fingerprints


def test_every_cell_of_a_large_grid_has_its_own_fingerprint():
    cells = np.stack(np.meshgrid(*[np.arange(10)] * 5), axis=-1).reshape(1, -1, 5)
    assert len(np.unique(fingerprints(cells.astype(np.int32), cells.shape[1]))) == 10**5


def test_nearby_real_numbers_have_their_own_fingerprints():
    rng = np.random.default_rng(0)
    values = np.round(rng.uniform(-1, 1, (1, 20_000, 7)), 2).astype(np.float32)
    distinct = len(np.unique(values[0], axis=0))
    assert len(np.unique(fingerprints(values, 20_000))) == distinct
