import numpy as np
import pytest

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.acting import Actor
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.network import fresh_policy
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.metrics import reached_mask
from pcn.rollout.runner import Runner

pytestmark = pytest.mark.slow

KEY = np.array([3, 4], np.uint32)
NO_BOUND = np.full(2, np.inf)


def commands(num_commands):
    rng = np.random.default_rng(0)
    return rng.uniform(-50, 50, (num_commands, 2)), rng.uniform(1, 30, num_commands)


@pytest.fixture(scope="module")
def policy():
    config = PCNConfig(
        gate="sigmoid", hidden_layers=1
    )  # untrained, it already tells commands apart
    return fresh_policy(DeepSeaTreasure().spec, config, np.array([0, 4], np.uint32))


def actor(environment, batch_size):
    return Actor(Runner(environment), batch_size, 1.0)


def real_returns(episodes):
    return episodes.returns()[np.asarray(episodes.real_mask)]


def test_executing_in_batches_is_executing_one_by_one(policy):
    environment = DeepSeaTreasure()
    desired, horizons = commands(7)
    options = {"key": KEY, "upper_bound": NO_BOUND}
    executions, kept = [], []
    for size in (3, 10):
        acting = actor(environment, size)
        batches = list(acting.execute(policy, desired, horizons, **options))
        kept += [real_returns(episodes) for episodes in batches]
        executions.append(Execution.of(batches, executions=1, discount=1.0))
        assert acting.runner.steps == executions[-1].num_steps  # padding costs nothing
    for execution in executions:
        np.testing.assert_array_equal(execution.returns, executions[0].returns)
        assert execution.num_steps == executions[0].num_steps
        assert not execution.deviation.any()
    # Three batches of 3, one of 10; what fills up a batch is not counted.
    assert [len(returns) for returns in kept] == [3, 3, 1, 7]
    np.testing.assert_array_equal(np.concatenate(kept[:3]), executions[0].returns)
    # Commands cannot be mixed up unnoticed.
    assert len(np.unique(executions[0].returns, axis=0)) > 2
    batches = actor(environment, 10).execute(policy, desired, horizons, executions=2, **options)
    twice = Execution.of(batches, executions=2, discount=1.0)
    np.testing.assert_array_equal(twice.returns, executions[0].returns)
    assert not twice.deviation.any()
    assert twice.num_steps == 2 * executions[0].num_steps


def test_repeated_executions_are_averaged_per_command(coin):
    policy = fresh_policy(coin.spec, PCNConfig(), np.array([0, 1], np.uint32))
    desired, horizons = commands(3)
    batches = list(
        actor(coin, 8).execute(
            policy, desired, horizons, key=KEY, upper_bound=NO_BOUND, executions=40
        )
    )
    execution = Execution.of(batches, executions=40, discount=1.0)
    returns = np.concatenate([real_returns(episodes) for episodes in batches])  # 0 1 2 0 1 2 ...
    assert returns.shape == (120, 2)
    for command in range(3):
        np.testing.assert_allclose(execution.returns[command], returns[command::3].mean(axis=0))
        deviation = returns[command::3].std(axis=0, ddof=1)
        np.testing.assert_allclose(execution.deviation[command], deviation)
    assert execution.num_steps == 120 * 5
    # Each batch draws random numbers of its own: no two of the 15 batches are alike.
    assert len({real_returns(episodes).tobytes() for episodes in batches}) == len(batches)
    # Five tosses worth 2 each: mean 5, deviation sqrt(5).
    np.testing.assert_allclose(execution.returns, 5, atol=1.5)
    np.testing.assert_allclose(execution.deviation, np.sqrt(5), atol=0.8)


def test_batches_can_be_left_out_without_effect_on_the_others(coin):
    policy = fresh_policy(coin.spec, PCNConfig(), np.array([0, 1], np.uint32))
    desired, horizons = commands(5)
    options = {"key": KEY, "upper_bound": NO_BOUND, "executions": 4}
    whole = list(actor(coin, 8).execute(policy, desired, horizons, **options))
    late = list(actor(coin, 8).execute(policy, desired, horizons, skip=1, **options))
    assert len(late) == len(whole) - 1 == 2
    for one, other in zip(late, whole[1:], strict=True):
        np.testing.assert_array_equal(one.returns(), other.returns())


def test_any_key_will_do(coin):
    policy = fresh_policy(coin.spec, PCNConfig(), np.array([0, 1], np.uint32))
    desired, horizons = commands(5)
    largest = np.full(2, (1 << 32) - 1, np.uint32)
    batches = actor(coin, 8).execute(
        policy, desired, horizons, key=largest, upper_bound=NO_BOUND, executions=4
    )
    execution = Execution.of(batches, executions=4, discount=1.0)
    assert np.isfinite(execution.returns).all()


def test_desired_returns_above_the_bound_act_like_the_bound(policy):
    acting = actor(DeepSeaTreasure(), 3)
    bound = np.array([5.0, -2.0])
    high, low = np.full((3, 2), 1e6), np.tile(bound, (3, 1))
    episodes = [
        acting.run(policy, desired, np.full(3, 9.0), upper_bound=bound, key=KEY)
        for desired in (high, low)
    ]
    np.testing.assert_array_equal(episodes[0].actions, episodes[1].actions)


def test_reaching_means_at_least_as_much_in_every_objective():
    desired = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    executed = np.array([[1.0, 2.0], [5.0, 1.9], [1.0 - 5e-4, 2.0], [1.5, 2.5]])
    assert reached_mask(desired, executed, 1e-3).tolist() == [True, False, True, True]
    assert reached_mask(desired, executed, 0.0).tolist() == [True, False, False, True]
