"""A call of a function in a worker process, where an environment may hang or die."""

import multiprocessing.connection
import pickle
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from pcn.envs.failures import failure_of
from pcn.envs.silence import told_when_slow
from pcn.envs.slot_process import ignore_signals
from pcn.envs.worker_slots import answers_in_time, deaths_of, start_workers
from pcn.errors import UserError

Watched = Callable[..., Any]
"""Called with `before_probing`, which takes a number of steps, and `answered`, which is to be
called after each answer of the environment."""


def call_in_worker(
    function: Watched,
    name: str,
    *,
    answer_seconds: float,
    before_probing: Callable[[int], None] | None = None,
) -> Any:
    """The result of a function that probes the environment `name` in a worker process.

    A `UserError` says so if the environment has not answered for `answer_seconds`, or has ended
    the process.
    """
    ((process, pipe),) = start_workers(1, _work, name, function)
    count_answer = told_when_slow(name)
    try:
        while True:
            asked = time.monotonic()
            if not answers_in_time(pipe, name, process.pid, answer_seconds):
                raise UserError(
                    f"{name}: worker process {process.pid} has not answered for "
                    f"{time.monotonic() - asked:.0f} s while it was probed, and was ended; "
                    "--answer-seconds allows more"
                )
            what, content = pipe.recv()
            if what == "done":
                return content
            if what == "failed":
                raise UserError(content)
            if what == "answered":
                count_answer()
            if what == "probing" and before_probing is not None:
                before_probing(content)
    except (EOFError, ConnectionError):
        multiprocessing.connection.wait([process.sentinel], timeout=1)
        raise UserError(
            f"{name}: the worker process that probed it died (pid {deaths_of([process])})"
        ) from None
    except (pickle.UnpicklingError, AttributeError, ImportError, TypeError) as error:
        raise UserError(
            f"{name}: a worker process answered something unreadable ({error})"
        ) from None
    finally:
        pipe.close()
        process.kill()  # also one that hangs
        process.join(timeout=5)


def _work(pipe: Connection, name: str, function: Watched) -> None:
    """Call the function and send its result; the main function of the worker process."""
    ignore_signals()
    try:
        found = function(
            before_probing=lambda num_steps: pipe.send(("probing", num_steps)),
            answered=lambda: pipe.send(("answered", None)),
        )
    except UserError as error:
        pipe.send(("failed", str(error)))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the environment's own code raises
        pipe.send(("failed", f"{name}: {failure_of(error)}"))
    else:
        pipe.send(("done", found))
