import dataclasses

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.pcn.config import PRESETS, PCNConfig
from pcn.algorithms.pcn.refinements import LongerWarmUp, StickyActions, StoredEvaluations
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.errors import UserError
from pcn.pareto import unique_front
from sizes import tiny

pytestmark = pytest.mark.slow

SMALL = PCNConfig.of(tiny("pcn"), {"total_steps": 300, "consolidation.updates": 8})


def trained(environment, config, seed):
    trainer = PCNTrainer(environment, config, seed=seed)
    while not trainer.done:
        trainer.iterate()
    return trainer.outcome()


@pytest.mark.parametrize("seed", [100, 101])
def test_deep_sea_treasure_is_solved_within_20_000_steps(seed):
    environment = DeepSeaTreasure()
    outcome = trained(environment, PCNConfig(total_steps=20_000), seed)
    front = outcome.coverage_set.front
    np.testing.assert_array_equal(front[unique_front(front)], environment.spec.front.returns)


def test_the_paper_s_own_settings_learn_the_fork_without_consolidation(fork):
    config = PCNConfig.of(PRESETS["paper"], {"total_steps": 3_000})
    outcome = trained(fork, config, 100)
    assert "consolidation" not in outcome.facts
    reached = set(map(tuple, outcome.coverage_set.front.tolist()))
    assert reached == {(1.0, 3.0), (2.0, 1.0)}


def test_a_front_smaller_than_warm_up_hopes_for_leaves_most_of_the_budget(fork):
    trainer = PCNTrainer(fork, dataclasses.replace(SMALL, total_steps=2_000), seed=0)
    assert len(fork.spec.front.returns) < LongerWarmUp().trade_offs
    trainer.iterate()
    assert trainer.steps < 1_000


def test_an_iteration_reports_where_training_stands():
    trainer = PCNTrainer(DeepSeaTreasure(), SMALL, seed=0)
    assert trainer.steps == 0
    assert not trainer.done
    before = 0
    phases = []
    while not trainer.done:
        progress = trainer.iterate()
        phases.append(progress.phase)
        assert progress.steps == trainer.steps >= before
        assert progress.phase != "training" or progress.steps > before
        assert np.isfinite(progress.loss)
        assert len(unique_front(progress.archive)) == len(progress.archive) > 0
        before = progress.steps
    assert 0.7 * SMALL.total_steps <= trainer.steps <= SMALL.total_steps
    order = ["training", "consolidating", "executing"]
    assert phases == sorted(phases, key=order.index)
    assert set(phases) == set(order)


def test_random_episodes_that_take_the_whole_budget_are_training(fork):
    config = dataclasses.replace(SMALL, total_steps=40, warmup_episodes=40, warmup_share=1.0)
    trainer = PCNTrainer(fork, config, seed=0)
    progress = trainer.iterate()
    assert progress.steps > 0
    assert progress.phase == "training"
    assert trainer.iterate().phase == "consolidating"


def test_evaluations_are_as_many_as_asked_for_and_their_steps_count():
    for store in (True, False):
        kept = (StickyActions(), *([StoredEvaluations()] if store else []))
        config = dataclasses.replace(SMALL, total_steps=3_000, evaluations=3, refinements=kept)
        trainer = PCNTrainer(DeepSeaTreasure(), config, seed=0)
        trainer.iterate()  # the warm-up may skip over the first evaluation
        seen = 0
        while not trainer.done:
            steps = trainer.steps
            progress = trainer.iterate()
            if progress.execution is not None:
                seen += 1
                executed = -progress.execution.executed[:, 1].sum()  # every step costs one
                assert trainer.steps - steps > executed
        assert 1 <= seen <= 3


def test_an_evaluation_counts_the_commands_that_were_stuck():
    config = dataclasses.replace(
        SMALL, total_steps=3_000, evaluations=20, evaluation_share=1.0, refinements=()
    )
    trainer = PCNTrainer(DeepSeaTreasure(), config, seed=0)
    stuck = []
    while not trainer.done:
        progress = trainer.iterate()
        if progress.execution is not None:
            stuck.append(progress.execution.num_stopped)
            assert len(progress.execution) + stuck[-1] == len(progress.archive)
    assert max(stuck) > 0


def test_no_evaluations_means_none():
    trainer = PCNTrainer(DeepSeaTreasure(), dataclasses.replace(SMALL, evaluations=0), seed=0)
    while not trainer.done:
        assert trainer.iterate().execution is None


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [("command_scale", (0.1, 0.1), 3), ("bounded_commands.upper_bound", (1.0, 1.0, 1.0), 2)],
)
def test_settings_of_another_number_of_objectives_are_refused(name, value, expected):
    config = PCNConfig.of({name: value})
    message = f"{name.rpartition('.')[2]} has {len(value)} numbers, expected {expected}"
    with pytest.raises(UserError, match=message):
        ALGORITHMS["pcn"].trainer(DeepSeaTreasure(), config, seed=0)


@pytest.mark.parametrize("name", ["coin", "hidden_counter"])
def test_toys_train_to_the_end(name, request):
    environment = request.getfixturevalue(name)
    outcome = trained(environment, SMALL, 0)
    coverage_set = outcome.coverage_set
    assert len(coverage_set) > 0
    if name == "coin":  # several executions each
        assert coverage_set.deviation.any()
    else:  # loops that are none fooled nobody: k presses and a payment cost k + 1 steps
        requested = coverage_set.requested
        np.testing.assert_array_equal(requested[:, 1], -(requested[:, 0] + 1))


def test_single_integers_can_be_observed(make_fork):
    environment = make_fork(gym.spaces.Discrete(2))
    assert len(trained(environment, SMALL, 0).coverage_set) > 0


def test_the_agent_of_a_finished_run_repeats_its_execution():
    environment = DeepSeaTreasure()
    algorithm, outcome = ALGORITHMS["pcn"], trained(environment, SMALL, 0)
    step = jax.jit(environment.step)
    act = eqx.filter_jit(lambda agent, seen: agent.act(seen, jax.random.key(0)))
    for index in range(len(outcome.coverage_set)):
        agent = algorithm.agent(
            environment.spec, SMALL, outcome.arrays, outcome.coverage_set, index
        )
        state, total = environment.reset(jax.random.key(0)), np.zeros(2)
        for _ in range(environment.spec.step_limit):
            action = act(agent, environment.observation(state))
            state, reward, terminated, *_ = step(state, action[0], jax.random.key(0))
            agent = agent.observing(action, reward)
            total += np.asarray(reward)
            if terminated:
                break
        np.testing.assert_array_equal(total, outcome.coverage_set.executed[index])
        assert jnp.all(agent.command.desired_return <= outcome.arrays["upper_bound"] + 1e-4)
