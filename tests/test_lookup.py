import copy
import json
import pickle
from functools import partial

import pytest

from pcn.errors import UserError
from pcn.lookup import find_function, is_importable, name_of


def test_what_can_be_imported_has_its_own_name():
    assert name_of(partial) == "functools:partial"
    assert is_importable(name_of(test_what_can_be_imported_has_its_own_name))


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
