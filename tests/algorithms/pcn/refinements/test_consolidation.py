import dataclasses
import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import Consolidation
from pcn.algorithms.pcn.refinements.consolidation import Consolidating
from pcn.algorithms.pcn.refinements.practice import Practice
from pcn.algorithms.pcn.schedule import UPDATES_AT_ONCE
from pcn.algorithms.pcn.training import Training
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.rollout import ScriptedAgent, rollout

CONSOLIDATION = Consolidation(updates=4_000)
CONFIG = PCNConfig(episodes_per_iteration=4, capacity=8, batch_size=64, refinements=())
FIRST_CYCLE, LAST_LEARNING_RATE = CONSOLIDATION.first_cycle, CONSOLIDATION.last_learning_rate
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


def training_with(environment, ways=WAYS, config=CONFIG, policy=None):
    """A training that has stored an episode for each way, its network untrained if not given."""
    training = Training(environment, config, (), seed=0)
    scripts = np.zeros((len(ways), environment.spec.step_limit, 1), np.int32)
    for number, way in enumerate(ways):
        scripts[number, : len(way), 0] = way
    agents = ScriptedAgent(jnp.asarray(scripts), jnp.zeros(len(ways), jnp.int32))
    training.dataset.add(rollout(environment, agents, jax.random.key(0), len(ways)))
    scale = jnp.asarray(training.dataset.command_scale(), jnp.float32)
    training.learner = eqx.tree_at(
        lambda learner: learner.policy.command_scale, training.learner, scale
    )
    if policy is not None:
        training.learner = eqx.tree_at(lambda learner: learner.policy, training.learner, policy)
    return training


def consolidating(training, settings=CONSOLIDATION, key=(1, 2)):
    return Consolidating(
        settings,
        training,
        training.dataset.archive(),
        key=np.array(key, np.uint32),
    )


def run(training, **options):
    work = consolidating(training, **options)
    while not work.done:
        work.iterate()
    return work


def execute(environment, policy, archive):
    """What a policy returns under the commands of an archive, in a training of its own."""
    fresh = Training(environment, CONFIG, (), seed=0)
    batches = fresh.actor.execute(
        policy,
        archive.returns,
        archive.horizons.astype(float),
        upper_bound=np.full(2, np.inf),
        key=np.zeros(2, np.uint32),
    )
    return Execution.of(batches, executions=1, discount=1.0)


@pytest.fixture(scope="module")
def untrained(environment):
    return training_with(environment).learner.policy


@pytest.fixture(scope="module")
def training(environment):
    return training_with(environment)


@pytest.fixture(scope="module")
def consolidated(training):
    return run(training)


@pytest.mark.slow
def test_the_archive_becomes_executable(environment, training, consolidated):
    archive = training.dataset.archive()
    assert archive.returns.tolist() == [[1, -1], [3, -5], [16, -9], [50, -14]]
    execution = execute(environment, consolidated.contender.policy, archive)
    np.testing.assert_array_equal(execution.returns, archive.returns)
    np.testing.assert_array_equal(consolidated.contender.desired_returns, archive.returns)
    assert 0 < consolidated.num_updates <= CONSOLIDATION.updates


@pytest.mark.slow
def test_its_steps_are_those_that_the_environment_took(training, consolidated):
    assert consolidated.num_steps == training.steps


@pytest.mark.slow
def test_the_policy_that_went_in_is_not_changed(training, untrained, consolidated):
    assert eqx.tree_equal(training.learner.policy, untrained)
    assert not eqx.tree_equal(consolidated.policy, untrained)


@pytest.mark.slow
def test_a_policy_that_executes_everything_is_left_alone(environment, consolidated):
    again = run(training_with(environment, policy=consolidated.policy))
    assert again.num_updates == 0
    assert eqx.tree_equal(again.policy, consolidated.policy)


@pytest.mark.slow
def test_the_copy_that_reproduces_most_is_the_one_that_is_kept(environment, training, monkeypatch):
    marks = iter([1, 3, 2, 2])
    seen = []

    def marked(practice, policy, store):
        seen.append(policy)
        known = np.zeros(len(WAYS), dtype=bool)
        known[: next(marks, 0)] = True
        return known

    monkeypatch.setattr(Practice, "test", marked)
    # No steps are left, so nothing is executed and the tests alone decide.
    broke = training_with(environment)
    broke.runner.steps = broke.config.total_steps
    work = run(broke, settings=Consolidation(updates=400))
    assert len(seen) > 4
    assert eqx.tree_equal(work.policy, seen[1])
    assert work.num_steps == 0


@pytest.mark.slow
def test_checks_leave_enough_steps_to_execute_everything_once(environment):
    for left in (0, 60, 120):
        training = training_with(environment)
        training.runner.steps = training.config.total_steps - left
        work = run(training, settings=Consolidation(updates=400))
        needed = int(training.dataset.archive().horizons.sum())
        assert work.num_steps == 0 or training.steps_left >= needed


@pytest.mark.slow
def test_stuck_episodes_are_broken_off(environment):
    # A network that always goes up stays at the surface to the limit of 200 steps.
    upwards = eqx.tree_at(
        lambda policy: policy.head.layers[-1].bias,
        training_with(environment).learner.policy,
        jnp.array([100.0, 0.0, 0.0, 0.0]),
    )
    training = training_with(environment, policy=upwards)
    horizons = training.dataset.archive().horizons
    lengths = execute(environment, training.learner.policy, training.dataset.archive()).horizons
    assert lengths.min() == 200
    work = run(training, settings=Consolidation(updates=16, check_patience=2.0))
    assert 0 < work.num_steps <= (2 * horizons + 1).sum()


