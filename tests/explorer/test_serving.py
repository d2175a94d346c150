"""A real server on a real port."""

import json
import logging
import socket
import threading
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


def answer_at(address, path, asked=None):
    """What the page that is opened at this address would be told."""
    parts = urllib.parse.urlsplit(address)
    token = urllib.parse.parse_qs(parts.query)["token"][0]
    request = urllib.request.Request(
        f"http://{parts.netloc}/api/{path}",
        None if asked is None else json.dumps(asked).encode(),
        {"X-Token": token, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def document_at(address):
    return answer_at(address, "document")


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


def test_closing_stops_the_rollout_under_way_and_still_answers_it(explorer, monkeypatch):
    """Rather than to wait for it and to tell the user of a cancelled task."""
    begun = threading.Event()

    def until_closed(request):
        begun.set()
        assert explorer._closed.wait(10)
        return {"steps": 1}

    monkeypatch.setattr(explorer, "_execute", until_closed)
    server = PageServer(explorer)
    server.start()
    told = []
    asked = {"run": 0, "policy": 0}
    client = threading.Thread(
        target=lambda: told.append(answer_at(server.address, "rollout", asked))
    )
    client.start()
    assert begun.wait(10)
    server.close()
    client.join()
    assert told == [{"run": 0, "steps": 1}]


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
