"""What a command sets in its own process before anything else: no other code does."""

import os
import sys

from pcn.compilation import configure_jax


def set_up_process(*, jax: bool) -> None:
    """Find the user's modules in the current folder, keep pygame silent, and set JAX up."""
    # `my_module:make_env` is looked for where the user is.
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    # Environments that draw with pygame need no loudspeaker.
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    if jax:
        configure_jax()
