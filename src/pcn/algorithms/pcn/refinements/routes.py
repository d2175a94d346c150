"""Routes: better returns are searched for in a model of what actions do, and then played.

Sampling from the network, or changing a few actions of a known episode, finds neighbours of what is
known. Where the environment is deterministic and its observations repeat, every step that was ever
taken says what an action does (`effects`). A search over that model (`route_search`) tries all
orders of everything seen, at no cost in environment steps. Only routes that promise a better
return, and steps that were never taken, are played. What is played teaches the model, whether
the promise was kept or not.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.routing.found_routes import Found
from pcn.algorithms.pcn.refinements.routing.route_search import RouteSearch
from pcn.algorithms.pcn.refinements.routing.routes_state import (
    FIRST_BEAM,
    RoutesState,
    action_sizes,
)
from pcn.algorithms.pcn.refinements.scripts import DISCRETE
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.envs.observations import num_parts
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead
from pcn.pareto import PARETO, AbstractOrder, Tolerances, rounded, unique_front
from pcn.rollout import ScriptedAgent

Script = Int[np.ndarray, " _"]
"""The actions of one episode, each as one number."""
PLAYED_AT_ONCE = 32
"""Most routes in one batch."""
MOST_FRUITLESS = 6
"""Searches in a row that brought nothing, each of which halves what further ones may cost.

