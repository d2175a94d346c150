import numpy as np
import pytest

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.evaluate import Actor, execute
from pcn.algorithms.pcn.exploration import Randomness
from pcn.algorithms.pcn.network import fresh_policy
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.metrics import reached_mask

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


def test_executing_in_batches_is_executing_one_by_one(policy):
    environment = DeepSeaTreasure()
    desired, horizons = commands(7)
    options = {"key": KEY, "upper_bound": NO_BOUND}
    batches, kept = [], []
    for size in (3, 10):
        keep = lambda episodes, count: kept.append(episodes.returns()[:count])  # noqa: E731
        execution = execute(
            Actor(environment, size, 1.0), policy, desired, horizons, keep=keep, **options
        )
        batches.append(execution)
    for execution in batches:
        np.testing.assert_array_equal(execution.returns, batches[0].returns)
        assert execution.num_steps == batches[0].num_steps
        assert not execution.deviation.any()
    # Three batches of 3, one of 10; what fills up a batch is not counted.
    assert [len(returns) for returns in kept] == [3, 3, 1, 7]
    np.testing.assert_array_equal(np.concatenate(kept[:3]), batches[0].returns)
    assert len(np.unique(batches[0].returns, axis=0)) > 2  # commands cannot be mixed up unnoticed
    twice = execute(Actor(environment, 10, 1.0), policy, desired, horizons, executions=2, **options)
    np.testing.assert_array_equal(twice.returns, batches[0].returns)
    assert not twice.deviation.any()
    assert twice.num_steps == 2 * batches[0].num_steps


def test_repeated_executions_are_averaged_per_command(coin):
    policy = fresh_policy(coin.spec, PCNConfig(), np.array([0, 1], np.uint32))
    desired, horizons = commands(3)
    kept = []
    execution = execute(
        Actor(coin, 8, 1.0),
        policy,
        desired,
        horizons,
        key=KEY,
        upper_bound=NO_BOUND,
        executions=40,
        keep=lambda episodes, count: kept.append(episodes.returns()[:count]),
    )
    returns = np.concatenate(kept)  # commands 0 1 2 0 1 2 ...
    assert returns.shape == (120, 2)
    for command in range(3):
        np.testing.assert_allclose(execution.returns[command], returns[command::3].mean(axis=0))
        np.testing.assert_allclose(execution.deviation[command], returns[command::3].std(axis=0))
    assert execution.num_steps == 120 * 5
    assert len(np.unique(returns, axis=0)) > 3  # batches have luck of their own
    # Five tosses worth 2 each: mean 5, deviation sqrt(5).
    np.testing.assert_allclose(execution.returns, 5, atol=1.5)
    np.testing.assert_allclose(execution.deviation, np.sqrt(5), atol=0.8)


def test_any_key_will_do(coin):
    policy = fresh_policy(coin.spec, PCNConfig(), np.array([0, 1], np.uint32))
    desired, horizons = commands(5)
    largest = np.full(2, (1 << 32) - 1, np.uint32)
    execution = execute(
        Actor(coin, 8, 1.0),
        policy,
        desired,
        horizons,
        key=largest,
        upper_bound=NO_BOUND,
        executions=4,
    )
    assert np.isfinite(execution.returns).all()


def test_desired_returns_above_the_bound_act_like_the_bound(policy):
    actor = Actor(DeepSeaTreasure(), 3, 1.0)
    bound = np.array([5.0, -2.0])
    high, low = np.full((3, 2), 1e6), np.tile(bound, (3, 1))
    episodes = [
        actor.run(policy, desired, np.full(3, 9.0), Randomness.none(3), upper_bound=bound, key=KEY)
        for desired in (high, low)
    ]
    np.testing.assert_array_equal(episodes[0].actions, episodes[1].actions)


def test_reaching_means_at_least_as_much_in_every_objective():
    desired = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    executed = np.array([[1.0, 2.0], [5.0, 1.9], [1.0 - 5e-4, 2.0], [1.5, 2.5]])
    assert reached_mask(desired, executed, 1e-3).tolist() == [True, False, True, True]
    assert reached_mask(desired, executed, 0.0).tolist() == [True, False, False, True]
