"""What a command sets in its own process before anything else: no other code does."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pcn.compilation import configure_jax

GARBAGE_THRESHOLD = 50_000
"""Garbage is looked for when so many more objects were made than freed; Python's default is 700."""


def set_up_process(*, jax: bool) -> None:
    """Find the user's modules in the current folder, keep pygame silent, and set JAX up."""
    # `my_module:make_env` is looked for where the user is.
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    # Environments that draw with pygame need no loudspeaker.
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    if jax:
        configure_jax()


@contextmanager
def collecting_later() -> Iterator[None]:
    """Collect no garbage meanwhile, and less often afterwards.

    Importing makes many objects that stay: looking for garbage among them took a sixth of its time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.set_threshold(GARBAGE_THRESHOLD)
        gc.enable()
