"""What a request amounts to: presets, recipes, given values, and what cannot be meant."""

import dataclasses

import equinox as eqx
import gymnasium as gym
import numpy as np
import pytest

import pcn
from pcn.algorithms import ALGORITHMS
from pcn.algorithms.pcn.config import PRESETS
from pcn.algorithms.pcn.refinements import REFINEMENTS, LoopErasure, Variations
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.finding import environment_name, find_environment
from pcn.envs.walkroom import Walkroom
from pcn.errors import UserError
from pcn.lookup import is_importable
from pcn.runs.request import Request
from pcn.runs.settings import Settings
from pcn.runs.settling import settle


def settled(environment="deep-sea-treasure", **options):
    names = {field.name for field in dataclasses.fields(Request)}
    own = {name: value for name, value in options.items() if name in names}
    words = {name: value for name, value in options.items() if name not in names}
    return settle(Request(environment=environment, hyperparameters=words, **own))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_makes_settings_that_are_read_back(preset):
    settings = settled(preset=preset).settings
    back = Settings.from_json(settings.to_json())
    assert back == settings
    assert back.config == settings.config


def test_later_layers_win():
    """The authors' preset says 1e-2, Minecart's recipe 1e-3, and a given value is a given value."""
    assert settled(preset="authors").settings.config.learning_rate == 1e-2
    minecart = settled("minecart", preset="authors")
    assert minecart.settings.config.learning_rate == 1e-3
    assert minecart.recipe["learning_rate"] == 1e-3
    given = settled("minecart", preset="authors", learning_rate=0.5).settings.config
    assert (given.learning_rate, given.capacity) == (0.5, 50)


def test_only_what_may_be_missing_is_left_out():
    assert settled(algorithm="mones", patience=None).settings.config.patience is None
    with pytest.raises(UserError, match="width must be of type int, got None"):
        settled(width=None)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"seed": True}, "seed must be a whole number, zero or more, got True"),
        ({"embedding": 5}, r"embedding must be of type str \| None, got 5"),
        ({"bounded_commands.upper_bound": ("a", 1.0)}, r"upper_bound must be of type tuple\[float"),
        ({"bounded_commands.upper_bound": (float("nan"), 1.0)}, "upper_bound must be finite num"),
        ({"command_scale": [1.0, float("inf"), 1.0]}, "command_scale must be finite numbers"),
        ({"archive_fraction": 1.5}, "archive_fraction must be at most 1, got 1.5"),
        ({"action_noise": float("nan")}, "action_noise must be a finite number, got nan"),
        ({"preset": "best"}, "pcn has no preset 'best'; it has: default, paper, authors"),
        ({"algorithm": "ppo"}, "no algorithm is called 'ppo'; there are: pcn, mones, ra"),
        ({"lr": 0.1}, "there is no hyperparameter 'lr'; there are: .*learning_rate"),
        ({"totalsteps": 9}, "hyperparameter 'totalsteps', perhaps total_steps was meant; there"),
    ],
)
def test_what_cannot_be_meant_is_told_in_one_sentence(given, told):
    with pytest.raises(UserError, match=told):
        settled(**given)


def test_refinements_are_given_in_every_way():
    def config(**options):
        return settled(**options).settings.config

    only = (LoopErasure(), Variations(shift=5))
    assert config(refinements=only).refinements == only
    assert config(config=pcn.PCNConfig(refinements=only)).refinements == only
    shifted = config(**{"variations.shift": 5})
    assert Variations(shift=5) in shifted.refinements
    assert len(shifted.refinements) == len(REFINEMENTS)
    assert config(variations=Variations(shift=5)) == shifted
    assert Variations not in map(type, config(variations=False).refinements)


def test_a_wrong_value_is_told_before_the_environment_is_made():
    def make():
        raise AssertionError("made")

    with pytest.raises(UserError, match="learning_rate must be positive, got -1"):
        settled(make, learning_rate=-1.0)


def test_a_config_is_taken_as_it_is_and_says_which_algorithm_learns():
    config = pcn.RAConfig(total_steps=500, episodes_per_update=3)
    settings = settled("minecart", config=config).settings
    assert (settings.algorithm, settings.preset) == ("ra", None)
    assert settings.config == config  # no recipe has changed it
    assert Settings.from_json(settings.to_json()).config == config


