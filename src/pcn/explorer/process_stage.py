"""Execution in a separate process: one that hangs is ended, and the next rollout starts a new
one."""

import json
import subprocess
import threading
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from pcn.errors import UserError
from pcn.explorer.pictures import LIVE_FILM, FilmSize
from pcn.explorer.requests import CommandRequest, PolicyRequest
from pcn.explorer.shown_runs import ShownRun
from pcn.explorer.stage import AbstractStage, ExecutionError
from pcn.worker_processes import start_worker


class ProcessStage(AbstractStage):
    """Executes in a separate process, which is started when it is needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._starting, self._reading = threading.Lock(), threading.Lock()
        self._closed = False

    def prepare(self, shown: ShownRun) -> None:
        """Start the process, unless it runs; it reads the weights and creates the environment."""
        if self._process is None:
            self._send({"folder": str(shown.run.path)})

    def execute(
        self,
        shown: ShownRun,
        request: PolicyRequest | CommandRequest,
        *,
        seconds: float,
        film: FilmSize = LIVE_FILM,
    ) -> dict[str, Any]:
        """Execute in the process; a process that does not answer in time is killed."""
        process = self._send(
            {"folder": str(shown.run.path), "request": asdict(request), "film": asdict(film)}
        )
        assert process.stdout is not None, "the output is a pipe"
        overdue = threading.Event()

        def end() -> None:
            overdue.set()
            process.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            with self._reading:
                line = process.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            code = process.wait()
            if overdue.is_set():
                raise UserError(
                    f"The environment {shown.run.spec.name} did not answer within {seconds:.0f} "
                    "seconds, so the rollout was stopped."
                )
            how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
            raise ExecutionError(f"its process ended, {how}")
        [(kind, content)] = json.loads(line).items()
        if kind == "refused":
            raise UserError(content)
        if kind == "failed":
            raise ExecutionError(content)
        return dict(content)

    def close(self) -> None:
        """Kill the process, whatever it does."""
        with self._starting:
            self._closed = True
            self._end()

    def _send(self, message: dict[str, Any]) -> "subprocess.Popen[str]":
        """Send a message to the process that runs, or to a new one."""
        line = json.dumps(message) + "\n"
        with self._starting:
            if self._closed:
                raise UserError("The page is closed.")
            if self._process is not None and self._process.poll() is not None:
                self._end()
            if self._process is None:
                self._process = start_worker("pcn.explorer.worker")
            assert self._process.stdin is not None, "the input is a pipe"
            with suppress(OSError):  # the reader of the answer reports its end
                self._process.stdin.write(line)
                self._process.stdin.flush()
            return self._process

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        with self._reading:  # the reader now sees the end of the output
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                assert stream is not None, "both are pipes"
                with suppress(OSError):  # messages that it had not read yet
                    stream.close()
        self._process = None
