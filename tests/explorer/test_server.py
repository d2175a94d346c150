"""The server, as a browser and as an attacker speak to it."""

import io
import shutil
import threading
import zipfile

import pytest
from starlette.testclient import TestClient

from explored import KEPT, shown
from made_runs import save_run
from pcn.explorer.explorer import Explorer
from pcn.explorer.page_files import PAGE
from pcn.explorer.requests import MOST_BYTES, PolicyRequest
from pcn.explorer.server import application
from pcn.explorer.shown_runs import open_runs

ADDRESS = "http://127.0.0.1:8000"
TOKEN = {"X-Token": "secret"}


def client_of(explorer, *, host="127.0.0.1", address=ADDRESS, **options):
    return TestClient(application(explorer, token="secret", host=host, **options), address)


@pytest.fixture
def folder(tmp_path):
    return save_run(tmp_path / "run", [[1, -3], [2, -5]])


@pytest.fixture
def explorer(folder):
    return Explorer(*open_runs([folder]), own_process=False)


@pytest.fixture
def client(explorer):
    return client_of(explorer)


@pytest.fixture(scope="module")
def acting():
    return Explorer([shown("pcn"), shown("ra")], own_process=False)


def error_of(response, status):
    assert response.status_code == status
    (sentence,) = response.json().values()
    assert response.json() == {"error": sentence}
    assert "\n" not in sentence
    return sentence


def test_the_page_and_its_files_are_served(client):
    assert client.get("/").text == (PAGE / "index.html").read_text()
    for path in PAGE.iterdir():
        if path.suffix in (".js", ".css"):
            answer = client.get(f"/page/{path.name}")
            assert answer.content == path.read_bytes()
            kind = {".js": "text/javascript", ".css": "text/css"}[path.suffix]
            assert answer.headers["content-type"].startswith(kind)


def test_the_document_is_served_to_who_knows_the_token(client):
    told = client.get("/api/document", headers=TOKEN).json()
    assert told["runs"][0]["policies"]["executed"] == [[1, -3], [2, -5]]
    assert told["live"] is True


@pytest.mark.parametrize("headers", [{}, {"X-Token": ""}, {"X-Token": "Secret"}, {"X-Token": "ü"}])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/api/document"), ("POST", "/api/rollout"), ("POST", "/api/export")],
)
def test_without_the_token_there_is_no_data(client, method, path, headers):
    raw = {name: text.encode() for name, text in headers.items()}
    answer = client.request(method, path, headers=raw)
    assert error_of(answer, 403).startswith("The token is missing or wrong")


def test_a_token_in_the_address_does_not_open_the_data(client):
    """So that a link or a picture on another page cannot use it."""
    assert client.get("/api/document?token=secret").status_code == 403


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200), ("localhost:8000", 200), ("[::1]:8000", 200),
        ("evil.example", 403), ("evil.example:8000", 403), ("127.0.0.1.evil.example", 403),
        ("192.168.0.5:8000", 403), ("", 403), ("localhost.evil.example", 403),
    ],
)  # fmt: skip
def test_another_host_name_is_refused(client, host, status):
    """A site that rebinds its name to this machine still sends its name."""
    for path in ("/", "/api/document"):
        assert client.get(path, headers={**TOKEN, "Host": host}).status_code == status


def test_an_open_server_answers_to_addresses_but_not_to_other_names(explorer):
    client = client_of(explorer, host="0.0.0.0", address="http://192.168.0.5:8000")
    assert client.get("/api/document", headers=TOKEN).status_code == 200
    foreign = client.get("/api/document", headers={**TOKEN, "Host": "evil.example"})
    assert foreign.status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": ADDRESS}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Origin": "https://127.0.0.1:8000"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),
    ],
)
def test_requests_of_other_sites_are_refused(client, headers, status):
    assert client.get("/api/document", headers={**TOKEN, **headers}).status_code == status


def test_every_answer_forbids_what_the_page_does_not_need(client):
    for path in ("/", "/api/document", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    ["/page/../server.py", "/page/%2e%2e%2fserver.py", "/page/..%2fserver.py", "/page/%2fetc",
     "/page/index.html", "/page/.", "/page/", "/server.py", "/page/main.js/../../server.py"],
)  # fmt: skip
def test_no_other_file_is_served(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Starlette" not in answer.text


def test_a_request_that_is_too_long_is_refused(client):
    long = b'{"run": 0, "policy": 0' + b" " * MOST_BYTES + b"}"
    headers = {**TOKEN, "Content-Type": "application/json"}
    answer = client.post("/api/rollout", content=long, headers=headers)
    assert error_of(answer, 413) == f"A request has at most {MOST_BYTES} bytes."


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 10_000, b"\xff\xfe"])
def test_what_is_no_json_is_refused(client, body):
    headers = {**TOKEN, "Content-Type": "application/json"}
    answer = client.post("/api/rollout", content=body, headers=headers)
    assert error_of(answer, 400) == "The request is not JSON."


