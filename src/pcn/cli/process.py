"""Settings of the command line's own process; no other code changes these."""

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pcn.compilation import configure_jax

GARBAGE_THRESHOLD = 50_000
"""Number of new objects between two garbage collections; Python's default is 700."""


def set_up_process(*, jax: bool) -> None:
    """Find the user's modules in the current folder, keep pygame silent, and set JAX up.

    When Python ends, it looks for garbage among all objects several times, which took as long as
    six tenths of a second. Frozen objects are not looked at: the process gives all memory back.
    """
    atexit.unregister(gc.freeze)  # once is enough
    atexit.register(gc.freeze)
    # `my_module:make_env` is looked for where the user is.
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    # Environments that draw with pygame need no audio.
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    if jax:
        configure_jax()


@contextmanager
def collecting_later() -> Iterator[None]:
    """Collect no garbage meanwhile, and less often afterwards.

    Imports create many objects that stay; collecting garbage took a sixth of their time. Those
    that the process has then, if this is its first command, are never looked at again.
    """
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            gc.freeze()
        gc.set_threshold(GARBAGE_THRESHOLD)
        gc.enable()
