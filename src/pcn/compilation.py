"""How JAX keeps and runs compiled code."""

import os
from pathlib import Path

import jax


def use_cache() -> None:
    """Let JAX keep compiled programs, unless the user has chosen a place or none.

    The folder is `$PCN_CACHE`, or `pcn` in the user's cache folder; an empty `PCN_CACHE` turns
    the cache off.
    """
    if jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
        return
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    chosen = os.environ.get("PCN_CACHE", str(Path(base) / "pcn"))
    if not chosen:
        return
    jax.config.update("jax_compilation_cache_dir", chosen)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def run_in_place() -> None:
    """Let JAX run programs on the processor in the thread that asks for them.

    Nothing here goes on before it has its result, and handing a small program to another thread
    takes as long as running it. Without effect once JAX is in use, and where the user has chosen.
    """
    if "JAX_CPU_ENABLE_ASYNC_DISPATCH" not in os.environ:
        jax.config.update("jax_cpu_enable_async_dispatch", False)
