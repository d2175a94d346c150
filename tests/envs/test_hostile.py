"""Environments that misbehave: one sentence names the environment and the step."""

import multiprocessing
import re
import time
from dataclasses import asdict

import gymnasium as gym
import jax
import numpy as np
import pytest

import pcn
from hostile import (
    ALL,
    Cancels,
    CannotBeClosed,
    Dies,
    Endless,
    Exits,
    Hangs,
    OldFashioned,
    Tame,
    ending,
    informing,
    masking,
    raising,
    rewarding,
    showing,
)
from pcn.algorithms.mones.config import MONESConfig
from pcn.algorithms.mones.pool import Pool
from pcn.algorithms.mones.search_distribution import DiagonalGaussian
from pcn.envs.finding import environment_name, find_environment
from pcn.envs.from_gymnasium import GymnasiumEnvironment, describe
from pcn.envs.gymnasium_source import GymnasiumSource, missing_hint
from pcn.envs.observations import ObservationReader, array_reader, is_picture
from pcn.envs.probing import Probe, probe
from pcn.envs.spec import Objective
from pcn.envs.worker_slots import WorkerSlots
from pcn.errors import UserError
from pcn.rollout import ScriptedAgent, rollout
from sizes import tiny

IN_STEP_3 = r"^wild in step 3 of an episode: "

REFUSED = {
    "reward of NaN": (rewarding(np.array([np.nan, 0.0])), "the reward is .*finite number"),
    "infinite reward": (rewarding(np.array([0.0, -np.inf])), "the reward is .*finite number"),
    "reward of 1e38": (rewarding(np.array([1e38, 0.0])), r"the reward is \[1\.e\+38"),
    "reward of 1e300": (rewarding(np.array([1e300, 0.0])), r"the reward is \[1\.e\+300"),
    "complex reward": (rewarding(np.array([1j, 0.0])), "not a vector of real numbers"),
    "reward of words": (rewarding(["much", "little"]), "not a vector of real numbers"),
    "no reward": (rewarding(None), "not a vector of real numbers"),
    "ragged reward": (rewarding([[1.0], [1.0, 2.0]]), "not a vector of numbers"),
    "longer reward": (rewarding(np.zeros(3)), r"has shape \(3,\), expected \(2,\)"),
    "shorter reward": (rewarding(np.zeros(1)), r"has shape \(1,\), expected \(2,\)"),
    "scalar reward": (rewarding(1.0), r"has shape \(\), expected \(2,\)"),
    "empty mask": (masking(np.zeros(3, np.int8)), "the action mask allows no action"),
    "short mask": (masking(np.ones(2, np.int8)), "must have 3 entries, got 2"),
    "mask missing": (masking(None), "the info has no `action_mask`; give one with every"),
    "late mask": (masking(ALL, before=None), "has an `action_mask`, and earlier ones had none"),
    "terminated=NaN": (ending(terminated=np.nan), "`terminated` is nan, which is neither true"),
    "truncated=None": (ending(truncated=None), "`truncated` is None, which is neither true"),
    "two flags": (ending(terminated=[True, False]), r"`terminated` is \[True, False\], which is"),
    "exit": (Exits, r"it failed at hostile\.py:\d+: SystemExit: 3"),
    "generator exit": (raising(GeneratorExit()), r"it failed at hostile\.py:\d+: GeneratorExit"),
    "no info": (informing(None), "the info is None, which is not a dictionary"),
    "words as info": (informing("won"), "the info is 'won', which is not a dictionary"),
    "long error": (raising(OSError("one\ntwo" + 999 * "!")), r"OSError: one two!{200,300}…"),
    "cancelled": (Cancels, r"it failed at hostile\.py:\d+: asyncio\..*CancelledError: lost"),
}
"""What is refused in the first random episode, and in the middle of a training."""

