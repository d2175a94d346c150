"""The explorer inside a notebook: a frame that shows the page of a server in a thread."""

from html import escape

from pcn.explorer.explorer import Explorer
from pcn.explorer.security import NOTEBOOKS
from pcn.explorer.serving import PageServer
from pcn.explorer.shown_runs import ShownRun
from pcn.runs.run import Run


class NotebookPage:
    """The page as notebooks display it; `close` ends its server, as does the end of the kernel."""

    def __init__(self, server: PageServer, *, height: int) -> None:
        self._server = server
        self._height = height

    @property
    def address(self) -> str:
        """Where the page is, for a tab of its own."""
        return self._server.address

    def close(self) -> None:
        """End the server; the frame stays empty then."""
        self._server.close()

    def _repr_html_(self) -> str:
        address = escape(self.address)
        return (
            f'<iframe src="{address}" width="100%" height="{self._height}" '
            'style="border: 0" title="The front of the run"></iframe>'
        )


def show(run: Run, *, height: int = 800) -> NotebookPage:
    """Start a server for the run, and return the page to display."""
    name = run.spec.name if run.path is None else run.path.name
    # What was trained here may have an environment that exists in this process only.
    shown = ShownRun(name, run, is_on_disk=run.path is not None and run._environment is None)
    server = PageServer(Explorer([shown]), frame_ancestors=NOTEBOOKS)
    server.start()
    return NotebookPage(server, height=int(height))
