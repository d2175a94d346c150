"""The network explores less while it finds nothing and others do."""

from dataclasses import replace

import numpy as np
import pytest

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import GivingWay, Variations
from pcn.algorithms.pcn.refinements.giving_way import Finds
from pcn.algorithms.pcn.refinements.scripts import play_scripts
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.pcn.training import Training
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.minecart import Minecart

GIVING = GivingWay(share=0.1, patience=0.01, fewest_steps=0)
CONFIG = PCNConfig(
    total_steps=20_000,
    episodes_per_iteration=8,
    warmup_episodes=8,
    updates_per_iteration=1,
    evaluations=0,
    refinements=(GIVING,),
)
EMPTY = [2, 3, 2, 1, 1, 1, 1, 1, 1, 1]  # out of the base and back


def training_with(finds):
    training = Training(Minecart(), CONFIG, (GIVING,), seed=0)
    script = np.array(EMPTY, np.int32)[:, None]
    head = training.learner.policy.action_head
    episodes = play_scripts(training, [script], head, most_steps=np.array([len(script)]))
    training.dataset.add(episodes)
    training.runner.steps = 10_000
    memory = GIVING.state_in(training, Finds)
    memory.by_network, memory.by_others, memory.taken = finds
    return training


@pytest.mark.parametrize(
    ("finds", "explores"),
    [
        ((5_000, 4_000, 5_000), True),  # others have found nothing since
        ((5_000, 6_000, 700), True),  # 200 and a tenth of 5,000
        ((5_000, 6_000, 701), False),
    ],
)
def test_the_network_gives_way_once_only_others_find_something(finds, explores):
    assert GIVING.lets_explore(training_with(finds)) == explores


def test_the_network_explores_where_nothing_else_takes_steps():
    training = training_with((5_000, 6_000, 5_000))
    assert not GIVING.lets_explore(training)
    assert GIVING.lets_explore(training)


def test_with_a_small_budget_the_network_always_explores():
    training = training_with((5_000, 6_000, 5_000))
    assert replace(GIVING, fewest_steps=CONFIG.total_steps + 1).lets_explore(training)


def test_what_is_found_counts_for_who_found_it():
    training = training_with((1_000, 500, 50))
    finds = GIVING.state_in(training, Finds)
    script = np.array(EMPTY[:1] * 2 + EMPTY, np.int32)[:, None]
    head = training.learner.policy.action_head
    worse = play_scripts(training, [script], head, most_steps=np.array([len(script)]))
    GIVING.lets_explore(training)
    GIVING.after_storing(training, worse)
    assert (finds.by_network, finds.taken) == (1_000, 50 + worse.num_steps)
    GIVING.after_exploring(training)
    assert finds.by_others == 500
    GIVING.lets_explore(training)
    there = np.array([3, 2, 5, 5, 1, 2, 2, 4, 0, 2, 2, 3, 2, 2, 1, 2, 1], np.int32)[:, None]
    ore = play_scripts(training, [there], head, most_steps=np.array([len(there)]))
    training.dataset.add(ore)
    GIVING.after_exploring(training)
    assert finds.by_others == training.steps
    assert finds.by_network == 1_000


def test_variations_go_on_while_the_network_gives_way():
    trainer = PCNTrainer(Minecart(), replace(CONFIG, refinements=(Variations(), GIVING)), seed=1)
    trainer.iterate()
    training, stored = trainer._training, []
    finds = training.states["GivingWay"]
    assert isinstance(finds, Finds)
    finds.by_network, finds.by_others, finds.taken = 0, training.steps, 10 * training.steps
    trainer._store = stored.append
    before = training.steps
    trainer.iterate()
    assert training.steps > before
    assert not stored
    finds.taken = 0
    trainer.iterate()
    assert len(stored) == 1


def test_only_where_real_numbers_are_observed_and_outcomes_are_certain():
    assert GIVING.applies_to(Minecart().spec)
    assert not GIVING.applies_to(Minecart(stochastic=True).spec)
    assert not GIVING.applies_to(DeepSeaTreasure().spec)
