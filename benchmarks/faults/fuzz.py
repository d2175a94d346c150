"""Damage at random what is read, and mix words of commands; every answer must be a sentence.

Files of runs, of studies, datasets (npz, HDF5), CSV files of other tools: bytes are flipped, cut,
repeated or exchanged with those of another run, and values are replaced by others. Then what they
belong to is loaded, drawn, compared or, where it is unfinished, resumed up to its first iteration.
Requests to the explorer's server, and options of commands, are drawn from what exists, from near
misses and from nonsense; no command gets so far as to train. Whatever is raised but a `UserError`
is written down with the seed that repeats it:

    python benchmarks/faults/fuzz.py --minutes 60 --seed 0
    python benchmarks/faults/fuzz.py --seed 17 --tries 1      # one of them again
"""

import argparse
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
from fuzzed import KINDS, made

import pcn
from pcn.errors import UserError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tries", type=int, help="stop after so many tries")
    options = parser.parse_args()
    pcn.configure_jax()
    outcomes: Counter[str] = Counter()
    broken = 0
    kinds = [kind for kind, often in KINDS.items() for _ in range(often)]
    with tempfile.TemporaryDirectory() as folder:
        things = made(Path(folder))
        ends, seed = time.monotonic() + 60 * options.minutes, options.seed
        while time.monotonic() < ends and seed - options.seed != options.tries:
            rng = np.random.default_rng(seed)
            kind = kinds[int(rng.integers(len(kinds)))]
            with tempfile.TemporaryDirectory() as scratch:
                use = kind(things, Path(scratch), rng)
                try:
                    use()
                    outcomes[f"{kind.__name__}: accepted"] += 1
                except UserError as error:
                    several = " of several lines" if "\n" in str(error) else ""
                    outcomes[f"{kind.__name__}: refused in a sentence{several}"] += 1
                except Exception as error:
                    broken += 1
                    place = traceback.extract_tb(error.__traceback__)[-1]
                    print(f"seed {seed}: {kind.__name__}: {error!r:.300} at {place.filename}:"
                          f"{place.lineno} {getattr(use, 'words', '')}", flush=True)  # fmt: skip
            seed += 1
    for told, count in sorted(outcomes.items()):
        print(f"{told}: {count}")
    raise SystemExit(f"{broken} of {seed - options.seed} broke" if broken else None)


if __name__ == "__main__":
    main()
