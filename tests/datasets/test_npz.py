"""npz files: the documented layout, an exact way back, and sentences for everything else."""

import pickle

import numpy as np
import pytest

from logged_episodes import RETURNS, REWARDS, assert_same, by_hand
from pcn.datasets.npz import read_npz, write_npz_dataset
from pcn.errors import UserError
from pcn.runs.logged import read_dataset

PLAIN = {
    "observations": np.arange(12.0).reshape(6, 2),
    "actions": np.array([0, 3, 1, 2, 0, 1]),
    "rewards": REWARDS.astype(np.float64),
    "terminations": np.array([0, 1, 0, 0, 0, 1], bool),
    "truncations": np.array([0, 0, 0, 0, 1, 0], bool),
}


@pytest.mark.parametrize("about", [{}, {"parts": True}, {"masked": True}, {"last": False}])
def test_the_way_there_and_back_is_exact(about, tmp_path):
    logged = by_hand(**about)
    write_npz_dataset(tmp_path / "episodes.npz", logged)
    found = read_npz(tmp_path / "episodes.npz")
    assert_same(found, logged)
    assert (found.arguments, found.discount) == ({"size": 3}, 0.5)


def test_what_the_file_does_not_say_is_found_in_the_data(tmp_path):
    np.savez(tmp_path / "log.npz", **PLAIN)
    logged = read_npz(tmp_path / "log.npz")
    np.testing.assert_array_equal(logged.returns(), RETURNS)
    assert logged.terminated.tolist() == [True, False, True]
    spec = logged.spec
    assert (spec.name, spec.step_limit) == ("log", 3)
    assert spec.action_space.n == 4
    assert spec.observation_space.shape == (2,)
    assert spec.objective_names == ("objective 0", "objective 1")
    assert np.all(np.array(spec.reference_point) <= np.min(RETURNS, axis=0))
    assert (logged.arguments, logged.discount) == ({}, None)
    assert not spec.deterministic  # episodes begin with different observations


def test_names_units_and_directions_stand_in_the_file(tmp_path):
    np.savez(
        tmp_path / "log.npz", **PLAIN, objectives=["gold", "time"], units=["g", "s"],
        directions=["maximise", "minimise"], environment="mine-v0",
    )  # fmt: skip
    logged = read_npz(tmp_path / "log.npz")
    assert logged.environment == logged.spec.name == "mine-v0"
    assert [vars(one) for one in logged.spec.objectives] == [
        {"name": "gold", "unit": "g", "direction": "maximise"},
        {"name": "time", "unit": "s", "direction": "minimise"},
    ]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rewards": REWARDS[:, 0]}, "expected a vector of numbers for each step"),
        ({"rewards": REWARDS * np.nan}, "not finite numbers"),
        ({"rewards": REWARDS[:5]}, "different numbers of steps"),
        ({"actions": None}, "has no array 'actions'"),
        ({"observations": None}, "has no array 'observations'"),
        ({"terminations": np.zeros(6, bool)}, "the last episode of .* has no end"),
        ({"actions": np.array([0, -3, 1, 2, 0, 1])}, "counted from 0"),
        ({"objectives": ["one"]}, "names 1 objectives"),
        ({"spec": "{"}, "damaged spec"),
        ({"pcn_run": "{"}, "is damaged: pcn_run is"),
        ({"pcn_run": '{"discount": "x"}'}, "is damaged: pcn_run is"),
        ({"last_observations": np.zeros((1, 2))}, "1 last_observations for 3 episodes"),
        ({"last_observations": np.float64(0)}, "1 last_observations for 3 episodes"),
        ({"last_observations": np.zeros((3, 5))}, r"last_observations of shape \(5,\)"),
        ({"last_observations": np.full((3, 2), np.nan)}, "last_observations that are not finite"),
        ({"last_observations.a": np.zeros((3, 2))}, "last_observations of other parts"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_sentence(changes, sentence, tmp_path):
    arrays = {name: value for name, value in (PLAIN | changes).items() if value is not None}
    np.savez(tmp_path / "log.npz", **arrays)
    with pytest.raises(UserError, match=sentence):
        read_dataset(tmp_path / "log.npz")


class Trap:
    def __reduce__(self):
        return (print, ("the pickle was loaded",))


def test_pickles_are_never_loaded(tmp_path, capsys):
    np.savez(tmp_path / "log.npz", **PLAIN, more=np.array([Trap()], object))
    (tmp_path / "log.pkl").write_bytes(pickle.dumps(Trap()))
    (tmp_path / "log.npy").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(UserError, match="pickled objects, which are never loaded"):
        read_dataset(tmp_path / "log.npz")
    with pytest.raises(UserError, match="is a pickle, which is never loaded"):
        read_dataset(tmp_path / "log.pkl")
    with pytest.raises(UserError, match="is not a dataset"):
        read_dataset(tmp_path / "log.npy")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nowhere.npz", "does not exist"),
        ("log.parquet", "is an Arrow file"),
        (".", "neither a run nor a Minari dataset"),
        ("torn.npz", "cannot be read"),
    ],
)
def test_files_of_other_kinds_are_told_apart(name, sentence, tmp_path):
    (tmp_path / "log.parquet").touch()
    np.savez(tmp_path / "whole.npz", **PLAIN)
    (tmp_path / "torn.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:300])
    with pytest.raises(UserError, match=sentence):
        read_dataset(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("observations", np.full((6, 2), np.nan), "observations that are not finite numbers"),
        ("observations", np.zeros((6, 2), complex), "observations that are not finite numbers"),
        ("actions", np.array(list("abcabc")), "actions that are not finite numbers"),
        ("rewards", np.full((6, 2), 1e300), "rewards beyond 1e"),
        ("rewards", np.zeros((6, 1)), "rewards of 1 objectives: a vector with at least two"),
    ],
)
def test_numbers_that_no_training_can_use_are_refused(name, values, sentence, tmp_path):
    np.savez(tmp_path / "log.npz", **{**PLAIN, name: values})
    with pytest.raises(UserError, match=sentence):
        read_npz(tmp_path / "log.npz")


def test_arrays_that_unpack_to_more_than_there_is_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pcn.memory.available_bytes", lambda: 10**6)
    np.savez_compressed(tmp_path / "log.npz", **{**PLAIN, "observations": np.zeros((6, 200_000))})
    assert (tmp_path / "log.npz").stat().st_size < 10**5
    with pytest.raises(UserError, match=r"would need .* memory"):
        read_npz(tmp_path / "log.npz")


def test_whatever_else_upsets_a_reader_is_one_sentence(tmp_path):
    np.savez(tmp_path / "log.npz", **{**PLAIN, "actions": np.zeros((6, 0), int)})
    with pytest.raises(UserError) as refused:
        read_dataset(tmp_path / "log.npz")
    assert "\n" not in str(refused.value)
