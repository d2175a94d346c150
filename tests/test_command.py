import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.command import Command
from pcn.episodes import Episodes


def one_episode(rewards):
    """A batch with a single episode of the given rewards."""
    num_steps = len(rewards)
    return Episodes(
        observations=jnp.zeros((1, num_steps, 1), jnp.int32),
        actions=jnp.zeros((1, num_steps, 1), jnp.int32),
        rewards=jnp.asarray(rewards, jnp.float32)[None],
        lengths=jnp.array([num_steps], jnp.int32),
        terminated=jnp.array([True]),
    )


def commands_along(rewards, first, *, discount, **options):
    """The command seen at each step of an episode."""
    command, seen = first, []
    for reward in jnp.asarray(rewards, jnp.float32):
        seen.append(command)
        command = command.after(reward, discount=discount, **options)
    return seen


def test_without_discount_the_reward_is_subtracted_as_in_the_paper():
    command = Command(jnp.array([124.0, -19.0]), jnp.array(19.0))
    after = command.after(jnp.array([4.0, -1.0]), discount=1.0)
    assert after.desired_return.tolist() == [120.0, -18.0]
    assert after.desired_horizon == 18


def test_the_desired_horizon_never_falls_below_one_step():
    command = Command(jnp.zeros(2), jnp.array(2.0))
    horizons = [c.desired_horizon for c in commands_along(np.zeros((4, 2)), command, discount=1.0)]
    assert horizons == [2, 1, 1, 1]


@pytest.mark.parametrize("discount", [1.0, 0.98, 0.5])
def test_a_command_that_comes_true_equals_the_returns_to_go_at_every_step(discount):
    rewards = np.random.default_rng(0).normal(size=(12, 3))
    episodes = one_episode(rewards)
    returns_to_go = np.asarray(episodes.returns_to_go(discount=discount))[0]
    first = Command(jnp.asarray(returns_to_go[0]), jnp.array(12.0))
    for time, command in enumerate(commands_along(rewards, first, discount=discount)):
        # Dividing by the discount magnifies rounding a little at every step.
        np.testing.assert_allclose(
            command.desired_return, returns_to_go[time], atol=1e-5 / discount**time
        )
        assert command.desired_horizon == 12 - time


@pytest.mark.parametrize(("discount", "most_error"), [(0.9, 1.0), (0.95, 1.0), (0.99, 0.01)])
def test_bounds_keep_rounding_errors_within_the_range_of_returns(discount, most_error):
    """Errors grow by 1 / discount a step; the truth is summed in double precision."""
    prizes = np.random.default_rng(0).random((300, 1)) < 0.03
    rewards = np.where(prizes, 4.0, -1.0).astype(np.float32)
    truth = np.zeros((301, 1))
    for time in reversed(range(300)):
        truth[time] = rewards[time] + discount * truth[time + 1]
    truth = truth[:-1]
    lowest, highest = (bound.astype(np.float32) for bound in (truth.min(axis=0), truth.max(axis=0)))
    command, errors = Command(truth[0].astype(np.float32), jnp.float32(300)), []
    for reward, true in zip(rewards, truth, strict=True):
        errors.append(np.abs(np.asarray(command.desired_return) - true) / (highest - lowest))
        command = command.after(
            reward, discount=jnp.float32(discount), upper_bound=highest, lower_bound=lowest
        )
    errors = np.concatenate(errors)
    assert errors.max() <= most_error + 1e-6
    assert errors[:90].max() <= 0.01
    # What a step is worth at the start is exact to single precision.
    assert np.max(errors * discount ** np.arange(300)) < 2e-6


def test_a_reward_after_twenty_empty_steps_is_asked_for_in_full_when_it_is_due():
    discount = 0.98
    rewards = np.zeros((21, 1))
    rewards[20] = 1.0
    episodes = one_episode(rewards)
    wanted = np.asarray(episodes.returns_to_go(discount=discount))[0]
    assert wanted[0, 0] == pytest.approx(0.98**20)  # .668, what the data says at the start
    assert wanted[20, 0] == 1.0
    first = Command(jnp.asarray(wanted[0]), jnp.array(21.0))
    consistent = commands_along(rewards, first, discount=discount)[20].desired_return
    assert consistent[0] == pytest.approx(1.0, abs=1e-5)
    # The update R - r, which public implementations use, still asks for .668 there.
    naive = commands_along(rewards, first, discount=1.0)[20].desired_return
    assert naive[0] == pytest.approx(0.668, abs=5e-4)


def test_what_is_left_is_kept_between_the_bounds():
    command = Command(jnp.array([10.0, -5.0]), jnp.array(5.0))
    after = command.after(
        jnp.array([-3.0, -1.0]), discount=1.0, upper_bound=jnp.array([12.0, -1.0])
    )
    assert after.desired_return.tolist() == [12.0, -4.0]
    above = command.after(jnp.array([3.0, 9.0]), discount=0.5, lower_bound=jnp.array([0.0, -20.0]))
    assert above.desired_return.tolist() == [14.0, -20.0]  # (10 - 3) / .5; (-5 - 9) / .5 is -28


def test_a_batch_of_commands_is_updated_as_each_of_them():
    rng = np.random.default_rng(1)
    desired, reward = rng.normal(size=(2, 4, 3)).astype(np.float32)
    batch = Command(jnp.asarray(desired), jnp.arange(4.0)).after(
        jnp.asarray(reward), discount=0.9, upper_bound=jnp.zeros(3)
    )
    for row in range(4):
        alone = Command(jnp.asarray(desired[row]), jnp.float32(row)).after(
            jnp.asarray(reward[row]), discount=0.9, upper_bound=jnp.zeros(3)
        )
        np.testing.assert_array_equal(batch.desired_return[row], alone.desired_return)
        assert batch.desired_horizon[row] == alone.desired_horizon


def test_the_update_compiles_to_the_same_numbers():
    command = Command(jnp.array([1.0, 2.0]), jnp.array(7.0))
    update = lambda c, r: c.after(r, discount=0.5)  # noqa: E731
    plain, compiled = (f(command, jnp.array([0.5, -1.0])) for f in (update, jax.jit(update)))
    assert plain.desired_return.tolist() == compiled.desired_return.tolist() == [1.0, 6.0]
