import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.pcn import consolidate as consolidation
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.consolidate import (
    FIRST_CYCLE,
    LAST_LEARNING_RATE,
    consolidate,
    cyclic_learning_rates,
    reproduced,
)
from pcn.algorithms.pcn.dataset import Dataset
from pcn.algorithms.pcn.evaluate import Actor
from pcn.algorithms.pcn.network import fresh_policy
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.rollout import ScriptedAgent, rollout

CONFIG = PCNConfig(episodes_per_iteration=4, capacity=8, batch_size=64, consolidation_updates=4_000)
DOWN, RIGHT = 1, 3
WAYS = [  # to the treasures 1, 3, 16 and 50
    [DOWN],
    [RIGHT, RIGHT, DOWN, DOWN, DOWN],
    [RIGHT] * 5 + [DOWN] * 4,
    [RIGHT] * 7 + [DOWN] * 7,
]


@pytest.fixture(scope="module")
def environment():
    return DeepSeaTreasure()


def dataset_of(environment, ways):
    scripts = np.zeros((4, environment.spec.step_limit, 1), np.int32)
    for number, way in enumerate(ways):
        scripts[number, : len(way), 0] = way
    agents = ScriptedAgent(jnp.asarray(scripts), jnp.zeros(4, jnp.int32))
    dataset = Dataset(environment.spec, CONFIG)
    dataset.add(rollout(environment, agents, jax.random.key(0), 4), count=4)
    return dataset


@pytest.fixture(scope="module")
def dataset(environment):
    return dataset_of(environment, WAYS)


def run(environment, dataset, policy, config=CONFIG, key=(1, 2), batch_size=4, **options):
    return consolidate(
        policy,
        dataset,
        dataset.archive(),
        Actor(environment, batch_size, 1.0),
        config,
        key=np.array(key, np.uint32),
        **{
            "score": reproduced(dataset.archive(), config.return_tolerance),
            "enough": 1.0,
            "executions": 1,
            **options,
        },
    )


@pytest.fixture(scope="module")
def untrained(environment, dataset):
    policy = fresh_policy(environment.spec, CONFIG, np.zeros(2, np.uint32))
    scale = jnp.asarray(dataset.command_scale(), jnp.float32)
    return eqx.tree_at(lambda p: p.command_scale, policy, scale)


@pytest.fixture(scope="module")
def consolidated(environment, dataset, untrained):
    return run(environment, dataset, untrained)


def test_the_archive_becomes_executable(dataset, consolidated):
    archive = dataset.archive()
    assert archive.returns.tolist() == [[1, -1], [3, -5], [16, -9], [50, -14]]
    np.testing.assert_array_equal(consolidated.execution.returns, archive.returns)
    assert 0 < consolidated.num_updates <= CONFIG.consolidation_updates
    assert consolidated.num_steps >= consolidated.execution.num_steps == 1 + 5 + 9 + 14


def test_the_policy_that_went_in_is_not_changed(environment, dataset, untrained, consolidated):
    again = fresh_policy(environment.spec, CONFIG, np.zeros(2, np.uint32))
    np.testing.assert_array_equal(untrained.head.layers[0].weight, again.head.layers[0].weight)
    assert not eqx.tree_equal(consolidated.policy, untrained)


def test_a_policy_that_executes_everything_is_left_alone(environment, dataset, consolidated):
    again = run(environment, dataset, consolidated.policy)
    assert again.num_updates == 0
    assert eqx.tree_equal(again.policy, consolidated.policy)


def test_no_updates_allowed_means_the_policy_as_it_is(environment, dataset, untrained):
    config = dataclasses.replace(CONFIG, consolidation_updates=0)
    result = run(environment, dataset, untrained, config)
    assert result.num_updates == 0
    assert eqx.tree_equal(result.policy, untrained)


class Judge:
    """Gives the executions it is shown the scores of a list, and keeps them; then no points."""

    def __init__(self, *scores):
        self.scores, self.seen = scores, []

    def __call__(self, execution):
        if not any(execution is known for known in self.seen):
            self.seen.append(execution)
        place = next(i for i, known in enumerate(self.seen) if execution is known)
        return self.scores[place] if place < len(self.scores) else 0.0


