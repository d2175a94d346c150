"""`pcn train`: train on an environment and record the run."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import tyro

from pcn.algorithms import ALGORITHMS
from pcn.cli.display import Display
from pcn.cli.interrupt import stop_on_interrupt
from pcn.cli.options import (
    SharedOption,
    algorithm_options,
    environment_options,
    environment_taker,
    groups_of,
    one_group,
    refuse_options_of_others,
)
from pcn.cli.run_screen import show_run
from pcn.cli.screen import console
from pcn.errors import UserError
from pcn.runs import loggers
from pcn.runs.request import CHECKPOINT_SECONDS, Request
from pcn.runs.training import carry_out

DEFAULT_ALGORITHM = next(iter(ALGORITHMS))


@dataclass(frozen=True)
class TrainOptions:
    """Train on an environment and record the run in a new folder.

    Every hyperparameter is an option. The preset and the recipe of the environment change some
    defaults; `pcn envs --verbose` shows what recipes change, and why.
    """

    environment: tyro.conf.Positional[str | None] = None
    """One that `pcn envs` lists, an id of Gymnasium, or `module:Name` of your own. It may be left
    out where a dataset is given: then nothing is executed."""
    from_dataset: str | None = None
    """Begin with logged episodes: a run's folder, an .npz file or a Minari dataset (HDF5)."""
    execute_on: str | None = None
    """With a dataset and no environment: an environment that only executes the final policies."""
    seed: int = 0
    """Seeds the network, the environment and every choice of the algorithm."""
    out: Path | None = None
    """The run's folder; by default `runs/ENVIRONMENT-SEED`, or `runs/ENVIRONMENT-ALGORITHM-SEED`
    where the algorithm is not the default one."""
    algorithm: Annotated[
        str, tyro.conf.arg(help=f"Which algorithm learns: {', '.join(ALGORITHMS)}.")
    ] = DEFAULT_ALGORITHM
    preset: str = "default"
    """`default` (our best); PCN also has `paper` (its text) and `authors` (their choices)."""
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    """Least time between two checkpoints."""
    tensorboard: bool = False
    """Also write TensorBoard events into the run's folder (needs pcn[tensorboard])."""
    wandb: str | None = None
    """Also log to this Weights & Biases project (needs pcn[wandb])."""

    def __call__(self) -> None:
        """Train, show progress, and show the run."""
        hyperparameters = self._given(HYPERPARAMETERS)
        arguments = self._given(ARGUMENTS)
        if self.algorithm not in ALGORITHMS:
            raise UserError(
                f"no algorithm is called {self.algorithm!r}; there are: {', '.join(ALGORITHMS)}"
            )
        environment = self.environment or self.execute_on
        if self.execute_on is not None and (self.from_dataset is None or self.environment):
            raise UserError("--execute-on needs --from-dataset, and no other environment")
        if environment is None and self.from_dataset is None:
            raise UserError("which environment? Name one, as in `pcn train deep-sea-treasure`")
        refuse_options_of_others(hyperparameters, HYPERPARAMETERS, self.algorithm, self.algorithm)
        refuse_options_of_others(
            arguments,
            ARGUMENTS,
            environment_taker(environment or ""),
            environment or "no environment",
        )
        learner = "" if self.algorithm == DEFAULT_ALGORITHM else f"{self.algorithm}-"
        place = environment or Path(str(self.from_dataset)).stem
        kind = "" if self.from_dataset is None else "from-data-"
        out = self.out or Path("runs") / f"{place}-{kind}{learner}{self.seed}"
        request = Request(
            environment=environment,
            dataset=self.from_dataset,
            only_execute=self.execute_on is not None,
            arguments=arguments,
            algorithm=self.algorithm,
            preset=self.preset,
            hyperparameters=hyperparameters,
            seed=self.seed,
            out=out,
            checkpoint_seconds=self.checkpoint_seconds,
        )
        logs = loggers.logs_of(out, tensorboard_too=self.tensorboard, project=self.wandb)
        display = Display(console, "Training")
        with display, stop_on_interrupt(out, at_once=lambda: not display.started) as stop:
            run = carry_out(request, report=loggers.all_of(display, *logs), stop=stop)
        show_run(run)

    def _given(self, options: Any) -> dict[str, Any]:
        """The values of those of these options that were given."""
        given: dict[str, Any] = {}
        for item in dataclasses.fields(self):
            if item.name.startswith(GROUP):
                given |= getattr(self, item.name)
        return {name: value for name, value in given.items() if name in options}


HYPERPARAMETERS = algorithm_options()
ARGUMENTS = environment_options()
GROUP = "group_"
"""What the names of fields begin with that hold options of algorithms and environments."""

USEFUL = (
    "total_steps",
    "learning_rate",
    "width",
    "capacity",
    "discount",
    "dominance",
    "evaluations",
    "executions",
    "reference_point",
    "step_limit",
    "environments",
)
"""The options that `--help` shows besides those of every training: 20 with these."""


def with_options(name: str, groups: Mapping[str, Any]) -> Any:
    """The command with groups of options, by title."""
    command = dataclasses.make_dataclass(
        name,
        [
            (
                f"{GROUP}{number}",
                Annotated[kind, tyro.conf.arg(name=title)],
                field(default_factory=dict),
            )
            for number, (title, kind) in enumerate(groups.items())
        ],
        bases=(TrainOptions,),
        frozen=True,
    )
    command.__doc__ = TrainOptions.__doc__
    return command


def command_for(arguments: Iterable[str]) -> Any:
    """The command with only those of its options that are given: all take a third of a second.

    It has all of them where an option is given that does not exist, so that a message can say
    which one was perhaps meant, and for `--help-all`. For `--help` it has the most used ones.
    """
    arguments = list(arguments)
    if "--help-all" in arguments:
        return every_train()
    if {"-h", "--help"} & {*arguments}:
        return basic_train()
    given = {one.partition("=")[0].replace("_", "-") for one in arguments if one.startswith("--")}
    always = {f"--{item.name.replace('_', '-')}" for item in dataclasses.fields(TrainOptions)}
    always |= {_negated(flag) for flag in always}
    options = [option for option in _every_option() if {option.flag, _negated(option.flag)} & given]
    known = {flag for option in options for flag in (option.flag, _negated(option.flag))}
    return with_options("Train", groups_of(options)) if given <= always | known else every_train()


@cache
def every_train() -> Any:
    """The command with all its options."""
    return with_options("Train", groups_of(_every_option()))


@cache
def basic_train() -> Any:
    """What `--help` shows: no more than most people need."""
    title, options = "most used", HYPERPARAMETERS | ARGUMENTS
    command = with_options("Train", {title: one_group(title, *(options[name] for name in USEFUL))})
    command.__doc__ = (
        f"{TrainOptions.__doc__}\n\nThere are {len(_every_option())} options of "
        "algorithms, refinements and environments in all: `pcn train --help-all` shows them."
    )
    return command


def _every_option() -> list[SharedOption]:
    return [*HYPERPARAMETERS.values(), *ARGUMENTS.values()]


def _negated(flag: str) -> str:
    return flag.replace("--", "--no-", 1)