REFUSED_WHEN_SEEN = {
    "NaN observed": (showing(np.full(3, np.nan)), "the observation is nan at entry 0"),
    "infinity observed": (showing(np.array([0, np.inf, 0])), "the observation is inf at entry 1"),
    "complex observation": (showing(np.full(3, 1j)), "not an array of real numbers"),
    "longer observation": (showing(np.zeros(4)), r"has shape \(4,\), its space says \(3,\)"),
    "not among the places": (showing(9, gym.spaces.Discrete(4)), r"9, which is not in its space"),
    "not among several": (
        showing(np.array([1, 7]), gym.spaces.MultiDiscrete([2, 2])),
        r"not in its space",
    ),
    "part missing": (
        showing(
            {"one": 0}, gym.spaces.Dict(one=gym.spaces.Discrete(2), two=gym.spaces.Discrete(2))
        ),
        "no part 'two'",
    ),
    "word observed": (showing("high"), "the observation is 'high', which is not an array"),
    "objects observed": (showing(np.full(3, object())), "not an array of real numbers"),
    "nothing observed": (showing(None), "the observation is None, which is not an array"),
    "old-fashioned": (OldFashioned, "`step` must return five values.*returned 4"),
}
"""What is refused in the first random episode, and as soon as it is read in a training."""

FOUND_AFTERWARDS = ("NaN observed", "infinity observed")
"""What a training refuses when the episodes have ended."""


def probed(kind):
    return probe(GymnasiumSource("wild", kind), total_steps=1000)


def environment(kind, **options):
    """The environment as it is trained on, without random episodes beforehand."""
    masked = "action_mask" in kind().reset()[1]
    found = Probe((-10.0, -10.0), deterministic=True, masked_actions=masked, step_limit=10)
    source = GymnasiumSource("wild", kind)
    return GymnasiumEnvironment(describe(source, found), kind, num_slots=2, **options)


def scripted(made, num_episodes=2):
    agents = ScriptedAgent(
        np.ones((num_episodes, 6, 1), np.int32), np.zeros(num_episodes, np.int32)
    )
    return rollout(made, agents, jax.random.key(0), num_episodes)


def stepped(made):
    """Six steps in slots; the shortest way to `step` without a network."""
    slots = made.slots()
    slots.reset({0: 0})
    return taking_steps(slots)


def taking_steps(slots):
    return [slots.step({0: 1})[0] for _ in range(6)]


@pytest.mark.parametrize("name", [*REFUSED, *REFUSED_WHEN_SEEN])
def test_random_episodes_refuse_it_and_name_the_step(name):
    kind, what = {**REFUSED, **REFUSED_WHEN_SEEN}[name]
    with pytest.raises(UserError, match=what) as refused:
        probed(kind)
    expected = IN_STEP_3 if kind is not OldFashioned else "^wild in step 1 of an episode: "
    assert re.match(expected, str(refused.value))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("run", [scripted, stepped])
@pytest.mark.parametrize(
    "name", [*REFUSED, *(name for name in REFUSED_WHEN_SEEN if name not in FOUND_AFTERWARDS)]
)
def test_training_refuses_it_and_names_the_step(name, run):
    kind, what = {**REFUSED, **REFUSED_WHEN_SEEN}[name]
    with pytest.raises(UserError, match=what) as refused:
        run(environment(kind))
    expected = IN_STEP_3 if kind is not OldFashioned else "^wild in step 1 of an episode: "
    assert re.match(expected, str(refused.value))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "space", [gym.spaces.Text(5), gym.spaces.Dict(a=gym.spaces.Sequence(gym.spaces.Discrete(3)))]
)
def test_spaces_without_a_fixed_number_of_numbers_are_refused(space):
    with pytest.raises(
        UserError, match=r"observations of (Text|Sequence)\(.* cannot be learnt from"
    ):
        probed(showing(space.sample(), space))


@pytest.mark.parametrize(
    ("seen", "what"),
    [
        (np.full((20, 20, 3), np.nan), "the observation is nan at entry 0"),
        (np.zeros((9, 20, 3)), r"the observation has shape \(9, 20, 3\)"),
    ],
    ids=["NaN", "another size"],
)
def test_training_refuses_a_picture_that_cannot_be_shown(seen, what):
    pictures = gym.spaces.Box(0.0, 1.0, (20, 20, 3), np.float32)
    with pytest.raises(UserError, match=IN_STEP_3 + what):
        stepped(environment(showing(seen, pictures)))


