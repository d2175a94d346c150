"""Recipes: what environments set differently, for every algorithm and preset."""

import gymnasium as gym
import numpy as np
import pytest

from pcn.algorithms import ALGORITHMS
from pcn.envs import ENVIRONMENTS, EnvironmentSpec, Objective
from pcn.recipes import RECIPES, recipe_for
from pcn.recipes.recipe import ANY, Because, entries_for

every_case = pytest.mark.parametrize(
    ("name", "algorithm", "preset"),
    [
        (name, algorithm, preset)
        for name in RECIPES
        for algorithm, entry in ALGORITHMS.items()
        for preset in entry.presets
    ],
)


def value_of(config, option):
    """The value of an option, also of one that belongs to a refinement."""
    refinement, _, field = option.partition(".")
    if not field:
        return getattr(config, option)
    return config.to_json()["refinements"][refinement][field]


def test_every_environment_has_a_recipe_and_every_recipe_an_environment():
    assert RECIPES.keys() == ENVIRONMENTS.keys()


@every_case
def test_every_recipe_builds_a_config_and_has_reasons(name, algorithm, preset):
    values, reasons = recipe_for(name, {}, algorithm, preset)
    assert values.keys() == reasons.keys()
    assert all(len(reason) > 10 for reason in reasons.values())
    entry = ALGORITHMS[algorithm]
    config = entry.config_class.of(entry.presets[preset], values)
    # Giving the same values once more changes nothing: they are what the config has.
    assert entry.config_class.of(config.to_json(), values) == config
    for option, value in values.items():
        assert value_of(config, option) == value


@pytest.mark.parametrize("name", RECIPES)
def test_recipes_speak_of_algorithms_and_presets_that_exist(name):
    recipe = RECIPES[name]
    for algorithm, preset in recipe({}) if callable(recipe) else recipe:
        assert algorithm == ANY or algorithm in ALGORITHMS
        assert preset == ANY or preset in ALGORITHMS[algorithm].presets


@pytest.mark.parametrize("name", RECIPES)
def test_no_algorithm_gets_a_smaller_budget_than_pcn(name):
    budgets = {
        algorithm: recipe_for(name, {}, algorithm, "default")[0]["total_steps"]
        for algorithm in ALGORITHMS
    }
    assert min(budgets.values()) == budgets["pcn"]


def test_the_more_special_entry_wins():
    recipe = {
        (ANY, ANY): {"a": Because(1, "any"), "b": Because(1, "any"), "c": Because(1, "any")},
        ("pcn", ANY): {"b": Because(2, "pcn"), "c": Because(2, "pcn")},
        ("pcn", "paper"): {"c": Because(3, "paper")},
        ("ra", "default"): {"a": Because(4, "ra")},
    }
    entries = entries_for(recipe, "pcn", "paper")
    assert {name: entry.value for name, entry in entries.items()} == {"a": 1, "b": 2, "c": 3}


def test_a_walkroom_takes_the_recipe_of_its_objectives():
    """By hand: 100 n (300 + 100 n) steps and 10 n^3 episodes, n = 5."""
    values, _ = recipe_for("walkroom", {"objectives": 5}, "pcn", "paper")
    assert (values["total_steps"], values["capacity"]) == (400_000, 1_250)
    assert recipe_for("walkroom-5", {}, "pcn", "paper")[0] == values


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_where_time_is_no_objective_a_discount_makes_the_trade_off(algorithm):
    values, reasons = recipe_for("resource-gathering-v0", {}, algorithm, "default")
    assert values["discount"] == 0.9
    assert "time is no objective" in reasons["discount"]
    assert "discount" not in recipe_for("breakable-bottles-v0", {}, algorithm, "default")[0]


def test_of_pictures_fewer_episodes_are_kept():
    def spec(shape):
        return EnvironmentSpec(
            name="any",
            objectives=(Objective("a"), Objective("b")),
            observation_space=gym.spaces.Box(0, 255, shape, np.uint8),
            action_space=gym.spaces.Discrete(2),
            step_limit=10,
            reference_point=(0.0, 0.0),
        )

    assert recipe_for("any", {}, "pcn", "paper", spec((2, 40, 40)))[0]["capacity"] == 50
    assert "capacity" not in recipe_for("any", {}, "pcn", "paper", spec((40,)))[0]
    assert "capacity" not in recipe_for("any", {}, "ra", "default", spec((2, 40, 40)))[0]


@pytest.mark.parametrize(
    ("shape", "deterministic", "expected"),
    [((1,), False, 128), ((2,), False, None), ((1,), True, None)],
)
def test_fine_levels_where_one_number_is_seen_and_one_is_chosen(shape, deterministic, expected):
    spec = EnvironmentSpec(
        name="reservoir",
        observation_space=gym.spaces.Box(0.0, 100.0, shape, np.float32),
        action_space=gym.spaces.Box(0.0, 50.0, (1,), np.float32),
        objectives=(Objective("flood"), Objective("thirst")),
        step_limit=100,
        reference_point=(-100.0, -100.0),
        deterministic=deterministic,
    )
    values, _ = recipe_for("reservoir-v0", {}, "pcn", "default", spec)
    assert values.get("action_levels") == expected
    assert "action_levels" not in recipe_for("reservoir-v0", {}, "pcn", "paper", spec)[0]
    assert "action_levels" not in recipe_for("reservoir-v0", {}, "mones", "default", spec)[0]
