"""`pcn plot`: draw the front of a run."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from pcn.cli.screen import console, next_steps, quoted
from pcn.errors import UserError
from pcn.runs import load

SUFFIXES = (".png", ".pdf", ".svg")


@dataclass(frozen=True)
class Plot:
    """Draw the executed front of a run, beside what was asked for and the known front."""

    run: tyro.conf.Positional[Path]
    """The run's folder."""
    out: Path = Path("front.png")
    """The picture's file: .png, .pdf or .svg."""

    def __call__(self) -> None:
        """Draw and write."""
        if self.out.suffix.lower() not in SUFFIXES:
            raise UserError(f"--out must end in {', '.join(SUFFIXES)}, got {self.out}")
        # Drawing takes a while to import; no other command should wait for it.
        from pcn.figures.front import save_front

        run = load(self.run)
        save_front(run, self.out)
        console.print(f"Wrote {quoted(self.out)}")
        next_steps((f"play {quoted(self.run)} --policy 0", "run one policy, step by step"))
