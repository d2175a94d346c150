"""Routes: better returns are searched for in a model of what actions do, and then played.

Sampling from the network, or changing a few actions of a known episode, finds neighbours of what is
known. Where the environment is deterministic and its observations repeat, every step that was ever
taken says what an action does (`effects`). A search over that model (`route_search`) tries all
orders of everything seen, at no cost in environment steps. Only routes that promise a better
return, and steps of which little is known, are played. What is played teaches the model, whether
the promise was kept or not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import gymnasium as gym
import jax
import numpy as np
from jaxtyping import Float, Int, Num, PyTree

from pcn.algorithms.pcn.dataset import Dataset, Rows
from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.refinements.effects import Effects, Outcomes, tidy
from pcn.algorithms.pcn.refinements.route_graph import RouteGraph
from pcn.algorithms.pcn.refinements.route_search import Found, RouteSearch, Way
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.envs.observations import empty_observations
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads.categorical import CategoricalHead
from pcn.pareto import Tolerances, covered_mask, rounded, unique_front
from pcn.rollout import ScriptedAgent
from pcn.types import AnyArray

Script = Int[np.ndarray, " time"]
"""The actions of one episode, each as one number."""
PLAYED_AT_ONCE = 32
"""Most routes in one batch."""
FIRST_PLAYED = 8
"""Promised routes in the first batch after a search: they show whether the model is right."""
FIRST_BEAM = 64
"""Labels that searches keep as long as promises are not kept."""
SMALLEST = 1e-5
"""Share of an episode's largest return-to-go below which a reward is rounding."""


