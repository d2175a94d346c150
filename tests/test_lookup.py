import copy
import json
import pickle
import sys
import types
from functools import partial
from pathlib import Path

import pytest

from pcn.errors import UserError
from pcn.lookup import find_function, is_importable, name_of, optional_module


def test_what_can_be_imported_has_its_own_name():
    assert name_of(partial) == "functools:partial"
    assert is_importable(name_of(test_what_can_be_imported_has_its_own_name))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "is not installed"),
        (
            "import yet_another_package",
            "cannot be imported (No module named 'yet_another_package')",
        ),
    ],
)
def test_an_optional_package_says_whether_it_or_something_that_it_needs_is_missing(
    tmp_path, monkeypatch, content, why
):
    monkeypatch.syspath_prepend(tmp_path)
    if content is not None:
        (tmp_path / "some_package.py").write_text(content)
    with pytest.raises(UserError) as told:
        optional_module("some_package", extra="some")
    assert str(told.value) == f"some_package {why}: pip install 'pcn[some]'"


def test_two_of_the_same_name_are_told_apart():
    several = [lambda: 1, lambda: 2, partial(int, 3), partial(int, 4)]
    names = [name_of(function) for function in several]
    assert [find_function(name)() for name in names] == [1, 2, 3, 4]
    assert not any(map(is_importable, names))


def test_copies_of_a_name_find_the_same_function():
    name = name_of(partial(int, 3))
    for again in (copy.copy(name), copy.deepcopy(name), pickle.loads(pickle.dumps(name))):
        assert find_function(again)() == 3
        assert again == name


def test_a_file_keeps_nothing_but_the_name():
    written = json.loads(json.dumps(name_of(lambda: 1)))
    with pytest.raises(UserError, match=r"cannot find .*<lambda>"):
        find_function(written)


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A script that is being run, and a function that it defines."""
    path = tmp_path / "my_own_script.py"
    path.write_text("def make():\n    return 7\n")
    main = types.ModuleType("__main__")
    main.__file__ = str(path)
    exec(path.read_text(), main.__dict__)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", main)
    return main


def test_what_a_script_defines_is_found_by_others(script, monkeypatch):
    name = name_of(script.make)
    assert name == "my_own_script:make"
    assert is_importable(name)
    assert find_function(name) is script.make, "the script is not run a second time"
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(Path(script.__file__).parent))
    assert find_function(name)() == 7


def test_a_script_that_trains_when_it_is_imported_is_told_so(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "training_script.py").write_text(
        "import pcn\n"
        "def make():\n    return 7\n"
        f"pcn.train('deep-sea-treasure', out={str(tmp_path / 'run')!r})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError) as told:
        find_function("training_script:make")
    said = str(told.value)
    assert "importing training_script.py ran a training" in said
    assert "run exists already" in said
    assert said.endswith('belongs under `if __name__ == "__main__":`')


def test_where_to_look_for_a_script_is_told(script):
    with pytest.raises(UserError, match=r"work in the folder of elsewhere\.py, or put that folder"):
        find_function("elsewhere:make")


def test_what_a_notebook_defines_stays_there(script):
    del script.__file__
    assert name_of(script.make) == "__main__:make"
    with pytest.raises(UserError, match="it was defined in a notebook"):
        find_function("__main__:gone")
