"""Logged episodes in one npz file: arrays with one row per step.

| array | shape | |
|---|---|---|
| `observations`, or `observations.NAME` for each part of a Dict | step, ... | |
| `actions` | step, or step, part | whole numbers from 0, or real numbers |
| `rewards` | step, objective | a vector for each step |
| `terminations`, `truncations` | step | an episode ends where one of them is true |
| `last_observations` (optional) | episode, ... | after the last action |
| `action_masks` (optional) | step, option | |
| `objectives`, `units`, `directions` (optional) | objective | words |
| `environment` (optional) | one word | the name of the environment |
| `spec` (optional) | one text | JSON of everything that is known, as in a run's `spec.json` |
| `pcn_run` (optional) | one text | JSON of the run: `arguments` of the environment, `discount` |
"""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pcn.datasets.describing import described, looks_deterministic
from pcn.datasets.logged import LoggedEpisodes
from pcn.datasets.provenance import RUN, check_run_facts, run_facts
from pcn.datasets.reading import (
    canonical,
    lengths_of,
    refuse_other_last_observations,
    refuse_other_than_numbers,
    space_of_actions,
    space_of_observations,
)
from pcn.envs.spec import EnvironmentSpec, Objective
from pcn.errors import UserError
from pcn.memory import refuse_without_memory
from pcn.serialisation.files import write_npz

NEEDED = ("actions", "rewards", "terminations", "truncations")


def read_npz(path: Path) -> LoggedEpisodes:
    """The episodes of an npz file; a `UserError` says what is wrong with it."""
    arrays = _arrays(path)
    missing = [name for name in NEEDED if name not in arrays]
    observations = _observations(arrays, "observations")
    if missing or observations is None:
        raise UserError(f"{path} has no array {[*missing, 'observations'][0]!r}")
    rewards = arrays["rewards"]
    if rewards.ndim != 2 or rewards.dtype.kind not in "fiu":
        raise UserError(
            f"{path} has rewards of shape {rewards.shape}: expected a vector of numbers for each "
            "step, one number for each objective"
        )
    lengths, terminated = lengths_of(path, arrays["terminations"], arrays["truncations"])
    steps = [len(leaf) for leaf in (*_leaves(observations), arrays["actions"], rewards)]
    if len({*steps, int(lengths.sum())}) > 1:
        raise UserError(f"the arrays of {path} have different numbers of steps: {steps}")
    refuse_other_than_numbers(
        path, observations=observations, actions=arrays["actions"], rewards=rewards
    )
    last = _observations(arrays, "last_observations")
    refuse_other_last_observations(path, last, observations, len(lengths))
    observations = canonical(observations)
    actions = canonical(arrays["actions"].reshape(len(rewards), -1))
    rewards = rewards.astype(np.float32)
    name = str(arrays.get("environment", path.stem))
    spec = _spec(path, arrays)
    if spec is None:
        spec = described(
            name,
            observation_space=space_of_observations(observations),
            action_space=space_of_actions(arrays["actions"]),
            rewards=rewards,
            lengths=lengths,
            terminated=terminated,
            deterministic=looks_deterministic(observations, actions, rewards, lengths),
            masked_actions="action_masks" in arrays,
            objectives=_objectives(arrays),
        )
    masks = arrays.get("action_masks")
    run = _run(path, arrays)
    return LoggedEpisodes(
        spec=spec,
        observations=observations,
        actions=actions,
        rewards=rewards,
        lengths=lengths,
        terminated=terminated,
        action_masks=None if masks is None else masks.reshape(len(rewards), -1).astype(bool),
        last_observations=canonical(last),
        source=str(path),
        environment=name,
        arguments=run["arguments"],
        discount=run["discount"],
    )


def write_npz_dataset(path: Path, logged: LoggedEpisodes) -> None:
    """Write episodes so that `read_npz` gives them back exactly."""
    ends = np.zeros(logged.num_steps, bool)
    ends[np.cumsum(logged.lengths) - 1] = True
    terminated = np.zeros_like(ends)
    terminated[np.cumsum(logged.lengths) - 1] = logged.terminated
    arrays = {
        **_named("observations", logged.observations),
        "actions": logged.actions,
        "rewards": logged.rewards,
        "terminations": terminated,
        "truncations": ends & ~terminated,
        "environment": np.array(logged.environment or logged.spec.name),
        "spec": np.array(json.dumps(logged.spec.to_json())),
        RUN: np.array(json.dumps(run_facts(logged))),
    }
    if logged.action_masks is not None:
        arrays["action_masks"] = logged.action_masks
    if logged.last_observations is not None:
        arrays |= _named("last_observations", logged.last_observations)
    write_npz(path, arrays)


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                unpacked = sum(item.file_size for item in archive.infolist())
            refuse_without_memory(unpacked, f"the arrays of {path}", "give fewer episodes")
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise UserError(f"{path} holds one array: expected an npz file of several")
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except UserError:
        raise
    except Exception as error:  # damaged bytes can raise anything in the reader
        pickled = "allow_pickle" in str(error)
        why = "it holds pickled objects, which are never loaded" if pickled else f"{error}"
        raise UserError(f"{path} cannot be read: {why}") from None


def _observations(arrays: Mapping[str, np.ndarray], name: str) -> Any:
    """One array, or a dict of the arrays whose names begin with `name.`; None if there is none."""
    if name in arrays:
        return arrays[name]
    parts = {
        key.removeprefix(f"{name}."): array
        for key, array in arrays.items()
        if key.startswith(f"{name}.")
    }
    return parts or None


def _named(name: str, observations: Any) -> dict[str, np.ndarray]:
    if isinstance(observations, dict):
        if any(isinstance(part, dict | tuple) for part in observations.values()):
            raise UserError("observations of nested parts cannot be written to an npz file")
        return {f"{name}.{key}": part for key, part in observations.items()}
    if isinstance(observations, tuple):
        raise UserError("observations of a Tuple space cannot be written to an npz file")
    return {name: observations}


def _leaves(observations: Any) -> list[np.ndarray]:
    return list(observations.values()) if isinstance(observations, dict) else [observations]


def _spec(path: Path, arrays: Mapping[str, np.ndarray]) -> EnvironmentSpec | None:
    if "spec" not in arrays:
        return None
    try:
        return EnvironmentSpec.from_json(json.loads(str(arrays["spec"])))
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} has a damaged spec: {error!r}") from None


def _run(path: Path, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The facts about a run; files of other programs, and older ones, have none."""
    text = str(arrays.get(RUN, "{}"))
    try:
        facts = json.loads(text)
    except ValueError:
        facts = text
    return check_run_facts(path, facts)


def _objectives(arrays: Mapping[str, np.ndarray]) -> list[Objective]:
    names = [str(name) for name in np.atleast_1d(arrays.get("objectives", np.array([])))]
    units = [str(unit) for unit in np.atleast_1d(arrays.get("units", np.array([""] * len(names))))]
    directions = [
        str(one)
        for one in np.atleast_1d(arrays.get("directions", np.array(["maximise"] * len(names))))
    ]
    if not len(names) == len(units) == len(directions):
        raise UserError("objectives, units and directions must have one word for each objective")
    wrong = [one for one in directions if one not in ("maximise", "minimise")]
    if wrong:
        raise UserError(f"a direction must be maximise or minimise, got {wrong[0]!r}")
    return [
        Objective(*about)  # type: ignore[arg-type]
        for about in zip(names, units, directions, strict=True)
    ]
