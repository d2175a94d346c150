"""The notebook lines of docs/explore.md are executed as they are printed there."""

import re
import shutil
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from explored import KEPT

PAGE = Path(__file__).parents[2] / "docs" / "explore.md"


@pytest.mark.slow
def test_the_notebook_s_lines_open_a_page_and_close_it(tmp_path, monkeypatch):
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    shutil.copytree(KEPT / "pcn", tmp_path / "runs" / "dst")
    monkeypatch.chdir(tmp_path)
    names = {}
    opening, closing = block.split("page.close()")
    exec(opening, names)
    with urllib.request.urlopen(names["page"].address, timeout=20) as answer:
        assert answer.status == 200
    exec(f"page.close(){closing}", names)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(names["page"].address, timeout=20)
