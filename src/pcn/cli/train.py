"""`pcn train` and `pcn resume`."""

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

import pcn
from pcn.algorithms import ALGORITHMS
from pcn.cli.display import Display
from pcn.cli.interrupt import stopping_at
from pcn.cli.numbers import whole_number
from pcn.cli.screen import console, next_steps, quoted, show_coverage_set
from pcn.envs.registry import is_environment, parameters_of
from pcn.errors import UserError
from pcn.runs import Report, Run, Settings, load, loggers
from pcn.runs.folder import RunFolder
from pcn.runs.settings import find_algorithm
from pcn.runs.training import CHECKPOINT_SECONDS

HELP = {
    "objectives": "Dimensions of the room, one objective each.",
    "size": "Cells along each dimension; 20 up to five objectives, 10 beyond, when not given.",
    "room_seed": "Seeds the room's border.",
    "simulators": "Simulations at once, each in a process of its own.",
    "environments": "How many environments are stepped together.",
    "workers": "Whether each of them lives in a process of its own.",
    "step_limit": "Longest episode; the environment's own limit when not given.",
    "reference_point": "What hypervolume is measured from; found by random episodes if not given.",
    "deterministic": "Whether the same actions lead to the same ends; found out if not given.",
    "masked_actions": "Whether infos hold an `action_mask`; found out if not given.",
    "frame_stack": "How many pictures are seen together.",
}
"""What an environment's own options mean."""


def train_command(arguments: list[str]) -> Any:
    """The options of `pcn train`, with the defaults of the environment and preset asked for."""
    environment = _positional(arguments)
    algorithm = _option(arguments, "--algorithm") or "pcn"
    preset = _option(arguments, "--preset") or "default"
    config_class = find_algorithm(algorithm).config_class
    _refuse_options_of_others(arguments, algorithm)
    options_class, options = _environment_options(environment, arguments)
    config: Any = config_class()
    if environment is not None:
        config = Settings.of(
            environment, arguments=options, algorithm=algorithm, preset=preset
        ).config

    @dataclass(frozen=True)
    class Train:
        """Train on an environment and record the run in a new folder."""

        environment: tyro.conf.Positional[str]
        """One that `pcn envs` lists, an id of Gymnasium, or `module:function` of your own."""
        seed: int = 0
        """Seeds the network, the environment and the choice of commands."""
        out: Path | None = None
        """The run's folder; `runs/ENVIRONMENT-SEED` when not given, of a baseline with its name."""
        algorithm: str = "pcn"
        """Which algorithm learns: `pcn`, or the baselines `mones` and `ra`; each has options."""
        preset: str = "default"
        """`default` (our best); PCN also has `paper` (its text) and `authors` (their choices)."""
        checkpoint_seconds: float = CHECKPOINT_SECONDS
        """Least time between two checkpoints."""
        tensorboard: bool = False
        """Also write TensorBoard events into the run's folder (needs pcn[tensorboard])."""
        wandb: str | None = None
        """Also log to this Weights & Biases project (needs pcn[wandb])."""
        options: Annotated[
            options_class,  # type: ignore[valid-type]
            tyro.conf.arg(name=""),
        ] = field(default_factory=options_class)
        config: Annotated[
            config_class,  # type: ignore[valid-type]
            tyro.conf.arg(name=""),
        ] = field(default_factory=lambda: config)

        def __call__(self) -> None:
            if self.environment != environment:
                raise UserError("say the environment first: pcn train ENVIRONMENT --option ...")
            learner = "" if self.algorithm == "pcn" else f"{self.algorithm}-"
            out = self.out or Path("runs") / f"{self.environment}-{learner}{self.seed}"
            values = {
                item.name: getattr(self.config, item.name)
                for item in dataclasses.fields(config_class)
            }
            # Whatever is wrong with the environment is told before anything else.
            settings = Settings.of(
                self.environment,
                arguments=dataclasses.asdict(self.options),
                algorithm=self.algorithm,
                preset=self.preset,
                seed=self.seed,
                **values,
            )
            settings.make()
            RunFolder.refuse_existing(out)
            show_settings("Training", settings)
            reports: list[Callable[[Report], None]] = []
            if self.tensorboard:
                reports.append(loggers.tensorboard(out / "tensorboard"))
            if self.wandb is not None:
                reports.append(
                    loggers.wandb(self.wandb, {"environment": self.environment, **values})
                )

            def tell(report: Report) -> None:
                listeners: tuple[Callable[[Report], None], ...] = (display, *reports)
                for listener in listeners:
                    listener(report)

            with Display(console) as display, stopping_at(out):
                run = pcn.train(
                    self.environment,
                    arguments=settings.arguments,
                    algorithm=self.algorithm,
                    preset=self.preset,
                    seed=self.seed,
                    out=out,
                    report=tell,
                    checkpoint_seconds=self.checkpoint_seconds,
                    **values,
                )
            show_run(run)

    return Train


