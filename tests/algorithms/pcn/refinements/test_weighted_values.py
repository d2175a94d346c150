"""Weighted values find what lucky episodes hide, where nothing can be planned with."""

import dataclasses

import gymnasium as gym
import jax
import numpy as np
import pytest

from contending import executed, explored
from pcn.algorithms.pcn.config import PRESETS, PCNConfig
from pcn.algorithms.pcn.network import fresh_head, saved_policy
from pcn.algorithms.pcn.refinements import ExpectedRewards, WeightedValues
from pcn.algorithms.pcn.refinements.valued import learning
from pcn.algorithms.pcn.refinements.valued.value_agent import ValueAgent
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.episodes import Episodes
from pcn.errors import UserError
from pcn.serialisation.arrays import named_arrays
from stalls import (
    CONFIG,
    PAID,
    SETTINGS,
    Stalls,
    StallsOfParts,
    StallsOfTwoChoices,
    StallsWithMasks,
)


def fitted(training, iterations=None):
    fitting = SETTINGS.contender(training, np.array([3, 4], np.uint32))
    while not fitting.done if iterations is None else iterations > 0:
        fitting.iterate()
        iterations = None if iterations is None else iterations - 1
    return fitting


@pytest.fixture(scope="module")
def finished():
    trainer = explored(Stalls(), CONFIG, seed=1)
    steps_before = trainer.steps
    fitting = fitted(trainer._training)
    assert fitting.num_steps == trainer.steps - steps_before > 0
    return trainer._training, fitting


@pytest.mark.slow
def test_sure_returns_are_found_although_a_winning_ticket_dominates_them(finished):
    training, fitting = finished
    assert np.all(training.dataset.archive().returns.max(axis=0) > 8)  # a winning ticket
    contender = fitting.contender
    assert contender.desired_returns.max() < 3.0  # nobody expects 9
    returns = executed(training, contender, 100)
    for paid in PAID:
        assert np.abs(returns - paid).max(axis=1).min() < 0.05
    # Each command is what the values expect, and all but few are what comes.
    missing = np.abs(contender.desired_returns - returns).max(axis=1)
    assert np.median(missing) < 0.3


@pytest.mark.slow
def test_what_masks_forbid_is_neither_expected_nor_taught():
    training = explored(StallsWithMasks(), CONFIG)._training
    fitting = fitted(training)
    lessons = fitting._lessons()
    forbidden = ~np.asarray(lessons.action_masks)[: len(fitting._plans)]
    assert forbidden[:, 1].all()
    assert not np.asarray(lessons.goodness)[: len(fitting._plans)][forbidden].any()
    assert fitting.vectors[:, 1].max() < 1.7  # not the 2 of the closed stall
    returns = executed(training, fitting.contender, 100)
    for paid in PAID[[0, 2]]:
        assert np.abs(returns - paid).max(axis=1).min() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("made", [StallsOfParts, StallsOfTwoChoices])
def test_observations_and_actions_may_have_several_parts(made):
    training = explored(made(), CONFIG)._training
    assert SETTINGS.state(training).seen.steps.observations.shape[1] == 3
    returns = executed(training, fitted(training).contender, 100)
    for paid in PAID:
        assert np.abs(returns - paid).max(axis=1).min() < 0.05


@pytest.mark.slow
def test_agents_take_their_share_of_the_exploring_steps(finished):
    training, _ = finished
    state = SETTINGS.state(training)
    explored_steps = 0.7 * CONFIG.total_steps
    assert state.acted_steps == pytest.approx(SETTINGS.share * explored_steps, rel=0.2)
    assert state.learner.num_updates == pytest.approx(explored_steps, rel=0.1)


@pytest.mark.slow
def test_the_network_that_explores_gets_fewer_updates_once_values_are_learnt(finished):
    training, _ = finished
    fresh = PCNTrainer(Stalls(), CONFIG, seed=1)._training
    assert SETTINGS.share_of_updates(fresh) == 1.0
    assert training.share_of_updates() == SETTINGS.update_share == 0.25


@pytest.mark.slow
def test_half_of_the_agents_act_without_noise(monkeypatch):
    trainer = PCNTrainer(Stalls(), CONFIG, seed=1)
    runner, noises = trainer._training.runner, []
    run = runner.run

    def noted(agents, *others, **options):
        if isinstance(agents, ValueAgent):
            noises.append(agents.noise)
        return run(agents, *others, **options)

    monkeypatch.setattr(runner, "run", noted)
    while len(noises) < 8:
        trainer.iterate()
    assert np.mean(np.concatenate(noises) == 0) == pytest.approx(SETTINGS.quiet_share, abs=0.15)


