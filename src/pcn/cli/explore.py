"""`pcn explore`: the page of one run or several, served on this machine."""

import webbrowser
from contextlib import suppress
from dataclasses import dataclass

from pcn.cli.positionals import RunFolders
from pcn.cli.screen import complain, console, next_steps, quoted
from pcn.errors import UserError


@dataclass(frozen=True)
class Explore:
    """Look at the front of a run, pick a policy, watch it and save it, in the browser.

    Several runs of one environment are shown together: other seeds, other algorithms. The server
    needs the extra `pcn[explore]`; it listens on this machine only and ends with Ctrl-C.
    """

    runs: RunFolders
    """The folders of runs of one environment."""
    port: int = 0
    """The port to listen on; 0 takes a free one."""
    host: str = "127.0.0.1"
    """The address to listen on; another one than the loopback lets other machines in, if they know
    the page's whole address."""
    browser: bool = True
    """Whether to open the page in the browser."""

    def __call__(self) -> None:
        """Serve the page until Ctrl-C."""
        if not self.runs:
            raise UserError("which run? Name its folder, as in `pcn explore runs/dst`")
        if not 0 <= self.port <= 65_535:
            raise UserError(f"--port must be from 0 to 65535, got {self.port}")
        from pcn.compilation import configure_jax
        from pcn.explorer.explorer import Explorer
        from pcn.explorer.serving import PageServer
        from pcn.explorer.shown_runs import first_folder, open_runs

        runs, left_out = open_runs(self.runs)
        unwatched = [shown.why_not_watched for shown in runs if shown.why_not_watched is not None]
        explorer = Explorer(runs, left_out, before_acting=configure_jax)
        server = PageServer(explorer, host=self.host, port=self.port)
        for sentence in [*left_out, *unwatched]:
            complain(sentence)
        console.print(f"The page is at {server.address}", markup=False)
        if not server.is_local:
            console.print("Other machines can open it, too, if they know this address.")
        folder = quoted(first_folder(self.runs, runs))
        steps = [(f"report {folder} --out front.html", "the page as one file to send")]
        if runs[0].why_not_watched is None:
            steps.append((f"play {folder} --policy 0", "run one policy, step by step"))
        next_steps(*steps)
        console.print("\nCtrl-C ends it.")
        if self.browser:
            webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):  # the way to end it
            server.run()
        console.print("Closed.")
