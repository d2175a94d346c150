"""What a run was made with: versions and processor."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pcn.version import __version__

PACKAGES = ("jax", "equinox", "optax", "numpy", "gymnasium", "moocore")
"""Those that a result may depend on."""


def made_with() -> dict[str, str]:
    """The processor, and the versions of this package and of those that it depends on."""
    versions = {"pcn": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:  # part of a bundle without metadata
            continue
    return {"processor": f"{_processor()}, {os.cpu_count()} cores", **versions}


def _processor() -> str:
    """The processor's name as the system gives it; its architecture where it gives none."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