@pytest.mark.slow
def test_a_fifth_more_updates_follow_exploration_and_leave_the_state_as_it_is(finished):
    training, _ = finished
    state, key = SETTINGS.state(training), np.array([3, 4], np.uint32)
    before = state.to_arrays()
    one, other = (learning.polished(SETTINGS, training, state, key) for _ in range(2))
    updates = float(state.learner.num_updates)
    assert float(one.num_updates) == pytest.approx(1.2 * updates, abs=learning.UPDATES_AT_ONCE)
    for name, array in state.to_arrays().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
    for mine, its in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(mine, its)


@pytest.mark.slow
def test_a_network_is_an_ordinary_one_and_goes_on_from_a_snapshot(finished):
    training, _ = finished
    half = fitted(training, iterations=2)
    half.iterate()  # the practice
    arrays, facts = half.snapshot()
    assert facts["num_practices"] == 1
    restored = SETTINGS.contender(training, np.array([3, 4], np.uint32))
    restored.restore(arrays, facts)
    for one in (half, restored):
        while not one.done:
            one.iterate()
    mine, its = (named_arrays(one.contender.policy, "policy") for one in (half, restored))
    for name, array in mine.items():
        np.testing.assert_array_equal(array, its[name], err_msg=name)
    saved = saved_policy(training.spec, CONFIG, mine)
    for name, array in named_arrays(saved, "policy").items():
        np.testing.assert_array_equal(array, mine[name])


@pytest.mark.slow
def test_a_restored_training_goes_on_as_before():
    trainer = PCNTrainer(Stalls(), CONFIG, seed=1)
    while SETTINGS.state(trainer._training).learner is None:
        trainer.iterate()
    snapshot = trainer.snapshot()
    other = PCNTrainer(Stalls(), CONFIG, seed=1)
    other.restore(snapshot)
    for one in (trainer, other):
        one.iterate()
        one.iterate()
    assert trainer.steps == other.steps
    mine, its = (SETTINGS.state(one._training).to_arrays() for one in (trainer, other))
    assert mine.keys() == its.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, its[name], err_msg=name)


@pytest.mark.slow
def test_expected_rewards_are_left_to_the_values(finished):
    training, _ = finished
    assert ExpectedRewards().is_left_to_others(training)


@pytest.mark.slow
def test_where_observations_repeat_it_is_left_to_planning():
    short = dataclasses.replace(CONFIG, total_steps=1_500)
    training = explored(Stalls(noise=0.0), short)._training
    assert SETTINGS.state(training).learner is None
    assert SETTINGS.state(training).acted_steps == 0
    assert SETTINGS.contender(training, np.array([3, 4], np.uint32)) is None


def training_of_long_episodes(discount, outlook, long_share):
    """A short training in which an episode has had five steps."""
    settings = dataclasses.replace(SETTINGS, longest_outlook=outlook, long_share=long_share)
    short = dataclasses.replace(
        CONFIG,
        total_steps=1_500,
        discount=discount,
        refinements=(*CONFIG.refinements[:-1], settings),
    )
    trainer = PCNTrainer(Stalls(), short, seed=0)
    settings.state(trainer._training).seen.longest = 5
    while trainer._training.exploring_steps_left > 0:
        trainer.iterate()
    return settings, trainer._training


@pytest.mark.slow
@pytest.mark.parametrize(("discount", "learns"), [(1.0, False), (0.5, True)])
def test_values_that_do_not_see_the_end_of_episodes_need_a_share_of_their_own(discount, learns):
    """Episodes are longer than two outlooks: only a discount makes up for that."""
    settings, training = training_of_long_episodes(discount, 2.0 if learns else 1.0, 0.0)
    assert settings.sees_the_end(training) == learns
    assert settings.has_learnt(training) == learns


@pytest.mark.slow
@pytest.mark.parametrize(("found", "share"), [(0.0, 0.05), (0.2, 0.2), (0.6, 0.6), (1.0, 0.8)])
def test_values_that_do_not_see_the_end_act_as_much_as_they_find(found, share, monkeypatch):
    monkeypatch.setattr(WeightedValues, "share_found", lambda *_: found)
    settings, training = training_of_long_episodes(1.0, 1.0, 0.05)
    state = settings.state(training)
    assert settings.has_learnt(training)
    assert settings.acting_share(training) == share
    # They act in whole batches.
    assert state.acted_steps / (0.7 * 1_500) == pytest.approx(share, abs=0.06)
    contender = settings.contender(training, np.array([3, 4], np.uint32))
    assert (contender is not None) == (found >= settings.proven_share)


@pytest.mark.slow
def test_nothing_gives_way_to_values_that_do_not_see_the_end_of_episodes():
    settings, training = training_of_long_episodes(1.0, 1.0, 0.05)
    assert settings.has_learnt(training)
    assert not settings.may_take_over(training)
    assert settings.share_of_updates(training) == 1
    assert not ExpectedRewards().is_left_to_others(training)
    archive = training.dataset.archive().returns
    assert settings.share_found(training) == settings.state(training).share_found(archive)