def _refuse_options_of_others(arguments: list[str], algorithm: str) -> None:
    """Say so when an option belongs to another algorithm."""
    known = {
        name: {item.name for item in dataclasses.fields(entry.config_class)}
        for name, entry in ALGORITHMS.items()
    }
    for word in arguments:
        option = word.removeprefix("--").partition("=")[0].replace("-", "_")
        owners = [name for name, options in known.items() if option in options]
        if word.startswith("--") and owners and algorithm not in owners:
            raise UserError(
                f"{word.partition('=')[0]} is an option of {' and '.join(owners)}, not of "
                f"{algorithm}; `pcn train --algorithm {algorithm} --help` lists its options"
            )


def _environment_options(
    environment: str | None, arguments: list[str]
) -> tuple[Any, dict[str, Any]]:
    """The options that an environment itself takes, and the values given for them."""
    parameters = {} if environment is None else parameters_of(environment)
    if not parameters:
        return dataclasses.make_dataclass("Options", []), {}
    options_class = dataclasses.make_dataclass(
        "Options",
        [
            (name, Annotated[item.annotation, tyro.conf.arg(help=HELP.get(name))], item.default)
            for name, item in parameters.items()
        ],
        frozen=True,
    )
    numbers = [name for name, item in parameters.items() if item.annotation in (int, int | None)]
    given = {name: _option(arguments, f"--{name.replace('_', '-')}") for name in numbers}
    values: dict[str, int] = {}
    for name, word in given.items():
        # What is no whole number is left for the real parser to complain about.
        with suppress(ValueError):
            values |= {} if word is None else {name: whole_number(word)}
    return options_class, values


def _positional(arguments: list[str]) -> str | None:
    """The environment's name, wherever it stands among the options."""
    words = [word for word in arguments if not word.startswith("-")]
    # What follows an option is most likely its value: `--out minecart` is a folder.
    alone = [
        word
        for before, word in zip(["", *arguments], arguments, strict=False)
        if not word.startswith("-") and (not before.startswith("--") or "=" in before)
    ]
    for word in (*alone, *words):
        if is_environment(word):
            return word
    # A name that nobody knows is told by whoever looks it up.
    return words[0] if words and words[0] == arguments[0] else None


def _option(arguments: list[str], name: str) -> str | None:
    for index, word in enumerate(arguments):
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
        if word == name and index + 1 < len(arguments):
            return arguments[index + 1]
    return None


@dataclass(frozen=True)
class Resume:
    """Continue an interrupted run; the result is that of an uninterrupted one."""

    run: tyro.conf.Positional[Path]
    """The run's folder."""
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    """Least time between two checkpoints."""

    def __call__(self) -> None:
        """Train on from the last checkpoint."""
        if (self.run / "metrics.json").exists():
            load(self.run)
            raise UserError(
                f"{self.run} is finished already; look at it with `pcn evaluate {self.run}`"
            )
        show_settings("Resuming", RunFolder.open(self.run).settings())
        with Display(console) as display, stopping_at(self.run):
            run = pcn.resume(self.run, report=display, checkpoint_seconds=self.checkpoint_seconds)
        show_run(run)


def show_settings(doing: str, settings: Settings) -> None:
    """What is about to happen, in one line."""
    discount = settings.config.discount
    discounted = "" if discount == 1 else f", returns discounted by {discount:g}"
    console.print(
        f"{doing} {settings.algorithm} on {settings.environment} "
        f"({settings.preset} preset, seed {settings.seed}{discounted})"
    )


def show_run(run: Run) -> None:
    """The front, the figures, what was written and what to type next."""
    spec = run.environment().spec
    console.print()
    show_coverage_set(run.coverage_set, spec, run.metrics)
    console.print(
        f"[bold]training[/]  {run.metrics['steps']:,} environment steps in "
        f"{run.metrics['seconds']:.1f} s"
    )
    console.print(
        f"\nWrote {quoted(run.path)}: config.json, progress.csv, front.csv, metrics.json, "
        "weights.npz, checkpoint.npz"
    )
    best = len(run.coverage_set) // 2
    next_steps(
        (f"play {quoted(run.path)} --policy {best}", "run the policy you pick, step by step"),
        (f"plot {quoted(run.path)} --out front.png", "draw the front"),
        (f"evaluate {quoted(run.path)}", "execute every policy again"),
    )
