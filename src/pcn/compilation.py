"""How JAX compiles and runs programs: one call sets what suits this package."""

import os
from pathlib import Path

from pcn.program_cache import keep_entries_whole

_FLAG = "--xla_cpu_multi_thread_eigen"


def configure_jax(*, programs: Path | None = None) -> None:
    """Set JAX up as the command line does; call it once, before anything has used JAX.

    Nothing needs it, and nothing calls it but the command line. It changes the whole process:

    - Matrix products run in one thread. The networks are small, so that threads cost more than
      they bring, and results do not depend on how many cores there are.
    - Programs run in the thread that calls them. Nothing here goes on without its result, and
      handing a small program to another thread takes as long as running it.
    - Compiled programs are kept on disk, in `$PCN_CACHE` or `pcn` in the user's cache folder; an
      empty `PCN_CACHE` keeps none. They are written in one step, and those that cannot be read
      are removed.

    What the user has chosen by JAX's own variables and options stays as it is. With `programs`,
    compiled programs are kept in that folder, whatever was chosen.
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
        # The name of a folder for GPUs would be part of every program's name, and with it ours.
        jax.config.update("jax_persistent_cache_enable_xla_caches", "none")
    if programs is not None:
        jax.config.update("jax_compilation_cache_dir", str(programs))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def programs_folder() -> Path | None:
    """Where compiled programs are kept unless JAX is told otherwise; None if nowhere."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    chosen = os.environ.get("PCN_CACHE", str(Path(base) / "pcn"))
    return Path(chosen) if chosen else None
