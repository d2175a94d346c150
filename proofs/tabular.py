"""The exact front of a small tabular environment: `python -m proofs.tabular module:Model`.

A model says what each action may lead to. Set-valued dynamic programming (`pcn.planning`) then
finds all non-dominated vectors of expected return from the start, over all policies that may look
at the time and at what was promised before. Nothing is left out: sets are not thinned.

    python -m proofs.tabular my_module:Model --discount 0.9 --step-limit 100 --out front.json

A model is an object (or a class or function that makes one) with

- `starts()`: a dictionary of the states in which episodes begin and their probabilities,
- `actions(state)`: the actions that are available there, and
- `outcomes(state, action)`: a list of `(probability, next_state, reward, terminated)`.

States are anything that can be the key of a dictionary. Instead, an environment may have the table
of Gymnasium's toy-text environments: `P[state][action]`, a list of such outcomes, and
`initial_state_distrib`.
"""

import argparse
import json
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pcn.lookup import find_object
from pcn.pareto import unique_front
from pcn.planning import Plans, TabularModel, plan

State = Any
Outcome = tuple[float, State, Any, bool]
"""Probability, next state, reward, and whether the episode terminates there."""
MOST_STATES = 200_000
DIGITS = 9
"""Decimals that a file of a front holds."""


class OffersModel(Protocol):
    """What a tabular environment has to say."""

    def starts(self) -> Mapping[State, float]:
        """The states in which episodes begin, and how likely each is."""

    def actions(self, state: State) -> Iterable[int]:
        """The actions that are available in a state."""

    def outcomes(self, state: State, action: int) -> list[Outcome]:
        """All that an action may lead to."""


class ToyText:
    """The model of an environment that has the table of Gymnasium's toy-text environments."""

    def __init__(self, environment: Any) -> None:
        self._table = environment.P
        self._starts = environment.initial_state_distrib

    def starts(self) -> dict[int, float]:
        """The states with a probability above 0."""
        return {state: float(p) for state, p in enumerate(self._starts) if p > 0}

    def actions(self, state: int) -> Iterable[int]:
        """All that the table has for this state."""
        return self._table[state].keys()

    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """The entry of the table."""
        return self._table[state][action]


def tabulate(offered: OffersModel) -> tuple[TabularModel, dict[State, int]]:
    """The model as arrays, and the number of each state that can be reached."""
    starts = dict(offered.starts())
    numbers: dict[Hashable, int] = {state: number for number, state in enumerate(starts)}
    waiting = list(starts)
    rows: list[tuple[int, int, int, bool, float, Any]] = []
    while waiting:
        state = waiting.pop()
        for action in offered.actions(state):
            for probability, following, reward, terminated in offered.outcomes(state, action):
                if not terminated and following not in numbers:
                    numbers[following] = len(numbers)
                    waiting.append(following)
                    if len(numbers) > MOST_STATES:
                        raise ValueError(f"more than {MOST_STATES} states can be reached")
                successor = 0 if terminated else numbers[following]
                rows.append(
                    (numbers[state], action, successor, bool(terminated), probability, reward)
                )
    states, actions, successors, terminated_rows, probabilities, rewards = zip(*rows, strict=True)
    model = TabularModel(
        start=np.array([starts.get(state, 0.0) for state in numbers], np.float64),
        states=np.array(states),
        actions=np.array(actions),
        next_states=np.array(successors),
        terminated=np.array(terminated_rows),
        probabilities=np.array(probabilities, np.float64),
        rewards=np.array(rewards, np.float64),
    )
    return model, numbers


def solve(
    offered: OffersModel, *, discount: float, step_limit: int
) -> tuple[Plans, dict[State, int]]:
    """A plan for every point of the front, and the number of each state."""
    model, numbers = tabulate(offered)
    return plan(model, discount=discount, horizon=step_limit), numbers


def as_model(thing: Any) -> OffersModel:
    """The model that an object, or what makes one, offers."""
    made = thing() if callable(thing) and not hasattr(thing, "P") else thing
    made = getattr(made, "unwrapped", made)
    return ToyText(made) if hasattr(made, "P") else made


def write_front(file: Path, returns: Any, **facts: Any) -> None:
    """A front as JSON with the facts about it; one point, or one entry of a list, a line."""
    points = (np.asarray(returns, np.float64).round(DIGITS) + 0.0).tolist()  # never minus zero
    lines = []
    for name, value in {**facts, "returns": points}.items():
        shown = json.dumps(value)
        if isinstance(value, list):
            shown = "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"
        lines.append(f"{json.dumps(name)}: {shown}")
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> None:
    """Solve the model that the command line names; print the front or write it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", help="module:Name of the model, or of what makes it")
    parser.add_argument("--discount", type=float, default=1.0)
    parser.add_argument("--step-limit", type=int, required=True)
    parser.add_argument("--out", type=Path, help="a JSON file for the front")
    given = parser.parse_args()
    plans, numbers = solve(
        as_model(find_object(given.model)), discount=given.discount, step_limit=given.step_limit
    )
    points = plans.vectors.round(DIGITS)
    points = points[unique_front(points)]  # some differ by less than a file holds
    print(f"{len(numbers)} states, {len(points)} points")
    if given.out is None:
        for point in points:
            print(" ".join(f"{value:.6g}" for value in point))
    else:
        source = f"python -m proofs.tabular {given.model}"
        write_front(given.out, points, status="proven", source=source, discount=given.discount)


if __name__ == "__main__":
    main()
