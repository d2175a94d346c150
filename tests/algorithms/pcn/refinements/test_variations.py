"""Front episodes played again with a few actions changed."""

import dataclasses

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import Planning, Variations, WeightedValues
from pcn.algorithms.pcn.refinements.scripts import Alike
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.pcn.training import Training
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.minecart import Minecart
from pcn.envs.walkroom import Walkroom
from pcn.nets.heads import action_head_for

UP, DOWN, LEFT, RIGHT = range(4)
CONFIG = PCNConfig(
    total_steps=3_000,
    episodes_per_iteration=8,
    warmup_episodes=8,
    updates_per_iteration=1,
    evaluations=0,
    refinements=(Variations(),),
)
VARIATIONS = Variations()


def drawing_of(*sizes):
    return action_head_for(gym.spaces.MultiDiscrete(sizes)).changed_row


def script(*actions):
    return np.asarray(actions, np.int32)[:, None]


scripts = st.lists(st.integers(0, 3), min_size=1, max_size=8).map(lambda actions: script(*actions))


@given(scripts, st.integers(0, 10_000))
def test_edits_stay_within_the_action_space_and_never_empty_a_script(original, seed):
    kept = original.copy()
    changed = VARIATIONS.edited(original, drawing_of(4), np.random.default_rng(seed))
    assert len(changed) >= 1
    assert changed.dtype == original.dtype
    assert np.all((changed >= 0) & (changed < 4))
    np.testing.assert_array_equal(original, kept)


def test_one_edit_reaches_every_neighbour_and_edits_can_follow_one_another():
    rng = np.random.default_rng(0)
    reached = {
        tuple(VARIATIONS.edited(script(0, 1), drawing_of(2), rng)[:, 0]) for _ in range(2_000)
    }
    one_edit_away = {
        (0, 0), (1, 1), (0, 1),  # replaced, perhaps by itself
        (0,), (1,),  # dropped
        (0, 0, 1), (1, 0, 1), (0, 1, 1),  # added
        (1, 0),  # moved
    }  # fmt: skip
    assert one_edit_away <= reached
    assert any(len(actions) >= 4 for actions in reached)


def test_each_part_of_an_action_has_its_own_range():
    rng = np.random.default_rng(1)
    original = np.zeros((3, 2), np.int32)
    changed = np.concatenate(
        [VARIATIONS.edited(original, drawing_of(2, 5), rng) for _ in range(500)]
    )
    assert changed.max(axis=0).tolist() == [1, 4]


@given(scripts, scripts, st.integers(0, 10_000))
def test_a_cross_is_a_beginning_and_an_end(first, second, seed):
    joined = VARIATIONS.joined(first, second, np.random.default_rng(seed))
    found = False
    for cut in range(len(first)):
        for end in range(max(0, cut - VARIATIONS.shift), cut + VARIATIONS.shift + 1):
            candidate = np.concatenate([first[:cut], second[end:]])
            found = found or (len(candidate) > 0 and np.array_equal(candidate, joined))
    assert found or np.array_equal(joined, second)


def test_variations_are_crossed_or_edited_or_both():
    rng = np.random.default_rng(2)
    first, second = script(*[0] * 6), script(*[1] * 6)
    made = [VARIATIONS.varied(first, second, drawing_of(3), rng)[:, 0] for _ in range(400)]
    assert any(2 in actions and 1 not in actions for actions in made)  # edited
    assert any(2 in actions and np.sum(actions == 1) > 2 for actions in made)  # both
    assert any(2 not in actions and np.sum(actions == 1) > 2 for actions in made)  # crossed


def played(ways):
    training = Training(DeepSeaTreasure(), CONFIG, (VARIATIONS,), seed=0)
    return VARIATIONS.play(training, ways, training.learner.policy.action_head)


def test_played_actions_return_what_those_actions_return():
    ways = [script(DOWN), script(RIGHT, DOWN, DOWN), script(RIGHT, UP, RIGHT, DOWN, DOWN, DOWN)]
    episodes = played(ways)
    assert episodes.returns().tolist() == [[1.0, -1.0], [2.0, -3.0], [3.0, -6.0]]
    assert np.asarray(episodes.terminated).all()


def test_what_does_not_arrive_goes_on_a_little_and_is_broken_off():
    one_short, nowhere = script(RIGHT, DOWN), script(LEFT, LEFT)
    episodes = played([one_short, nowhere])
    assert np.asarray(episodes.terminated).tolist() == [True, False]
    assert np.asarray(episodes.lengths).tolist() == [3, 2 + VARIATIONS.extra_steps]


def with_variations_only(environment, seed=0):
    """A trainer whose stored episodes come from warm-up and variations alone."""
    trainer = PCNTrainer(environment, CONFIG, seed=seed)
    trainer._warm_up()
    for _ in range(40):
        VARIATIONS.after_exploring(trainer._training)
    return trainer