@pytest.mark.parametrize("scores", [(0.1, 0.9, 0.2, 0.8), (0.5, 0.4, 0.3)])
def test_the_best_executed_copy_is_the_one_that_is_returned(
    scores, environment, dataset, untrained
):
    config = dataclasses.replace(CONFIG, consolidation_updates=400, learning_rate=5e-4)
    judge = Judge(*scores)
    result = run(environment, dataset, untrained, config, score=judge)
    best = judge.seen[int(np.argmax(scores))]
    assert len(judge.seen) > len(scores)
    assert not np.array_equal(judge.seen[-1].returns, best.returns)  # the last one is another
    assert result.execution is best
    again = run(
        environment, dataset, result.policy, dataclasses.replace(config, consolidation_updates=0)
    )
    np.testing.assert_array_equal(again.execution.returns, best.returns)


def test_every_check_costs_its_steps(environment, dataset, untrained):
    config = dataclasses.replace(CONFIG, consolidation_updates=400)
    judge = Judge()
    result = run(environment, dataset, untrained, config, score=judge)
    assert len(judge.seen) > 2
    # Every step costs one: what the executions returned says how many they took.
    assert result.num_steps == -sum(execution.returns[:, 1].sum() for execution in judge.seen)


def test_it_is_given_up_once_nothing_has_become_better_for_long(
    environment, dataset, untrained, monkeypatch
):
    per_round = CONFIG.updates_per_iteration
    monkeypatch.setattr(consolidation, "PATIENCE", 4 * per_round)
    assert run(environment, dataset, untrained, score=Judge()).num_updates == 4 * per_round
    # The second check, after one round, is better: from there on it takes as long again.
    better = run(environment, dataset, untrained, score=Judge(0.1, 0.2))
    assert better.num_updates == 5 * per_round


def test_the_network_s_own_way_to_a_return_takes_the_place_of_the_stored_one(
    environment, dataset, consolidated
):
    own = dataset.scripts(dataset.archive().rows)
    others = [WAYS[0]]
    for way in WAYS[1:]:  # one step down earlier leads to the same goal
        across, down = way.count(RIGHT), way.count(DOWN)
        others.append([RIGHT, DOWN, *[RIGHT] * (across - 1), *[DOWN] * (down - 1)])
    stored = dataset_of(environment, others)
    np.testing.assert_array_equal(stored.archive().returns, dataset.archive().returns)
    before = stored.scripts(stored.archive().rows)
    assert any(not np.array_equal(a, b) for a, b in zip(before, own, strict=True))
    run(environment, stored, consolidated.policy, batch_size=3)  # the last one in another batch
    for a, b in zip(stored.scripts(stored.archive().rows), own, strict=True):
        np.testing.assert_array_equal(a, b)


def test_any_key_will_do(environment, dataset, untrained):
    config = dataclasses.replace(CONFIG, consolidation_updates=CONFIG.updates_per_iteration * 2)
    largest = (1 << 32) - 1
    assert run(environment, dataset, untrained, config, key=(largest, largest)).num_updates > 0


def test_learning_rates_fall_in_cycles_that_double_in_length():
    highest = 3e-3
    rates = cyclic_learning_rates(0, 7 * FIRST_CYCLE, highest)
    starts = [0, FIRST_CYCLE, 3 * FIRST_CYCLE]
    for start, length in zip(starts, [FIRST_CYCLE, 2 * FIRST_CYCLE, 4 * FIRST_CYCLE], strict=True):
        cycle = rates[start : start + length]
        assert cycle[0] == pytest.approx(highest)
        assert np.all(np.diff(cycle) < 0)
        assert cycle[length // 2] == pytest.approx((highest + LAST_LEARNING_RATE) / 2, rel=0.01)
        assert cycle[-1] == pytest.approx(LAST_LEARNING_RATE, rel=0.01)
    assert rates[1:FIRST_CYCLE].max() < highest


def test_learning_rates_do_not_depend_on_where_they_are_cut():
    whole = cyclic_learning_rates(0, 2_000, 1e-2)
    parts = [cyclic_learning_rates(start, 16, 1e-2) for start in range(0, 2_000, 16)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_a_learning_rate_below_the_last_one_stays_as_it_is():
    np.testing.assert_allclose(cyclic_learning_rates(0, 2_000, 1e-5), 1e-5)