@pytest.mark.parametrize("run", [scripted, stepped])
def test_training_refuses_answers_with_too_few_values(run):
    told = "^wild in step 1 of an episode: `step` must return five values.*returned 4"
    with pytest.raises(UserError, match=told):
        run(environment(OldFashioned))


def test_training_refuses_a_start_without_an_info():
    class Bare(Tame):
        starts = 0

        def reset(self, **options):
            answer = super().reset(**options)
            Bare.starts += 1
            return answer if Bare.starts == 1 else answer[0]  # the first is for the description

    told = "^wild at the start of an episode: `reset` must return two values"
    with pytest.raises(UserError, match=told):
        stepped(environment(Bare))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_training_refuses_observations_that_are_not_finite(value):
    with pytest.raises(
        UserError, match=r"^wild in step 4 of an episode: the observation is \["
    ) as e:
        scripted(environment(showing(np.full(3, value, np.float32))))
    assert "every number must be finite" in str(e.value)


@pytest.mark.parametrize("flag", [1, np.True_, np.array([1.0]), jax.numpy.array(True)])
def test_an_episode_ends_with_whatever_is_true(flag):
    assert scripted(environment(ending(truncated=flag))).lengths.tolist() == [3, 3]
    assert probed(ending(truncated=flag)).step_limit == 3


class MaskedWhileItLasts(Tame):
    """Has no mask after the last step, where nothing is chosen."""

    def info(self):
        return {"action_mask": ALL} if self.time < self.length else {}


def test_after_the_last_step_no_mask_is_needed():
    assert probed(MaskedWhileItLasts).masked_actions
    made = environment(MaskedWhileItLasts)
    assert made.spec.masked_actions
    assert scripted(made).lengths.tolist() == [6, 6]


def test_masks_can_be_ignored():
    found = Probe((-10.0, -10.0), deterministic=True, masked_actions=False, step_limit=10)
    spec = describe(GymnasiumSource("wild", MaskedWhileItLasts), found)
    made = GymnasiumEnvironment(spec, MaskedWhileItLasts, num_slots=2)
    assert scripted(made).lengths.tolist() == [6, 6]


def test_rewards_as_large_as_is_allowed_are_taken():
    episodes = scripted(environment(rewarding(np.array([1e30, -1e30]))))
    np.testing.assert_allclose(episodes.returns()[0], [2 + 4e30, -2 - 4e30], rtol=1e-6)


def test_an_observation_outside_its_box_is_told_and_trained_on():
    remarks = probed(showing(np.array([0.0, 0.0, 5.0]))).evidence.remarks
    assert len(remarks) == 1
    assert re.match(
        IN_STEP_3 + "the observation is 5 at entry 2, outside its space's -1 to 1", remarks[0]
    )


FLAGS = gym.spaces.MultiBinary(3)


def test_a_number_among_flags_is_told_and_counts_as_one():
    (remark,) = probed(showing(np.array([0, 2, 0]), FLAGS)).evidence.remarks
    assert "the observation is 2 at entry 1, outside its space's 0 to 1" in remark
    seen = scripted(environment(showing([0, 2, 1], FLAGS))).observations
    np.testing.assert_array_equal(np.asarray(seen)[0, 3:5], [[0, 1, 1]] * 2)


def test_a_flag_that_is_no_number_is_refused():
    with pytest.raises(UserError, match=r"not in|not finite|nan"):
        scripted(environment(showing(np.array([0, np.nan, 0]), FLAGS)))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_two_bottles_that_were_dropped_in_one_place_can_be_read():
    bottles = gym.make("mo_gymnasium:breakable-bottles-v0")
    observation, _ = bottles.reset(seed=0)
    read = array_reader(bottles.observation_space)
    seen = read({**observation, "bottles_dropped": [2, 0, 1]})
    assert seen["bottles_dropped"].tolist() == [1, 0, 1]


def test_what_is_tame_is_not_remarked_on():
    found = probed(Tame)
    assert found.evidence.remarks == []
    assert found.deterministic


@pytest.mark.slow
def test_a_remark_reaches_the_screen_and_the_run():
    told = []
    run = pcn.train(
        showing(np.array([0.0, 0.0, 5.0], np.float32)), report=told.append, **tiny("pcn")
    )
    assert [event.sentence for event in told if isinstance(event, pcn.Noticed)] == run.metrics[
        "notices"
    ]
    assert "outside its space" in run.metrics["notices"][0]


