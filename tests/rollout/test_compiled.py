"""Rollouts of a compiled environment with masks, two action parts and truncation of its own."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from corridor import CLOSING_TIME, DOOR, FRONT, LEFT, OWN_LIMIT, RIGHT, Corridor, mask_by_hand
from pcn.algorithms import ALGORITHMS
from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe, probe
from pcn.nets.heads import action_head_for
from pcn.rollout import ScriptedAgent, rollout
from pcn.rollout.runner import Runner

pytestmark = pytest.mark.slow

NUM_EPISODES = 64
KEY = np.array([3, 4], np.uint32)


def random_scripts(seed=0, length=OWN_LIMIT):
    rng = np.random.default_rng(seed)
    return rng.integers([3, 2], size=(NUM_EPISODES, length, 2)).astype(np.int32)


def scripted(environment, scripts, *, obeys_masks=True):
    head = action_head_for(environment.spec.action_space) if obeys_masks else None
    return ScriptedAgent(scripts, np.zeros(len(scripts), np.int32), head)


def by_hand(actions):
    """Observations, rewards, masks and the end of an episode with these actions."""
    place, steps = 0, []
    for time, (move, work) in enumerate(actions):
        seen, mask = [place, time], np.concatenate(mask_by_hand(place, time))
        place += move - 1
        steps.append((seen, [float(work), -1.0], mask))
        if place == DOOR or time + 1 == OWN_LIMIT:
            break
    return steps, [place, len(steps)], place == DOOR


def test_every_episode_equals_the_same_episode_by_hand():
    environment = Corridor()
    scripts = random_scripts()
    episodes = rollout(environment, scripted(environment, scripts), KEY, NUM_EPISODES)
    num_replaced = 0
    for number in range(NUM_EPISODES):
        length = int(episodes.lengths[number])
        actions = np.asarray(episodes.actions)[number, :length]
        steps, last, terminated = by_hand(actions)
        assert len(steps) == length
        assert bool(episodes.terminated[number]) == terminated
        assert episodes.last_observations[number].tolist() == last
        for time, (seen, reward, mask) in enumerate(steps):
            assert episodes.observations[number, time].tolist() == seen
            assert episodes.rewards[number, time].tolist() == reward
            assert episodes.action_masks[number, time].tolist() == mask.tolist()
            wanted = scripts[number, time]
            assert mask[actions[time][0]]
            assert mask[3 + actions[time][1]]
            if mask[wanted[0]] and mask[3 + wanted[1]]:
                assert actions[time].tolist() == wanted.tolist()
            else:
                num_replaced += 1
    assert num_replaced > NUM_EPISODES  # at the start alone, half of them want to work
    assert {True, False} == set(np.asarray(episodes.terminated).tolist())
    beyond = ~np.asarray(episodes.valid_mask)
    parts = (episodes.observations, episodes.actions, episodes.rewards, episodes.action_masks)
    for part in parts:
        assert not np.asarray(part)[beyond].any()


def test_what_the_environment_truncates_has_ended_without_terminating():
    environment = Corridor()
    staying = np.tile(np.array([1, 0], np.int32), (3, OWN_LIMIT, 1))
    episodes = rollout(environment, scripted(environment, staying), KEY, 3)
    assert episodes.lengths.tolist() == [OWN_LIMIT] * 3
    assert not episodes.terminated.any()
    assert episodes.ended.all()
    cut = rollout(environment, scripted(environment, staying), KEY, 3, most_steps=OWN_LIMIT - 1)
    assert cut.lengths.tolist() == [OWN_LIMIT - 1] * 3
    assert not cut.ended.any()


class ThreeEnds(Corridor):
    """The first part of an action goes on, terminates or truncates."""

    def step(self, state, action, key):
        outcome = super().step(state, action, key)
        return outcome._replace(terminated=action[0] == 1, truncated=action[0] == 2)

    def action_mask(self, state):
        return jnp.ones(5, bool)


def test_nothing_changes_an_episode_that_has_ended_before_others():
    environment = ThreeEnds()
    go_on, terminate, truncate = range(3)
    scripts = np.zeros((3, 4, 2), np.int32)
    scripts[0, :, 0] = truncate, terminate, terminate, terminate
    scripts[1, :, 0] = go_on, terminate, truncate, truncate
    scripts[2, :, 0] = go_on, go_on, go_on, truncate
    episodes = rollout(environment, scripted(environment, scripts), KEY, 3)
    assert episodes.lengths.tolist() == [1, 2, 4]
    assert episodes.terminated.tolist() == [False, True, False]
    assert episodes.ended.all()
    assert episodes.last_observations[:, 1].tolist() == [1, 2, 4]


def test_the_step_limit_of_the_spec_still_truncates():
    environment = Corridor(step_limit=4)
    staying = np.tile(np.array([1, 0], np.int32), (3, 4, 1))
    episodes = rollout(environment, scripted(environment, staying), KEY, 3)
    assert episodes.lengths.tolist() == [4] * 3
    assert episodes.ended.all()
    assert not episodes.terminated.any()


@pytest.fixture(scope="module")
def as_gymnasium():
    """The same environment, but through Gymnasium."""
    environment = Corridor()
    source = GymnasiumSource("corridor", partial(environment.person_view, None))
    found = Probe((-1.0, -10.0), True, True, environment.spec.step_limit)
    return GymnasiumEnvironment.from_source(source, found, num_slots=3)


@pytest.mark.parametrize("most_steps", [None, 4])
def test_compiled_and_through_gymnasium_the_episodes_are_the_same(as_gymnasium, most_steps):
    compiled = Corridor()
    allowed = rollout(compiled, scripted(compiled, random_scripts()), KEY, NUM_EPISODES)
    scripts = np.asarray(allowed.actions)[:, :OWN_LIMIT]
    both = [
        rollout(
            environment,
            scripted(environment, scripts, obeys_masks=False),
            KEY,
            NUM_EPISODES,
            most_steps=most_steps,
        )
        for environment in (compiled, as_gymnasium)
    ]
    assert len(set(both[0].lengths.tolist())) > 2 or most_steps
    jax.tree.map(np.testing.assert_array_equal, *both)


def test_probing_finds_what_the_spec_says():
    source = GymnasiumSource("corridor", partial(Corridor().person_view, None))
    found = probe(source)
    assert (found.deterministic, found.masked_actions) == (True, True)
    # Each of 20 episodes at least once more; none has fewer than 3 steps or more than 6.
    assert found.num_episodes >= 40
    assert 3 * found.num_episodes <= found.num_steps <= OWN_LIMIT * found.num_episodes


ENOUGH_TO_LEARN = {
    "pcn": {
        "total_steps": 6_000,
        "warmup_episodes": 32,
        "episodes_per_iteration": 32,
        "updates_per_iteration": 32,
    },
}


def forbidden_actions(episodes):
    """How many of the actions that were taken are forbidden, by hand."""
    places, times = np.moveaxis(np.asarray(episodes.observations), -1, 0)
    moves, work = np.moveaxis(np.asarray(episodes.actions), -1, 0)
    forbidden = (
        ((moves == LEFT) & (places == 0))
        | ((moves == RIGHT) & (places == DOOR - 1) & (times >= CLOSING_TIME))
        | ((work == 1) & (times == 0))
    )
    return int(forbidden[np.asarray(episodes.valid_mask)].sum())


@pytest.mark.parametrize("name", ALGORITHMS)
def test_training_never_takes_a_forbidden_action(name, monkeypatch):
    run, batches = Runner.run, []

    def watched(self, *arguments, **options):
        batches.append(run(self, *arguments, **options))
        return batches[-1]

    monkeypatch.setattr(Runner, "run", watched)
    algorithm = ALGORITHMS[name]
    config = algorithm.config_class.of({"total_steps": 1_500}, ENOUGH_TO_LEARN.get(name, {}))
    trainer = algorithm.trainer(Corridor(), config, seed=0)
    while not trainer.done:
        trainer.iterate()
    assert sum(episodes.num_steps for episodes in batches) == trainer.steps  # all were seen
    assert [forbidden_actions(episodes) for episodes in batches] == [0] * len(batches)
    executed = trainer.outcome().coverage_set.executed
    for point in executed:
        assert any(np.all(np.asarray(best) >= point) for best in FRONT)
    if name == "pcn":
        np.testing.assert_allclose(executed, FRONT)


def test_actions_that_ignore_masks_are_counted():
    environment = Corridor()
    agents = scripted(environment, random_scripts(), obeys_masks=False)
    # The test above can fail: half of these work at the first step, a third go left.
    assert forbidden_actions(rollout(environment, agents, KEY, NUM_EPISODES)) > NUM_EPISODES / 2
