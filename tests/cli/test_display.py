"""What is shown while training goes on."""

import dataclasses
import io
import re

import pytest
from rich.console import Console
from rich.text import Text

from pcn.cli.display import Display, first_line
from pcn.envs.evidence import Evidence
from pcn.runs import Advanced, Collecting, Noticed, Probing, Request, Started
from pcn.runs.settling import settle


@pytest.fixture(scope="module")
def started():
    settled = settle(Request(environment="deep-sea-treasure", seed=4))
    return Started(settled.settings, settled.spec)


def advanced(steps, phase="training"):
    return Advanced(steps, 100, seconds=steps / 10, loss=0.5, front_size=3, phase=phase,
                    evaluation=None)  # fmt: skip


def shown(events, *, terminal=False, width=200):
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=terminal, soft_wrap=True)
    with Display(console, "Training") as display:
        for event in events:
            display(event)
    return text.getvalue()


def test_plain_lines_come_ten_times_and_with_each_phase(started):
    events = [started, *(advanced(steps) for steps in range(1, 101)),
              *(advanced(110 + number, "consolidating") for number in range(5)),
              advanced(130, "executing")]  # fmt: skip
    first, *lines = shown(events).splitlines()
    assert first == "Training pcn on deep-sea-treasure (default preset, seed 4)"
    assert len(lines) == 10 + 2
    assert "10 of 100 steps" in lines[0]
    assert "left" not in lines[0], "one line shows no pace"
    assert "about 8 s left" in lines[1]
    assert lines[-2].startswith("consolidating · 110 of 100 steps")
    assert lines[-1].startswith("executing · 130 of 100 steps")


def test_the_time_left_does_not_count_what_was_compiled(started):
    late = [
        dataclasses.replace(advanced(steps), seconds=60 + steps / 10) for steps in (10, 20, 30, 99)
    ]
    _, *lines = shown([started, *late]).splitlines()
    assert [line.partition(" · loss 0.500 · ")[2] for line in lines] == [
        "61 s",
        "62 s, about 8 s left",
        "63 s, about 7 s left",
        "70 s, less than 1 s left",
    ]


def test_plain_lines_say_that_an_environment_of_a_jax_package_is_compiled(started):
    settings = dataclasses.replace(started.settings, environment="brax:hopper")
    lines = shown([dataclasses.replace(started, settings=settings)]).splitlines()
    assert lines[1:] == ["compiling brax together with the network (kept on disk for the next run)"]


def test_a_terminal_shows_a_bar(started):
    assert "consolidating" in shown([started, advanced(110, "consolidating")], terminal=True)


def test_in_80_columns_the_bar_the_percentage_and_the_time_left_have_their_room(started):
    late = Advanced(5_190, 100_000, seconds=8, loss=1.048, front_size=10, phase="training",
                    evaluation=None)  # fmt: skip
    text = shown([started, late], terminal=True, width=80)
    (line,) = {line for line in Text.from_ansi(text).plain.splitlines() if "5,190" in line}
    assert re.match(r"\S{8}   5% --:-- 5,190 steps · front 10 · executed hypervolume - ·", line)
    assert len(line) <= 80


@pytest.mark.parametrize("event", [Probing("my_module:env", 10_000), Noticed("a word " * 30)])
def test_in_80_columns_sentences_are_broken_between_words(event):
    text = Text.from_ansi(shown([event], terminal=True, width=80)).plain
    assert len(text.splitlines()) > 1
    assert all(len(line) <= 80 for line in text.splitlines())
    assert text.split() == Text.from_ansi(shown([event])).plain.split()
    assert len(shown([event]).splitlines()) == 1, "without a terminal it is one line"


def test_the_first_line_says_what_was_found_out(started):
    evidence = Evidence(step_limit_source="its spec", num_compared=20)
    probed = dataclasses.replace(
        started, num_probe_episodes=40, num_probe_steps=1234, steps=1234, evidence=evidence
    )
    line = first_line("Training", probed)
    assert line.endswith(
        "; probed with 40 random episodes, 1,234 steps: deterministic (0 of 20 sequences of "
        "random actions had another outcome when repeated), step limit 200 (its spec), "
        "reference point (0, -200)"
    )
    ignored = dataclasses.replace(probed, evidence=Evidence(seed_respected=False))
    assert "it ignores its seed" in first_line("Training", ignored)
    resumed = dataclasses.replace(probed, steps=5_000)
    assert "probed" not in first_line("Resuming", resumed)
    discounted = dataclasses.replace(
        started.settings, hyperparameters={**started.settings.hyperparameters, "discount": 0.9},
        preset=None,
    )  # fmt: skip
    line = first_line("Resuming", dataclasses.replace(started, settings=discounted))
    assert "(config as given, seed 4, returns discounted by 0.9)" in line


def test_a_slow_environment_has_a_line_every_half_minute_within_an_iteration(started):
    collecting = [Collecting(second, 100, seconds=float(second)) for second in range(1, 95)]
    _, *lines = shown([started, *collecting[:70], advanced(70), *collecting[70:]]).splitlines()
    assert lines == [
        "30 of 100 steps · collecting the first episodes · 30 s",
        "60 of 100 steps · collecting the first episodes · 60 s",
        "70 of 100 steps · front 3 · executed hypervolume - · loss 0.500 · 7 s",
        "71 of 100 steps · front 3 · executed hypervolume - · loss 0.500 · 71 s",
    ]


def test_the_bar_moves_within_an_iteration(started):
    text = shown([started, advanced(10), Collecting(55, 100, 6.0)], terminal=True)
    assert re.search(r"55%.*55 of 100 steps · front 3", Text.from_ansi(text).plain)
