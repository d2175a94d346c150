"""Configure how JAX compiles and runs programs for this package."""

import os
from pathlib import Path

from pcn.program_cache import keep_entries_whole

_FLAG = "--xla_cpu_multi_thread_eigen"


def configure_jax(*, programs: Path | None = None) -> None:
    """Configure JAX as the command line does; call it once, before anything has used JAX.

    Only the command line calls this function, and nothing depends on it. It changes the whole
    process:

    - Matrix products run in one thread. The networks are small, so several threads cost more than
      they save, and results do not depend on the number of cores.
    - Programs run in the calling thread. Every caller waits for the result, and passing a small
      program to another thread takes as long as running it.
    - Compiled programs are kept on disk, in `$PCN_CACHE` or `pcn` in the user's cache folder; an
      empty `PCN_CACHE` keeps none. They are written in one step, and those that cannot be read
      are removed.

    Choices that the user has made by JAX's own variables and options are kept. With `programs`,
    compiled programs are kept in that folder in any case.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if _FLAG not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_FLAG}=false".strip()  # read at JAX's first array
    import jax

    keep_entries_whole()
    if "JAX_CPU_ENABLE_ASYNC_DISPATCH" not in os.environ:
        jax.config.update("jax_cpu_enable_async_dispatch", False)
    if programs is None:
        if jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
            return
        programs = programs_folder()
    else:
        # JAX would add the name of a folder for GPUs to the cache key of every program.
        jax.config.update("jax_persistent_cache_enable_xla_caches", "none")
    if programs is not None:
        jax.config.update("jax_compilation_cache_dir", str(programs))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def programs_folder() -> Path | None:
    """The folder of compiled programs, unless JAX has another setting; None if nothing is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    chosen = os.environ.get("PCN_CACHE", str(Path(base) / "pcn"))
    return Path(chosen) if chosen else None