def test_it_is_on_by_default_only_where_outcomes_are_random_and_seen_as_several_numbers():
    def applies(**others):
        return WeightedValues().applies_to(Stalls(**others).spec)

    assert applies()
    assert not applies(deterministic=True)
    assert applies(masked_actions=True)
    assert not applies(observation_space=gym.spaces.Box(-9, 9, (2,), np.float32))
    assert not applies(observation_space=gym.spaces.Discrete(10**6))
    assert not applies(observation_space=gym.spaces.Box(0, 255, (3, 40, 40), np.uint8))
    assert applies(observation_space=gym.spaces.MultiDiscrete([60] * 4))
    parts = {"place": gym.spaces.Box(-9, 9, (2,), np.float32), "lamps": gym.spaces.MultiBinary(2)}
    assert applies(observation_space=gym.spaces.Dict(parts))


def test_it_needs_few_options_in_all_parts_of_an_action():
    def handles(space):
        return WeightedValues().handles(fresh_head(Stalls(action_space=space).spec, CONFIG))

    assert handles(gym.spaces.Discrete(4))
    assert not handles(gym.spaces.Discrete(40))
    assert handles(gym.spaces.MultiDiscrete([2, 2]))
    assert not handles(gym.spaces.MultiDiscrete([20, 20]))
    assert handles(gym.spaces.Box(-1, 1, (2,), np.float32))  # 11 levels each
    assert not handles(gym.spaces.Box(-1, 1, (3,), np.float32))


def test_presets_of_the_paper_do_without():
    assert "weighted_values" in PCNConfig.of(PRESETS["default"]).to_json()["refinements"]
    for preset in ("paper", "authors"):
        assert "weighted_values" not in PCNConfig.of(PRESETS[preset]).to_json()["refinements"]


def test_an_old_config_that_does_not_name_it_has_it_off():
    content = PCNConfig.of(PRESETS["default"]).to_json()
    del content["refinements"]["weighted_values"]
    assert "weighted_values" not in PCNConfig.recorded(content).to_json()["refinements"]


def test_an_old_config_has_values_as_they_were_then():
    content = PCNConfig.of(PRESETS["default"]).to_json()
    later = (
        "huber_delta_undiscounted",
        "long_share",
        "normalises",
        "num_steps_undiscounted",
        "polishing",
    )
    for name in (*later, "quiet_share"):
        del content["refinements"]["weighted_values"][name]
    old = PCNConfig.recorded(content).to_json()["refinements"]["weighted_values"]
    assert not old["normalises"]
    assert old["quiet_share"] == old["polishing"] == old["long_share"] == 0
    assert old["huber_delta_undiscounted"] == 1
    assert old["num_steps_undiscounted"] == 3


def test_an_old_run_with_actions_of_several_parts_goes_on_without_values():
    content = PCNConfig.of(PRESETS["default"]).to_json()
    recorded = content["refinements"]["weighted_values"]
    del recorded["several_parts"]
    assert recorded_values(content).several_parts, "a run that already had them goes on with them"
    del recorded["normalises"]
    old = recorded_values(content)
    box, choice = (
        fresh_head(Stalls(action_space=space).spec, CONFIG)
        for space in (gym.spaces.Box(-1, 1, (2,), np.float32), gym.spaces.Discrete(4))
    )
    assert WeightedValues().handles(box)
    assert not old.handles(box)
    assert old.handles(choice)


def recorded_values(content):
    kinds = {type(one): one for one in PCNConfig.recorded(content).refinements}
    return kinds[WeightedValues]


def test_a_config_with_settings_that_are_gone_still_opens():
    content = PCNConfig.of(PRESETS["default"]).to_json()
    content["refinements"]["weighted_values"] |= {"trial_share": 0.2, "least_share": 0.05}
    assert PCNConfig.recorded(content) == PCNConfig.of(PRESETS["default"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"share": 1.0},
        {"nearly": 0.0},
        {"plans": 0},
        {"noise": 2},
        {"long_share": 1.0},
        {"huber_delta": 0.0},
    ],
)
def test_impossible_values_are_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        dataclasses.replace(SETTINGS, **wrong)


@pytest.mark.parametrize(("discount", "truncation_ends"), [(1.0, True), (0.95, False)])
def test_values_end_with_truncated_episodes_where_rewards_are_not_discounted(
    discount, truncation_ends
):
    config = dataclasses.replace(CONFIG, discount=discount)
    training = PCNTrainer(Stalls(), config, seed=0)._training
    seen = SETTINGS.fresh_state(training).seen
    batch = Episodes(
        observations=np.zeros((1, 2, 3), np.float32),
        last_observations=np.zeros((1, 3), np.float32),
        actions=np.zeros((1, 2, 1), np.int32),
        rewards=np.zeros((1, 2, training.spec.num_objectives), np.float32),
        lengths=np.array([2]),
        terminated=np.array([False]),
    )
    seen.add(batch, np.zeros((1, 2), np.int32))
    assert seen.steps.terminated.tolist() == [False, truncation_ends]
