"""What is told after an interruption can be pasted into a shell."""

import shlex

import pytest

from pcn.cli.interrupt import Interrupted, stop_on_interrupt
from pcn.errors import Stopped


def test_the_command_that_goes_on_is_quoted(tmp_path):
    folder = tmp_path / "my runs; rm *"
    folder.mkdir()
    with pytest.raises(Interrupted) as interrupted, stop_on_interrupt(folder):
        raise Stopped(folder)
    command = str(interrupted.value).split("`")[1]
    assert shlex.split(command)[1:] == ["resume", str(folder)]
    assert shlex.split(str(Stopped(folder)).split("`")[1]) == ["pcn", "resume", str(folder)]
