"""Instances of a Gymnasium environment, each in a worker process of its own."""

import logging
import multiprocessing
import multiprocessing.connection
import multiprocessing.process
import os
import pickle
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from pcn.envs.environment import Watcher
from pcn.envs.gymnasium_source import MakeEnv
from pcn.envs.silence import TOLD_SECONDS
from pcn.envs.slot_process import COUNTED_SECONDS, work
from pcn.envs.slots import Beginning, Outcome, Played, Script, ignore_steps
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.processor_time import count_worker, keep_worker

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 600.0
"""Seconds without an answer after which a worker is given up."""
_NAME = "pcn-worker"
_UNGUARDED = 77
"""Exit code of a worker that was about to start workers while it imported the main script."""


class WorkerDied(UserError):
    """A worker process has ended by itself, or was killed."""


class WorkerSlots:
    """Each instance in a worker process, which is kept from one episode to the next."""

    def __init__(
        self,
        make: MakeEnv,
        spec: EnvironmentSpec,
        num_slots: int,
        *,
        answer_seconds: float = ANSWER_SECONDS,
        watcher: Watcher = ignore_steps,
    ) -> None:
        self._watcher = watcher
        self.closed = False
        self._name = spec.name
        self._answer_seconds = answer_seconds
        started = start_workers(num_slots, work, make, spec)
        self._processes: list[Any] = [process for process, _ in started]
        self._pipes: list[Connection] = [pipe for _, pipe in started]
        for process in self._processes:
            count_worker(process.pid)

    def reset(self, seeds: Mapping[int, int]) -> dict[int, tuple[Any, dict[str, Any]]]:
        """Start an episode in each of these slots."""
        return self._ask("reset", seeds)

    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        """Take an action in each of these slots."""
        answers = self._ask("step", actions)
        self._watcher(len(answers))
        return answers

    def play(self, scripts: Mapping[int, Script]) -> dict[int, Played]:
        """Run a whole episode in each of these slots."""
        return self._ask("play", scripts)

    def begin(self, beginnings: Mapping[int, Beginning]) -> dict[int, list[np.ndarray]]:
        """Repeat the first steps of an episode in each of these slots; return their rewards."""
        return self._ask("begin", beginnings)

    def _ask(self, what: str, messages: Mapping[int, Any]) -> dict[int, Any]:
        try:
            for slot, message in messages.items():
                self._pipes[slot].send((what, message))
            if what == "play":
                answers = self._played(messages)
            else:
                answers = {slot: self._received(slot, what) for slot in messages}
        except (EOFError, ConnectionError):
            self._raise_worker_died()
        except (pickle.UnpicklingError, AttributeError, ImportError, TypeError) as error:
            self.close()
            raise UserError(
                f"{self._name}: a worker process answered something unreadable ({error})"
            ) from None
        for failed, answer in answers.values():
            if failed:
                self.close()
                raise UserError(answer)
        return {slot: answer for slot, (_, answer) in answers.items()}

    def _played(self, slots: Iterable[int]) -> dict[int, Any]:
        """The episodes of these slots, once all are over; steps are reported as they are taken."""
        counted: dict[int, int] = dict.fromkeys(slots, 0)
        answers: dict[int, Any] = {}
        while len(answers) < len(counted):
            waiting = [slot for slot in counted if slot not in answers]
            pipes = [self._pipes[slot] for slot in waiting]
            heard = multiprocessing.connection.wait(pipes, COUNTED_SECONDS)
            ready = [slot for slot in waiting if self._pipes[slot] in heard]
            for slot in ready or waiting[:1]:
                failed, answer = self._received(slot, "play")
                if failed is None:
                    num_steps = answer
                else:
                    answers[slot] = failed, answer
                    num_steps = 0 if failed else len(answer.rewards) - counted[slot]
                counted[slot] += num_steps
                self._watcher(num_steps)
        return {slot: answers[slot] for slot in counted}

    def _received(self, slot: int, what: str) -> Any:
        """The answer of a slot; a `UserError` if it takes too long."""
        pipe, pid = self._pipes[slot], self._processes[slot].pid
        started = time.monotonic()
        if answers_in_time(pipe, self._name, pid, self._answer_seconds):
            return pipe.recv()
        self.close()
        waited = time.monotonic() - started
        raise UserError(
            f"{self._name}: worker process {pid} has not answered `{what}` for {waited:.0f} s "
            f"and was ended; --answer-seconds allows more"
        )

    def _raise_worker_died(self) -> None:
        """End all workers and raise the `UserError` that names the one that died."""
        multiprocessing.connection.wait([p.sentinel for p in self._processes], timeout=1)
        try:
            dead = deaths_of(self._processes)
        finally:
            self.close()
        raise WorkerDied(f"{self._name}: a worker process died (pid {dead})") from None

    def close(self) -> None:
        """End every worker, also one that hangs."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            keep_worker(process.pid)
            process.kill()  # a simulator may hang, and a worker has nothing to save
        for process in self._processes:
            process.join(timeout=5)
        self.closed = True


def start_workers(
    number: int, main: Callable[..., None], *arguments: Any
) -> list[tuple[Any, Connection]]:
    """Start worker processes that call `main` with a pipe and these arguments; and their pipes.

    They are not forked from this process: a copy of a process that runs JAX may hang. They import
    the main script only where the environment is defined in it.
    """
    _end_if_unguarded()
    context, started = _context(), []
    with nullcontext() if _needs_main(arguments) else _main_hidden():
        for index in range(number):
            here, there = context.Pipe()
            process = context.Process(
                target=main, args=(there, *arguments), name=f"{_NAME}-{index}", daemon=True
            )
            process.start()
            there.close()
            started.append((process, here))
    return started


def answers_in_time(pipe: Connection, name: str, pid: int, answer_seconds: float) -> bool:
    """Whether a worker process answers within this time; a warning is logged if it takes long."""
    if pipe.poll(min(TOLD_SECONDS, answer_seconds)):
        return True
    if answer_seconds <= TOLD_SECONDS:
        return False
    logger.warning(
        "%s: worker process %s has not answered for %.0f s; it is given up after %.0f s",
        name, pid, TOLD_SECONDS, answer_seconds,
    )  # fmt: skip
    return pipe.poll(answer_seconds - TOLD_SECONDS)


def deaths_of(processes: Iterable[Any]) -> str:
    """Which of these processes have ended, and why."""
    dead = {process.pid: process.exitcode for process in processes if not process.is_alive()}
    if _UNGUARDED in dead.values():
        raise UserError(
            "worker processes import the script that defines the environment, and this one "
            'trains when it is imported: put that under `if __name__ == "__main__":`'
        ) from None
    return ", ".join(f"{pid}{_reason(code)}" for pid, code in dead.items()) or "unknown"


def _reason(code: int | None) -> str:
    """Why a process ended, if its exit code says so."""
    if code is None or code == 0:
        return ""
    return f", killed by signal {-code}" if code < 0 else f", exit code {code}"


def _needs_main(arguments: Any) -> bool:
    """Whether a worker has to import the main script; a `UserError` if it cannot import
    anything."""
    try:
        return b"__main__" in bytes(ForkingPickler.dumps(arguments))
    except (AttributeError, TypeError, pickle.PicklingError):
        raise UserError(
            "worker processes need an environment that they can import: "
            "a function at the top of a module, no lambda"
        ) from None


def is_importable(*arguments: Any) -> bool:
    """Whether a process can import the environment in these without the main script."""
    try:
        return not _needs_main(arguments)
    except UserError:
        return False


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Start processes that do not import the main script, which may train when it is imported."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _end_if_unguarded() -> None:
    """End this process if it is a worker that is still importing the main script."""
    process = multiprocessing.process.current_process()
    if getattr(process, "_inheriting", False) and process.name.startswith(_NAME):
        os._exit(_UNGUARDED)  # nothing of the script may go on, not even its error handling


def _context() -> Any:
    """How workers are started: by a fork server that has only imported modules, where there is
    one."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context
