"""Instances of a Gymnasium environment, each in a worker process of its own."""

import multiprocessing
import multiprocessing.connection
import random
import signal
from collections.abc import Mapping
from functools import partial
from multiprocessing.connection import Connection
from pickle import PicklingError
from typing import Any

import numpy as np

from pcn.envs.gymnasium_source import MakeEnv
from pcn.envs.slots import Outcome, Played, Script, Slot, failure_of
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError


class WorkerSlots:
    """Each instance in a worker process, which is kept from one episode to the next.

    Workers are not forked from this process: a copy of a process that runs JAX may hang.
    """

    def __init__(self, make: MakeEnv, spec: EnvironmentSpec, num_slots: int) -> None:
        context = _context()
        self.closed = False
        self._pipes: list[Connection] = []
        self._processes = []
        for _ in range(num_slots):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, make, spec), daemon=True)
            try:
                process.start()
            except (AttributeError, PicklingError):
                raise UserError(
                    "worker processes need an environment that they can import: "
                    "a function at the top of a module, no lambda"
                ) from None
            there.close()
            self._pipes.append(here)
            self._processes.append(process)

    def reset(self, seeds: Mapping[int, int]) -> dict[int, tuple[Any, dict[str, Any]]]:
        """Start an episode in each of these slots."""
        return self._ask("reset", seeds)

    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        """Take an action in each of these slots."""
        return self._ask("step", actions)

    def play(self, scripts: Mapping[int, Script]) -> dict[int, Played]:
        """Run a whole episode in each of these slots."""
        return self._ask("play", scripts)

    def _ask(self, what: str, messages: Mapping[int, Any]) -> dict[int, Any]:
        try:
            for slot, message in messages.items():
                self._pipes[slot].send((what, message))
            answers = {slot: self._pipes[slot].recv() for slot in messages}
        except (EOFError, ConnectionError):
            multiprocessing.connection.wait([p.sentinel for p in self._processes], timeout=1)
            dead = [process.pid for process in self._processes if not process.is_alive()]
            self.close()
            raise UserError(
                f"a worker process died (pid {', '.join(map(str, dead)) or 'unknown'}); "
                "a recorded run goes on from its last checkpoint with `pcn resume`"
            ) from None
        for failed, answer in answers.values():
            if failed:
                self.close()
                raise UserError(answer)
        return {slot: answer for slot, (_, answer) in answers.items()}

    def close(self) -> None:
        """End every worker."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
            process.join(timeout=5)
        self.closed = True


def _context() -> Any:
    """How workers are started: by a fork server that has only imported, where there is one."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _seed_process(what: str, message: Any) -> None:
    """Seed the global generators of a worker with each episode's seed.

    Some environments draw from them instead of their own. A worker's are nobody else's.
    """
    if what != "step":
        seed = message if what == "reset" else message.seed
        random.seed(seed)
        np.random.seed(seed % (1 << 32))  # noqa: NPY002


class SlotProcess:
    """The one slot of a process that answers messages."""

    def __init__(self, make: MakeEnv, spec: EnvironmentSpec) -> None:
        self._make = partial(Slot, make, spec)
        self._slot: Slot | None = None

    def answer(self, what: str, message: Any) -> tuple[bool, Any]:
        """False and what a slot's method returns, or True and what failed."""
        try:
            self._slot = self._slot or self._make()
            _seed_process(what, message)
            return False, getattr(self._slot, what)(message)
        except UserError as error:
            return True, str(error)
        except Exception as error:  # whatever the environment's own code raises
            return True, failure_of(error)


def _work(pipe: Connection, make: MakeEnv, spec: EnvironmentSpec) -> None:
    """What a worker process runs: it answers messages until the pipe closes."""
    # Ctrl-C in a terminal reaches workers too; the process that started them decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    process = SlotProcess(make, spec)
    while True:
        try:
            what, message = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(process.answer(what, message))
