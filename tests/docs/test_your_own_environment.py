"""The environments in docs/your-own-environment.md are executed as they are printed there."""

import sys

import numpy as np
import pytest

import pcn
from doc_pages import blocks_in, section
from pcn.cli import main
from pcn.envs.from_object import as_environment

PAGE = "docs/your-own-environment.md"
# By hand: tree p is p steps away and worth p * p; one more step picks.
FRONT = [[p * p, -(2 * p + 1)] for p in range(1, 6)]


@pytest.fixture(scope="module")
def blocks():
    return blocks_in(section(PAGE, "## An environment in JAX"), "python")


@pytest.fixture
def my_module(blocks, tmp_path, monkeypatch):
    """The first block as a module that can be imported."""
    (tmp_path / "my_module.py").write_text(blocks[0])
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("my_module")
    del sys.modules["my_module"]


def test_the_environment_fits_its_spec_and_has_the_front_that_it_says(my_module):
    environment = as_environment(my_module.Orchard, "my_module:Orchard")
    environment.prepare()
    for tree, (apples, minus_steps) in enumerate(FRONT, start=1):
        env = environment.person_view()
        _, info = env.reset(seed=0)
        total, terminated = np.zeros(2), False
        for action in [0] * tree + [2] + [1] * tree:
            assert info["action_mask"][action]
            assert not terminated
            _, reward, terminated, _, info = env.step(action)
            total += reward
        assert terminated
        assert total.tolist() == [apples, minus_steps]


def test_forty_lines_are_enough(blocks):
    code = [line for line in blocks[0].splitlines() if line.strip()]
    assert len(code) <= 40


@pytest.mark.slow
def test_the_environment_is_trained_from_python_as_printed(blocks, my_module, capsys):
    namespace = dict(vars(my_module))
    exec(blocks[1].replace("20_000", "6_000"), namespace)
    np.testing.assert_array_equal(namespace["run"].coverage_set.executed, FRONT)
    assert "25." in capsys.readouterr().out


@pytest.mark.slow
def test_the_environment_is_trained_from_the_command_line(my_module, tmp_path, capsys):
    out = tmp_path / "run"
    main(["train", "my_module:Orchard", "--total-steps", "6000", "--out", str(out)])
    run = pcn.load(out)
    np.testing.assert_array_equal(run.coverage_set.executed, FRONT)
    capsys.readouterr()
