"""What users hand over as an environment."""

import gymnasium as gym
import numpy as np
import pytest

from corridor import Corridor
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.from_gymnasium import GymnasiumEnvironment, describe
from pcn.envs.from_object import as_environment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe, probe
from pcn.errors import UserError
from pcn.rollout import ScriptedAgent, rollout


class Counted(gym.Env):
    """Two steps; counts its instances, its episodes and their steps."""

    observation_space = gym.spaces.Discrete(3)
    action_space = gym.spaces.Discrete(2)
    made = episodes = steps = closed = 0

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        Counted.made += 1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        Counted.episodes += 1
        self.time = 0
        return 0, {}

    def step(self, action):
        Counted.steps += 1
        self.time += 1
        return self.time, np.array([float(action), -float(action)]), self.time == 2, False, {}

    def close(self):
        Counted.closed += 1


@pytest.fixture
def counted(monkeypatch):
    for name in ("made", "episodes", "steps", "closed"):
        monkeypatch.setattr(Counted, name, 0)
    return Counted


def make_counted():
    return Counted()


def test_an_environment_is_taken_as_it_is():
    corridor = Corridor()
    assert as_environment(corridor, "mine") is corridor


def test_a_class_of_compiled_environments_is_made():
    made = as_environment(Corridor, "mine:Corridor")
    assert isinstance(made, Corridor)


def test_a_function_that_makes_a_compiled_environment_is_called():
    made = as_environment(lambda: Corridor(step_limit=7), "mine:make")
    assert made.spec.step_limit == 7


def test_a_class_of_gymnasium_environments_is_not_made_until_needed(counted):
    source = as_environment(counted, "mine:Counted")
    assert counted.made == 0
    assert source.instance() is source.instance()
    assert counted.made == 1


def test_what_a_function_made_is_handed_on(counted):
    source = as_environment(make_counted, "mine:make_counted")
    assert source.name == "mine:make_counted"
    assert isinstance(source.instance(), counted)
    assert counted.made == 1


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (3, "mine is 3; expected a compiled environment, or a class or function"),
        (lambda: 3, "mine makes 3, which is neither a compiled nor a Gymnasium environment"),
        (lambda: 1 / 0, "cannot make mine: division by zero"),
    ],
)
def test_everything_else_is_refused_by_its_value(thing, said):
    with pytest.raises(UserError, match=said):
        as_environment(thing, "mine")


def test_an_instance_of_a_gymnasium_environment_is_refused(counted):
    # There must be as many instances as slots, and one cannot be copied.
    with pytest.raises(UserError, match="expected a compiled environment, or a class or function"):
        as_environment(counted(), "mine")


def test_probing_says_what_it_cost(counted):
    found = probe(as_environment(make_counted, "mine"))
    # Eight first states are compared without a step, 200 episodes of two steps are played twice.
    assert (found.num_episodes + 8, found.num_steps) == (counted.episodes, counted.steps)
    assert (found.num_episodes, found.num_steps) == (400, 800)
    assert counted.made == 1


def test_training_needs_one_instance_per_slot_and_one_to_look_at(counted):
    source = as_environment(make_counted, "mine")
    environment = GymnasiumEnvironment.from_source(source, probe(source), num_slots=3)
    assert (counted.made, counted.closed) == (1, 1)
    agents = ScriptedAgent(np.zeros((8, 2, 1), np.int32), np.zeros(8, np.int32))
    for _ in range(2):
        rollout(environment, agents, np.zeros(2, np.uint32), 8)
    assert counted.made == 1 + 3
    environment.close()
    assert counted.closed == 1 + 3


def test_with_a_known_spec_a_person_needs_one_instance(counted):
    source = GymnasiumSource("mine", counted)
    spec = describe(source, Probe((-1.0, -3.0), True, False, 9))
    counted.made = 0
    environment = GymnasiumEnvironment(spec, counted)
    view = environment.person_view("rgb_array")
    assert view.unwrapped.render_mode == "rgb_array"
    assert counted.made == 1
    assert environment.reader().first(2) == 2


def test_an_unknown_kind_of_environment_is_told():
    class Other(AbstractEnvironment):
        spec = Corridor().spec

        def person_view(self, render_mode=None):
            return Counted(render_mode)

    agents = ScriptedAgent(np.zeros((1, 1, 2), np.int32), np.zeros(1, np.int32))
    with pytest.raises(TypeError, match=r"no rollout is registered.*Other"):
        rollout(Other(), agents, np.zeros(2, np.uint32), 1)
