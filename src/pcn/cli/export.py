"""`pcn export`: policies and episodes for other tools."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from pcn.cli.screen import console, next_steps, quoted
from pcn.errors import UserError
from pcn.runs.run import load


@dataclass(frozen=True)
class Export:
    """Write a policy, or a whole run, for other runtimes.

    `--onnx` writes an ONNX model, a short Python file that acts with it by NumPy and onnxruntime
    alone, and a model card.
    """

    run: tyro.conf.Positional[Path]
    """The run's folder."""
    onnx: Path | None = None
    """The .onnx file to write; the other files stand beside it."""
    policy: int | None = None
    """The policy's id, as in front.csv; without it the whole run is written, and the command is
    an input."""

    def __call__(self) -> None:
        """Write what was asked for."""
        if self.onnx is None:
            raise UserError("what should be written? Give a file, as in `--onnx policy.onnx`")
        from pcn.export.onnx_files import write_onnx

        files = write_onnx(load(self.run), self.onnx, policy=self.policy)
        size = files.model.stat().st_size / 1e3
        console.print(f"Wrote {quoted(files.model)} ({size:,.0f} kB)")
        console.print(f"Wrote {quoted(files.runner)}, which acts with it:\n")
        console.print(files.runner.read_text(), markup=False)
        console.print(f"Wrote {quoted(files.card)}")
        picked = 0 if self.policy is None else self.policy
        next_steps(
            (f"play {quoted(self.run)} --policy {picked}", "the same policy here, step by step"),
        )
