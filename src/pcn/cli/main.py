"""`pcn`: find the command, call it, and report errors."""

import importlib
import sys
from typing import Any, NamedTuple

from pcn.cli.screen import complain, discard_output
from pcn.errors import UserError, perhaps
from pcn.starting import end_of_starting


class Command(NamedTuple):
    """The module of a command, which is imported when the command is called."""

    module: str
    name: str
    uses_jax: bool = True


COMMANDS = {
    "envs": Command("pcn.cli.envs", "Envs", uses_jax=False),
    "check": Command("pcn.cli.check", "Check"),
    "train": Command("pcn.cli.train", "TrainOptions"),
    "resume": Command("pcn.cli.resume", "Resume"),
    "evaluate": Command("pcn.cli.evaluate", "Evaluate"),
    "play": Command("pcn.cli.play", "Play"),
    "plot": Command("pcn.cli.plot", "Plot", uses_jax=False),
    "explore": Command("pcn.cli.explore", "Explore", uses_jax=False),
    "report": Command("pcn.cli.report", "Report", uses_jax=False),
    "export": Command("pcn.cli.export", "Export"),
    "reproduce": Command("pcn.cli.reproduce", "Reproduce"),
    "sweep": Command("pcn.cli.sweep", "Sweep"),
    "compare": Command("pcn.cli.compare", "Compare", uses_jax=False),
    "completion": Command("pcn.cli.completion", "Completion", uses_jax=False),
}

USAGE = """\
usage: pcn COMMAND ...

Pareto Conditioned Networks: learn every non-dominated policy, run your choice.

  pcn envs                                    what can be trained on
  pcn check deep-sea-treasure-v0              what random episodes tell
  pcn train deep-sea-treasure --out RUN       train, and record the run
  pcn train deep-sea-treasure --algorithm ra  with another algorithm
  pcn train --from-dataset D                  learn from logged episodes
  pcn resume RUN                              continue an interrupted run
  pcn evaluate RUN                            execute every policy again
  pcn play RUN --policy 3 [--save play.gif]   run one policy step by step
  pcn plot RUN --out front.png                draw the front
  pcn explore RUN                             look, pick, watch: a page
  pcn report RUN --out front.html             the same page as one file
  pcn export RUN --policy 3 --onnx p.onnx     a policy for other runtimes
  pcn reproduce table1 --dry-run              the paper's experiments
  pcn sweep minecart --seeds 0-4 --out DIR    many runs of your own choice
  pcn compare RUN RUN ... [other.csv]         runs side by side, with statistics
  eval "$(pcn completion bash)"               the Tab key completes words

`pcn COMMAND --help` lists the options of a command.
"""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; exit code 2 is a mistake of the user, reported in one sentence."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["--version"]:
        import pcn

        print(f"pcn {pcn.__version__}")
        return
    if arguments[:1] == ["help"]:  # `pcn help train` is `pcn train --help`
        arguments = [*arguments[1:2], "--help"]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="")
        return
    name, *rest = arguments
    try:
        if name not in COMMANDS:
            meant = perhaps(name, COMMANDS)
            raise UserError(
                f"no command is called {name!r}{meant}; there are: {', '.join(COMMANDS)}"
            )
        _run(name, rest)
    except UserError as error:
        complain(str(error))
        sys.exit(2)
    except KeyboardInterrupt as stop:
        complain(f"interrupted{stop}")
        sys.exit(getattr(stop, "code", 130))
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has closed it
        discard_output()
        sys.exit(1)
    except OSError as error:
        complain(f"{error.strerror or error}: {error.filename or 'while writing'}")
        sys.exit(1)


def class_of(where: Command, arguments: list[str]) -> Any:
    """The class that the arguments of a command are parsed into; it may depend on them."""
    module: Any = importlib.import_module(where.module)
    if hasattr(module, "command_for"):
        return module.command_for(arguments)
    return getattr(module, where.name)


def _run(name: str, arguments: list[str]) -> None:
    """Parse the arguments of a command and call it."""
    from pcn.cli.process import collecting_later, set_up_process

    with collecting_later():
        from pcn.cli.parsing import parse

        where = COMMANDS[name]
        set_up_process(jax=where.uses_jax)
        module: Any = importlib.import_module(where.module)
        if hasattr(module, "ARGUMENTS"):  # the options of environments
            from pcn.cli.options import with_values

            arguments = with_values(arguments, module.ARGUMENTS)
        kind = class_of(where, arguments)
        asks_for_help = bool({"-h", "--help"} & {*arguments}) and hasattr(module, "command_for")
        if asks_for_help or "--help-all" in arguments:
            arguments = ["--help"]  # the class may lack other options that are given
        command = parse(kind, arguments, f"pcn {name}")
    end_of_starting()
    command()
