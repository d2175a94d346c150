"""What commands print in all kinds of terminals."""

import io
import os
import re
import subprocess
import sys
from contextlib import suppress

import pytest
from rich.console import Console
from rich.table import Table

from made_runs import made_run
from pcn.cli import run_screen, screen
from pcn.cli.completion import script
from pcn.cli.envs import OVERVIEW, overview
from pcn.cli.main import COMMANDS
from pcn.cli.numbers import whole_number
from pcn.envs.spec import Objective
from refusals import refusal

NARROW = 80


@pytest.fixture
def terminal(monkeypatch):
    """What is printed, as in a terminal of 80 columns."""
    text = io.StringIO()
    console = Console(
        file=text, width=NARROW, force_terminal=True, color_system=None, highlight=False,
        soft_wrap=screen.console.soft_wrap,
    )  # fmt: skip
    for module in (screen, run_screen):
        monkeypatch.setattr(module, "console", console)
    return text


def test_a_narrow_terminal_shows_every_cell_whole(terminal):
    table = Table(box=None, pad_edge=False)
    names = [f"a_column_with_number_{number}" for number in range(9)]
    for name in names:
        table.add_column(name)
    rows = [[f"cell {row}.{column} 1234567.89" for column in range(9)] for row in range(3)]
    for row in rows:
        table.add_row(*row)
    screen.print_table(table)
    lines = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= NARROW
    for cell in [*names, *(cell for row in rows for cell in row)]:
        assert sum(cell in line for line in lines) >= 1, cell
    assert sum(rows[0][0] in line for line in lines) > 1, "each part begins with the first column"


def test_a_table_that_fits_is_left_as_it_is(terminal):
    table = Table(box=None, pad_edge=False)
    table.add_column("policy")
    table.add_column("return")
    table.add_row("0", "1")
    screen.print_table(table)
    assert len(terminal.getvalue().splitlines()) == 2


def test_a_narrow_terminal_shows_a_front_of_two_objectives_in_one_table(terminal):
    run = made_run([[1, -1], [2, -3]])
    screen.print_table(run_screen.front_table(run.coverage_set, run.spec))
    lines = terminal.getvalue().splitlines()
    assert len(lines) == 4, "two lines of headings, and a line for each policy"
    assert lines[0].split() == ["requested", "requested", "in", "executed", "executed"]
    assert lines[1].split()[0] == "policy"


def test_next_steps_fit_into_a_narrow_terminal(terminal):
    screen.next_steps((f"train {'x' * 50}", "train and record the run"), ("envs", "list them"))
    lines = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= NARROW
    assert lines[2:4] == [f"  pcn train {'x' * 50}", "      train and record the run"]


