"""A real server on a real port."""

import json
import logging
import socket
import urllib.error
import urllib.parse
import urllib.request

import pytest

from made_runs import made_run
from pcn.errors import UserError
from pcn.explorer.explorer import Explorer
from pcn.explorer.notebook import show
from pcn.explorer.serving import PageServer
from pcn.explorer.shown_runs import ShownRun

FRONT = [[1, -3], [2, -5]]


def document_at(address):
    """What the page that is opened at this address would fetch."""
    parts = urllib.parse.urlsplit(address)
    token = urllib.parse.parse_qs(parts.query)["token"][0]
    request = urllib.request.Request(
        f"http://{parts.netloc}/api/document", headers={"X-Token": token}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


@pytest.fixture
def explorer():
    return Explorer([ShownRun("run", made_run(FRONT))])


def test_a_server_listens_on_the_loopback_with_a_token_of_its_own(explorer):
    servers = [PageServer(explorer), PageServer(explorer)]
    assert all(server.address.startswith("http://127.0.0.1:") for server in servers)
    tokens = {server.address.partition("token=")[2] for server in servers}
    assert len(tokens) == 2
    assert all(len(token) >= 32 for token in tokens)
    for server in servers:
        server.close()


def test_a_port_that_is_taken_is_told(explorer):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"cannot listen on 127.0.0.1, port {port}"):
            PageServer(explorer, port=port)


def test_a_notebook_shows_the_page_and_its_process_is_left_alone():
    before = logging.getLogger("uvicorn").handlers, logging.root.handlers, logging.root.level
    page = show(made_run(FRONT), height=500)
    assert page._repr_html_().startswith(f'<iframe src="{page.address}" width="100%" height="500"')
    assert document_at(page.address)["runs"][0]["policies"]["executed"] == FRONT
    after = logging.getLogger("uvicorn").handlers, logging.root.handlers, logging.root.level
    assert after == before
    page.close()
    with pytest.raises(urllib.error.URLError):
        document_at(page.address)


def test_a_run_is_explored_from_its_own_method():
    page = made_run(FRONT).explore()
    assert document_at(page.address)["title"] == "toy"
    page.close()
