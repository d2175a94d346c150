"""Memory of long trainings: the resident size of the process against its steps.

After the first tenth, when all programs are compiled and the dataset is full, it must stay flat:

    python benchmarks/faults/memory.py compiled --steps 10000000
    python benchmarks/faults/memory.py gymnasium --steps 1000000
    python benchmarks/faults/memory.py compiled --steps 1000000 --without variations

Beside it stand the programs that were compiled so far, the JAX arrays that are alive, how many
Python objects the garbage collector knows, and how many blocks of memory Python has handed out:
what grows tells where memory goes. Numbers are blocks, but no objects of the collector. The network
is small and learns rarely: what is measured is the bookkeeping of steps, episodes, evaluations and
checkpoints, which is the same for every network.
"""

import argparse
import gc
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import jax
import numpy as np

import pcn
from pcn.runs.events import Advanced, Event

ENVIRONMENTS = {"compiled": "deep-sea-treasure", "gymnasium": "deep-sea-treasure-v0"}
OPTIONS: dict[str, Any] = {
    "width": 16, "batch_size": 32, "updates_per_iteration": 2, "episodes_per_iteration": 256,
    "evaluations": 200, "consolidation.updates": 8,
}  # fmt: skip


def resident() -> float:
    """Megabytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=list(ENVIRONMENTS))
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--without", nargs="*", default=[], help="refinements that are off")
    options = parser.parse_args()
    pcn.configure_jax()
    seen: list[tuple[int, float]] = []
    programs: list[str] = []

    def count(name: str, duration: float, **_: Any) -> None:
        if name.endswith("backend_compile_duration"):
            programs.append(name)

    jax.monitoring.register_event_duration_secs_listener(count)

    def report(event: Event) -> None:
        if not isinstance(event, Advanced):
            return
        if not seen or event.steps - seen[-1][0] >= options.steps / options.lines:
            gc.collect()
            seen.append((event.steps, resident()))
            arrays = sum(array.nbytes for array in jax.live_arrays()) / 2**20
            print(
                f"{event.steps:>12,} steps {seen[-1][1]:8.1f} MB, {len(programs)} programs, "
                f"{arrays:.1f} MB of arrays, {len(gc.get_objects()):,} objects, "
                f"{sys.getallocatedblocks():,} blocks",
                flush=True,
            )

    with tempfile.TemporaryDirectory() as folder:
        pcn.train(
            ENVIRONMENTS[options.kind], total_steps=options.steps, report=report,
            out=Path(folder) / "run", **OPTIONS, **dict.fromkeys(options.without, False),
        )  # fmt: skip
    steps, sizes = np.array(seen).T
    late = steps >= options.steps / 10
    slope = np.polyfit(steps[late] / 1e6, sizes[late], 1)[0]
    print(
        f"from {steps[late][0]:,.0f} to {steps[late][-1]:,.0f} steps: {sizes[late].min():.1f} to "
        f"{sizes[late].max():.1f} MB, {slope:+.2f} MB per million steps"
    )


if __name__ == "__main__":
    main()
