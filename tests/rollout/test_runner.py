import numpy as np

from pcn.rollout import ScriptedAgent
from pcn.rollout.runner import Runner

KEY = np.array([0, 1], np.uint32)


def presses(*counts):
    """Scripts for the hidden counter: press so many times, then end the episode."""
    scripts = np.zeros((len(counts), 10, 1), np.int32)
    for script, count in zip(scripts, counts, strict=True):
        script[count:] = 1
    return ScriptedAgent(scripts, np.zeros(len(counts), np.int32))


def test_steps_of_real_episodes_are_counted_and_no_others(hidden_counter):
    runner = Runner(hidden_counter)
    episodes = runner.run(presses(2, 0, 4), KEY, 3)
    assert episodes.lengths.tolist() == [3, 1, 5]
    assert runner.steps == 9
    runner.run(presses(2, 0, 4), KEY, 3, count=2)
    assert runner.steps == 9 + 4
    runner.run(presses(2, 0, 4), KEY, 3, most_steps=2)
    assert runner.steps == 9 + 4 + (2 + 1 + 2)


def test_counting_goes_on_from_where_it_was(hidden_counter):
    runner = Runner(hidden_counter)
    runner.steps = 100
    runner.run(presses(0), KEY, 1)
    assert runner.steps == 101


def test_every_batch_is_heard(hidden_counter):
    runner, heard = Runner(hidden_counter), []
    runner.listeners.append(heard.append)
    first = runner.run(presses(2, 0, 4), KEY, 3)
    second = runner.run(presses(2, 0, 4), KEY, 3, count=1)
    assert heard[0] is first
    assert heard[1] is second
