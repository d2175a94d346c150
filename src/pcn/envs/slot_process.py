"""The code of a worker process: one instance of an environment that answers messages."""

import multiprocessing
import multiprocessing.connection
import os
import random
import signal
import threading
import time
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from pcn.envs.environment import Watcher
from pcn.envs.failures import failure_of
from pcn.envs.gymnasium_source import MakeEnv
from pcn.envs.slots import Slot, ignore_steps
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError

COUNTED_SECONDS = 1.0
"""Seconds between two reports of steps while a worker runs a whole episode."""


def _seed_process(what: str, message: Any) -> None:
    """Seed the global generators of a worker with each episode's seed.

    Some environments draw from them instead of their own. No other code uses a worker's generators.
    """
    if what != "step":
        seed = message if what == "reset" else message.seed
        random.seed(seed)
        np.random.seed(seed % (1 << 32))  # noqa: NPY002


class SlotProcess:
    """The only slot of a process that answers messages."""

    def __init__(
        self, make: MakeEnv, spec: EnvironmentSpec, *, watcher: Watcher = ignore_steps
    ) -> None:
        """`watcher` is called with the steps of whole episodes now and then."""
        self._make = partial(Slot, make, spec)
        self._name = spec.name
        self._watcher = watcher
        self._slot: Slot | None = None

    def answer(self, what: str, message: Any) -> tuple[bool, Any]:
        """False and the result of a slot's method, or True and what failed."""
        try:
            self._slot = self._slot or self._make()
            self._slot.watcher = _EverySecond(self._watcher) if what == "play" else ignore_steps
            _seed_process(what, message)
            return False, getattr(self._slot, what)(message)
        except UserError as error:
            return True, str(error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever the environment's own code raises
            if self._slot is None:
                return True, f"cannot make {self._name} in a worker process: {failure_of(error)}"
            return True, self._slot.failure(error)


class _EverySecond:
    """Passes steps on, once a second."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._num_steps, self._last = 0, time.monotonic()

    def __call__(self, num_steps: int) -> None:
        self._num_steps += num_steps
        now = time.monotonic()
        if now - self._last >= COUNTED_SECONDS:
            self._watcher(self._num_steps)
            self._num_steps, self._last = 0, now


def _end_with_parent() -> None:
    """End this process when its parent has ended, whatever it does at the time."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def ignore_signals() -> None:
    """Leave it to the parent when this process, a worker, ends."""
    # Ctrl-C in a terminal also reaches workers, and schedulers end whole groups; the process
    # that started the workers decides when to stop.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    # A simulator that hangs would not notice that the pipe closes.
    threading.Thread(target=_end_with_parent, daemon=True).start()


def work(pipe: Connection, make: MakeEnv, spec: EnvironmentSpec) -> None:
    """Answer messages until the pipe closes; the main function of a worker process."""
    ignore_signals()
    process = SlotProcess(make, spec, watcher=lambda num_steps: pipe.send((None, num_steps)))
    while True:
        try:
            what, message = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(process.answer(what, message))