@dataclass(frozen=True, kw_only=True)
class Routes(AbstractRefinement):
    """Search a model of what actions do for better routes, and play what it promises.

    Only in deterministic environments with few discrete actions, no action masks and observations
    of few numbers; where steps hardly ever repeat, nothing is searched.
    """

    steps_share: float = 0.5
    """Most of the environment steps that playing routes may take, as a share of all steps."""
    work_per_step: float = 100.0
    """How many steps of the model a search may look up or walk for each environment step."""
    rounds: int = 4
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
    """Steps of which little is known that are tried after each search."""
    beyond: int = 16
    """Random actions after a step of which little is known."""
    repeated: float = 0.05
    """Nothing is searched while a smaller share of all steps has been taken before."""
    most_parts: int = 128
    """Most numbers that an observation may have."""
    most_actions: int = 64
    """Most different actions that there may be."""
    most_steps_known: int = 20_000_000
    """Most steps of the model that are remembered at a time."""

    def __post_init__(self) -> None:
        at_least(self, 0, "steps_share", "work_per_step", "gain", "trusted", "strange", "repeated")
        at_least(self, 1, "rounds", "beam", "labels_per_state", "weights", "patience", "beyond")
        at_least(self, 1, "most_parts", "most_actions", "most_steps_known")
        at_most(self, 1, "steps_share", "trusted", "repeated")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions have the same outcome and both can be counted."""
        discrete = gym.spaces.Discrete | gym.spaces.MultiDiscrete | gym.spaces.MultiBinary
        return (
            spec.deterministic
            and not spec.masked_actions
            and isinstance(spec.action_space, discrete)
            and int(np.prod(_sizes(spec))) <= self.most_actions
            and _num_parts(spec) <= self.most_parts
        )

    def fresh_state(self, training: Training) -> "RoutesState":
        """Nothing learnt yet."""
        return RoutesState(training.spec)

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Learn from every step."""
        self._state(training).learn(episodes)

    def after_exploring(self, training: Training) -> None:
        """Search, play what is promised, and search again while there are promises."""
        state = self._state(training)
        for _ in range(self.rounds):
            allowed = int(self.steps_share * training.steps) - state.steps
            allowed = min(allowed, training.exploring_steps_left)
            if (
                allowed < training.schedule.mean_length
                or state.work >= self.work_per_step * training.steps
                or not state.repeats(self.repeated)
                or not self._try(training, self._search(training), allowed)
            ):
                return

    def _search(self, training: Training) -> Found:
        """Search the model as it is now, from the start and from the archive's episodes."""
        state, config, dataset = self._state(training), training.config, training.dataset
        archive, graph = dataset.archive(), state.graph(self.most_steps_known)
        spread = np.ptp(archive.returns, axis=0)
        search = RouteSearch(
            graph=graph,
            discount=config.discount,
            step_limit=training.spec.step_limit,
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
        promised, more steps of which little is known are tried instead.
        """
        state, dataset, config = self._state(training), training.dataset, training.config
        index, count, kept = np.arange(len(found.returns)), FIRST_PLAYED, 1.0
        scripts = self._strange_routes(training, found)
        while kept >= self.trusted:
            front, tolerances = dataset.archive().returns, dataset.tolerances
            index = index[promising(found.returns[index], front, tolerances, count)]
            routes = [found.route(route) for route in index[:count].tolist()]
            scripts = routes + scripts
            costs = np.cumsum([len(script) for script in scripts], dtype=np.int64)
            scripts = scripts[: int(np.searchsorted(costs, allowed, side="right"))]
            if not scripts:
                break
            allowed -= int(costs[len(scripts) - 1])
            episodes = self._play(training, scripts)
            returns = episodes.returns(discount=config.discount)
            num_routes = min(len(routes), len(scripts))
            if num_routes:
                off = np.abs(returns[:num_routes] - found.returns[index[:num_routes]])
                kept = float(np.all(off <= tolerances, axis=1).mean())
            covered = covered_mask(returns, front, tolerances=tolerances)
            dataset.add(episodes, stored_mask=~covered)
            index, count, scripts = index[num_routes:], PLAYED_AT_ONCE, []
        if kept >= self.trusted:
            state.beam = min(self.beam, 2 * state.beam)
        elif kept < 1 - self.trusted:
            state.beam = max(min(self.beam, FIRST_BEAM), state.beam // 2)
        return len(found.returns) > 0 or len(found.unfamiliar) > 0

    def _strange_routes(self, training: Training, found: Found) -> list[Script]:
        """Routes to steps of which little is known, with random actions behind them."""
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

    def _state(self, training: Training) -> "RoutesState":
        state = training.states[type(self).__name__]
        assert isinstance(state, RoutesState)
        return state


class RoutesState(AbstractState):
    """The model of what actions do, and what searching and playing have cost."""

    def __init__(self, spec: EnvironmentSpec) -> None:
        self._sizes = _sizes(spec)
        num_parts = _num_parts(spec)
        self.model = Effects(num_parts, spec.num_objectives, int(np.prod(self._sizes)))
        self.start = np.zeros(num_parts)
        """What is observed first."""
        self.beam = FIRST_BEAM
        """Labels that the next search keeps after each event."""
        self.work = 0
        """Steps of the model that searches have looked up or walked."""
        self.steps = 0
        """Environment steps of played routes."""
        self._num_seen = 0
        self._graph: RouteGraph | None = None
        self._graph_version = -1

    def learn(self, episodes: Episodes) -> None:
        """Learn from every step of the real episodes."""
        real = np.flatnonzero(np.asarray(episodes.real_mask))
        if episodes.last_observations is None or len(real) == 0:
            return
        lengths = np.asarray(episodes.lengths)[real]
        longest, last = int(lengths.max()), (np.arange(len(real)), lengths - 1)
        seen = flat(episodes.observations, 2)[real, :longest]
        after = np.concatenate([seen[:, 1:], seen[:, :1]], axis=1)
        after[last] = flat(episodes.last_observations, 1)[real]
        terminated = np.zeros(seen.shape[:2], dtype=bool)
        terminated[last] = np.asarray(episodes.terminated)[real]
        rewards = np.asarray(episodes.rewards, np.float64)[real, :longest]
        numbers = self.numbers_of(np.asarray(episodes.actions)[real, :longest])
        valid = np.arange(longest) < lengths[:, None]
        self.start = tidy(seen[0, 0])
        self._num_seen += int(lengths.sum())
        outcomes = Outcomes(after[valid], rewards[valid], terminated[valid])
        self.model.learn(seen[valid], numbers[valid], outcomes)

    def repeats(self, share: float) -> bool:
        """Whether at least this share of all steps had been taken before."""
        return self.model.num_repeated >= share * max(1, self._num_seen)

    def graph(self, most_steps: int) -> RouteGraph:
        """The graph of the model as it is now; kept until the model changes."""
        stale = self._graph_version != self.model.version
        if self._graph is None or stale or self._graph.full:
            self._graph = RouteGraph(self.model, most_steps=most_steps)
            self._graph_version = self.model.version
        return self._graph

    def ways(self, dataset: Dataset, rows: Rows, graph: RouteGraph, discount: float) -> list[Way]:
        """Stored episodes as the events that they consist of."""
        store, longest = dataset.store, int(rows.lengths.max())
        observations = jax.tree.map(
            lambda leaf: np.asarray(leaf)[rows.slots, :longest], store.observations
        )
        seen = tidy(flat(observations, 2))
        to_go = np.asarray(store.returns_to_go, np.float64)[rows.slots, :longest]
        actions = self.numbers_of(np.asarray(store.actions)[rows.slots, :longest])
        ways = []
        for row, length in enumerate(rows.lengths.tolist()):
            own = to_go[row, :length]
            rewards = own[:-1] - discount * own[1:]
            off = np.abs(rewards - graph.ordinary) > SMALLEST * np.abs(own).max(axis=0)
            times = np.flatnonzero(off.any(axis=1)) + 1
            so_far = own[0] - (discount**times)[:, None] * own[times]
            states = graph.numbers_of(seen[row, times])
            ways.append(Way(states, times, so_far, actions[row, :length]))
        return ways

    def numbers_of(self, actions: Num[np.ndarray, "*step part"]) -> Int[np.ndarray, "*step"]:
        """Each action as one number."""
        return np.ravel_multi_index(tuple(np.moveaxis(actions.astype(int), -1, 0)), self._sizes)

    def rows_of(self, numbers: Int[np.ndarray, "*step"]) -> Int[np.ndarray, "*step part"]:
        """Each number as an action's row of parts."""
        return np.stack(np.unravel_index(numbers, self._sizes), axis=-1)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The model and the costs."""
        counts = np.array([self.beam, self.work, self.steps, self._num_seen])
        model = {f"model.{name}": array for name, array in self.model.to_arrays().items()}
        return {"counts": counts, "start": self.start, **model}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        counts = (int(count) for count in arrays["counts"])
        self.beam, self.work, self.steps, self._num_seen = counts
        self.start = np.array(arrays["start"])
        own = {name.removeprefix("model."): array for name, array in arrays.items()}
        self.model.from_arrays(own)
        self._graph = None


def flat(observations: PyTree[AnyArray], num_axes: int) -> Float[np.ndarray, "..."]:
    """All numbers of each observation in a row; the first `num_axes` axes stay as they are."""
    leaves = [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(observations)]
    return np.concatenate([leaf.reshape(*leaf.shape[:num_axes], -1) for leaf in leaves], axis=-1)


def promising(
    returns: Float[np.ndarray, "route objective"],
    front: Float[np.ndarray, "point objective"],
    tolerances: Tolerances,
    count: int,
) -> Int[np.ndarray, " promising"]:
    """Routes that would add to the front; the first `count` add most, taken one after the other.

    A return adds as much as it is better than any point of the front in its best objective,
    measured by the spread of that objective.
    """
    if len(returns) == 0:
        return np.zeros(0, np.int64)
    index = unique_front(rounded(returns, tolerances))
    index = index[~covered_mask(returns[index], front, tolerances=tolerances)]
    new = returns[index]
    spread = np.ptp(np.concatenate([front, new]), axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    adds = np.full(len(new), np.inf)
    for point in front:
        adds = np.minimum(adds, np.max((new - point) / scale, axis=1))
    order: list[int] = []
    for _ in range(min(count, len(index))):
        best = int(adds.argmax())
        order.append(best)
        adds = np.minimum(adds, np.max((new - new[best]) / scale, axis=1))
        adds[order] = -np.inf
    others = np.setdiff1d(np.arange(len(index)), order)
    return index[np.concatenate([np.array(order, np.int64), others])]


def sticky(count: int, num_actions: int, rng: np.random.Generator) -> Script:
    """Random actions, each repeated for a while."""
    changes = rng.uniform(size=count) >= rng.uniform()
    changes[0] = True
    last_change = np.maximum.accumulate(np.where(changes, np.arange(count), 0))
    return rng.integers(num_actions, size=count)[last_change]


def _sizes(spec: EnvironmentSpec) -> tuple[int, ...]:
    return CategoricalHead.for_space(spec.action_space).sizes


def _num_parts(spec: EnvironmentSpec) -> int:
    return sum(
        leaf.size for leaf in jax.tree.leaves(empty_observations(spec.observation_space, ()))
    )
