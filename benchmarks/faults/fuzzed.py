"""What is fuzzed: each kind damages something and returns what to do with it."""

import asyncio
import contextlib
import io
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from damaging import (
    STRANGE,
    bomb,
    mutate_arrays,
    mutate_bytes,
    mutate_csv,
    mutate_json,
)

import pcn
from pcn.cli import main as command_line
from pcn.cli.main import COMMANDS
from pcn.envs import ENVIRONMENTS
from pcn.errors import Stopped, UserError
from pcn.experiments.comparison.comparison import compare
from pcn.experiments.comparison.tables import summaries
from pcn.experiments.outputs import write_outputs
from pcn.experiments.plan import Plan
from pcn.experiments.status import read_status
from pcn.explorer.explorer import Explorer
from pcn.explorer.server import application
from pcn.explorer.shown_runs import open_runs
from pcn.export.minari_dataset import write_dataset
from pcn.export.onnx_files import write_onnx
from pcn.figures import front_figure, progress_figure
from pcn.runs.logged import read_dataset
from pcn.runs.loggers import logs_again

WORDS = [
    "--seed", "--out", "--total-steps", "--total-stepz", "--help", "--policy", "--save", "-1", "0",
    "1e5", "1.5", "abc", "", "--", "--no-variations", "--width=0", "--learning-rate", "nan", "inf",
    "--algorithm", "mones", "ra", "--preset", "authors", "[red]", "\u2603", "--set", "a=1,2",
    "--executions", "x" * 500, "--workers", "ray", "--seeds", "5-1", "--progress", "front.xyz",
]  # fmt: skip
ADDRESSES = ["/", "/api/document", "/api/rollout", "/api/export", "/page/page.js", "/page/../x"]
Use = Callable[[], None]


@dataclass
class Made:
    """Small runs, datasets and a study, made once and copied before they are damaged."""

    finished: Path
    other: Path
    unfinished: Path
    dataset: Path
    minari: Path
    study: Path
    server: Any


def made(folder: Path) -> Made:
    """A finished run, another, an unfinished one and what is made of them, as small as can be."""
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
    (folder / "unfinished" / "logs.json").write_text('{"tensorboard": false}')
    write_dataset(folder / "finished", folder / "episodes.npz")
    write_dataset(folder / "finished", folder / "minari")
    study = folder / "study"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        # Two seeds of a sweep whose runs are there already: nothing is trained.
        place = study / "runs" / "deep-sea-treasure" / "pcn"
        for seed, name in enumerate(("finished", "other")):
            shutil.copytree(folder / name, place / f"seed-{seed}")
            (place / f"seed-{seed}.status.json").write_text('{"state": "done", "attempt": 1}')
        runs = [
            {
                "group": "deep-sea-treasure", "label": "pcn",
                "run": f"runs/deep-sea-treasure/pcn/seed-{seed}",
                "request": {
                    "environment": "deep-sea-treasure", "arguments": {}, "algorithm": "pcn",
                    "preset": None, "hyperparameters": options, "seed": seed,
                },
            }
            for seed in range(2)
        ]  # fmt: skip
        plan = {"format": 1, "pcn": pcn.__version__, "name": "sweep", "preset": None, "scale": 1.0}
        (study / "plan.json").write_text(json.dumps({**plan, "seeds": [0, 1], "runs": runs}))
        Plan.read(study)
    explorer = Explorer(*open_runs([folder / "finished"]))
    server = application(explorer, token="secret", host="127.0.0.1")
    places = [folder / name for name in ("finished", "other", "unfinished")]
    return Made(*places, folder / "episodes.npz", folder / "minari", study, server)


def one_file(made: Made, scratch: Path, rng: np.random.Generator) -> Use:
    """Damage one file of a copy of a run; returns what to do with the copy."""
    kind = ("finished", "unfinished")[int(rng.integers(2))]
    copy = scratch / "copy"
    shutil.copytree(getattr(made, kind), copy)
    names = sorted(path.name for path in copy.iterdir() if path.is_file())
    path = copy / names[int(rng.integers(len(names)))]
    way = rng.integers(4)
    if way == 0 and (made.other / path.name).exists():
        shutil.copy(made.other / path.name, path)
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
                logs_again(copy)
                pcn.resume(copy, stop=lambda: True)
            return
        run = pcn.load(copy)
        repr(run), run._repr_html_()
        front_figure(run), progress_figure([run])

    return use


def one_command(made: Made, scratch: Path, rng: np.random.Generator) -> Use:
    """A command of random words; it may be right, but never so that it trains or serves."""
    quick = [name for name in COMMANDS if name not in ("explore", "reproduce", "sweep")]
    pool = [
        *WORDS,
        *ENVIRONMENTS,
        str(made.finished),
        str(made.other),
        str(made.study),
        "deep-sea-treasure-v0",
        "nowhere:x",
    ]
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


def damaged(path: Path, rng: np.random.Generator) -> None:
    """Damage a file in a way that fits it, or in any."""
    content = path.read_bytes()
    if path.suffix == ".json" and rng.uniform() < 0.8:
        content = mutate_json(content, rng)
    elif path.suffix == ".csv" and rng.uniform() < 0.8:
        content = mutate_csv(content, rng)
    elif path.suffix == ".npz" and rng.uniform() < 0.8:
        content = mutate_arrays(content, rng)
    else:
        content = mutate_bytes(content, rng)
    path.write_bytes(content)


