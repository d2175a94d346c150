"""What an iteration's bookkeeping costs as the dataset grows: `python benchmarks/bookkeeping.py`.

A Walkroom's border cells with nine objectives are scored: 64 new returns join N stored ones, and
the 64 worst go. Prints a Markdown table of CPU milliseconds per iteration.
"""

import time

import numpy as np

from pcn.pareto import Scoreboard

NEW, ITERATIONS, NUM_OBJECTIVES = 64, 30, 9


def border_cells(count: int, rng: np.random.Generator) -> np.ndarray:
    """Returns like those of Walkroom 9: near a border, many of them non-dominated."""
    cells = rng.multinomial(9, [1 / NUM_OBJECTIVES] * NUM_OBJECTIVES, size=count)
    return -(cells + (rng.uniform(size=cells.shape) < 0.05)).astype(np.float64)


def main() -> None:
    print("| stored episodes | ms per iteration | ms per 1,000 stored |")
    print("|---|---|---|")
    for stored in (1_000, 2_000, 4_000, 8_000, 16_000):
        rng = np.random.default_rng(0)
        board = Scoreboard(NUM_OBJECTIVES)
        board.add(border_cells(stored, rng))
        batches = [border_cells(NEW, rng) for _ in range(ITERATIONS)]
        started = time.process_time()
        for batch in batches:
            board.add(batch)
            board.prune(stored)
        milliseconds = 1e3 * (time.process_time() - started) / ITERATIONS
        print(
            f"| {stored:,} | {milliseconds:.1f} | {1e3 * milliseconds / stored:.2f} |", flush=True
        )


if __name__ == "__main__":
    main()
