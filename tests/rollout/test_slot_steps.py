"""The latest steps of all slots reach the recorder whole, and their rows are used once."""

import numpy as np

from pcn.nets.heads.categorical import CategoricalHead
from pcn.rollout.agent import plain_method
from pcn.rollout.recorder import Recorder
from pcn.rollout.slot_steps import STEPS_AT_ONCE, SlotSteps


class Written(Recorder):
    """Keeps what a recorder is given."""

    def __init__(self):
        self.parts, self.ends = {}, {}

    def write(self, episode, first, actions, rewards, seen):
        part = (first, actions.copy(), rewards.copy(), seen[0].copy())
        self.parts.setdefault(episode, []).append(part)

    def end(self, episode, length, last, *, terminated, truncated):
        self.ends[episode] = length, float(last[0][0]), terminated, truncated


def slot_steps(recorder, num_slots=2):
    seen, rewards = np.zeros((num_slots, 1), np.float32), np.zeros((num_slots, 2), np.float32)
    return SlotSteps(recorder, seen, None, np.zeros((num_slots, 1), np.int32), rewards)


def test_an_episode_over_several_blocks_is_written_in_order():
    recorder = Written()
    steps, length = slot_steps(recorder), 2 * STEPS_AT_ONCE + 7
    steps.advance()  # the episode does not begin with the block
    steps.begin(1, 5)
    steps.show(1, [0.0], None)
    for time in range(length):
        assert steps.observations[1, 0] == time
        steps.actions[steps.row] = time
        steps.rewards[steps.row, 1] = 2 * time
        steps.show(1, [time + 1.0], None, later=1)
        if time == length - 1:
            steps.end(1, terminated=True, truncated=False)
        steps.advance()
    firsts, actions, rewards, seen = zip(*recorder.parts[5], strict=True)
    assert len(firsts) == 3
    assert firsts[0] == 0
    np.testing.assert_array_equal(np.cumsum([len(part) for part in actions])[:-1], firsts[1:])
    np.testing.assert_array_equal(np.concatenate(actions)[:, 0], np.arange(length))
    np.testing.assert_array_equal(np.concatenate(rewards)[:, 0], 2 * np.arange(length))
    np.testing.assert_array_equal(np.concatenate(seen)[:, 0], np.arange(length))
    assert recorder.ends == {5: (length, length, True, False)}


def test_arrays_that_an_agent_may_have_kept_are_never_written_again():
    steps, kept = slot_steps(Written()), []
    for time in range(2 * STEPS_AT_ONCE + 1):
        rewards = steps.rewards[steps.row]
        rewards[:] = time
        kept.append(rewards)
        steps.advance()
    assert [float(rewards[0, 0]) for rewards in kept] == list(range(len(kept)))


def test_a_plain_method_returns_what_the_method_returns():
    head = CategoricalHead((3,))
    rows = np.array([[2], [0]], np.int32)
    assert plain_method(head, "to_environment")(rows) == head.to_environment(rows) == [2, 0]