def one_dataset(made: Made, scratch: Path, rng: np.random.Generator) -> Use:
    """Logged episodes: npz, or HDF5 with its metadata."""
    if rng.uniform() < 0.6:
        place = scratch / "episodes.npz"
        shutil.copy(made.dataset, place)
        if rng.uniform() < 0.05:
            place.write_bytes(bomb("observations", (1 << 33,)))
        else:
            damaged(place, rng)
    else:
        place = scratch / "minari"
        shutil.copytree(made.minari, place)
        files = sorted(path for path in place.rglob("*") if path.is_file())
        damaged(files[int(rng.integers(len(files)))], rng)

    def use() -> None:
        logged = read_dataset(place)
        logged.fitting(logged.spec)
        with contextlib.suppress(Stopped):
            pcn.train(dataset=place, stop=lambda: True)

    return use


def one_returns_file(made: Made, scratch: Path, rng: np.random.Generator) -> Use:
    """A CSV file of another tool's returns beside a run, or alone."""
    path = scratch / "other.csv"
    path.write_text("algorithm,seed,treasure,time\n" + "envelope,0,1,-1\nenvelope,0,124,-19\n")
    damaged(path, rng)
    if rng.uniform() < 0.3:
        damaged(path, rng)
    paths = [path] if rng.uniform() < 0.1 else [made.finished, path]

    def use() -> None:
        for comparison in compare(paths)[0]:
            summaries(comparison)

    return use


def one_study(made: Made, scratch: Path, rng: np.random.Generator) -> Use:
    """plan.json, the status of a run or one of its files; then all tables are written."""
    study = scratch / "study"
    shutil.copytree(made.study, study)
    files = sorted(study.rglob("*.json"))
    chosen = study / "plan.json" if rng.uniform() < 0.5 else files[int(rng.integers(len(files)))]
    damaged(chosen, rng)

    def use() -> None:
        for run in Plan.read(study).runs:
            read_status(study / run.place)
        if rng.uniform() < 0.3:
            write_outputs(study)

    return use


def one_request(made: Made, scratch: Path, rng: np.random.Generator) -> Use:
    """A request to the explorer's server; whatever it is, the answer is no fault of the server."""
    del scratch
    body = json.dumps({"run": 0, "policy": 0, "seed": 0}).encode()
    if rng.uniform() < 0.5:
        body = json.dumps({"run": 0, "desired_return": [1, -1], "horizon": 1, "seed": 0}).encode()
    body = mutate_json(body, rng) if rng.uniform() < 0.8 else mutate_bytes(body, rng)
    if rng.uniform() < 0.05:
        body = (b"[" * 100_000, b"9" * 5000, b'{"run":' + b"9" * 4000 + b"}")[int(rng.integers(3))]
    address = ADDRESSES[int(rng.integers(len(ADDRESSES)))]
    method = ("GET", "POST", "PUT", "HEAD", "nonsense")[
        int(rng.integers(5)) if rng.uniform() < 0.3 else 1
    ]
    headers = {
        b"host": b"127.0.0.1:8000",
        b"x-token": b"secret",
        b"content-type": b"application/json",
    }
    if rng.uniform() < 0.3:
        name = list(headers)[int(rng.integers(3))]
        headers[name] = mutate_bytes(headers[name], rng)

    def use() -> None:
        status, answer = asyncio.run(answered(made.server, method, address, headers, body))
        if status >= 500:
            raise RuntimeError(
                f"{method} {address} {headers} {body[:80]!r}: {status} {answer[:200]!r}"
            )
        if status >= 400:
            raise UserError(answer.decode(errors="replace")[:300])

    return use


async def answered(
    server: Any, method: str, path: str, headers: dict[bytes, bytes], body: bytes
) -> tuple[int, bytes]:
    """What the server says to one request."""
    sent: list[Any] = []
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "path": path, "raw_path": path.encode(), "query_string": b"", "scheme": "http",
        "headers": list(headers.items()), "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 9),
        "root_path": "",
    }  # fmt: skip

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await server(scope, receive, send)
    status = next(one["status"] for one in sent if one["type"] == "http.response.start")
    return status, b"".join(one.get("body", b"") for one in sent)


def one_export(made: Made, scratch: Path, rng: np.random.Generator) -> Use:
    """Places and policies of `pcn export`; most are refused before anything is computed."""
    names = [
        "a.onnx",
        "a.txt",
        "",
        "b/a.onnx",
        "x" * 300 + ".onnx",
        "\x00.onnx",
        ".onnx",
        "a b.onnx",
    ]
    name = names[int(rng.integers(len(names)))]
    policy = STRANGE[int(rng.integers(6))]
    policy = policy if isinstance(policy, int) else None
    if (
        name in ("a.onnx", "a b.onnx", ".onnx")
        and policy in (None, 0, True)
        and rng.uniform() < 0.9
    ):
        policy = 10**30  # a whole export takes seconds

    def use() -> None:
        write_onnx(pcn.load(made.finished), scratch / name, policy=policy)

    return use


KINDS = {
    one_file: 5, one_command: 6, one_dataset: 5, one_returns_file: 3, one_study: 3, one_request: 3,
    one_export: 1,
}  # fmt: skip
"""What is fuzzed, and how often it is drawn."""
