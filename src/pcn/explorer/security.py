"""Which requests the server accepts: those of this page, on this machine, with its token."""

import ipaddress
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

NOTEBOOKS = "'self' http://localhost:* http://127.0.0.1:* vscode-webview:"
"""The origins whose frames may hold the page in a notebook."""


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(24)


def content_policy(*, frame_ancestors: str) -> str:
    """A content security policy: the page's own scripts, styles and requests, and its own
    pictures."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors {frame_ancestors}"
    )


def is_local_address(host: str) -> bool:
    """Whether a host is this machine's loopback.

    >>> [is_local_address(host) for host in ("127.0.0.1", "::1", "localhost", "192.168.0.5")]
    [True, True, True, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Wraps the application: refuses foreign requests, and adds headers to every answer.

    Args:
        app: The application.
        token: What requests to `/api/` have to know.
        host: The address that the server listens on. Where it is not the loopback, requests by
            this name and by any IP address are served: a page of another site that rebinds its
            name to this machine still sends that name.
        frame_ancestors: Whose frames may hold the page.
    """

    def __init__(self, app: App, *, token: str, host: str, frame_ancestors: str = "'none'") -> None:
        self._app = app
        self._token = token
        self._host = host
        self._headers = {
            "content-security-policy": content_policy(frame_ancestors=frame_ancestors),
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-resource-policy": "same-origin",
            "cache-control": "no-store",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there is nothing to speak to but HTTP

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in self._headers.items()]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send_with_headers)
            return
        body = json.dumps({"error": refusal}).encode()
        headers = [(b"content-type", b"application/json")]
        await send_with_headers({"type": "http.response.start", "status": 403, "headers": headers})
        await send_with_headers({"type": "http.response.body", "body": body})

    def _refusal(self, scope: Scope) -> str | None:
        """Why a request is not served, in a sentence; None if it is."""
        names = [name for name, _ in scope["headers"]]
        headers = {
            name.decode("latin-1"): text.decode("latin-1") for name, text in scope["headers"]
        }
        if names.count(b"host") != 1 or not self._is_own_name(headers["host"]):
            return "This server answers only by its own address."
        if self._is_foreign(headers):
            return "Requests of other sites are refused."
        if scope["path"].startswith("/api/") and not self._knows_token(headers):
            return (
                "The token is missing or wrong: open the whole address that `pcn explore` printed."
            )
        return None

    def _is_own_name(self, host: str) -> bool:
        name = host_name(host)
        if is_local_address(self._host):
            return is_local_address(name)
        return name == self._host or is_local_address(name) or _is_ip_address(name)

    def _is_foreign(self, headers: Mapping[str, str]) -> bool:
        """Whether a browser says that the request comes from a page that is not this one."""
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{headers['host'].lower()}":
            return True
        # Following a link to the page is harmless: it holds no data without its token.
        navigates = headers.get("sec-fetch-mode") == "navigate"
        site = headers.get("sec-fetch-site", "same-origin")
        return site not in ("same-origin", "none") and not navigates

    def _knows_token(self, headers: Mapping[str, str]) -> bool:
        given = headers.get("x-token", "")
        return secrets.compare_digest(given.encode("latin-1"), self._token.encode())


def host_name(host: str) -> str:
    """The name in a Host header, without its port.

    >>> host_name("localhost:8000"), host_name("[::1]:8000"), host_name("Example.org")
    ('localhost', '::1', 'example.org')
    """
    name = host.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


def _is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
