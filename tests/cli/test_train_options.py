"""`pcn train` reads only those options that are given; what it then does is the same."""

import dataclasses
import subprocess
import sys

import pytest

from pcn.cli.parsing import parse
from pcn.cli.train import GROUP, basic_train, command_for, every_train
from pcn.errors import UserError

GIVEN = [
    "deep-sea-treasure", "--total-steps", "500", "--no-consolidation", "--seed=3",
    "--dominance", "lorenz",
]  # fmt: skip


def options_in(command):
    """The names of all options of algorithms and environments that a command has."""
    groups = [item.type for item in dataclasses.fields(command) if item.name.startswith(GROUP)]
    return {name for group in groups for name in group.__origin__.__annotations__}


def values_of(command):
    given = dataclasses.asdict(command)
    groups = {name: given.pop(name) for name in list(given) if name.startswith(GROUP)}
    return given | {name: value for group in groups.values() for name, value in group.items()}


def test_only_given_options_are_read():
    assert options_in(command_for(GIVEN)) == {"total_steps", "consolidation", "dominance"}


def test_few_options_mean_what_they_mean_among_all():
    few = parse(command_for(GIVEN), GIVEN, "pcn train")
    assert values_of(few) == values_of(parse(every_train(), GIVEN, "pcn train"))


@pytest.mark.parametrize(
    ("flag", "made"), [("--help", basic_train), ("-h", basic_train), ("--help-all", every_train)]
)
def test_help_shows_the_most_used_options_and_on_request_all(flag, made):
    assert command_for(["deep-sea-treasure", flag]) is made()


def test_underscores_are_read_as_hyphens():
    assert options_in(command_for(["--total_steps=5"])) == {"total_steps"}


def test_an_unknown_option_is_compared_with_all_options():
    arguments = ["deep-sea-treasure", "--learning-rat", "0.1"]
    with pytest.raises(UserError, match="perhaps --learning-rate"):
        parse(command_for(arguments), arguments, "pcn train")


def test_training_imports_no_statistics_of_scipy():
    code = "import sys, pcn.cli.train; print('scipy.stats' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
