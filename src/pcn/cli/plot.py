"""`pcn plot`: draw the front of a run, or how its training went."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from pcn.cli.positionals import RunFolders
from pcn.cli.screen import console, next_steps, quoted
from pcn.errors import UserError
from pcn.runs.run import load
from pcn.serialisation.files import refuse_missing_folder

SUFFIXES = (".png", ".pdf", ".svg")


@dataclass(frozen=True)
class Plot:
    """Draw the executed front of a run, beside what was requested and the known front.

    The executed fronts of several runs of one environment share a picture.
    With --progress: archive and executed hypervolume against steps, of one run or several.
    """

    runs: RunFolders
    """The folder of a run, or of several."""
    progress: tyro.conf.FlagCreatePairsOff[bool] = False
    """Draw how the training went instead of the front."""
    out: Path | None = None
    """The picture's file: .png, .pdf or .svg; front.png or progress.png when not given."""

    def __call__(self) -> None:
        """Draw and write."""
        out = self.out or Path("progress.png" if self.progress else "front.png")
        if out.suffix.lower() not in SUFFIXES:
            raise UserError(f"--out must end in {', '.join(SUFFIXES)}, got {out}")
        refuse_missing_folder(out)
        if not self.runs:
            raise UserError("which run? Name its folder, as in `pcn plot runs/dst`")
        # Drawing takes a while to import; no other command should wait for it.
        from pcn.figures.canvas import save
        from pcn.figures.front import front_figure, fronts_figure
        from pcn.figures.progress import progress_figure

        runs = [load(path) for path in self.runs]
        if self.progress:
            figure = progress_figure(runs)
        else:
            figure = front_figure(runs[0]) if len(runs) == 1 else fronts_figure(runs)
        save(figure, out)
        console.print(f"Wrote {quoted(out)}")
        next_steps((f"play {quoted(self.runs[0])} --policy 0", "run one policy, step by step"))