def test_a_form_of_another_site_is_refused(client):
    answer = client.post("/api/export", data={"run": "0"}, headers=TOKEN)
    assert error_of(answer, 415) == "A request must be JSON."


def test_a_wrong_request_is_told_in_a_sentence(client):
    answer = client.post("/api/rollout", json={"run": 0, "policy": 7}, headers=TOKEN)
    assert error_of(answer, 400) == "policy must be a whole number from 0 to 1"


def test_a_run_that_cannot_be_watched_says_why(client):
    answer = client.post("/api/rollout", json={"run": 0, "policy": 0}, headers=TOKEN)
    assert "has no weights.npz" in error_of(answer, 400)


@pytest.mark.slow
def test_damaged_weights_are_told_and_the_front_is_shown(tmp_path):
    shutil.copytree(KEPT / "pcn", tmp_path / "run")
    (tmp_path / "run" / "weights.npz").write_bytes(b"PK")
    client = client_of(Explorer(*open_runs([tmp_path / "run"]), own_process=False))
    assert client.get("/api/document", headers=TOKEN).status_code == 200
    for path in ("/api/rollout", "/api/export"):
        answer = client.post(path, json={"run": 0, "policy": 0}, headers=TOKEN)
        assert "weights.npz is damaged" in error_of(answer, 400)


def test_one_policy_is_executed_at_a_time(explorer, client, monkeypatch):
    """While one request works, another is told to wait; afterwards it is served."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(request):
        begun.set()
        assert go_on.wait(10)
        return {"steps": 1}

    monkeypatch.setattr(explorer, "_execute", slow)
    first = threading.Thread(target=explorer.rollout, args=(PolicyRequest(0, 0),))
    first.start()
    assert begun.wait(10)
    asked = {"run": 0, "policy": 1}
    busy = client.post("/api/rollout", json=asked, headers=TOKEN)
    go_on.set()
    first.join()
    assert error_of(busy, 429).startswith("Another policy is being executed")
    served = client.post("/api/rollout", json=asked, headers=TOKEN)
    assert served.json() == {"run": 0, "steps": 1}


def test_what_an_environment_raises_is_told(explorer, client, monkeypatch):
    def broken(request):
        raise RuntimeError("no display")

    monkeypatch.setattr(explorer, "_execute", broken)
    answer = client.post("/api/rollout", json={"run": 0, "policy": 1}, headers=TOKEN)
    assert error_of(answer, 422) == "The policy could not be executed: no display"
    # And the lock is free again.
    answer = client.post("/api/rollout", json={"run": 0, "policy": 1}, headers=TOKEN)
    assert answer.status_code == 422


@pytest.mark.slow
def test_policies_are_executed_asked_and_taken_away(acting):
    client = client_of(acting)
    picked = client.post("/api/rollout", json={"run": 0, "policy": 0}, headers=TOKEN).json()
    assert picked["returned"] == acting.runs[0].run.coverage_set.executed[0].tolist()
    assert (picked["run"], picked["policy"]) == (0, 0)
    asked = {"run": 0, "desired_return": [5.0, -7.0], "horizon": 7}
    assert client.post("/api/rollout", json=asked, headers=TOKEN).json()["requested"] == [5, -7]
    refused = client.post("/api/rollout", json={**asked, "run": 1}, headers=TOKEN)
    assert "Policies of RA take no command" in error_of(refused, 400)
    taken = client.post("/api/export", json={"run": 1, "policy": 0}, headers=TOKEN)
    assert taken.headers["content-disposition"] == 'attachment; filename="ra-policy-0.zip"'
    names = zipfile.ZipFile(io.BytesIO(taken.content)).namelist()
    assert "ra-policy-0/front.csv" in names


@pytest.mark.slow
def test_a_policy_that_was_executed_is_not_executed_again(acting, monkeypatch):
    request = PolicyRequest(0, 1)
    first = acting.rollout(request)
    monkeypatch.setattr(acting, "_execute", None)
    assert acting.rollout(request) is first
