"""Connect to a Ray cluster; a `UserError` says in one sentence why that is not possible."""

import logging
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pcn.errors import UserError

AUTO = "auto"
"""The address that means the cluster of this machine, or the one that `RAY_ADDRESS` names."""
REACH_SECONDS = 5.0
"""How long the head node may take to answer."""


class _Users:
    """Counts the parts of this process that use the connection made here."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.number = 0


_USERS = _Users()


@contextmanager
def connected(address: str = AUTO) -> Iterator[Any]:
    """Yield the module `ray`, connected to a cluster as long as some part of this process uses it.

    An existing connection is used and left open. Raises a `UserError` if Ray is not installed, or
    if no cluster answers at the address.
    """
    ray = import_ray()
    with _USERS.lock:
        made_here = _USERS.number > 0 or not ray.is_initialized()
        if made_here and _USERS.number == 0:
            _connect(ray, address)
        _USERS.number += made_here
    try:
        yield ray
    finally:
        with _USERS.lock:
            _USERS.number -= made_here
            if made_here and _USERS.number == 0:
                ray.shutdown()
                _print_lost_nodes(ray, True)


def import_ray() -> Any:
    """Import `ray`; a `UserError` names the extra that installs it."""
    try:
        import ray
    except ImportError:
        raise UserError("ray is not installed: pip install 'pcn[ray]'") from None
    return ray


def worker_environment(**variables: str) -> dict[str, Any]:
    """Environment variables for the processes that Ray starts, with the module search path.

    The user's modules are found in the same folders as in this process. Installed packages are
    those of each node.
    """
    installed = {Path(sys.prefix), Path(sys.base_prefix)}
    folders = [Path(entry).absolute() for entry in sys.path]
    own = [str(folder) for folder in folders if installed.isdisjoint(folder.parents)]
    passed = {name: os.environ[name] for name in ("PCN_CACHE",) if name in os.environ}
    return {"env_vars": {**passed, **variables, "PYTHONPATH": os.pathsep.join(own)}}


def nodes_with_cores(ray: Any) -> list[dict[str, Any]]:
    """The live nodes that have cores, as Ray describes them."""
    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]


def told_node(node: dict[str, Any]) -> str:
    """Describe a node in words."""
    return f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"


def reason_of(error: BaseException) -> str:
    """The most useful line of a Ray error: the last one, as in a traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).removesuffix(".")


def _connect(ray: Any, address: str) -> None:
    chosen = os.environ.get("RAY_ADDRESS", AUTO) if address == AUTO else address
    if chosen != AUTO:
        _refuse_unreachable(chosen)
    try:
        ray.init(chosen, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        hint = "start one with `ray start --head`" if chosen == AUTO else reason_of(error)
        where = "on this machine" if chosen == AUTO else f"at {chosen}"
        raise UserError(f"no Ray cluster can be used {where}: {hint}") from None
    _print_lost_nodes(ray, False)


def _print_lost_nodes(ray: Any, printed: bool) -> None:
    """Whether Ray prints the last pages of a lost node's log into the middle of the screen."""
    ray._private.worker._worker_logs_enabled = printed


def _refuse_unreachable(address: str) -> None:
    """Raise a `UserError` if nobody listens at an address: Ray itself tries for minutes."""
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isdecimal()) or "/" in host:
        raise UserError(f"the address of a Ray cluster is auto or HOST:PORT, got {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UserError(f"no Ray cluster answers at {address}: {error}") from None
