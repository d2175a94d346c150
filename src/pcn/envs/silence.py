"""Notices about an environment that does not answer, or answers slowly."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)

TOLD_SECONDS = 30.0
"""Seconds without an answer after which a notice says so, and between notices of slow ones."""


def told_when_slow(name: str) -> Callable[[], None]:
    """A function to be called after each answer; now and then it logs how many there were."""
    count, began = 0, time.monotonic()
    last = began

    def answered() -> None:
        nonlocal count, last
        count, now = count + 1, time.monotonic()
        if now - last >= TOLD_SECONDS:
            last = now
            logger.warning(
                "%s is slow: %d answers in %.0f s; its random episodes go on",
                name, count, now - began,
            )  # fmt: skip

    return answered


@contextmanager
def told_when_silent(name: str) -> Iterator[Callable[[], None]]:
    """Log a warning when an environment has not answered for long.

    The function that this yields has to be called after each answer. A thread watches, because an
    environment that hangs keeps this one.
    """
    last, count_answer = time.monotonic(), told_when_slow(name)
    over = threading.Event()

    def answered() -> None:
        nonlocal last
        last = time.monotonic()
        count_answer()

    def watch() -> None:
        told = None
        while not over.wait(TOLD_SECONDS / 10):
            if last != told and time.monotonic() - last >= TOLD_SECONDS:
                told = last
                logger.warning(
                    "%s has not answered for %.0f s; it is waited for until Ctrl-C",
                    name, TOLD_SECONDS,
                )  # fmt: skip

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield answered
    finally:
        over.set()


def ignore_answer() -> None:
    """Do nothing after an answer."""