def test_words_win_over_a_config():
    config = pcn.PCNConfig(total_steps=500, learning_rate=0.1)
    both = settled(config=config, learning_rate=0.2).settings.config
    assert both == dataclasses.replace(config, learning_rate=0.2)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"algorithm": "mones"}, "config is a PCNConfig, which mones does not take"),
        ({"preset": "paper"}, "give config or preset='paper', not both"),
    ],
)
def test_a_config_and_what_contradicts_it_are_refused(options, told):
    with pytest.raises(UserError, match=told):
        settled(config=pcn.PCNConfig(), **options)


@pytest.mark.parametrize(("discount", "known"), [(0.95, True), (1.0, False)])
def test_a_front_counts_only_for_runs_of_its_discount(discount, known):
    spec = settled("four-room", discount=discount).spec
    assert (spec.front is not None) == known


def test_the_first_algorithm_is_the_default():
    assert settled().settings.algorithm == next(iter(ALGORITHMS)) == "pcn"


class Sized(DeepSeaTreasure):
    """A compiled environment that cannot be made without an argument."""

    size: int = eqx.field(static=True)

    def __init__(self, size):
        super().__init__()
        self.size = size


def test_an_instance_has_its_class_s_name_where_that_makes_the_same():
    assert environment_name(DeepSeaTreasure()) == "pcn.envs.deep_sea_treasure:DeepSeaTreasure"
    name = environment_name(Sized(3))
    assert not is_importable(name)
    thing = find_environment(name, {}).environment
    assert thing.size == 3
    # Equal but for an array and for what compiled code does not see.
    assert is_importable(environment_name(Walkroom()))
    assert not is_importable(environment_name(Walkroom(room_seed=1)))


def test_an_instance_that_a_name_does_not_tell_is_refused_on_disk(tmp_path):
    with pytest.raises(UserError, match=r"needs functions that can be imported again, and .*Sized"):
        settled(Sized(3), out=tmp_path / "run")


@pytest.mark.parametrize("how", ["instance", "class", "name"])
def test_a_compiled_environment_of_one_s_own_is_given_in_every_way(how):
    thing = {
        "instance": DeepSeaTreasure(),
        "class": DeepSeaTreasure,
        "name": "pcn.envs.deep_sea_treasure:DeepSeaTreasure",
    }[how]
    found = settled(thing)
    assert isinstance(found.environment, DeepSeaTreasure)
    assert found.settings.environment == "pcn.envs.deep_sea_treasure:DeepSeaTreasure"
    assert found.settings.arguments == {}
    with pytest.raises(UserError, match="takes no arguments, got workers"):
        settled(thing, arguments={"workers": True})


class Once(gym.Env):
    """Counts how often it is made."""

    made = 0
    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def __init__(self):
        Once.made += 1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 1, np.array([float(action), -1.0]), True, False, {}


@pytest.mark.parametrize("thing", [Once, lambda: Once()], ids=["class", "function"])
def test_a_gymnasium_environment_is_made_once_and_probed_once(thing, monkeypatch):
    monkeypatch.setattr(Once, "made", 0)
    found = settled(thing)
    assert Once.made == 1
    # Two hundred random episodes of one step, each played again.
    assert found.probe == {"episodes": 400, "steps": 400, "compared": 200}
    known = dict(found.settings.arguments)
    again = settled(thing, arguments=known)
    assert again.probe == {"episodes": 0, "steps": 0}
    assert again.settings == dataclasses.replace(
        found.settings, environment=again.settings.environment
    )
    assert again.spec.to_json() == found.spec.to_json()


def test_with_a_known_spec_nothing_is_made(monkeypatch):
    found = settled(Once)
    monkeypatch.setattr(Once, "made", 0)
    for name in (found.settings.environment, environment_name(lambda: Once())):
        again = find_environment(name, found.settings.arguments, spec=found.spec)
        assert again.environment.spec is found.spec
    assert Once.made == 0