@pytest.mark.slow
def test_it_is_given_up_once_nothing_has_become_better_for_long(environment, monkeypatch):
    monkeypatch.setattr(Practice, "test", lambda *_: np.zeros(len(WAYS), dtype=bool))
    settings = Consolidation(updates=4_000, patience=4 * UPDATES_AT_ONCE)
    training = training_with(environment)
    training.runner.steps = training.config.total_steps
    assert run(training, settings=settings).num_updates == 4 * UPDATES_AT_ONCE


@pytest.mark.slow
def test_where_outcomes_are_random_it_takes_no_environment_steps_and_no_tests(
    environment, monkeypatch
):
    monkeypatch.delattr(Practice, "test")
    training = training_with(environment)
    training.spec = dataclasses.replace(training.spec, deterministic=False)
    work = run(training, settings=Consolidation(stochastic_updates=64))
    assert (work.num_updates, work.num_steps) == (64, 0)
    assert not eqx.tree_equal(work.policy, training.learner.policy)


@pytest.mark.parametrize(
    ("share", "updates"),
    [(1.0, 7_680), (0.5, 512 + 1024 + 2048), (0.25, 512 + 1024), (0.125, 512), (0.0, 512)],
)
def test_of_a_share_of_its_updates_it_takes_whole_cycles(environment, share, updates):
    training = training_with(environment)
    assert Consolidation().most_updates(training) == Consolidation().updates
    training.spec = dataclasses.replace(training.spec, deterministic=False)
    training.share_of_updates = lambda: share
    assert Consolidation().most_updates(training) == updates


@pytest.mark.slow
def test_how_many_updates_it_takes_is_settled_when_it_begins(environment):
    training = training_with(environment)
    training.spec = dataclasses.replace(training.spec, deterministic=False)
    begun = consolidating(training)
    arrays, facts = begun.snapshot()
    training.share_of_updates = lambda: 0.0  # more is known meanwhile
    again = consolidating(training)
    again.restore(arrays, json.loads(json.dumps(facts)))
    assert again.snapshot()[1]["most_updates"] == facts["most_updates"] == 7_680


@pytest.mark.slow
def test_the_network_s_own_way_to_a_return_takes_the_place_of_the_stored_one(
    environment, training, consolidated
):
    own = training.dataset.actions(training.dataset.archive().rows)
    others = [WAYS[0]]
    for way in WAYS[1:]:  # one step down earlier leads to the same goal
        across, down = way.count(RIGHT), way.count(DOWN)
        others.append([RIGHT, DOWN, *[RIGHT] * (across - 1), *[DOWN] * (down - 1)])
    in_two_batches = dataclasses.replace(CONFIG, episodes_per_iteration=3)
    stored = training_with(environment, others, in_two_batches, consolidated.policy)
    rows = stored.dataset.archive().rows
    np.testing.assert_array_equal(rows.returns, training.dataset.archive().returns)
    before = stored.dataset.actions(rows)
    assert not any(np.array_equal(a, b) for a, b in zip(before[1:], own[1:], strict=True))
    run(stored)
    for a, b in zip(stored.dataset.actions(rows), own, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_any_key_will_do(environment):
    settings = Consolidation(updates=2 * UPDATES_AT_ONCE)
    largest = (1 << 32) - 1
    work = run(training_with(environment), settings=settings, key=(largest, largest))
    assert work.num_updates > 0


@pytest.mark.slow
def test_it_goes_on_from_a_snapshot_as_if_nothing_had_happened(environment):
    settings = Consolidation(updates=160)
    whole = training_with(environment)
    work = consolidating(whole, settings)
    for _ in range(4):
        work.iterate()
    arrays, facts = work.snapshot()
    stored = whole.dataset.to_arrays()
    other = training_with(environment)
    other.dataset.from_arrays(stored)
    resumed = consolidating(other, settings)
    resumed.restore(arrays, json.loads(json.dumps(facts)))
    for one in (work, resumed):
        while not one.done:
            one.iterate()
    assert eqx.tree_equal(resumed.policy, work.policy)
    assert (resumed.num_updates, resumed.num_steps) == (work.num_updates, work.num_steps)


def test_learning_rates_fall_in_cycles_that_double_in_length():
    highest = 3e-3
    rates = CONSOLIDATION.learning_rates(0, 7 * FIRST_CYCLE, highest)
    starts = [0, FIRST_CYCLE, 3 * FIRST_CYCLE]
    for start, length in zip(starts, [FIRST_CYCLE, 2 * FIRST_CYCLE, 4 * FIRST_CYCLE], strict=True):
        cycle = rates[start : start + length]
        assert cycle[0] == pytest.approx(highest)
        assert np.all(np.diff(cycle) < 0)
        assert cycle[length // 2] == pytest.approx((highest + LAST_LEARNING_RATE) / 2, rel=0.01)
        assert cycle[-1] == pytest.approx(LAST_LEARNING_RATE, rel=0.01)
    assert rates[1:FIRST_CYCLE].max() < highest


def test_learning_rates_do_not_depend_on_where_they_are_cut():
    whole = CONSOLIDATION.learning_rates(0, 2_000, 1e-2)
    parts = [CONSOLIDATION.learning_rates(start, 16, 1e-2) for start in range(0, 2_000, 16)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_a_learning_rate_below_the_last_one_stays_as_it_is():
    np.testing.assert_allclose(CONSOLIDATION.learning_rates(0, 2_000, 1e-5), 1e-5)