@pytest.mark.slow
def test_variations_alone_improve_the_front():
    sea = DeepSeaTreasure()
    before = PCNTrainer(sea, CONFIG, seed=0)
    before._warm_up()
    after = with_variations_only(sea)
    known, found = (t._training.dataset.archive().returns for t in (before, after))
    assert len(found) > len(known)
    for point in known:  # nothing is lost
        assert np.any(np.all(found >= point, axis=1))
    true = {tuple(point) for point in sea.spec.front.returns}
    assert sum(tuple(point) in true for point in found) > sum(tuple(p) in true for p in known)


@pytest.mark.slow
def test_every_step_of_a_variation_is_counted():
    room = Walkroom(2, size=8)
    trainer = PCNTrainer(room, CONFIG, seed=0)
    trainer._warm_up()
    before, rows = trainer.steps, len(trainer._training.dataset)
    VARIATIONS.after_exploring(trainer._training)
    # Eight walks of two steps at least; only what adds to the front is stored.
    assert trainer.steps >= before + 2 * 8
    assert len(trainer._training.dataset) < rows + 8


def steps_of_variations(*others):
    """How many steps variations take in a stochastic environment, beside other refinements."""
    config = dataclasses.replace(CONFIG, total_steps=50_000, refinements=(*others, VARIATIONS))
    trainer = PCNTrainer(Minecart(stochastic=True), config, seed=0)
    trainer._warm_up()
    before = trainer.steps
    VARIATIONS.after_exploring(trainer._training)
    return trainer.steps - before


@pytest.mark.slow
def test_episodes_are_varied_where_outcomes_are_stochastic_and_nothing_else_is_made_for_that():
    assert steps_of_variations() > 0


def test_a_run_from_before_that_goes_on_without_it():
    fields = dataclasses.asdict(VARIATIONS)
    del fields["stochastic"]
    before = PCNConfig.recorded({"refinements": {"variations": fields}})
    assert before.refinements == (Variations(stochastic=False),)
    assert not before.refinements[0].applies_to(Minecart(stochastic=True).spec)
    assert before.refinements[0].applies_to(Minecart().spec)


def test_continuous_actions_are_varied_only_where_outcomes_are_certain():
    still = dataclasses.replace(Minecart().spec, action_space=gym.spaces.Box(-1.0, 1.0, (2,)))
    assert VARIATIONS.applies_to(still)
    assert not VARIATIONS.applies_to(dataclasses.replace(still, deterministic=False))


@pytest.mark.slow
def test_nothing_is_varied_while_a_model_may_be_planned_with():
    assert steps_of_variations(Planning()) == 0
    # Hardly any observation was seen before: no model is made of them.
    assert steps_of_variations(Planning(window=256)) > 0


@pytest.mark.slow
def test_nothing_is_varied_where_values_look_far_enough_ahead():
    assert steps_of_variations(WeightedValues(longest_outlook=1_000.0)) == 0
    assert steps_of_variations(WeightedValues(longest_outlook=2.0)) > 0


def test_actions_with_the_return_of_a_stored_episode_are_varied_like_it():
    straight, around = script(RIGHT, DOWN, DOWN), script(DOWN, RIGHT, DOWN)
    alike, front = Alike(), np.array([[2.0, -3.0], [1.0, -1.0]])
    alike.follow(front)
    for place in range(3):  # with room for two, the third one replaces the first one
        alike.add(front[0], straight + place, 2, 2 * place)
    assert [actions[0, 0] for actions in alike.at(front[0])] == [
        straight[0, 0] + 2,
        straight[0, 0] + 1,
    ]
    assert alike.at(front[1]) == []
    rng = np.random.default_rng(0)
    drawn = [VARIATIONS._one_of(straight, [around], rng) for _ in range(50)]
    assert any(one is straight for one in drawn)
    assert any(one is around for one in drawn)
    alike.follow(front[1:])
    alike.follow(front)
    assert alike.at(front[0]) == []  # a return that has left the front is forgotten


def test_episodes_of_equal_return_are_noted():
    training = Training(DeepSeaTreasure(), CONFIG, (VARIATIONS,), seed=0)
    head = training.learner.policy.action_head
    ways = [script(RIGHT, DOWN, DOWN), script(RIGHT, UP, RIGHT, DOWN, DOWN, DOWN)]
    episodes = VARIATIONS.play(training, ways, head)
    training.dataset.add(episodes)
    alike, front = Alike(), training.dataset.archive().returns
    alike.follow(front)
    VARIATIONS._note_alike(alike, episodes, episodes.returns(), front[:1], training)
    known = [len(alike.at(point)) for point in front]
    assert known == [1, 0]
    restored = Alike()
    restored.from_arrays(alike.to_arrays())
    np.testing.assert_array_equal(restored.at(front[0])[0], alike.at(front[0])[0])
