"""Minari datasets (HDF5) with vector rewards; read by h5py, so that nothing is ever unpickled."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import numpy as np

from pcn.datasets.describing import described, looks_deterministic
from pcn.datasets.logged import LoggedEpisodes
from pcn.datasets.provenance import RUN, check_run_facts
from pcn.datasets.reading import canonical, lengths_of, refuse_other_than_numbers
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.memory import refuse_without_memory

SPEC = "pcn_spec"
"""The key under which datasets that were exported from a run hold the spec of the environment."""


def minari_folder(dataset_id: str) -> Path | None:
    """The folder of a dataset that Minari has on this machine; None if there is none."""
    root = os.environ.get("MINARI_DATASETS_PATH") or Path.home() / ".minari" / "datasets"
    folder = Path(root) / dataset_id
    return folder if is_minari(folder) else None


def is_minari(path: Path) -> bool:
    """Whether there is a Minari dataset in a folder."""
    return (path / "data" / "metadata.json").is_file()


def read_minari(path: Path) -> LoggedEpisodes:
    """The episodes of a Minari dataset; a `UserError` says what is wrong with it."""
    metadata = _metadata(path)
    found = metadata.get("data_format", "hdf5")
    if found != "hdf5":
        raise UserError(
            f"{path} is a Minari dataset in the format {found}, which keeps no vector rewards: "
            "give one in HDF5"
        )
    episodes = _episodes(path)
    widths = {episode["rewards"].shape[1:] for episode in episodes}
    if widths == {()}:
        raise UserError(
            f"{path} has scalar rewards: expected a vector for each step, one number for each "
            "objective"
        )
    if len(widths) > 1 or len(next(iter(widths))) != 1:
        raise UserError(f"{path} has rewards of different shapes: {sorted(widths)}")
    steps = [len(episode["rewards"]) for episode in episodes]
    lengths, terminated = lengths_of(
        path,
        np.concatenate([episode["terminations"] for episode in episodes]),
        np.concatenate([episode["truncations"] for episode in episodes]),
    )
    if lengths.tolist() != steps:
        raise UserError(f"{path} has an episode whose only end is not its last step")
    joined = jax.tree.map(
        lambda *parts: np.concatenate([part[:-1] for part in parts]),
        *(episode["observations"] for episode in episodes),
    )
    last = jax.tree.map(
        lambda *parts: np.stack([part[-1] for part in parts]),
        *(episode["observations"] for episode in episodes),
    )
    rewards = np.concatenate([episode["rewards"] for episode in episodes])
    actions = np.concatenate([episode["actions"] for episode in episodes])
    refuse_other_than_numbers(path, observations=[joined, last], actions=actions, rewards=rewards)
    observations, rows = canonical(joined), canonical(actions.reshape(len(actions), -1))
    rewards = rewards.astype(np.float32)
    masks = _masks(episodes)
    run = check_run_facts(path / "data" / "metadata.json", metadata.get(RUN, {}))
    name = run["environment"] or _environment_name(metadata, path)
    spec = _spec(path, metadata)
    if spec is None:
        spec = described(
            name,
            observation_space=_space(path, metadata, "observation_space"),
            action_space=_space(path, metadata, "action_space"),
            rewards=rewards,
            lengths=lengths,
            terminated=terminated,
            deterministic=looks_deterministic(observations, rows, rewards, lengths),
            masked_actions=masks is not None,
        )
    return LoggedEpisodes(
        spec=spec,
        observations=observations,
        actions=rows,
        rewards=rewards,
        lengths=lengths,
        terminated=terminated,
        action_masks=masks,
        last_observations=canonical(last) if run["last_known"] else None,
        source=str(path),
        environment=name,
        arguments=run["arguments"],
        discount=run["discount"],
    )


def _metadata(path: Path) -> dict[str, Any]:
    try:
        content = json.loads((path / "data" / "metadata.json").read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("expected a JSON object")
        return content
    except (OSError, ValueError) as error:
        raise UserError(f"{path / 'data' / 'metadata.json'} is damaged: {error}") from None


def _episodes(path: Path) -> list[dict[str, Any]]:
    """The content of the file, episode by episode."""
    try:
        import h5py
    except ImportError:
        raise UserError(
            "Minari datasets need h5py: install it with `pip install 'pcn[minari]'`"
        ) from None
    names = ("observations", "actions", "rewards", "terminations", "truncations")
    file_name = path / "data" / "main_data.hdf5"
    try:
        with h5py.File(file_name) as file:
            numbers = sorted(int(key.removeprefix("episode_")) for key in file)
            episodes = [
                {name: _tree(file[f"episode_{number}"][name]) for name in names}
                | {"infos": _tree(file[f"episode_{number}"].get("infos", {}))}
                for number in numbers
            ]
    except (OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise UserError(f"{file_name} is damaged: {error}") from None
    if not episodes:
        raise UserError(f"{path} has no episodes")
    for episode in episodes:
        leaves = jax.tree.leaves(episode["observations"])
        if any(leaf.dtype == object for leaf in (*leaves, episode["actions"])):
            raise UserError(f"{path} holds encoded pictures: write it with jpeg_encoding=False")
        if isinstance(episode["actions"], dict | tuple):
            raise UserError(f"{path} has actions of several parts, which cannot be read")
        count = len(episode["rewards"])
        if len(episode["actions"]) != count or any(len(leaf) != count + 1 for leaf in leaves):
            raise UserError(f"{path} has an episode whose arrays have different lengths")
    return episodes


def _tree(node: Any) -> Any:
    """A dataset as an array, a group as a dict, or as a tuple where its parts are numbered."""
    if not isinstance(node, Mapping):
        refuse_without_memory(node.nbytes, f"{node.name} in {node.file.filename}", "give less")
        return node[()]
    if len(node) > 0 and all(key.startswith("_index_") for key in node):
        return tuple(_tree(node[f"_index_{number}"]) for number in range(len(node)))
    return {key: _tree(node[key]) for key in node}


def _masks(episodes: list[dict[str, Any]]) -> np.ndarray | None:
    """The masks before each action, where every episode has some."""
    found = [episode["infos"].get("action_mask") for episode in episodes]
    if any(not isinstance(masks, np.ndarray) for masks in found):
        return None
    rows = np.concatenate(
        [masks[: len(one["rewards"])] for masks, one in zip(found, episodes, strict=True)]
    )
    return rows.reshape(len(rows), -1).astype(bool)


def _spec(path: Path, metadata: Mapping[str, Any]) -> EnvironmentSpec | None:
    if SPEC not in metadata:
        return None
    try:
        return EnvironmentSpec.from_json(metadata[SPEC])
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} has a damaged spec: {error!r}") from None


def _space(path: Path, metadata: Mapping[str, Any], name: str) -> gym.Space[Any]:
    try:
        from minari.serialization import deserialize_space
    except ImportError:
        raise UserError(
            "Minari datasets need minari: install it with `pip install 'pcn[minari]'`"
        ) from None
    try:
        space: gym.Space[Any] = deserialize_space(metadata[name])
    except (KeyError, TypeError, ValueError, AssertionError) as error:
        raise UserError(f"{path} has a damaged {name}: {error!r}") from None
    return space


def _environment_name(metadata: Mapping[str, Any], path: Path) -> str:
    """The id of the environment that was logged, where the dataset says it."""
    try:
        return str(json.loads(metadata["env_spec"])["id"])
    except (KeyError, TypeError, ValueError):
        return path.name