def test_an_endless_environment_gets_a_limit():
    assert probed(Endless).step_limit <= 1000


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (ModuleNotFoundError("No module named 'Box2D'", name="Box2D"), "pip install 'pcn"),
        (ModuleNotFoundError("No module named 'sim.x'", name="sim.x"), "`pip install sim`"),
        (ValueError("box2d"), ""),
    ],
)
def test_a_missing_simulator_says_what_to_install(error, hint):
    assert hint in missing_hint(error)
    assert bool(missing_hint(error)) == bool(hint)


class Unmakeable(Tame):
    def __init__(self):
        raise ModuleNotFoundError("No module named 'simulator'", name="simulator")


def test_what_cannot_be_made_is_told_wherever_it_is_needed():
    made = environment(Tame)
    lost = GymnasiumEnvironment(made.spec, Unmakeable)
    told = "cannot make .* No module named 'simulator'; install .* `pip install simulator`"
    with pytest.raises(UserError, match=told):
        lost.slots().reset({0: 0})
    with pytest.raises(UserError, match=told):
        lost.person_view()


class Fragile(Tame):
    """Fails at its second step, and cannot make pictures."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    num_steps = 0

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def step(self, action):
        self.num_steps += 1
        if self.num_steps == 2:
            raise RuntimeError("the simulator has crashed")
        return super().step(action)


def test_a_person_is_told_of_failures_in_a_sentence():
    made = GymnasiumEnvironment(environment(Tame).spec, Fragile)
    view = made.person_view("rgb_array")
    view.reset(seed=0)
    view.step(0)
    with pytest.raises(UserError, match=r"it failed at test_hostile\.py:.* simulator has crashed"):
        view.step(0)
    with pytest.raises(UserError, match=r"wild: it failed at core\.py"):
        view.render()
    with pytest.raises(UserError, match="cannot be made with render_mode='rgb_array'"):
        environment(Tame).person_view("rgb_array")


def test_as_many_objectives_are_described_as_there_are_numbers_in_a_reward():
    class Boastful(Tame):
        objectives = tuple(map(Objective, ("speed", "cost", "fame")))

    with pytest.raises(UserError, match="describes 3 objectives, but its rewards have 2 numbers"):
        environment(Boastful)


@pytest.mark.parametrize("seconds", [0.0, float("nan"), float("inf"), 1e7])
def test_a_worker_is_waited_for_neither_never_nor_for_ever(seconds):
    with pytest.raises(UserError, match="answer_seconds must be positive and at most 1,000,000"):
        GymnasiumEnvironment(environment(Tame).spec, Tame, answer_seconds=seconds)


def test_a_worker_that_hangs_is_told_of_given_up_and_ended(monkeypatch, caplog):
    monkeypatch.setattr("pcn.envs.worker_slots.TOLD_SECONDS", 0.2)
    before = set(multiprocessing.active_children())
    made = environment(Hangs)
    slots = WorkerSlots(Hangs, made.spec, 1, answer_seconds=30.0)
    slots.reset({0: 0})
    slots._answer_seconds = 0.6  # from here on its answers come at once, or never
    with pytest.raises(UserError, match=r"^wild: worker process \d+ has not answered `step` for"):
        taking_steps(slots)
    assert "has not answered for 0 s; it is given up after 1 s" in caplog.text
    assert not set(multiprocessing.active_children()) - before


def test_a_worker_that_dies_is_told_with_its_exit_code():
    slots = WorkerSlots(Dies, environment(Dies).spec, 1)
    slots.reset({0: 0})
    with pytest.raises(UserError, match=r"^wild: a worker process died \(pid \d+, exit code 9\)"):
        taking_steps(slots)


IN_WORKERS = {"workers": True, "answer_seconds": 30.0}


@pytest.mark.parametrize("kind", [Tame, Endless, "resource-gathering-v0"])
def test_probing_finds_the_same_in_a_worker_process(kind):
    name = kind if isinstance(kind, str) else environment_name(kind)
    announced = []
    here, there = (
        find_environment(name, {**IN_WORKERS, "workers": workers}, total_steps=2_000,
                         before_probing=announced.append)
        for workers in (False, True)
    )  # fmt: skip
    assert announced == [400, 400]
    assert here.num_steps == there.num_steps > 0
    assert here.environment.spec.to_json() == there.environment.spec.to_json()
    assert here.arguments == {**there.arguments, "workers": False}
    # Where steps take long, workers are recommended.
    here.evidence.remarks[:] = [one for one in here.evidence.remarks if "a step takes" not in one]
    here.evidence.seconds = there.evidence.seconds = 0.0
    np.testing.assert_equal(asdict(here.evidence), asdict(there.evidence))


def test_a_hang_while_probing_is_told_of_given_up_and_ended(monkeypatch, caplog):
    find_environment("hostile:Tame", IN_WORKERS)  # from here on processes start quickly
    monkeypatch.setattr("pcn.envs.worker_slots.TOLD_SECONDS", 2.0)
    before = set(multiprocessing.active_children())
    with pytest.raises(UserError, match=r"^hostile:Hangs: worker process \d+ has not answered for"):
        find_environment("hostile:Hangs", {"workers": True, "answer_seconds": 4.0})
    assert "has not answered for 2 s; it is given up after 4 s" in caplog.text
    assert not set(multiprocessing.active_children()) - before


@pytest.mark.parametrize(
    ("kind", "why"), [("Dies", "exit code 9"), ("Crashes", "killed by signal 11")]
)
def test_a_death_while_probing_is_told_with_its_reason(kind, why):
    with pytest.raises(UserError, match=rf"^hostile:{kind}: .* died \(pid \d+, {why}\)$"):
        find_environment(f"hostile:{kind}", IN_WORKERS)


def test_a_death_is_told_by_a_check_of_one_that_is_known():
    known = {"step_limit": 9, "reference_point": (0.0, -9.0), "deterministic": True}
    with pytest.raises(UserError, match=r"died \(pid \d+, exit code 9\)"):
        pcn.check(Dies, arguments={**IN_WORKERS, **known, "masked_actions": False})


def test_ctrl_c_in_an_environment_stays_what_it_is():
    with pytest.raises(KeyboardInterrupt):
        probed(raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        stepped(environment(raising(KeyboardInterrupt())))


def test_what_random_episodes_refuse_is_refused_in_a_worker_process_too():
    with pytest.raises(UserError, match=r"^hostile:Exits in step 3 of an episode: it failed at"):
        find_environment("hostile:Exits", IN_WORKERS)


class Pauses(Tame):
    """Is slow, but not silent for long."""

    def reward(self, action):
        time.sleep(0.5 if self.late else 0.0)
        return super().reward(action)


def test_a_pause_while_probing_in_this_process_is_told_of(monkeypatch, caplog):
    monkeypatch.setattr("pcn.envs.silence.TOLD_SECONDS", 0.2)
    find_environment(environment_name(Pauses), {}, thing=Pauses, total_steps=60)
    assert "Pauses has not answered for 0 s; it is waited for until Ctrl-C" in caplog.text


def test_an_environment_that_answers_is_not_told_of(monkeypatch, caplog):
    monkeypatch.setattr("pcn.envs.silence.TOLD_SECONDS", 2.0)
    find_environment(environment_name(Pauses), {}, thing=Pauses, total_steps=60)
    assert "has not answered" not in caplog.text


@pytest.mark.parametrize("workers", [False, True])
def test_random_episodes_of_a_slow_environment_say_that_they_go_on(workers, monkeypatch, caplog):
    monkeypatch.setattr("pcn.envs.silence.TOLD_SECONDS", 1e-3)
    find_environment("hostile:Tame", {**IN_WORKERS, "workers": workers}, total_steps=200)
    pattern = r"hostile:Tame is slow: (\d+) answers in 0 s; its random episodes go on"
    counts = [int(count) for count in re.findall(pattern, caplog.text)]
    assert counts
    assert counts == sorted(counts)


def test_random_episodes_of_a_quick_environment_say_nothing(caplog):
    find_environment("hostile:Tame", {}, total_steps=200)
    assert not caplog.records


def test_one_that_cannot_be_closed_is_told_once_and_all_are_closed(monkeypatch, caplog):
    monkeypatch.setattr(CannotBeClosed, "tried", 0)
    made = environment(CannotBeClosed)
    made.slots().reset({0: 0, 1: 1})
    made.close()
    made.close()
    assert CannotBeClosed.tried == 2, "each of the two instances, once"
    assert len(caplog.records) == 1
    assert caplog.records[0].name.startswith("pcn.")
    assert re.search(
        r"^wild could not be closed: it failed at hostile\.py:\d+: ConnectionError: the socket",
        caplog.records[0].getMessage(),
    )


def test_one_that_cannot_be_closed_after_random_episodes_is_told(caplog):
    source = GymnasiumSource("wild", CannotBeClosed)
    source.instance()
    source.close()
    assert "wild could not be closed" in caplog.text


@pytest.mark.parametrize("kind", [Exits, Cancels])
def test_a_worker_tells_what_its_environment_answered(kind):
    with pytest.raises(UserError, match=IN_STEP_3 + "it failed at"):
        scripted(environment(kind, workers=True))


@pytest.mark.parametrize("white", [1.0, 255.0])
def test_pictures_of_real_numbers_are_reduced_like_those_of_bytes(white):
    bytes_space = gym.spaces.Box(0, 255, (84, 84, 3), np.uint8)
    space = gym.spaces.Box(0.0, white, (84, 84, 3), np.float32)
    picture = np.random.default_rng(0).integers(256, size=(84, 84, 3)).astype(np.uint8)
    reduced = ObservationReader(space, frame_stack=2).first(picture * np.float32(white / 255))
    np.testing.assert_array_equal(
        reduced, ObservationReader(bytes_space, frame_stack=2).first(picture)
    )
    assert not is_picture(gym.spaces.Box(-1.0, 1.0, (84, 84, 3), np.float32))
    assert not is_picture(gym.spaces.Box(0.0, 1.0, (84, 84, 7), np.float32))


def test_bytes_of_noughts_and_ones_are_black_and_white():
    space = gym.spaces.Box(0, 1, (20, 20), np.uint8)
    board = np.zeros(space.shape, np.uint8)
    board[10:] = 1
    (reduced,) = ObservationReader(space, frame_stack=1).first(board)
    assert reduced[:20].max() == 0
    assert reduced[20:].min() == 255


@pytest.mark.parametrize("shape", [(84, 84, 12), (16, 16, 7), (20, 20, 2)])
def test_stacks_of_bytes_are_no_pictures(shape):
    space = gym.spaces.Box(0, 255, shape, np.uint8)
    reader = ObservationReader(space, frame_stack=2)
    assert reader.space == space
    seen = space.sample()
    np.testing.assert_array_equal(reader.first(seen), seen)


def test_episodes_that_need_more_memory_than_there_is_are_refused(monkeypatch):
    made = environment(Tame)
    monkeypatch.setattr("pcn.memory.available_bytes", lambda: 2 * 2 * 10 * 12 - 1)
    with pytest.raises(
        UserError, match="2 episodes of wild with up to 10 observations of 12 bytes"
    ):
        scripted(made)


def test_a_billion_draws_are_refused():
    distribution = DiagonalGaussian.around(jax.numpy.zeros(10), 1.0)
    config = MONESConfig(population=10**12)
    with pytest.raises(UserError, match="MONES with a population of 1,000,000,000,000"):
        Pool.empty(distribution, config, 2)


class WithoutSpaces(gym.Env):
    """Its author forgot the action space; the observation space is a number."""

    def __init__(self, observation_space=None):
        if observation_space is not None:
            self.observation_space = observation_space


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (WithoutSpaces, "its observation_space is None, which is not a space"),
        (lambda: WithoutSpaces(4), "its observation_space is 4, which is not a space"),
        (lambda: WithoutSpaces(gym.spaces.Discrete(4)), "its action_space is None, which is not"),
    ],
)
def test_spaces_that_were_never_set_are_told(make, told):
    with pytest.raises(UserError, match=told):
        pcn.check(make)


def test_an_instance_in_the_place_of_a_class_is_told():
    with pytest.raises(UserError, match=r"is one Gymnasium environment.*give its class"):
        environment_name(Tame())
