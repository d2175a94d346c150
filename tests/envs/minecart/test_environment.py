import json
import warnings
from fractions import Fraction

import jax
import jax.numpy as jnp
import mo_gymnasium
import numpy as np
import pytest
from mo_gymnasium.envs.minecart import minecart

from pcn.envs.minecart.environment import (
    ACCELERATE,
    BRAKE,
    CAPACITY,
    FRONT_FILE,
    LEFT,
    MINE,
    MINES,
    NOTHING,
    ORE_MEANS,
    ORE_STD,
    RIGHT,
    SUB_FRAMES,
    Minecart,
)
from pcn.envs.minecart.exact import as_float32

pytestmark = pytest.mark.slow

TRIPS = json.loads(FRONT_FILE.read_text())
LENGTH = 300


def make_theirs(name):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*precision lowered by casting.*")
        return mo_gymnasium.make(name).unwrapped


def fused_length(vector):
    """The square root of x² + y², with a rounded x² and one rounding of the sum.

    So OpenBLAS computes it on most processors; elsewhere MO-Gymnasium's cart differs in a last bit.
    """
    x, y = map(float, vector)
    return np.sqrt(float(Fraction(x * x) + Fraction(y) ** 2))


@pytest.fixture(scope="module")
def theirs():
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(minecart, "mag", fused_length)
        yield make_theirs("minecart-deterministic-v0")


@pytest.fixture(scope="module")
def environment():
    return Minecart()


@pytest.fixture(scope="module")
def play(environment):
    """Observations, rewards, terminations and exact carts along given actions, compiled once."""

    def play_one(actions):
        def advance(state, action):
            step = environment.step(state, action, jax.random.key(0))
            seen = environment.observation(step.state), step.reward, step.terminated
            return step.state, (*seen, step.state.position_bits, step.state.speed_bits)

        return jax.lax.scan(advance, environment.reset(jax.random.key(0)), actions)[1]

    return jax.jit(jax.vmap(play_one))


def sticky(rng):
    """Repeats its last action, in some episodes for long: it gets far and meets walls."""
    switch = rng.random(LENGTH) < rng.random() ** 2
    drawn = rng.integers(0, 6, LENGTH)
    return drawn[np.maximum.accumulate(np.where(switch, np.arange(LENGTH), 0))]


def wall_hugging(rng):
    """Drives along the wall y = 0 and turns towards it and back, by 40 degrees at a time."""
    script = rng.choice([LEFT, RIGHT, NOTHING], LENGTH)
    script[0], script[1] = LEFT, ACCELERATE
    script[rng.integers(2, LENGTH, 3)] = ACCELERATE
    return script


def along_a_trip(rng):
    """A trip of the front with one action in twenty replaced."""
    trips = [point["actions"] for point in TRIPS]
    trip = np.array(trips[rng.integers(len(trips))])
    changed = np.where(rng.random(len(trip)) < 0.05, rng.integers(0, 6, len(trip)), trip)
    return np.concatenate([changed, rng.integers(0, 6, LENGTH - len(trip))])


def assert_same_episodes(theirs, play, scripts):
    """Equal to the last bit: observations, rewards and ends, and the float64 cart itself."""
    seen = [np.asarray(array) for array in play(jnp.asarray(scripts, jnp.int32))]
    for episode, script in enumerate(scripts):
        theirs.reset()
        for time, action in enumerate(script):
            observation, reward, terminated, _, _ = theirs.step(int(action))
            ours = [array[episode, time] for array in seen]
            np.testing.assert_array_equal(ours[0], observation)
            np.testing.assert_array_equal(ours[1], reward)
            assert ours[2] == terminated
            np.testing.assert_array_equal(ours[3].view(np.float64)[:, 0], theirs.cart.pos)
            assert ours[4].view(np.float64)[0] == theirs.cart.speed
            if terminated:
                break


@pytest.mark.parametrize("behaviour", [sticky, wall_hugging, along_a_trip])
def test_the_same_actions_lead_to_the_same_episode_as_in_mo_gymnasium(theirs, play, behaviour):
    rng = np.random.default_rng(0)
    assert_same_episodes(theirs, play, np.stack([behaviour(rng) for _ in range(60)]))


