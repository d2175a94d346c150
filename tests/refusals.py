"""How commands refuse."""

import pytest

from pcn.cli import main


def refusal(capsys, *arguments):
    """The one sentence on standard error with which a command refuses."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith("pcn: ")
    assert "\n" not in error
    return error
