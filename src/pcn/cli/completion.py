"""`pcn completion`: a script with which a shell completes commands, options and environments."""

from dataclasses import dataclass
from typing import Literal

import tyro

from pcn.cli.parsing import options_of
from pcn.envs.registry import ENVIRONMENTS

TAKE_ENVIRONMENTS = ("train", "check", "envs", "sweep")
"""Commands that are given the names of environments."""


@dataclass(frozen=True)
class Completion:
    """Print a script that completes `pcn` in a shell: `eval "$(pcn completion bash)"`."""

    shell: tyro.conf.Positional[Literal["bash", "zsh"]]
    """The shell that is to run it: bash or zsh."""

    def __call__(self) -> None:
        """Print the script."""
        print(script(self.shell), end="")


def script(shell: str) -> str:
    """The script for a shell; zsh runs bash's."""
    from pcn.cli.main import COMMANDS, class_of  # which know this module by its name

    cases = []
    for name, where in COMMANDS.items():
        options = " ".join(options_of(class_of(where, ["--help-all"])))
        words = " ".join(ENVIRONMENTS) if name in TAKE_ENVIRONMENTS else ""
        cases.append(f'    {name}) options="{options}"; words="{words}" ;;')
    prelude = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return prelude + _SCRIPT.replace("COMMANDS", " ".join(COMMANDS)).replace(
        "CASES", "\n".join(cases)
    )


_SCRIPT = """\
_pcn() {
  local current="${COMP_WORDS[COMP_CWORD]}" options="" words=""
  case "${COMP_WORDS[1]}" in
CASES
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "COMMANDS --help --version" -- "$current"))
  elif [ "${current:0:1}" = "-" ]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -o default -F _pcn pcn
"""
