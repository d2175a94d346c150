import warnings

import mo_gymnasium
import numpy as np

from pcn.envs.minecart.environment import MINE, NOTHING
from proofs.minecart.float64 import advance, carts_at_start


def test_motion_is_bit_for_bit_that_of_mo_gymnasium():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*precision lowered by casting.*")
        theirs = mo_gymnasium.make("minecart-deterministic-v0").unwrapped
    rng = np.random.default_rng(0)
    for _ in range(20):
        theirs.reset()
        carts, switching, action = carts_at_start(), rng.random() ** 2, NOTHING
        for _ in range(150):
            action = int(rng.integers(6)) if rng.random() < switching else action
            theirs.step(action)
            # Mining moves nothing.
            carts, home = advance(carts, NOTHING if action == MINE else action)
            assert home[0] == theirs.end
            if theirs.end:
                break
            np.testing.assert_array_equal(carts.position[0], theirs.cart.pos)
            assert carts.speed[0] == theirs.cart.speed
            assert carts.angle[0] == theirs.cart.angle