def test_a_long_sentence_is_broken_behind_its_keyword(terminal):
    sentence = "none seen: " + "one random episode is the best in every objective " * 3
    screen.print_fact("conflict", sentence, 14)
    lines = terminal.getvalue().splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= NARROW
    assert lines[0].startswith("conflict      none seen")
    assert all(line.startswith(" " * 14) for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == f"conflict {sentence.strip()}"


def test_a_long_sentence_stays_one_line_in_a_file(monkeypatch):
    monkeypatch.setattr(screen, "console", Console(file=io.StringIO(), width=NARROW))
    assert screen.wrapped("a word " * 50, 14) == "a word " * 50


def test_only_files_that_are_there_are_called_written(terminal, tmp_path):
    run = made_run([[1, -1], [2, -3]])
    run.metrics["steps_by_phase"] = {"training": 9}
    run.path = tmp_path
    for name in ("config.json", "front.csv"):
        (tmp_path / name).touch()
    run_screen.show_run(run)
    text = " ".join(terminal.getvalue().split())
    assert f"Wrote {tmp_path}: config.json, front.csv Next:" in text


def test_a_narrow_terminal_breaks_metrics_between_words(terminal):
    run = made_run([[1, -1], [2, -3]])
    run_screen.show_coverage_set(run.coverage_set, run.spec, run.metrics)
    lines = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= NARROW
    assert lines[-2].startswith("fidelity")
    assert lines[-1].split() == ["range"], "the last word is whole"


@pytest.mark.parametrize("name", ["energy [kwh]", "[/bold]", "[red]alarm[/red]"])
def test_square_brackets_are_shown(name, terminal):
    run = made_run([[1, -1], [2, -3]])
    objectives = (Objective(name), run.spec.objectives[1])
    object.__setattr__(run.spec, "objectives", objectives)
    run_screen.show_coverage_set(run.coverage_set, run.spec, run.metrics)
    assert all(word in terminal.getvalue() for word in name.split())


def test_a_single_policy_is_counted_in_the_singular(terminal):
    run = made_run([[1, -1]])
    run_screen.show_coverage_set(run.coverage_set, run.spec, run.metrics)
    shown = terminal.getvalue()
    assert "1 non-dominated policy" in shown
    assert "1 non-dominated return found" in shown
    assert "1 of 1 policy returns what was requested" in shown


@pytest.mark.parametrize("algorithm", ["pcn", "mones", "ra"])
def test_only_policies_that_take_commands_are_measured_by_them(algorithm, terminal):
    # A policy of RA that sampled (2, -2) in training and returns (2, -3) falls short of nothing.
    run = made_run([[1, -1], [2, -3]], [[1, -1], [2, -2]], algorithm=algorithm)
    run_screen.show_coverage_set(
        run.coverage_set, run.spec, run.metrics, takes_commands=run.takes_commands
    )
    shown = terminal.getvalue()
    assert run.takes_commands == (algorithm == "pcn")
    for words in ("requested", "falls short", "fidelity"):
        assert (words in shown) == run.takes_commands
    assert "executed" in shown


def run_pcn(*arguments, shell="", **environment):
    command = f'"{sys.executable}" -m pcn {" ".join(arguments)} {shell}'
    return subprocess.run(
        command, shell=True, capture_output=True, text=True, env={**os.environ, **environment}
    )


def test_a_terminal_without_our_letters_and_a_closed_one_are_no_error():
    poor = run_pcn("envs", "walkroom-9", PYTHONIOENCODING="ascii")
    assert (poor.returncode, poor.stderr) == (0, "")
    assert "axis_0 (min), ?, axis_8 (min)" in poor.stdout
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        assert run_pcn("envs", "walkroom-9", shell=closed).returncode == 0, closed


def test_the_overview_is_what_the_environments_say():
    assert OVERVIEW.read_text() == overview(), "write it again: python -m pcn.cli.envs"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["train", "minecart", "--total-stepz", "9"], "--total-stepz, perhaps --total-steps"),
        (["train", "deep-sea-treasure", "--xyzzy"], "there is no option --xyzzy; see"),
        (["train", "deep-sea-treasure", "--seed", "abc"], "'abc' is not a whole number"),
        (["train"], "which environment?"),
        (["plot", "--outt", "a.png"], "--outt, perhaps --out"),
        (["trian"], "no command is called 'trian', perhaps train was meant"),
        (["train", "deep-see-treasure"], "perhaps deep-sea-treasure was meant; `pcn envs` lists"),
        (["envs", "minecrat"], "'minecrat', perhaps minecart was meant; there are"),
        (["completion", "tcsh"], "pcn: shell must be one of 'bash', 'zsh', got 'tcsh'; see"),
        (["resume"], "pcn: `pcn resume` needs RUN (the run's folder); see `pcn resume --help`"),
        (["play"], "folder) and --policy INT (the policy's id, as in front.csv)"),
        (["play", "x", "--policy"], "pcn: --policy needs a value; see"),
        (["play", "x", "y", "--policy", "1"], "pcn: unexpected argument: y; see"),
        (["reproduce", "dst", "--scale", "x"], "pcn: --scale: 'x' is not a number; see"),
        (["check"], "ENVIRONMENT (one that `pcn envs` lists, an id of"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("terminal", [False, True], ids=["file", "terminal"])
def test_a_slip_of_the_keyboard_is_answered_in_one_sentence(
    arguments, told, terminal, capsys, monkeypatch
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("TERM", "xterm")
    said = refusal(capsys, *arguments)
    assert told in said
    assert "─" not in said


def test_help_is_short_and_shows_no_riddles(capsys, monkeypatch):
    from pcn.cli import main

    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    basic = capsys.readouterr().out
    assert basic.startswith("usage: pcn train [-h] [OPTIONS] [ENVIRONMENT]\n")
    about = basic.partition("positional arguments")[0].rstrip()
    assert "\n " not in about  # each paragraph is as wide as the terminal
    assert 70 < max(len(line) for line in basic.splitlines()) <= 80
    assert len(basic.splitlines()) < 80
    assert "--help-all" in basic
    assert "--total-steps" in basic
    options = set(re.findall(r"^\W{1,2}(?:-h, )?(--[a-z][a-z-]+)", basic, re.MULTILINE)) - {
        "--help"
    }
    assert len(options) == 20
    with pytest.raises(SystemExit):
        main(["train", "--help-all"])
    everything = capsys.readouterr().out
    assert "--consolidation.updates" in everything
    assert "{None" not in basic + everything


@pytest.mark.parametrize("words", [[], ["envs"]])
def test_help_is_a_command_too(words, capsys):
    from pcn.cli import main

    shown = []
    for arguments in (["help", *words], [*words, "--help"]):
        with suppress(SystemExit):
            main(arguments)
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != ""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_no_wider_than_the_terminal(command, capsys, monkeypatch):
    from pcn.cli import main

    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    about = [line for line in capsys.readouterr().out.splitlines() if line[:1].isalpha()]
    main([])
    assert max(len(line) for line in about + capsys.readouterr().out.splitlines()) <= 80


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("train", "It may be left out where a dataset is given: then nothing is executed."),
        ("train", "`lambda-lorenz` (fair ones, for objectives of one unit)"),
        ("evaluate", "in a deterministic environment and otherwise what the median policy had"),
    ],
)
def test_help_is_broken_by_the_width_alone(command, sentence, capsys, monkeypatch):
    from pcn.cli import main

    # Docstrings in the code are broken elsewhere.
    monkeypatch.setenv("COLUMNS", "2000")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert any(sentence in line for line in capsys.readouterr().out.splitlines())


