"""Make JAX's folder of compiled programs safe against processes that are killed.

JAX writes an entry in place and never replaces one. So an entry that was cut off, by a kill or a
full disk, would stay forever: every process that needs it would warn and compile again.
"""

import os
import uuid
from pathlib import Path
from typing import Any


def keep_entries_whole() -> None:
    """Write entries in one step from now on, and remove those that cannot be read.

    This replaces two functions of JAX in this process. If JAX no longer has them, it does nothing.
    """
    try:
        from jax._src import compilation_cache, lru_cache

        read, cache = compilation_cache.get_executable_and_time, lru_cache.LRUCache
        suffix = lru_cache._CACHE_SUFFIX
        evicting_put = cache.put
    except (ImportError, AttributeError):
        return
    if getattr(read, "removes_broken", False):
        return

    def put(self: Any, key: str, value: bytes) -> None:
        if self.eviction_enabled:  # this way of caching has a lock
            evicting_put(self, key, value)
        else:
            write_entry(Path(str(self.path)) / f"{key}{suffix}", value)

    def read_or_remove(cache_key: str, *arguments: Any, **options: Any) -> tuple[Any, Any]:
        try:
            return read(cache_key, *arguments, **options)
        except Exception:  # damaged bytes can upset every layer that reads them
            found = compilation_cache._cache
            if found is None:
                raise
            (Path(str(found._path)) / f"{cache_key}{suffix}").unlink(missing_ok=True)
            return None, None

    read_or_remove.removes_broken = True  # type: ignore[attr-defined]
    cache.put = put  # type: ignore[method-assign]
    compilation_cache.get_executable_and_time = read_or_remove


def write_entry(path: Path, content: bytes) -> None:
    """Write an entry in one step, unless it exists; on a full disk nothing is left behind."""
    if path.exists():
        return
    temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
