"""`pcn export`: policies and episodes for other tools."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from pcn.cli.screen import console, next_steps, quoted
from pcn.errors import UserError
from pcn.runs.run import load


@dataclass(frozen=True)
class Export:
    """Write a policy, a whole run or its episodes for other tools.

    With `--onnx`, that is an ONNX model, a short Python file that acts with it by NumPy and
    onnxruntime alone, and a model card; with `--dataset`, the episodes that the run has kept.
    """

    run: tyro.conf.Positional[Path]
    """The run's folder."""
    onnx: Path | None = None
    """The .onnx file to write; the other files stand beside it."""
    policy: int | None = None
    """The policy's id, as in front.csv; without it the whole run is written, and the command is
    an input."""

    dataset: Path | None = None
    """The dataset to write: a new folder for Minari (HDF5), or an .npz file."""

    def __call__(self) -> None:
        """Write what was asked for."""
        if self.onnx is None and self.dataset is None:
            raise UserError(
                "what should be written? Give --onnx with a file, as in `--onnx policy.onnx`, or "
                "--dataset with a new folder or an .npz file"
            )
        if self.dataset is not None:
            self._write_dataset(self.dataset)
        if self.onnx is not None:
            self._write_onnx(self.onnx)

    def _write_dataset(self, path: Path) -> None:
        from pcn.export.minari_dataset import write_dataset

        logged = write_dataset(self.run, path)
        console.print(
            f"Wrote {quoted(path)}: {len(logged):,} episodes, {logged.num_steps:,} steps, "
            f"{logged.spec.num_objectives} objectives"
        )
        next_steps((f"train --from-dataset {quoted(path)}", "learn from these episodes alone"))

    def _write_onnx(self, path: Path) -> None:
        from pcn.export.onnx_files import write_onnx

        files = write_onnx(load(self.run), path, policy=self.policy)
        size = files.model.stat().st_size / 1e3
        console.print(f"Wrote {quoted(files.model)} ({size:,.0f} kB)")
        console.print(f"Wrote {quoted(files.runner)}, which acts with it:\n")
        console.print(files.runner.read_text(), markup=False)
        console.print(f"Wrote {quoted(files.card)}")
        picked = 0 if self.policy is None else self.policy
        next_steps(
            (f"play {quoted(self.run)} --policy {picked}", "the same policy here, step by step"),
        )
