"""`pcn report`: the page of one run or several as one file."""

import sys
from dataclasses import dataclass
from pathlib import Path

from pcn.cli.positionals import RunFolders
from pcn.cli.screen import complain, console, next_steps, quoted
from pcn.errors import UserError
from pcn.serialisation.files import refuse_missing_folder

DEFAULT_ROLLOUTS = 30


@dataclass(frozen=True)
class Report:
    """Write the page of `pcn explore` as one file that opens anywhere, without a network.

    It has the front with all its views and filters, and rollouts of chosen policies to watch: the
    suggested ones, then those that differ most.
    """

    runs: RunFolders
    """The folders of runs of one environment."""
    out: Path = Path("front.html")
    """The file to write."""
    rollouts: str = str(DEFAULT_ROLLOUTS)
    """How many policies of each run can be watched in the file: a number, `all` or `none`."""

    def __call__(self) -> None:
        """Execute the chosen policies and write the file."""
        if not self.runs:
            raise UserError("which run? Name its folder, as in `pcn report runs/dst`")
        if self.out.suffix.lower() not in (".html", ".htm"):
            raise UserError(f"--out must end in .html, got {self.out}")
        refuse_missing_folder(self.out)  # before policies are executed
        num_rollouts = _num_rollouts(self.rollouts)
        from pcn.explorer.report import report_html
        from pcn.explorer.report_rollouts import execute_chosen
        from pcn.explorer.shown_runs import first_folder, open_runs
        from pcn.serialisation.files import write_bytes

        runs, left_out = open_runs(self.runs)
        unwatched = [shown.why_not_watched for shown in runs if shown.why_not_watched is not None]
        for sentence in [*left_out, *(unwatched if num_rollouts != 0 else [])]:
            complain(sentence)
        missing: list[str] = []
        rollouts = execute_chosen(runs, num_rollouts, on_progress=_tell, on_missing=missing.append)
        if missing and sys.stderr.isatty():
            print(file=sys.stderr)  # ends the line that says how far it is
        for sentence in missing:
            complain(sentence)
        content = report_html(runs, rollouts, left_out=left_out)
        try:
            write_bytes(self.out, content.encode())
        except OSError as error:
            raise UserError(f"cannot write {self.out}: {error.strerror}") from None
        size = self.out.stat().st_size / 1e6
        console.print(f"Wrote {quoted(self.out)} ({size:.2g} MB)")
        next_steps(
            (
                f"explore {quoted(first_folder(self.runs, runs))}",
                "the same page, which executes any policy",
            ),
        )


def _num_rollouts(given: str) -> int | None:
    """How many rollouts were asked for; None for all."""
    if given == "all":
        return None
    if given == "none":
        return 0
    if not given.isdecimal():
        raise UserError(f"--rollouts must be a number, all or none, got {given}")
    return int(given)


def _tell(done: int, all_of_them: int) -> None:
    """Say on a terminal how far it is."""
    if all_of_them and sys.stderr.isatty():
        end = "\n" if done == all_of_them else ""
        print(f"\rexecuted {done} of {all_of_them} policies", end=end, file=sys.stderr, flush=True)
