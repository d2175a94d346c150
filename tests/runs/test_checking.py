"""`pcn.check`: what is told of an environment without training."""

from time import sleep

import gymnasium as gym
import numpy as np
import pytest

import pcn
from pcn.cli.main import main
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import probe
from pcn.errors import UserError
from pcn.runs.checking import correlation_of
from scaled import Gamble


class Trade(gym.Env):
    """Three steps; at each, one action pays the first objective and the other the second."""

    observation_space = gym.spaces.Discrete(4)
    action_space = gym.spaces.Discrete(2)
    pays = np.array([[1.0, 0.0], [0.0, 2.0]])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return 0, {}

    def step(self, action):
        self.time += 1
        return self.time, self.pays[action], self.time == 3, False, {}


class Agreement(Trade):
    """The first action is better in both objectives."""

    pays = np.array([[1.0, 3.0], [0.0, 1.0]])


class Lottery(Trade):
    """Pays by NumPy's global generator; the second objective is always the same."""

    def step(self, action):
        seen, _, *rest = super().step(action)
        return seen, np.array([np.random.uniform(), 5.0]), *rest  # noqa: NPY002


def test_a_trade_off_is_told():
    found = pcn.check(Trade)
    # By hand: k of three steps pay the first objective, returns are (k, 2 (3 - k)), all of them
    # non-dominated and exactly opposed.
    assert found.front_size == 4
    assert found.conflict
    np.testing.assert_allclose(found.correlation, [[1, -1], [-1, 1]], atol=1e-9)
    assert found.found_deterministic
    assert found.spec.deterministic
    assert found.evidence.num_compared == 200
    assert set(found.evidence.lengths) == {3}
    assert found.num_steps == 2 * 200 * 3
    assert found.seconds == found.total_steps / found.steps_per_second > 0
    assert [sentence for sentence in found.advice if "step-limit" in sentence]


class Slow(Trade):
    """Five milliseconds a step."""

    def step(self, action):
        sleep(0.005)
        return super().step(action)


def test_a_slow_environment_is_checked_for_a_while_only_and_workers_are_advised(monkeypatch):
    monkeypatch.setattr("pcn.runs.checking.CHECK_SECONDS", 0.1)
    found = pcn.check(Slow)
    assert 1 <= found.evidence.num_compared <= 4  # a script and its repetition take 30 ms
    assert found.num_steps <= 21
    advice = " ".join(found.advice)
    assert "--workers gives each of 16 environments a process of its own" in advice
    assert "sequences of actions were compared: if outcomes are random" in advice
    at_work = pcn.check(Slow, arguments={"workers": True})
    assert "--workers" not in " ".join(at_work.advice)


def test_an_episode_is_cut_where_the_time_ends():
    class Endless(Slow):
        def step(self, action):
            seen, reward, _, *rest = super().step(action)
            return min(seen, 3), reward, False, *rest

    source = GymnasiumSource("endless", Endless)
    found = probe(source, most_seconds=0.05)
    assert found.num_steps <= 11
    assert found.evidence.lengths == [found.num_steps]


def test_objectives_that_agree_are_told():
    found = pcn.check(Agreement)
    assert found.front_size == 1
    assert not found.conflict
    assert any("may not conflict" in sentence for sentence in found.advice)


def test_what_is_wrong_is_told_with_its_option():
    found = pcn.check(Lottery, arguments={"deterministic": True, "reference_point": (2.0, 99.0)})
    advice = " ".join(found.advice)
    assert found.spec.deterministic
    assert not found.found_deterministic
    assert "give --deterministic False" in advice
    assert "no random episode beats the reference point in objective_1" in advice
    assert "objective_1 was 15 in every random episode" in advice
    seen = pcn.check(Lottery)
    assert not seen.spec.deterministic
    assert seen.evidence.seed_respected is False
    assert any("--workers" in sentence for sentence in seen.advice)


def test_compiled_environments_are_checked_against_their_spec():
    found = pcn.check(Gamble())
    assert not found.spec.deterministic
    assert not found.found_deterministic
    assert found.evidence.seed_respected is True
    assert found.evidence.step_limit_source == "its spec"
    assert found.steps_per_second > 0


def test_the_command_says_it_in_lines(capsys):
    main(["check", "fruit-tree-v0", "--step-limit", "50"])
    out = capsys.readouterr().out
    assert "deterministic: 0 of 200 sequences" in out
    assert "50 (the user)" in out
    assert "6 to 6 steps" in out
    assert "non-dominated" in out
    assert "steps per second" in out
    assert "pcn train fruit-tree-v0" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere-v0"], "no environment is called 'nowhere-v0'"),
        (["CartPole-v1"], "the reward is a single number; pcn needs a vector"),
        (["deep-sea-treasure", "--step-limit", "5"], "Gymnasium environments, not of deep-sea"),
    ],
)
def test_wrong_input_is_answered_by_one_sentence(words, told, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["check", *words])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert told in error
    assert len(error.splitlines()) == 1


def test_wrong_arguments_are_refused():
    with pytest.raises(UserError, match="no argument 'colour'"):
        pcn.check(Trade, arguments={"colour": 1})


def test_the_correlation_does_not_depend_on_units():
    returns = np.random.default_rng(0).normal(size=(30, 3))
    expected = np.corrcoef(returns.T)
    for factors in ([1.0, 1.0, 1.0], [1e-200, 1e200, 1e-9]):
        np.testing.assert_allclose(correlation_of(returns * factors), expected, atol=1e-12)
