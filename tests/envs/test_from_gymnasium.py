"""Any Gymnasium environment: spaces, masks, limits, workers, and what is found out by itself."""

import os
import signal

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

import pcn
from ordinary_loop import return_of
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.envs.finding import find_environment
from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.observations import ObservationReader, small_picture
from pcn.envs.probing import Probe, probe
from pcn.envs.spec import Objective
from pcn.errors import UserError
from pcn.rollout import AbstractAgent, ScriptedAgent, rollout
from pcn.runs.playing import play
from sizes import tiny

FORBIDDEN = 2


class Masked(gym.Env):
    """The first action picks a branch; one action is forbidden and raises when it is taken."""

    def __init__(self):
        self.observation_space = gym.spaces.Dict(
            where=gym.spaces.Discrete(3), x=gym.spaces.Box(-1, 1, (2,), np.float32)
        )
        self.action_space = gym.spaces.Discrete(3)
        self.objective_names = ["gain", "cost"]

    def _seen(self):
        return {"where": self.place, "x": np.array([0.5, self.place / 2], np.float32)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return self._seen(), {"action_mask": np.array([1, 1, 0], np.int8)}

    def step(self, action):
        if action == FORBIDDEN:
            raise RuntimeError("the forbidden action was taken")
        mask = {"action_mask": np.array([1, 1, 0], np.int8)}
        if self.place == 0:
            self.place = 1 + action
            return self._seen(), np.array([0.0, -1.0]), False, False, mask
        reward = [3.0, -1.0] if self.place == 1 else [1.0, 0.5]
        return self._seen(), np.array(reward), True, False, mask


class Several(gym.Env):
    """Three steps; two choices at each: the second pays the second objective."""

    def __init__(self):
        self.observation_space = gym.spaces.Tuple(
            (gym.spaces.MultiBinary(2), gym.spaces.Box(0, 255, (3,), np.uint8))
        )
        self.action_space = gym.spaces.MultiDiscrete([2, 3])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return (np.zeros(2, np.int8), np.zeros(3, np.uint8)), {}

    def step(self, action):
        self.time += 1
        seen = (np.ones(2, np.int8), np.full(3, self.time, np.uint8))
        reward = np.array([action[0], action[1] / 2 - 0.9 * action[0]], dtype=np.float64)
        return seen, reward, self.time == 3, False, {}


class Dice(gym.Env):
    """One step whose reward is random, and no end but the step limit."""

    observation_space = gym.spaces.Discrete(1)
    action_space = gym.spaces.MultiBinary(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, self.np_random.normal(size=2), False, False, {}


class Scalar(Dice):
    def step(self, action):
        return 0, 1.0, True, False, {}


class PickyPair(Several):
    """Two choices at once, of which a mask forbids some; what is forbidden raises."""

    def _mask(self):
        return (np.array([1, self.time != 1], np.int8), np.array([1, 0, 1], np.int8))

    def reset(self, *, seed=None, options=None):
        seen, _ = super().reset(seed=seed)
        return seen, {"action_mask": self._mask()}

    def step(self, action):
        first, second = self._mask()
        assert first[action[0]], "forbidden"
        assert second[action[1]], "forbidden"
        *outcome, _ = super().step(action)
        return (*outcome, {"action_mask": self._mask()})


class MasksByLuck(Masked):
    """Which branch is open depends on the seed: the same actions may be forbidden next time."""

    def reset(self, *, seed=None, options=None):
        seen, _ = super().reset(seed=seed)
        self.open = int(self.np_random.integers(2))
        return seen, {"action_mask": np.eye(3, dtype=np.int8)[self.open]}

    def step(self, action):
        if self.place == 0 and action != self.open:
            raise RuntimeError("a closed branch was taken")
        return super().step(action)


class HiddenMasks(gym.Env):
    """Always the same observation; at its second step one action is forbidden, and it ends."""

    observation_space = gym.spaces.Discrete(1)
    action_space = gym.spaces.Discrete(3)

    def _mask(self):
        return {"action_mask": np.array([1, 1, self.time != 1], np.int8)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return 0, self._mask()

    def step(self, action):
        assert self._mask()["action_mask"][action], "forbidden"
        self.time += 1
        reward = np.array([float(action), -1.0])
        return 0, reward, self.time == 3, False, self._mask()


class Failing(Several):
    """Works in random episodes, and breaks down after some more."""

    steps = 0

    def step(self, action):
        Failing.steps += 1
        if Failing.steps > 200:
            raise RuntimeError("the simulator lost its licence")
        return super().step(action)


class Blinking(gym.Env):
    """A picture that says how far the episode is; two ways to be paid."""

    observation_space = gym.spaces.Box(0, 255, (20, 20, 3), np.uint8)
    action_space = gym.spaces.Discrete(2)

    def _seen(self):
        return np.full((20, 20, 3), 80 * self.time, np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self._seen(), {}

    def step(self, action):
        self.time += 1
        return self._seen(), np.array([float(action), -float(action)]), self.time == 2, False, {}


class Dying(Several):
    def step(self, action):
        os.kill(os.getpid(), signal.SIGKILL)


class Refusing(Several):
    def reset(self, *, seed=None, options=None):
        raise UserError("the cable is missing: buy one")


def train(environment, total_steps, **options):
    """A short training with a small network."""
    return pcn.train(environment, **{**tiny("pcn"), "total_steps": total_steps}, **options)


def several_front():
    """By hand: each step is worth (0, 1) or (1, 0.1); three steps, four distinct sums."""
    return [[ones, 3 - 0.9 * ones] for ones in range(4)]


@pytest.mark.slow
def test_masks_are_respected_and_both_branches_found():
    run = train(Masked, 600)
    np.testing.assert_allclose(run.coverage_set.executed, [[1.0, -0.5], [3.0, -2.0]])
    assert run.environment().spec.objective_names == ("gain", "cost")
    policy = run.policy(0)
    action = policy.act({"where": 0, "x": [0.5, 0.0]}, np.array([0, 1, 0]))
    assert action == 1


@pytest.mark.slow
def test_masks_of_several_choices_are_respected_from_the_first_step_on():
    run = train(PickyPair, 600)
    assert run.environment().spec.masked_actions
    # At the second step nobody can be paid in the first objective.
    assert run.coverage_set.executed[:, 0].max() == 2.0


@pytest.mark.slow
def test_masks_that_depend_on_luck_are_respected_and_noticed():
    run = train(MasksByLuck, 200)
    assert not run.environment().spec.deterministic


@pytest.mark.slow
def test_replays_respect_masks_that_the_observation_hides():
    run = train(HiddenMasks, 600)
    assert run.environment().spec.deterministic
    assert run.coverage_set.executed[:, 0].max() == 5.0  # 2 + 1 + 2


@pytest.mark.slow
@pytest.mark.parametrize("workers", [False, True], ids=["here", "workers"])
def test_an_environment_that_breaks_down_is_named_with_its_place(workers, monkeypatch):
    monkeypatch.setattr(Failing, "steps", 0)
    known = {"reference_point": (-9.0, -9.0), "deterministic": True, "masked_actions": False}
    arguments = {**known, "step_limit": 3, "workers": workers, "environments": 2}
    said = r"failed at test_from_gymnasium.py:\d+: RuntimeError: the simulator lost its licence$"
    with pytest.raises(UserError, match=said):
        train(Failing, 3_000, arguments=arguments)


@pytest.fixture(scope="module")
def blinking():
    return train(Blinking, 60, arguments={"frame_stack": 3, "environments": 4})


@pytest.mark.slow
def test_a_stack_of_another_height_is_played_as_it_was_trained(blinking):
    assert blinking.environment().spec.observation_space.shape[0] == 3
    for index, executed in enumerate(blinking.coverage_set.executed):
        np.testing.assert_allclose(play(blinking, index).total, executed)


@pytest.mark.slow
def test_policies_take_pictures_as_the_environment_shows_them(blinking):
    environment, policy = Blinking(), blinking.policy(0)
    assert environment.observation_space != blinking.environment().spec.observation_space
    executed = blinking.coverage_set.executed[0]
    for _ in range(2):  # a policy may play again
        policy.reset()
        np.testing.assert_allclose(return_of(policy, environment), executed)


def test_a_lambda_is_refused_where_it_could_not_be_found_again(tmp_path):
    make = lambda: Several()  # noqa: E731
    with pytest.raises(UserError, match="needs functions that can be imported again"):
        pcn.train(make, total_steps=300, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(
        UserError, match="worker processes need an environment that they can import"
    ):
        pcn.train(make, total_steps=300, arguments={"workers": True})


def test_arguments_of_the_environment_are_told_from_hyperparameters():
    with pytest.raises(
        UserError, match="workers belongs to the environment: give it as arguments="
    ):
        pcn.train(Several, workers=True)


@pytest.mark.slow
def test_several_choices_per_action_find_the_front():
    run = train(Several, 1_000)
    np.testing.assert_allclose(run.coverage_set.executed, several_front(), atol=1e-6)
    assert run.metrics["fidelity"]["exact"] == 1.0


@pytest.mark.slow
def test_a_run_on_worker_processes_resumes_from_its_folder(tmp_path):
    arguments = {"workers": True, "environments": 2}
    run = train("deep-sea-treasure-concave-v0", 1_500, arguments=arguments, out=tmp_path / "a")
    (tmp_path / "a" / "metrics.json").unlink()
    again = pcn.resume(tmp_path / "a")
    np.testing.assert_array_equal(run.coverage_set.executed, again.coverage_set.executed)


@pytest.mark.slow
def test_a_dead_worker_is_told():
    environment = GymnasiumEnvironment.from_source(
        GymnasiumSource("dying", Dying),
        Probe((0.0, 0.0), True, False, 3),
        num_slots=2,
        workers=True,
    )
    agents = ScriptedAgent(np.zeros((2, 3, 2), np.int32), np.zeros(2, np.int32))
    with pytest.raises(UserError, match="a worker process died"):
        rollout(environment, agents, jax.random.key(0), 2)


def test_what_a_worker_needs_is_told_in_its_own_words_and_before_training():
    environment = GymnasiumEnvironment.from_source(
        GymnasiumSource("refusing", Refusing),
        Probe((0.0, 0.0), True, False, 3),
        num_slots=2,
        workers=True,
    )
    with pytest.raises(UserError, match=r"^the cable is missing: buy one$"):
        environment.prepare()
    assert not environment.slots().closed  # others have taken the place of those that failed
    environment.slots().close()


def test_objectives_and_actions_are_described_by_the_environment():
    class Described(Several):
        objectives = (Objective("gain", "kg"), Objective("cost", "EUR", "minimise"))
        action_names = ("left", "right")

    class Single(Described):
        def __init__(self):
            super().__init__()
            self.action_space = gym.spaces.Discrete(2)

    class Miscounted(Described):
        def __init__(self):
            super().__init__()
            self.action_space = gym.spaces.Discrete(3)

    def spec_of(kind):
        source, found = GymnasiumSource("told", kind), Probe((0.0, 0.0), True, False, 3)
        return GymnasiumEnvironment.from_source(source, found).spec

    assert spec_of(Single).objectives == Described.objectives
    assert spec_of(Single).action_names == ("left", "right")
    # Names of something else than single actions cannot be shown beside actions.
    assert spec_of(Described).action_names == ()
    assert spec_of(Miscounted).action_names == ()


def test_what_is_found_out_by_random_episodes():
    found = probe(GymnasiumSource("masked", Masked))
    assert (found.deterministic, found.masked_actions, found.step_limit) == (True, True, 20)
    assert found.reference_point[0] < 1.0
    assert found.reference_point[1] < -2.0
    assert not probe(GymnasiumSource("dice", Dice), step_limit=5).deterministic


class Generous(Dice):
    """Gains at every one of many steps."""

    def step(self, action):
        return 0, 1 + self.np_random.uniform(size=2), False, False, {}


def test_the_reference_point_can_be_beaten_with_a_discount_too():
    found = probe(GymnasiumSource("generous", Generous), step_limit=100)
    # With a discount of 0.9 no return exceeds 2 / (1 - 0.9).
    assert max(found.reference_point) < 20


def test_the_step_limit_truncates_and_slots_take_up_waiting_episodes():
    environment = GymnasiumEnvironment.from_source(
        GymnasiumSource("dice", Dice), Probe((-9.0, -9.0), False, False, 7), num_slots=3
    )
    agents = ScriptedAgent(np.zeros((8, 7, 2), np.int32), np.zeros(8, np.int32))
    episodes = rollout(environment, agents, jax.random.key(0), 8, count=5)
    assert np.asarray(episodes.lengths).tolist() == [7] * 5 + [0] * 3
    assert not np.asarray(episodes.terminated).any()
    again = rollout(environment, agents, jax.random.key(0), 8, count=5)
    np.testing.assert_array_equal(episodes.rewards, again.rewards)


class Short(Several):
    """An environment that cuts its episodes off itself, after two of the three steps."""

    def step(self, action):
        seen, reward, terminated, _, info = super().step(action)
        return seen, reward, terminated, self.time == 2, info


class Idle(AbstractAgent):
    """Always takes the first choices; nobody knows that before."""

    number: Float[Array, "*episode"]

    def act(self, observation, key, mask=None):
        return jnp.zeros(2, jnp.int32)

    def observing(self, action, reward):
        return self


@pytest.mark.slow
def test_what_an_environment_cuts_off_itself_has_ended():
    environment = GymnasiumEnvironment.from_source(
        GymnasiumSource("short", Short), Probe((-9.0, -9.0), True, False, 1000)
    )
    scripted = ScriptedAgent(np.zeros((4, 3, 2), np.int32), np.zeros(4, np.int32))
    for most_steps in (None, 1):
        known, stepped = (
            rollout(environment, agents, jax.random.key(0), 4, most_steps=most_steps)
            for agents in (scripted, Idle(jnp.zeros(4)))
        )
        for episodes in (known, stepped):
            assert np.asarray(episodes.lengths).tolist() == [most_steps or 2] * 4
            assert not np.asarray(episodes.terminated).any()
            assert episodes.ended.tolist() == [most_steps is None] * 4


@pytest.mark.slow
def test_training_learns_from_episodes_that_the_environment_cuts_off():
    trainer = PCNTrainer(
        GymnasiumEnvironment.from_source(
            GymnasiumSource("short", Short), Probe((-9.0, -9.0), True, False, 1000)
        ),
        PCNConfig.of(tiny("pcn"), {"refinements": {}}),
        seed=0,
    )
    trainer.iterate()
    assert len(trainer.snapshot().arrays["rows.lengths"]) == 6 + 4  # warm-up and one exploration


def test_ctrl_c_is_left_to_the_process_that_asks():
    environment = GymnasiumEnvironment.from_source(
        GymnasiumSource("dice", Dice),
        Probe((-9.0, -9.0), False, False, 7),
        num_slots=2,
        workers=True,
    )
    slots = environment.slots()
    slots.reset({0: 0, 1: 1})
    for process in slots._processes:
        os.kill(process.pid, signal.SIGINT)
    action = np.zeros(2, np.int8)
    assert slots.step({0: action, 1: action}).keys() == {0, 1}
    slots.close()


def test_stepping_slots_equals_stepping_one_environment():
    make = GymnasiumSource.by_id("deep-sea-treasure-concave-v0").make
    environment = GymnasiumEnvironment.from_source(
        GymnasiumSource("dst", make), Probe((0.0, -100.0), True, False, 100), num_slots=3
    )
    rng = np.random.default_rng(0)
    scripts = rng.integers(4, size=(6, 100, 1)).astype(np.int32)
    agents = ScriptedAgent(scripts, np.zeros(6, np.int32))
    episodes = rollout(environment, agents, jax.random.key(0), 6)
    single = make()
    for number in range(6):
        seen, _ = single.reset(seed=0)
        for time in range(100):
            np.testing.assert_array_equal(episodes.observations[number, time], seen)
            seen, reward, terminated, truncated, _ = single.step(int(scripts[number, time, 0]))
            np.testing.assert_array_equal(episodes.rewards[number, time], reward)
            if terminated or truncated:
                break
        assert episodes.lengths[number] == time + 1
        assert bool(episodes.terminated[number]) == terminated


def test_pictures_become_small_grey_stacks():
    space = gym.spaces.Box(0, 255, (480, 480, 3), np.uint8)
    reader = ObservationReader(space, frame_stack=2)
    white, black = np.full(space.shape, 255, np.uint8), np.zeros(space.shape, np.uint8)
    assert reader.space.contains(reader.first(white))
    stack = reader.next(black)
    assert stack[0].min() == 255
    assert stack[1].max() == 0
    assert reader.first(black).max() == 0  # nothing is left of the last episode
    half = white.copy()
    half[:240] = 0
    assert small_picture(half)[:20].max() == 0
    assert small_picture(half)[20:].min() == 255


def test_rewards_that_are_no_vectors_are_refused():
    with pytest.raises(UserError, match="the reward is a single number; pcn needs a vector"):
        pcn.train(Scalar)


def test_continuous_actions_keep_their_bounds():
    found = find_environment("mo-mountaincarcontinuous-v0", {})
    assert found.environment.spec.action_space == gym.spaces.Box(-1.0, 1.0, (1,))
    assert found.arguments["action_high"] is None


def test_unknown_names_are_told():
    with pytest.raises(UserError, match="cannot find no_such_module:make"):
        find_environment("no_such_module:make", {})
    with pytest.raises(UserError, match="every Gymnasium id"):
        find_environment("no-such-environment", {})


def test_a_file_or_a_run_in_the_place_of_an_environment_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "van.py").touch()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").touch()
    for name, told in {
        "van": r"'van'; one that is defined in van.py is called van:NAME$",
        "./van.py": r"'./van.py'; one that is defined in van.py is called van:NAME$",
        "envs/van.py": r"is called van:NAME, if you work in the folder envs$",
        "van.py:make": r"cannot find van.py:make: .*; its name is van:make$",
        "run": r"run is the folder of a run, not an environment; `pcn resume run` continues a run$",
        "x" * 5_000: "every Gymnasium id",
    }.items():
        with pytest.raises(UserError, match=told):
            find_environment(name, {})


def test_doing_without_an_objective_that_only_gains_is_better_than_the_reference_point():
    found = probe(GymnasiumSource.by_id("fishwood-v0"))
    assert max(found.reference_point) < 0  # no wood at all is a possible return