def test_help_calls_what_a_command_takes_by_its_name(capsys):
    from pcn.cli import main

    for command, taken in (("report", "RUN [RUN ...]"), ("envs", "[ENVIRONMENT ...]")):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        shown = capsys.readouterr().out
        assert shown.startswith(f"usage: pcn {command} [-h] {taken} [")
        assert "(default: )" not in shown


@pytest.mark.parametrize("word", ["1.5", "abc", "nan", "inf", ""])
def test_what_is_no_whole_number_is_refused(word):
    with pytest.raises(ValueError, match="is not a whole number"):
        whole_number(word)


def completed(*words):
    """What bash offers for the last of these words."""
    listed = " ".join(f"'{word}'" for word in ("pcn", *words))
    commands = (
        f"{script('bash')}\nCOMP_WORDS=({listed}); COMP_CWORD={len(words)}; _pcn; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    found = subprocess.run(["bash", "-c", commands], capture_output=True, text=True, check=True)
    return found.stdout.split()


def test_the_tab_key_completes_commands_options_and_environments():
    assert completed("re") == ["resume", "report", "reproduce"]
    assert "--total-steps" in completed("train", "minecart", "--tot")
    assert completed("train", "fruit") == ["fruit-tree"]
    assert set(COMMANDS) <= set(completed(""))
    assert script("zsh").startswith("autoload")
