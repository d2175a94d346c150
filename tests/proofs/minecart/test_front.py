import json
import warnings

import jax
import jax.numpy as jnp
import mo_gymnasium
import numpy as np
import pytest

from pcn.envs.minecart.environment import BRAKE, FRONT_FILE, MINE, Minecart
from proofs.minecart import bound
from proofs.minecart import coarse as coarse_cart
from proofs.minecart.bound import to_base, to_mine
from proofs.minecart.coarse import UNITS
from proofs.minecart.float64 import Carts, advance, carts_at_start
from proofs.minecart.front import cheapest_trip, load_after

POINTS = json.loads(FRONT_FILE.read_text())


@pytest.fixture(scope="module")
def coarse():
    """Bounds on a coarser grid: as sound, quicker to find."""
    patch = pytest.MonkeyPatch()
    for module in (coarse_cart, bound):
        patch.setattr(module, "CELLS", 25)
    coarse_cart.wall_moves.cache_clear()
    home = to_base()
    yield [to_mine(0, home), home]
    patch.undo()
    coarse_cart.wall_moves.cache_clear()


@pytest.fixture(scope="module")
def theirs():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*precision lowered by casting.*")
        return mo_gymnasium.make("minecart-deterministic-v0").unwrapped


@pytest.fixture(scope="module")
def step():
    return jax.jit(Minecart().step)


def point_id(point):
    return str(point["return"])


@pytest.mark.parametrize("point", POINTS, ids=point_id)
def test_mo_gymnasium_reaches_every_point(theirs, point):
    theirs.reset()
    steps = [theirs.step(action) for action in point["actions"]]
    assert [terminated for _, _, terminated, _, _ in steps] == [False] * (len(steps) - 1) + [True]
    reached = np.sum([reward for _, reward, *_ in steps], axis=0, dtype=np.float64)
    np.testing.assert_allclose(reached, point["return"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("point", POINTS, ids=point_id)
def test_our_minecart_reaches_every_point(step, point):
    key = jax.random.key(0)
    state, reached = Minecart().reset(key), np.zeros(3)
    for time, action in enumerate(point["actions"], start=1):
        state, reward, terminated, _ = step(state, jnp.int32(action), key)
        assert bool(terminated) == (time == len(point["actions"]))
        reached += np.asarray(reward, np.float64)
    np.testing.assert_allclose(reached, point["return"], rtol=0, atol=1e-6)


def test_no_point_dominates_another():
    returns = np.array([point["return"] for point in POINTS])
    at_least = np.all(returns[:, None] >= returns[None, :], axis=-1)
    assert at_least.sum() == len(POINTS)  # each only itself


def test_a_second_mining_action_always_fills_the_cart():
    for first in range(5):
        for second in range(5):
            assert load_after((first, second)).sum() == pytest.approx(1.5)
    # 4 x 0.2 of ore 1, then the 0.7 left shared 3 : 2.
    assert load_after((0, 1)) == pytest.approx([0.8 + 0.42, 0.28])


@pytest.mark.slow
def test_a_real_step_never_lowers_the_bound_by_more_than_it_costs(coarse):
    to_mine_0, home = coarse
    rng = np.random.default_rng(0)
    carts, alive = carts_at_start(500), np.ones(500, bool)
    switching, action = rng.random(500) ** 2, np.full(500, 3)
    num_at_walls = 0
    for _ in range(60):
        after, arrived = [array.copy() for array in carts], np.zeros(500, bool)
        for choice in set(UNITS) - {MINE}:
            chosen = action == choice
            if chosen.any():
                moved, arrived[chosen] = advance(carts.chosen(chosen), choice)
                for array, values in zip(after, moved, strict=True):
                    array[chosen] = values
        reached = Carts(*after)
        cost = np.array([UNITS[choice] for choice in action])
        driving = alive & ~arrived
        assert np.all((to_mine_0(carts) <= cost + to_mine_0(reached))[driving])
        left = np.where(arrived, 0, home(reached))
        assert np.all((home(carts) <= cost + left)[alive & carts.departed])
        num_at_walls += int(np.isin(reached.position, (0, 1)).any(axis=1)[driving].sum())
        carts, alive = reached, driving
        drawn = rng.choice([1, 2, 3, BRAKE, 5], 500, p=[0.25, 0.25, 0.2, 0.05, 0.25])
        action = np.where(rng.random(500) < switching, drawn, action)
    assert num_at_walls > 1000


@pytest.mark.slow
@pytest.mark.parametrize("mines", [(), (0,)])
def test_the_search_finds_the_fuel_in_the_file(coarse, mines):
    trip = cheapest_trip(mines, coarse[1:] if mines == () else coarse)
    stored = next(point for point in POINTS if point["mines"] == list(mines))
    assert trip.episode_return == pytest.approx(stored["return"])
