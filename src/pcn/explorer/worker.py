"""A process that executes policies for the page, so that one that hangs can be ended.

`python -m pcn.explorer.worker` reads a JSON object per line from standard input: the folder of a
run and a request, or only the folder, which is then prepared. It answers with a rollout, or with a
sentence that says why there is none. It ends when its input ends.
"""

import json
import os
import queue
import signal
import threading
from pathlib import Path
from typing import Any, TextIO

from pcn.errors import UserError
from pcn.explorer.pictures import FilmSize
from pcn.explorer.requests import CommandRequest, PolicyRequest
from pcn.explorer.rollouts import Limits, Performer
from pcn.worker_processes import take_streams


def execute(
    performer: Performer, request: PolicyRequest | CommandRequest, limits: Limits
) -> dict[str, Any]:
    """Execute what is asked for."""
    if isinstance(request, PolicyRequest):
        return performer.execute_policy(request.policy, seed=request.seed, limits=limits)
    return performer.execute_command(
        request.desired_return, request.horizon, seed=request.seed, limits=limits
    )


def main() -> None:
    """Answer until there is nothing more to read."""
    # The process that started this one decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = take_streams()
    messages: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_listen, args=(source, messages), daemon=True).start()
    from pcn.compilation import configure_jax

    configure_jax()
    performers: dict[str, Performer] = {}
    while True:
        message = messages.get()
        answer = _answer(performers, message)
        if "request" in message:
            print(json.dumps(answer), file=sink, flush=True)


def _answer(performers: dict[str, Performer], message: dict[str, Any]) -> dict[str, Any]:
    try:
        folder, request = message["folder"], message.get("request")
        if folder not in performers:
            performers[folder] = _opened(folder)
        if request is None:
            performers[folder].prepare()
            return {}
        kind = CommandRequest if "desired_return" in request else PolicyRequest
        limits = Limits(film=FilmSize(**message["film"]))
        return {"rollout": execute(performers[folder], kind(**request), limits)}
    except UserError as error:
        return {"refused": str(error)}
    except Exception as error:  # whatever the environment's own code raises
        return {"failed": str(error) or type(error).__name__}


def _opened(folder: str) -> Performer:
    from pcn.runs.run import load

    return Performer(load(Path(folder)))


def _listen(source: TextIO, messages: "queue.Queue[dict[str, Any]]") -> None:
    for line in source:
        messages.put(json.loads(line))
    # A step that never returns cannot be interrupted.
    os._exit(0)


if __name__ == "__main__":
    main()