Half as many count where there are still untried steps."""
FIRST_PLAYED = 8
"""Promised routes in the first batch after a search: they show whether the model is right."""


@dataclass(frozen=True, kw_only=True)
class Routes(AbstractRefinement):
    """Search a model of what actions do for better routes, and play what it promises.

    Only in deterministic environments with few discrete actions, and observations of whole numbers
    or of real ones that lie on a grid; where steps hardly ever repeat, nothing is searched. What
    action masks forbid is learnt like what actions do.
    """

    steps_share: float = 0.5
    """Most of the environment steps that playing routes may take, as a share of all steps."""
    work_per_step: float = 100.0
    """How many steps of the model a search may look up or walk for each environment step."""
    most_work: int = 10_000_000
    """How many of them all searches of a training may take: several CPU seconds."""
    rounds: int = 16
    """Most searches of an iteration."""
    beam: int = 512
    """Most labels that a search keeps after each event."""
    labels_per_state: int = 4
    """Most labels that a search keeps for each state."""
    weights: int = 32
    """For how many weights of the objectives and of time a search keeps the best labels."""
    patience: int = 4
    """A search ends when so many events more have brought no better return."""
    gain: float = 0.01
    """What a better return has to be better by, for that, as a share of the archive's spread."""
    trusted: float = 0.75
    """Share of promises that must be kept for more to be played, and for wider searches."""
    strange: int = 4
    """Untried steps that are tried after each search; twice as many where nothing is promised."""
    beyond: int = 16
    """Random actions after an untried step."""
    repeated: float = 0.5
    """Nothing is searched while a smaller share of all steps has been taken before."""
    judged_after: int = 1_000
    """Distinct steps after which that is judged."""
    given_up_after: int = 20_000
    """Distinct steps after which nothing more is learnt where a smaller share repeats."""
    most_parts: int = 1024
    """Most numbers that an observation may have."""
    most_actions: int = 64
    """Most different actions that there may be."""
    most_steps_known: int = 20_000_000
    """Most steps of the model that are remembered at a time."""

    def __post_init__(self) -> None:
        at_least(
            self,
            0,
            "steps_share",
            "work_per_step",
            "most_work",
            "gain",
            "trusted",
            "strange",
            "repeated",
        )
        at_least(self, 1, "rounds", "beam", "labels_per_state", "weights", "patience", "beyond")
        at_least(self, 1, "most_parts", "most_actions", "most_steps_known", "judged_after")
        at_least(self, 1, "given_up_after")
        at_most(self, 1, "steps_share", "trusted", "repeated")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions have the same outcome and both can be counted."""
        return (
            spec.deterministic
            and isinstance(spec.action_space, DISCRETE)
            and int(np.prod(action_sizes(spec))) <= self.most_actions
            and num_parts(spec) <= self.most_parts
        )

    def off_because(self, spec: EnvironmentSpec, head: AbstractActionHead) -> str | None:
        """Routes are searched among actions that repeat exactly."""
        del head
        if not spec.deterministic or isinstance(spec.action_space, DISCRETE):
            return None
        return "routes are off: they are searched among discrete actions only"

    def fresh_state(self, training: Training) -> RoutesState:
        """Nothing learnt yet."""
        return RoutesState(training.spec)

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Learn from every step, unless steps do not repeat."""
        state = self._state(training)
        if state.continuous:
            return
        if len(state.model) < self.given_up_after or state.repeats(self.repeated):
            state.learn(episodes)

    def after_exploring(self, training: Training) -> None:
        """Search, play what is promised, and search again while there are promises."""
        state = self._state(training)
        if state.continuous:
            return
        state.forget_graph()
        for _ in range(self.rounds):
            allowed = int(self.steps_share * training.steps) - state.steps
            allowed = min(allowed, training.exploring_steps_left)
            if (
                allowed < training.schedule.mean_length
                or state.work >= self.work_per_step * training.steps / 2**state.fruitless
                or state.work >= self.most_work
                or not self._is_worth_it(training, state)
                or not self._try(training, self._search(training), allowed)
            ):
                return

    def _is_worth_it(self, training: Training, state: RoutesState) -> bool:
        """Whether steps repeat, or are too few to tell.

        Where actions are masked, too few are not enough: what masks forbid is not known of states
        that were never seen.
        """
        if training.spec.masked_actions:
            return state.num_seen >= self.judged_after and state.repeats(self.repeated)
        return len(state.model) < self.judged_after or state.repeats(self.repeated)

    def _search(self, training: Training) -> Found:
        """Search the model as it is now, from the start and from the archive's episodes."""
        state, config, dataset = self._state(training), training.config, training.dataset
        archive, graph = dataset.archive(), state.graph(self.most_steps_known)
        spread, fixed = np.ptp(archive.returns, axis=0), state.fixed_length
        search = RouteSearch(
            graph=graph,
            discount=config.discount,
            step_limit=training.spec.step_limit if fixed is None else fixed,
            fixed_length=fixed is not None,
            beam=state.beam,
            labels_per_state=self.labels_per_state,
            num_weights=self.weights,
            patience=self.patience,
            gain=self.gain,
            scale=np.where(spread > 0, spread, np.maximum(np.abs(archive.returns).max(axis=0), 1)),
        )
        before = graph.work
        guides = training.rng.permutation(len(archive))[: max(4, state.beam // 4)]
        ways = state.ways(dataset, archive.rows.taking(guides), graph, config.discount)
        start = int(graph.numbers_of(state.start[None])[0])
        found = search.run(start, ways, archive.returns, training.rng)
        state.work += graph.work - before + len(found)
        return found

    def _try(self, training: Training, found: Found, allowed: int) -> bool:
        """Play promised routes as long as promises are kept; tell whether to search again.

        A few are played first. If they keep what was promised, so will the others. Where nothing is
        promised, more untried steps are taken instead.
        """
        state, dataset, config = self._state(training), training.dataset, training.config
        index, count, kept = np.arange(len(found.returns)), FIRST_PLAYED, 1.0
        most = MOST_FRUITLESS // 2 if found.unfamiliar else MOST_FRUITLESS
        state.fruitless = min(state.fruitless + 1, most)
        scripts = self._strange_routes(training, found)
        while kept >= self.trusted:
            front, tolerances = dataset.archive().returns, dataset.tolerances
            index = index[
                promising(found.returns[index], front, tolerances, count, order=dataset.order)
            ]
            routes = [found.route(route) for route in index[:count].tolist()]
            scripts = routes + scripts
            # Those that do not end as they should go on until the longest one is over.
            lengths = np.array([len(script) for script in scripts], np.int64)
            costs = np.maximum.accumulate(lengths) * np.arange(1, len(scripts) + 1)
            scripts = scripts[: int(np.searchsorted(costs, allowed, side="right"))]
            if not scripts:
                break
            episodes = self._play(training, scripts)
            allowed -= episodes.num_steps
            returns = episodes.returns(discount=config.discount)
            num_routes = min(len(routes), len(scripts))
            if num_routes:
                off = np.abs(returns[:num_routes] - found.returns[index[:num_routes]])
                kept = float(np.all(off <= tolerances, axis=1).mean())
            covered = dataset.order.covered_mask(returns, front, tolerances)
            dataset.add(episodes, stored_mask=~covered)
            if np.any(~covered & episodes.ended & np.asarray(episodes.real_mask)):
                state.fruitless = 0
            index, count, scripts = index[num_routes:], PLAYED_AT_ONCE, []
        if kept >= self.trusted:
            state.beam = min(self.beam, 2 * state.beam)
        elif kept < 1 - self.trusted:
            state.beam = max(min(self.beam, FIRST_BEAM), state.beam // 2)
        return len(found.returns) > 0 or len(found.unfamiliar) > 0

    def _strange_routes(self, training: Training, found: Found) -> list[Script]:
        """Routes to untried steps, with random actions behind them."""
        rng, num_actions = training.rng, self._state(training).model.num_actions
        count = self.strange if len(found.returns) else 2 * self.strange
        chosen = rng.permutation(len(found.unfamiliar))[:count].tolist()
        return [
            np.concatenate(
                [found.actions(found.unfamiliar[step]), sticky(self.beyond, num_actions, rng)]
            )[: training.spec.step_limit]
            for step in chosen
        ]

    def _play(self, training: Training, scripts: list[Script]) -> Episodes:
        """Play the actions; what has not ended by the last one is broken off."""
        state, head = self._state(training), training.learner.policy.action_head
        numbers = np.zeros((PLAYED_AT_ONCE + FIRST_PLAYED, training.spec.step_limit), np.int64)
        for row, script in zip(numbers, scripts, strict=False):
            row[: len(script)] = script
            row[len(script) :] = script[-1]
        before = training.steps
        episodes = training.runner.run(
            ScriptedAgent(
                state.rows_of(numbers).astype(head.dtype), np.zeros(len(numbers), np.int32), head
            ),
            training.next_key(),
            len(numbers),
            count=len(scripts),
            most_steps=max(map(len, scripts)),
        )
        state.steps += training.steps - before
        return episodes

    def _state(self, training: Training) -> RoutesState:
        return self.state_in(training, RoutesState)


def promising(
    returns: Float[np.ndarray, "route objective"],
    front: Float[np.ndarray, "point objective"],
    tolerances: Tolerances,
    count: int,
    *,
    order: AbstractOrder = PARETO,
) -> Int[np.ndarray, " promising"]:
    """Routes that would add to the front; the first `count` add most, taken one after the other.

    A return adds as much as it is better than any point of the front in its best objective,
    measured by the spread of that objective.
    """
    if len(returns) == 0:
        return np.zeros(0, np.int64)
    index = unique_front(rounded(returns, tolerances))
    index = index[~order.covered_mask(returns[index], front, tolerances)]
    new = returns[index]
    spread = np.ptp(np.concatenate([front, new]), axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    adds = np.full(len(new), np.inf)
    for point in front:
        adds = np.minimum(adds, np.max((new - point) / scale, axis=1))
    first: list[int] = []
    for _ in range(min(count, len(index))):
        best = int(adds.argmax())
        first.append(best)
        adds = np.minimum(adds, np.max((new - new[best]) / scale, axis=1))
        adds[first] = -np.inf
    others = np.setdiff1d(np.arange(len(index)), first)
    return index[np.concatenate([np.array(first, np.int64), others])]


def sticky(count: int, num_actions: int, rng: np.random.Generator) -> Script:
    """Random actions, each repeated for a while."""
    changes = rng.uniform(size=count) >= rng.uniform()
    changes[0] = True
    last_change = np.maximum.accumulate(np.where(changes, np.arange(count), 0))
    return rng.integers(num_actions, size=count)[last_change]
