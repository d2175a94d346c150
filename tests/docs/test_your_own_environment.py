"""The environments in docs/your-own-environment.md are executed as they are printed there."""

import sys
import tomllib

import numpy as np
import pytest

import pcn
from doc_pages import blocks_in, section
from pcn.envs.entry_points import GROUP
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


@pytest.fixture
def kettle(tmp_path, monkeypatch):
    """The first block of the page as a module, and the block that trains on it."""
    written, training = blocks_in(section(PAGE, "## A Gymnasium environment"), "python")[:2]
    (tmp_path / "kettle.py").write_text(written)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("kettle"), training
    del sys.modules["kettle"]


def test_the_kettle_is_found_out_about(kettle):
    found = pcn.check("kettle:Kettle")
    assert found.spec.deterministic
    assert found.spec.objective_names == ("warmth", "energy")
    assert found.spec.step_limit == 10


@pytest.mark.slow
def test_the_kettle_is_trained_on_as_printed(kettle):
    names = {}
    exec(kettle[1].replace("20_000", "700"), names)
    # Full power for one minute and stop: a quarter of the warmth for a quarter of the energy.
    assert names["run"].spec.reference_point == (0.0, -3.0)
    executed = names["run"].coverage_set.executed
    assert np.all(executed[:, 0] <= 1.0 + 1e-6)
    assert np.all(-executed[:, 1] >= executed[:, 0] - 1e-6)  # warmth never costs less than itself


def test_the_embedding_has_the_width_that_it_is_asked_for():
    import equinox as eqx
    import gymnasium as gym
    import jax

    (block,) = [
        block
        for block in blocks_in(section(PAGE, "## A Gymnasium environment"), "python")
        if "class Embedding" in block
    ]
    names = {"eqx": eqx}
    exec(block, names)
    space = gym.spaces.Box(-1.0, 1.0, (3,))
    embedding = names["Embedding"](space, 8, key=jax.random.key(0))
    assert embedding(np.ones(3, np.float32)).shape == (8,)


def test_the_entry_point_has_the_group_that_is_looked_for(my_module):
    (block,) = blocks_in(section(PAGE, "## A short name"), "toml")
    (points,) = tomllib.loads(block)["project"]["entry-points"].items()
    group, names = points
    assert group == GROUP
    module, _, attribute = names["orchard"].partition(":")
    assert getattr(sys.modules[module], attribute) is my_module.Orchard


def test_the_exact_front_of_the_small_model():
    from proofs.tabular import as_model, solve

    (block,) = blocks_in(section(PAGE, "## Its exact front"), "python")
    names = {}
    exec(block, names)
    plans, _ = solve(as_model(names["Model"]), discount=0.9, step_limit=2)
    # By hand: leave at once; stay once (0.8 on average) and leave or stay again, after 0.81.
    expected = [[0.0, 0.8 + 0.81 * 0.8], [0.81 * 0.5, 0.8], [0.5, 0.0]]
    np.testing.assert_allclose(sorted(plans.vectors.tolist()), expected)
