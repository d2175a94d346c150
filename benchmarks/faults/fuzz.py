"""Mutate the files of a run and the words of commands at random; every answer must be a sentence.

Files: bytes are flipped, cut, repeated or exchanged with those of another run, and values of JSON
and CSV files are replaced by others. Then the run is loaded, drawn and, where it is unfinished,
resumed up to its first iteration. Words: options and values of commands are drawn from what
exists, from near misses and from nonsense; no command gets so far as to train. Whatever is raised
but a `UserError` is written down with the seed that repeats it:

    python benchmarks/faults/fuzz.py --minutes 60 --seed 0
"""

import argparse
import contextlib
import io
import json
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pcn
from pcn.cli import main as command_line
from pcn.cli.main import COMMANDS
from pcn.envs import ENVIRONMENTS
from pcn.errors import Stopped, UserError
from pcn.figures import front_figure, progress_figure

STRANGE: list[Any] = [
    None, True, -1, 0, 10**30, 1.5, float("nan"), float("inf"), "", "a", "[/bold]", [], {}, [[]],
    {"a": 1}, [1, "a"], "__main__:x", "os:system", "../../etc", "\x00",
]  # fmt: skip
WORDS = [
    "--seed", "--out", "--total-steps", "--total-stepz", "--help", "--policy", "--save", "-1", "0",
    "1e5", "1.5", "abc", "", "--", "--no-variations", "--width=0", "--learning-rate", "nan", "inf",
    "--algorithm", "mones", "ra", "--preset", "authors", "[red]", "\u2603", "--set", "a=1,2",
    "--executions", "x" * 500, "--workers", "ray", "--seeds", "5-1", "--progress", "front.xyz",
]  # fmt: skip


def trained(folder: Path) -> dict[str, Path]:
    """A finished run and an unfinished one, as small as can be."""
    options: dict[str, Any] = {
        "total_steps": 600, "width": 8, "batch_size": 16, "updates_per_iteration": 4,
        "episodes_per_iteration": 4, "warmup_episodes": 4, "capacity": 8, "evaluations": 2,
        "consolidation.updates": 8,
    }  # fmt: skip
    pcn.train("deep-sea-treasure", out=folder / "finished", **options)
    pcn.train("deep-sea-treasure", out=folder / "other", seed=1, **options)
    calls = iter(range(100))
    with contextlib.suppress(Stopped):
        pcn.train(
            "deep-sea-treasure", out=folder / "unfinished", checkpoint_seconds=0,
            stop=lambda: next(calls) > 2, **options,
        )  # fmt: skip
    return {name: folder / name for name in ("finished", "other", "unfinished")}


def mutate_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(data) or 1))
        kind = rng.integers(4)
        if kind == 0 and data:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data[at:at] = rng.bytes(int(rng.integers(1, 20)))
        else:
            data = data[:at] + data[at : at + 50] + data[at:]
    return bytes(data)


def mutate_json(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace or remove a value somewhere."""
    tree = json.loads(content)
    place: Any = tree
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = keys[int(rng.integers(len(keys)))]
        if isinstance(place[key], dict | list) and place[key] and rng.uniform() < 0.7:
            place = place[key]
            continue
        if rng.uniform() < 0.2 and isinstance(place, dict):
            del place[key]
        else:
            place[key] = STRANGE[int(rng.integers(len(STRANGE)))]
        break
    return json.dumps(tree).encode()


def mutate_csv(content: bytes, rng: np.random.Generator) -> bytes:
    rows = [line.split(",") for line in content.decode().splitlines()]
    row = rows[int(rng.integers(len(rows)))]
    row[int(rng.integers(len(row)))] = str(STRANGE[int(rng.integers(len(STRANGE)))])
    return ("\n".join(",".join(row) for row in rows) + "\n").encode()


def one_file(runs: dict[str, Path], scratch: Path, rng: np.random.Generator) -> Callable[[], None]:
    """Damage one file of a copy of a run; returns what to do with the copy."""
    kind = ("finished", "unfinished")[int(rng.integers(2))]
    copy = scratch / "copy"
    shutil.copytree(runs[kind], copy)
    names = sorted(path.name for path in copy.iterdir() if path.is_file())
    path = copy / names[int(rng.integers(len(names)))]
    way = rng.integers(4)
    if way == 0 and (runs["other"] / path.name).exists():
        shutil.copy(runs["other"] / path.name, path)
    elif way == 1 and path.suffix == ".json":
        path.write_bytes(mutate_json(path.read_bytes(), rng))
    elif way == 1 and path.suffix == ".csv":
        path.write_bytes(mutate_csv(path.read_bytes(), rng))
    elif way == 2:
        path.unlink()
    else:
        path.write_bytes(mutate_bytes(path.read_bytes(), rng))

    def use() -> None:
        if kind == "unfinished" and not (copy / "metrics.json").exists():
            with contextlib.suppress(Stopped):
                pcn.resume(copy, stop=lambda: True)
            return
        run = pcn.load(copy)
        repr(run), run._repr_html_()
        front_figure(run), progress_figure([run])

    return use


def one_command(
    runs: dict[str, Path], scratch: Path, rng: np.random.Generator
) -> Callable[[], None]:
    """A command of random words; it may be right, but never so that it trains or serves."""
    quick = [name for name in COMMANDS if name not in ("explore", "reproduce", "sweep")]
    pool = [*WORDS, *ENVIRONMENTS, *map(str, runs.values()), "deep-sea-treasure-v0", "nowhere:x"]
    drawn = [pool[i] for i in rng.integers(len(pool), size=int(rng.integers(0, 5)))]
    words = [quick[int(rng.integers(len(quick)))], *drawn]
    if words[0] in ("train", "resume", "check"):
        words.append("--nonsense")  # read like all others, but refused before anything is made

    def use() -> None:
        with contextlib.chdir(scratch):
            said, complained = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
                try:
                    command_line(words)
                except SystemExit as stop:
                    told = complained.getvalue()
                    sentence = told.startswith("pcn: ") and told.count("\n") == 1
                    if stop.code and not sentence:
                        raise RuntimeError(f"ended with {stop.code}: {told[-200:]}") from stop
                    if stop.code:
                        raise UserError(told.strip()) from None

    use.words = words  # type: ignore[attr-defined]
    return use


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tries", type=int, help="stop after so many tries")
    options = parser.parse_args()
    pcn.configure_jax()
    outcomes: Counter[str] = Counter()
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        runs = trained(Path(folder))
        ends, seed = time.monotonic() + 60 * options.minutes, options.seed
        while time.monotonic() < ends and seed - options.seed != options.tries:
            rng = np.random.default_rng(seed)
            kind = (one_file, one_command)[int(rng.integers(2))]
            with tempfile.TemporaryDirectory() as scratch:
                use = kind(runs, Path(scratch), rng)
                try:
                    use()
                    outcomes[f"{kind.__name__}: accepted"] += 1
                except UserError as error:
                    several = " of several lines" if "\n" in str(error) else ""
                    outcomes[f"{kind.__name__}: refused in a sentence{several}"] += 1
                except Exception as error:
                    broken += 1
                    place = traceback.extract_tb(error.__traceback__)[-1]
                    print(f"seed {seed}: {error!r:.300} at {place.filename}:{place.lineno} "
                          f"{getattr(use, 'words', '')}", flush=True)  # fmt: skip
            seed += 1
    for told, count in sorted(outcomes.items()):
        print(f"{told}: {count}")
    raise SystemExit(f"{broken} of {seed - options.seed} broke" if broken else None)


if __name__ == "__main__":
    main()
