"""`pcn`: which command was meant, and what to say when it cannot be done."""

import os
import sys
from collections.abc import Callable
from typing import Any

import tyro

from pcn.cli.envs import Envs
from pcn.cli.evaluate import Evaluate
from pcn.cli.numbers import REGISTRY
from pcn.cli.play import Play
from pcn.cli.plot import Plot
from pcn.cli.screen import complain
from pcn.cli.train import Resume, train_command
from pcn.errors import UserError

COMMANDS: dict[str, Callable[[list[str]], Any]] = {
    "envs": lambda args: Envs,
    "train": train_command,
    "resume": lambda args: Resume,
    "evaluate": lambda args: Evaluate,
    "play": lambda args: Play,
    "plot": lambda args: Plot,
}

USAGE = """\
usage: pcn COMMAND ...

Pareto Conditioned Networks: learn every non-dominated policy, and run the one you pick.

  pcn envs                                    what can be trained on
  pcn train deep-sea-treasure --out RUN       train and record the run in a new folder
  pcn train deep-sea-treasure --algorithm ra  the same with a baseline: mones or ra
  pcn resume RUN                              continue an interrupted run
  pcn evaluate RUN                            execute every policy of a run again
  pcn play RUN --policy 3 [--save play.gif]   run one policy step by step
  pcn plot RUN --out front.png                draw the front

`pcn COMMAND --help` lists the options of a command.
"""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; exit code 2 is the user's mistake, told in one sentence."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["--version"]:
        import pcn

        print(f"pcn {pcn.__version__}")
        return
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="")
        return
    name, *rest = arguments
    # Environments that draw with pygame need no loudspeaker.
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    try:
        if name not in COMMANDS:
            raise UserError(f"no command is called {name!r}; there are: {', '.join(COMMANDS)}")
        # `my_module:make_env` is looked for where the user is.
        if "" not in sys.path and os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        command = tyro.cli(COMMANDS[name](rest), args=rest, prog=f"pcn {name}", registry=REGISTRY)
        command()
    except UserError as error:
        complain(str(error))
        sys.exit(2)
    except KeyboardInterrupt as stop:
        complain(f"interrupted{stop}")
        sys.exit(130)
    except OSError as error:
        complain(f"{error.strerror or error}: {error.filename or 'while writing'}")
        sys.exit(1)
