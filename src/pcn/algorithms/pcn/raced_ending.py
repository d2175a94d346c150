"""The end of a training in a stochastic environment: fit, race, and execute the chosen afresh.

What is reported was never used to choose: the executions of the race are forgotten once they have
decided which commands are offered.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Int

from pcn.algorithms.pcn.contender import AbstractFitting, Contender, Entries
from pcn.algorithms.pcn.executing import notices_of_stopped
from pcn.algorithms.pcn.network import network_name
from pcn.algorithms.pcn.racing import Racing, Rules
from pcn.algorithms.pcn.refinements.consolidation import Consolidating
from pcn.algorithms.pcn.refinements.expected_returns import ExpectedReturns
from pcn.algorithms.pcn.training import Training
from pcn.coverage import CoverageSet
from pcn.pareto import PARETO
from pcn.serialisation.arrays import named_arrays

Parts = tuple[dict[str, np.ndarray], dict[str, Any]]
"""A snapshot: arrays, and facts for JSON."""


class RacedEnding:
    """Three stages: refinements fit contenders, all commands race, the chosen are executed.

    The network as training left it is a contender where no copy of it is. Without
    `ExpectedReturns` there is no race: every command of the last contender is executed.
    """

    def __init__(self, training: Training) -> None:
        self._training = training
        self._rng_before = training.rng.bit_generator.state
        self._steps_before = training.steps
        self._keys = [training.next_key() for _ in range(len(training.refinements) + 2)]
        self._choice: ExpectedReturns | None = next(
            (one for one in training.refinements if isinstance(one, ExpectedReturns)), None
        )
        self._fittings: dict[int, AbstractFitting] = {}
        self._num_asked = 0
        self._race: Racing | None = None
        self._chosen: np.ndarray | None = None
        self._final: Racing | None = None

    @property
    def done(self) -> bool:
        """Whether everything that is offered has been executed."""
        return self._final is not None and self._final.done

    @property
    def phase(self) -> str:
        """What is going on, for people."""
        if self._final is not None:
            return "executing"
        return "consolidating" if self._race is None else "racing"

    def iterate(self) -> None:
        """A little of the stage that is under way."""
        for fitting in self._fittings.values():
            if not fitting.done:
                fitting.iterate()
                return
        if self._num_asked < len(self._training.refinements):
            self._ask()
        elif self._choice is not None and self._race is None:
            self._race = self._new_race(self._choice)
        elif self._race is not None and not self._race.done:
            self._race.iterate()
        elif self._final is None:
            self._choose()
            self._final = self._new_final()
        else:
            self._final.iterate()
            if self.done:
                notices = notices_of_stopped(self._num_stopped, len(self._offered()))
                self._training.notices.extend(notices)

    def _ask(self) -> None:
        """Ask the next refinement whether it has a contender."""
        place = self._num_asked
        self._num_asked += 1
        refinement = self._training.refinements[place]
        fitting = refinement.contender(self._training, self._keys[place])
        if fitting is not None:
            self._fittings[place] = fitting

    def _entries(self) -> Entries:
        """The commands of all contenders."""
        fitted = [fitting.contender for fitting in self._fittings.values()]
        if fitted and self._choice is None:
            return Entries.of(fitted[-1:])
        if any(isinstance(one, Consolidating) for one in self._fittings.values()):
            return Entries.of(fitted)
        archive, policy = self._training.commands(), self._training.learner.policy
        plain = Contender(policy, archive.returns, archive.horizons.astype(np.float64))
        return Entries.of([plain, *fitted])

    def _new_race(self, choice: ExpectedReturns) -> Racing:
        training, entries = self._training, self._entries()
        confirmed = entries.confirmed_mask()
        return Racing(
            training,
            entries,
            choice.race_rules(training, int((~confirmed).sum())),
            most_steps=choice.race_steps(training, confirmed=bool(confirmed.any())),
            key=self._keys[-2],
            entered=~confirmed,
        )

    def _choose(self) -> None:
        """Choose by the race, if there is one; commands that were not executed are left out."""
        if self._race is None or self._choice is None:
            self._chosen = np.arange(len(self._entries()))
            return
        raced = np.flatnonzero(self._race.left)
        sure = self._sure(self._choice)
        if len(sure):
            execution = self._race.execution.taking(raced)
            added = self._choice.adding(execution, self._entries().expected())
            self._chosen = np.append(sure, raced[added])
            return
        if len(raced) == 0:  # all were broken off: let the final executions tell
            self._chosen = np.arange(min(self._choice.fewest, len(self._entries())))
            return
        execution = self._race.execution.taking(raced)
        best = self._choice.chosen(
            execution,
            executions=self._training.config.executions,
            most_steps=self._training.steps_left,
            order=self._training.dataset.order,
        )
        order = np.lexsort(execution.returns[best].T[::-1])
        self._chosen = raced[best[order]]

    def _sure(self, choice: ExpectedReturns) -> Int[np.ndarray, " command"]:
        """The confirmed commands that are offered: as many as can be executed a few times."""
        entries, order = self._entries(), self._training.dataset.order
        confirmed = np.flatnonzero(entries.confirmed_mask())
        if len(confirmed) == 0:
            return confirmed
        each = entries.expected_steps()
        if order != PARETO:  # models promise all that is Pareto-optimal in their means
            better = order.non_dominated_mask(entries.expected())
            confirmed, each = confirmed[better], each[better]
        cost = choice.confirmed_executions * np.cumsum(each)
        return confirmed[: max(choice.fewest, int((cost <= self._training.steps_left).sum()))]

    def _offered(self) -> Entries:
        assert self._chosen is not None
        return self._entries().taking(self._chosen)

    def _new_final(self) -> Racing:
        training, executions = self._training, self._training.config.executions
        fixed = Rules(
            first=executions, growth=1, largest=executions, confidence=0.95, indifference=0.0,
            drops=False, shares_randomness=False,
        )  # fmt: skip
        return Racing(
            training,
            self._offered(),
            fixed if self._choice is None else self._choice.final_rules(executions),
            most_steps=training.steps_left,
            key=self._keys[-1],
        )

    @property
    def _num_stopped(self) -> int:
        assert self._final is not None, "the training is not done"
        return int((~self._final.left).sum())

    def _executed_entries(self) -> Entries:
        """The chosen commands that were executed; all of them if none was."""
        assert self._final is not None, "the training is not done"
        executed = np.flatnonzero(self._final.left)
        return self._offered().taking(executed) if len(executed) else self._offered()

    def coverage_set(self) -> CoverageSet:
        """The commands that the run offers and what each returned, once `done`.

        Those that the steps were too few to execute are left out. If that is all of them, they are
        offered as not executed.
        """
        assert self._final is not None, "the training is not done"
        entries, dataset, stopped = (
            self._executed_entries(),
            self._training.dataset,
            self._num_stopped,
        )
        if stopped == len(self._final.left):
            return CoverageSet.unexecuted(
                entries.desired_returns,
                entries.horizons,
                tolerances=dataset.tolerances,
                order=dataset.order,
                network=entries.network,
                num_stopped=stopped,
            )
        executed = CoverageSet.measured(
            entries.desired_returns,
            entries.horizons,
            self._final.execution.taking(np.flatnonzero(self._final.left)).singles,
            tolerances=dataset.tolerances,
            order=dataset.order,
            network=entries.network,
        )
        return replace(executed, num_stopped=stopped)

    def arrays(self) -> dict[str, np.ndarray]:
        """The networks that execute the commands, and whether their commands follow rewards."""
        contenders = self._executed_entries().contenders
        arrays: dict[str, np.ndarray] = {}
        for number, contender in enumerate(contenders):
            arrays |= named_arrays(contender.policy, network_name(number))
        return arrays | {
            **self._training.bound_arrays(),
            "follows_rewards": np.array([one.follows_rewards for one in contenders]),
        }

    def facts(self) -> dict[str, Any]:
        """How much fitting and racing took, for `metrics.json`."""
        facts: dict[str, Any] = {
            fitting.name: {"updates": fitting.num_updates, "steps": fitting.num_steps}
            for fitting in self._fittings.values()
        }
        if self._race is not None:
            facts["race"] = {
                "commands": self._race.execution.num_policies,
                "executions": len(self._race.execution.policies),
                "steps": self._race.num_steps,
            }
        return facts

    def snapshot(self) -> Parts:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""
        facts: dict[str, Any] = {
            "rng_before": self._rng_before,
            "steps_before": self._steps_before,
            "num_asked": self._num_asked,
        }
        arrays: dict[str, np.ndarray] = {}
        for name, stage in self._stages().items():
            own, facts[name] = stage.snapshot()
            arrays |= {f"ending.{name}.{key}": array for key, array in own.items()}
        if self._chosen is not None:
            arrays["ending.chosen"] = self._chosen
        return arrays, facts

    def _stages(self) -> dict[str, AbstractFitting | Racing]:
        """What has begun, by name."""
        stages: dict[str, AbstractFitting | Racing] = {
            f"fitting_{place}": fitting for place, fitting in self._fittings.items()
        }
        if self._race is not None:
            stages["race"] = self._race
        if self._final is not None:
            stages["final"] = self._final
        return stages

    @classmethod
    def restored(
        cls, training: Training, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]
    ) -> "RacedEnding":
        """The ending as it was when the snapshot was taken; `training` has been restored.

        An ending that an earlier version of the package began starts over.
        """
        now = training.rng.bit_generator.state
        steps_now = training.steps
        training.rng.bit_generator.state = facts["rng_before"]
        # Which commands there are depends on the steps that were left when the ending began.
        training.runner.steps = facts.get("steps_before", steps_now)
        ending = cls(training)
        for _ in range(facts.get("num_asked", 0)):
            ending._ask()
            if f"fitting_{ending._num_asked - 1}" not in facts:
                ending._fittings.pop(ending._num_asked - 1, None)

        def restore(name: str, stage: AbstractFitting | Racing) -> None:
            prefix = f"ending.{name}."
            own = {
                key.removeprefix(prefix): arrays[key] for key in arrays if key.startswith(prefix)
            }
            stage.restore(own, facts[name])

        for name, stage in ending._stages().items():
            restore(name, stage)
        if "race" in facts and ending._choice is not None:
            ending._race = ending._new_race(ending._choice)
            restore("race", ending._race)
        if "final" in facts:
            ending._chosen = np.array(arrays["ending.chosen"])
            ending._final = ending._new_final()
            restore("final", ending._final)
        training.runner.steps = steps_now
        training.rng.bit_generator.state = now
        return ending
