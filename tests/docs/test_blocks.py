"""No block of code stands in the documentation that no test executes or reads."""

import re
import tomllib

import pytest

from doc_pages import PAGES, ROOT, blocks_in

EXECUTED = {
    "README.md": 1,
    "docs/coming-from-morl-baselines.md": 2,
    "docs/comparing.md": 1,
    "docs/data-and-export.md": 3,
    "docs/environments.md": 1,
    "docs/explore.md": 1,
    "docs/extend.md": 12,
    "docs/getting-started.md": 2,
    "docs/many-runs.md": 1,
    "docs/your-own-environment.md": 6,
}
"""Python blocks of each page; `test_<page>.py` executes them, `test_jax_packages.py` the reward."""
TEXT = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}


def test_every_python_block_is_executed_by_the_page_s_test():
    found = {name: len(blocks_in(text, "python")) for name, text in TEXT.items()}
    assert {name: count for name, count in found.items() if count} == EXECUTED


@pytest.mark.parametrize("name", TEXT)
def test_every_block_says_its_language(name):
    fences = re.findall(r"^ *```(.*)$", TEXT[name], re.MULTILINE)
    assert all(fences[::2])
    assert not any(fences[1::2])


def test_every_extra_that_is_named_exists():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    named = {word for text in TEXT.values() for word in re.findall(r"pcn\[([a-z,]+)\]", text)}
    assert len(named) > 5
    assert {extra for word in named for extra in word.split(",")} <= extras.keys()


def test_every_make_target_that_is_named_exists():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    shell = "\n".join(code for text in TEXT.values() for code in blocks_in(text, "bash", "console"))
    named = set(re.findall(r"^make ([a-z-]+)", shell, re.MULTILINE))
    named |= {word for text in TEXT.values() for word in re.findall(r"`make ([a-z-]+)", text)}
    assert named >= {"demo", "docs", "test"}
    assert named <= targets


def test_every_script_and_module_that_is_named_exists():
    named = {
        path
        for text in TEXT.values()
        for path in re.findall(r"python (benchmarks/[\w/]+\.py)", text)
    }
    modules = {
        name
        for text in TEXT.values()
        for name in re.findall(r"python -m (p(?:roofs|cn)[\w.]+)", text)
    }
    assert len(named) > 5
    assert len(modules) > 2
    assert all((ROOT / path).is_file() for path in named)
    for name in modules:
        root = ROOT / "src" if name.startswith("pcn") else ROOT
        assert (root / (name.replace(".", "/") + ".py")).is_file(), name


def test_llms_txt_lists_every_page_and_leads_nowhere_else():
    linked = set(re.findall(r"\]\(([^)]+)\)", (ROOT / "llms.txt").read_text()))
    assert all((ROOT / path).is_file() for path in linked)
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    repeated = {f"docs/{name}.md" for name in ("index", "changelog", "contributing")}
    assert pages - repeated <= linked


def test_every_file_that_repeats_a_fault_exists():
    text = TEXT["docs/reliability.md"]
    named = set(re.findall(r"(?:tests|benchmarks)/[\w/]+\.py", text))
    assert len(named) > 30
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []


def test_the_workflow_and_the_hook_run_the_same_checks_as_ci():
    assert "bash .ci/run" in (ROOT / ".github/workflows/ci.yml").read_text()
    assert "entry: make check" in (ROOT / ".pre-commit-config.yaml").read_text()
    made = re.findall(r"^make (.*)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    named = [word for words in made for word in words.split() if not word.startswith("-")]
    assert named == ["install", "check", "docs", "test"]
