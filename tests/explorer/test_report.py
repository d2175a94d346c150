"""The report: one file that holds everything, read back from disk."""

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from explored import shown
from made_runs import TREASURES, made_run, save_run, toy_spec
from pcn.cli import main
from pcn.envs.spec import Objective
from pcn.explorer.report import SCRIPT, STYLE, inlined, report_html
from pcn.explorer.report_rollouts import chosen_policies, execute_chosen
from pcn.explorer.shown_runs import ShownRun, open_runs

INDEX = f"<html><head><title>x</title>{STYLE}</head><body>{SCRIPT}</body></html>"
SOURCES = {"main.js": "import { a } from './a.js';\nshow('</script>', a);",
           "a.js": "export const a = '\\n';", "style.css": "p { color: red }"}  # fmt: skip


class Parts(HTMLParser):
    """The scripts of a page with their attributes, its title, and every address in it."""

    def __init__(self, page):
        super().__init__()
        self.scripts, self.addresses, self.title, self.policy = [], [], "", ""
        self._inside = None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.addresses += [given[name] for name in ("src", "href") if name in given]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        self._inside = tag
        if tag == "script":
            self.scripts.append((given, ""))

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            given, before = self.scripts[-1]
            self.scripts[-1] = given, before + data
        elif self._inside == "title":
            self.title += data

    def json_of(self, identifier):
        (text,) = [text for given, text in self.scripts if given.get("id") == identifier]
        return json.loads(text)


def test_the_content_policy_allows_just_the_script_that_is_there():
    parts = Parts(inlined(INDEX, SOURCES, {"title": "a"}, {}))
    (script,) = [text for given, text in parts.scripts if given["type"] == "module"]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in parts.policy
    assert parts.policy.startswith("default-src 'none';")
    assert parts.addresses == []


def test_nothing_in_names_can_end_a_script_or_become_markup():
    bad = "</script><script>alert(1)</script><!--"
    document = {"title": bad, "objectives": [{"name": bad}]}
    page = inlined(INDEX, SOURCES, document, {"0/0": {"message": bad}})
    parts = Parts(page)
    assert parts.json_of("document") == document
    assert parts.json_of("rollouts") == {"0/0": {"message": bad}}
    assert parts.title == f"{bad} · pcn report"
    assert len(parts.scripts) == 3
    assert "alert(1)</script>" not in page
    assert r"show('<\/script>', a)" in page


def test_an_index_that_lacks_its_script_is_an_error():
    with pytest.raises(ValueError, match=re.escape(SCRIPT)):
        inlined("<html><title>x</title>" + STYLE, SOURCES, {"title": "a"}, {})


def test_a_report_of_a_run_whose_environment_is_missing_has_the_front(tmp_path, capsys):
    objectives = (Objective("</script>&<b>"), Objective("cost", "€", "minimise"))
    odd = dataclasses.replace(toy_spec(2), objectives=objectives)
    save_run(tmp_path / "run", [[1, -3], [2, -5]], spec=odd)
    (tmp_path / "run" / "weights.npz").write_bytes(b"")
    main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "front.html")])
    told = capsys.readouterr()
    assert "nowhere:Nothing is not installed here" in told.err
    assert "Wrote" in told.out
    parts = Parts((tmp_path / "front.html").read_text(encoding="utf-8"))
    document = parts.json_of("document")
    assert document["objectives"][0]["name"] == "</script>&<b>"
    assert document["runs"][0]["policies"]["executed"] == [[1, -3], [2, -5]]
    assert document["live"] is False
    assert document["runs"][0]["can_watch"] is False
    assert parts.json_of("rollouts") == {}
    assert all(address.startswith(("data:", "#")) for address in parts.addresses)


def test_the_policies_to_watch_are_the_suggested_ones_then_the_extremes():
    one = ShownRun("run", made_run([*TREASURES.tolist(), [0, -19]]))  # the last one is dominated
    assert chosen_policies(one, 3) == [7, 9, 0]  # balanced, most treasure, least time
    assert sorted(chosen_policies(one, 50)) == list(range(10))
    assert chosen_policies(one, None) == list(range(11))


@pytest.mark.slow
def test_chosen_rollouts_are_in_the_file():
    runs = [shown("pcn"), shown("ra")]
    progress = []
    executed = execute_chosen(
        runs, 2, on_progress=lambda *numbers: progress.append(numbers), own_process=False
    )
    rollouts = Parts(report_html(runs, executed)).json_of("rollouts")
    expected = {f"{number}/{policy}" for number, one in enumerate(runs)
                for policy in chosen_policies(one, 2)}  # fmt: skip
    assert rollouts.keys() == expected
    assert progress[-1] == (len(expected), len(expected))
    for name, rollout in rollouts.items():
        number, policy = map(int, name.split("/"))
        executed = runs[number].run.coverage_set.executed[policy]
        assert rollout["returned"] == executed.tolist()
        assert rollout["run"] == number
        assert rollout["frames"]


def test_a_report_without_rollouts_needs_none(tmp_path):
    runs, _ = open_runs([save_run(tmp_path / "run", [[1, -3], [2, -5]])])
    assert execute_chosen(runs, 0) == {}