def test_one_step_by_itself_is_the_same(theirs, environment):
    theirs.reset()
    observation, reward, *_ = theirs.step(ACCELERATE)
    start = environment.reset(jax.random.key(0))
    step = jax.jit(environment.step)(start, jnp.int32(ACCELERATE), jax.random.key(0))
    np.testing.assert_array_equal(environment.observation(step.state), observation)
    np.testing.assert_array_equal(step.reward, reward)


def test_everything_outside_is_32_bits_wide(environment):
    state = environment.reset(jax.random.key(0))
    step = jax.jit(environment.step)(state, jnp.int32(NOTHING), jax.random.key(0))
    for array in jax.tree.leaves((state, step, environment.observation(state))):
        assert array.dtype.itemsize <= 4


@pytest.fixture(scope="module")
def ore_of_one_action():
    """What mining once in the stochastic environment puts into empty carts, one for each seed."""
    environment = Minecart(stochastic=True)
    start = environment.reset(jax.random.key(0))

    def mined(position_bits, seed):
        state = start._replace(position_bits=position_bits)
        step = environment.step(state, jnp.int32(MINE), jax.random.key(seed))
        return as_float32(step.state.content_bits)

    compiled = jax.jit(jax.vmap(mined, in_axes=(None, 0)))

    def sample(mine, seeds):
        bits = np.array(MINES[mine])[:, None].view(np.uint32)
        return np.asarray(compiled(jnp.asarray(bits), jnp.asarray(seeds, jnp.int32)))

    return sample


@pytest.mark.parametrize("mine", [0, 1, 2, 3, 4])
def test_stochastic_ore_has_the_distribution_of_mo_gymnasium(ore_of_one_action, mine):
    ours = ore_of_one_action(mine, np.arange(20_000))
    theirs = make_theirs("minecart-v0")
    np.random.seed(mine)  # noqa: NPY002 (scipy draws from the global generator)
    sample = []
    for _ in range(800):
        theirs.reset()
        theirs.cart.pos = np.array(MINES[mine])
        theirs.step(MINE)
        sample.append(theirs.cart.content.copy())
    sample = np.array(sample)
    # Five standard errors of a mean; a standard deviation's is no larger here.
    error = 5 * sample.std(axis=0) / np.sqrt(len(sample))
    assert np.all(np.abs(ours.mean(axis=0) - sample.mean(axis=0)) < error)
    assert np.all(np.abs(ours.std(axis=0) - sample.std(axis=0)) < error)


def test_stochastic_ore_is_a_clipped_normal(ore_of_one_action):
    # The mean of max(0, N(0, s)) is s / sqrt(2 pi): 4 x 0.0199 = 0.0798.
    clipped = SUB_FRAMES * ORE_STD / np.sqrt(2 * np.pi)
    mean = ore_of_one_action(0, np.arange(20_000)).mean(axis=0)
    assert mean == pytest.approx([SUB_FRAMES * ORE_MEANS[0][0], clipped], abs=0.003)


def test_stochastic_ore_fits_the_cart(ore_of_one_action):
    loads = ore_of_one_action(2, np.arange(20_000)).sum(axis=1)  # 1.6 on average, if it could
    assert loads.max() <= CAPACITY + 1e-6
    assert np.mean(loads > CAPACITY - 1e-6) > 0.5


def test_only_the_key_decides_the_ore(ore_of_one_action):
    first, same, other = ore_of_one_action(1, np.array([7, 7, 8]))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def test_a_picture_shows_the_cart_where_it_is(environment):
    state = environment.reset(jax.random.key(0))
    before = environment.render(state)
    assert before.dtype == np.uint8
    assert before.ndim == 3
    assert before.shape[2] == 3
    for action in (ACCELERATE, NOTHING, BRAKE):
        state = jax.jit(environment.step)(state, jnp.int32(action), jax.random.key(0)).state
    assert (environment.render(state) != before).any()
