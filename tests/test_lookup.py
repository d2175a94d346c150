from functools import partial

import pytest

from pcn.errors import UserError
from pcn.lookup import find_function, found_again, name_of


def test_what_can_be_imported_has_its_own_name():
    assert name_of(partial) == "functools:partial"
    assert found_again(name_of(test_what_can_be_imported_has_its_own_name))


def test_two_of_the_same_name_are_told_apart():
    several = [lambda: 1, lambda: 2, partial(int, 3), partial(int, 4)]
    names = [name_of(function) for function in several]
    assert len(set(names)) == 4
    assert [find_function(name)() for name in names] == [1, 2, 3, 4]
    assert [name_of(function) for function in several] == names
    assert not any(map(found_again, names))


def test_what_another_process_was_given_cannot_be_found():
    with pytest.raises(UserError, match="given to another process"):
        find_function("module:<lambda>#99")
