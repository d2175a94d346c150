"""Serving the page: a socket first, so that its address is known, then uvicorn on it."""

import asyncio
import socket
import threading
from typing import Any

from pcn.errors import UserError
from pcn.explorer.explorer import Explorer
from pcn.explorer.security import is_local_address, new_token
from pcn.explorer.server import EXTRA, application
from pcn.lookup import optional_module

LOOPBACK = "127.0.0.1"
SECONDS_TO_CLOSE = 2


class PageServer:
    """A server of one explorer; its address holds the token.

    Nothing global is changed: neither logging nor, outside the main thread, signals.
    """

    def __init__(
        self,
        explorer: Explorer,
        *,
        host: str = LOOPBACK,
        port: int = 0,
        frame_ancestors: str = "'none'",
    ) -> None:
        uvicorn = optional_module("uvicorn", extra=EXTRA)
        token = new_token()
        app = application(explorer, token=token, host=host, frame_ancestors=frame_ancestors)
        self.explorer = explorer
        self._socket = _listening(host, port)
        self._server: Any = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                ws="none",
                loop="asyncio",
                timeout_graceful_shutdown=SECONDS_TO_CLOSE,
            )
        )
        self._stop_rollouts_first()
        self._thread: threading.Thread | None = None
        number = self._socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.address = f"http://{shown}:{number}/?token={token}"
        self.is_local = is_local_address(host)

    def _stop_rollouts_first(self) -> None:
        """Have the server end what is executed before it waits for its answers."""
        shutdown = self._server.shutdown

        async def stop_and_shut_down(sockets: list[socket.socket] | None = None) -> None:
            await asyncio.to_thread(self.explorer.close)
            await shutdown(sockets)

        self._server.shutdown = stop_and_shut_down

    def run(self) -> None:
        """Serve until Ctrl-C."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self.explorer.close()

    def start(self) -> None:
        """Serve in a thread that ends with the process."""
        self._thread = threading.Thread(target=self.run, name="pcn explorer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread that serves."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._socket.close()


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens, so that the first request may come before the server is up."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=64)
    except (OSError, OverflowError) as error:
        raise UserError(f"cannot listen on {host}, port {port}: {error}") from None
