"""Minari datasets: written so that Minari reads them, read back bit for bit, and refusals."""

import json
import os

import numpy as np
import pytest

from logged_episodes import LENGTHS, REWARDS, assert_same, by_hand
from pcn.datasets.minari import read_minari
from pcn.errors import UserError
from pcn.export.minari_dataset import write_minari
from pcn.runs.logged import read_dataset

minari = pytest.importorskip("minari")
h5py = pytest.importorskip("h5py")


@pytest.mark.parametrize("about", [{}, {"parts": True}, {"masked": True}, {"last": False}])
def test_the_way_there_and_back_is_exact(about, tmp_path):
    logged = by_hand(**about)
    before = dict(os.environ)
    write_minari(tmp_path / "toy-v0", logged)
    assert dict(os.environ) == before
    assert [path.name for path in tmp_path.iterdir()] == ["toy-v0"]
    found = read_minari(tmp_path / "toy-v0")
    assert_same(found, logged)
    assert (found.arguments, found.discount) == ({"size": 3}, 0.5)


def test_minari_itself_reads_vector_rewards(tmp_path, monkeypatch):
    logged = by_hand()
    write_minari(tmp_path / "toy-v0", logged)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = minari.load_dataset("toy-v0")
    episodes = list(dataset.iterate_episodes())
    assert [len(episode.rewards) for episode in episodes] == LENGTHS
    np.testing.assert_array_equal(np.concatenate([one.rewards for one in episodes]), REWARDS)
    assert episodes[1].observations.shape == (4, 2)
    assert [bool(one.terminations[-1]) for one in episodes] == [True, False, True]
    assert [bool(one.truncations[-1]) for one in episodes] == [False, True, False]
    np.testing.assert_array_equal(read_dataset("toy-v0").rewards, REWARDS)  # by its id


@pytest.fixture
def foreign(tmp_path):
    """A dataset that somebody else wrote: nothing in it is ours."""
    write_minari(tmp_path / "toy-v0", by_hand())
    place = tmp_path / "toy-v0" / "data" / "metadata.json"
    metadata = {k: v for k, v in json.loads(place.read_text()).items() if not k.startswith("pcn")}
    place.write_text(json.dumps(metadata))
    return tmp_path / "toy-v0", metadata


def test_spaces_of_datasets_of_others_are_minaris(foreign):
    logged = read_minari(foreign[0])
    assert logged.spec.action_space == by_hand().spec.action_space
    assert logged.spec.observation_space == by_hand().spec.observation_space
    assert logged.spec.name == "toy-v0"
    assert logged.discount is None


def test_the_environments_id_names_the_spec(foreign):
    path, metadata = foreign
    metadata["env_spec"] = json.dumps({"id": "deep-sea-treasure-v0"})
    (path / "data" / "metadata.json").write_text(json.dumps(metadata))
    assert read_minari(path).environment == "deep-sea-treasure-v0"


@pytest.mark.parametrize("about", [[], {"arguments": "a"}, {"discount": "x"}, {"environment": 1}])
def test_damaged_words_about_the_run_are_refused(foreign, about):
    path, metadata = foreign
    (path / "data" / "metadata.json").write_text(json.dumps({**metadata, "pcn_run": about}))
    with pytest.raises(UserError, match=r"metadata\.json is damaged: pcn_run is"):
        read_dataset(path)


def test_arrow_and_broken_files_are_told_apart(foreign):
    path, metadata = foreign
    place = path / "data" / "metadata.json"
    place.write_text(json.dumps({**metadata, "data_format": "arrow"}))
    with pytest.raises(UserError, match="format arrow, which keeps no vector rewards"):
        read_dataset(path)
    place.write_text("{")
    with pytest.raises(UserError, match=r"metadata\.json is damaged"):
        read_dataset(path)
    place.write_text(json.dumps(metadata))
    whole = (path / "data" / "main_data.hdf5").read_bytes()
    (path / "data" / "main_data.hdf5").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=r"main_data\.hdf5 is damaged"):
        read_dataset(path)


def change(path, name, values):
    with h5py.File(path / "data" / "main_data.hdf5", "a") as file:
        for key in file:
            old = file[key][name][()]
            del file[key][name]
            file[key][name] = values(old)


def test_scalar_rewards_are_refused(foreign):
    change(foreign[0], "rewards", lambda old: old.sum(axis=1))
    with pytest.raises(UserError, match="has scalar rewards: expected a vector"):
        read_dataset(foreign[0])


def test_arrays_of_different_lengths_are_refused(foreign):
    change(foreign[0], "actions", lambda old: old[:0])
    with pytest.raises(UserError, match="different lengths"):
        read_dataset(foreign[0])


def test_an_existing_place_is_left_alone(tmp_path):
    from pcn.export import write_dataset

    (tmp_path / "mine").mkdir()
    with pytest.raises(UserError, match="exists already"):
        write_dataset(tmp_path / "run", tmp_path / "mine")
    with pytest.raises(UserError, match="is not a folder"):
        write_dataset(tmp_path / "run", tmp_path / "no" / "where")
