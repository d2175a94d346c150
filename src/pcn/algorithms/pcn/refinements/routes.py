"""Routes: new orders of what is known are found in a model of what actions do, and then tried.

Sampling from the network, or changing a few actions of a known episode, finds neighbours of what is
known. Where the environment is deterministic and observations repeat, every step that was ever
taken says what an action does (`effects`). A search over that model (`route_search`) recombines
everything seen at no cost in environment steps; only routes that promise a better return, and steps
of which nothing is known yet, are played. What is played teaches the model, right or wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import gymnasium as gym
import jax
import numpy as np
from jaxtyping import Float, Int, PyTree

from pcn.algorithms.pcn.dataset import Dataset
from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.refinements.effects import Effects, Outcomes
from pcn.algorithms.pcn.refinements.route_graph import RouteGraph
from pcn.algorithms.pcn.refinements.route_search import Found, RouteSearch, Way
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most, positive
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads.categorical import CategoricalHead
from pcn.pareto import covered_mask, rounded, unique_front
from pcn.rollout import ScriptedAgent
from pcn.types import AnyArray

PLAYED_AT_ONCE = 32
"""Routes in one batch."""
FIRST_PLAYED = 8
"""Promised routes in the first batch of a search."""
FIRST_BEAM = 64
"""Labels that the first searches keep."""


@dataclass(frozen=True, kw_only=True)
class Routes(AbstractRefinement):
    """Search a model of what actions do for better routes, and play what it promises.

    Only in deterministic environments with discrete actions, no masks and observations of few
    numbers; where observations hardly ever repeat, nothing is searched.
    """

    steps_share: float = 0.5
    """Most of the environment steps that playing routes may take, as a share of all steps."""
    expansions_per_step: float = 100.0
    """How many steps of the model may be computed for each step of the environment."""
    beam: int = 512
    """Labels that a search keeps after each event."""
    labels_per_state: int = 4
    """Returns that a search keeps for each state."""
    weights: int = 32
    """For how many weights of the objectives a search keeps the best labels."""
    rounds: int = 4
    """Most searches of an iteration."""
    patience: int = 4
    """A search ends when so many events more have brought no better return."""
    gain: float = 0.01
    """What a better return has to be better by, for that, as a share of the archive's spread."""
    most_expanded: int = 20_000_000
    """Most steps of the model that are remembered at a time."""
    trusted: float = 0.75
    """Share of promises that must have been kept for more to be played, and for wider searches."""
    strange: int = 4
    """Steps of which little is known that are tried after each search."""
    beyond: int = 16
    """Random steps after a step of which nothing was known."""
    repeated: float = 0.05
    """Nothing is searched while a smaller share of all steps has been taken before."""
    most_parts: int = 128
    """Most numbers that an observation may have."""
    most_actions: int = 64
    """Most different actions that there may be."""

    def __post_init__(self) -> None:
        at_least(self, 0, "steps_share", "expansions_per_step", "patience", "beyond", "repeated")
        at_least(self, 1, "beam", "labels_per_state", "weights", "rounds")
        at_most(self, 1, "steps_share", "repeated")
        positive(self, "most_parts", "most_actions")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions have the same outcome and both can be counted."""
        return (
            spec.deterministic
            and not spec.masked_actions
            and isinstance(spec.action_space, gym.spaces.Discrete | gym.spaces.MultiDiscrete)
            and _num_actions(spec) <= self.most_actions
            and gym.spaces.utils.flatdim(spec.observation_space) <= self.most_parts
        )

    def fresh_state(self, training: Training) -> "RoutesState":
        """Nothing learnt yet."""
        return RoutesState(training.spec)

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Learn from every step."""
        self._state(training).learn(episodes)

    def after_exploring(self, training: Training) -> None:
        """Search and play what is promised, again and again while it brings something."""
        state = self._state(training)
        for _ in range(self.rounds):
            steps_allowed = self.steps_share * training.steps - state.steps_spent
            steps_allowed = min(steps_allowed, training.exploring_steps_left)
            if (
                not state.worth_searching(self.repeated)
                or state.expanded >= self.expansions_per_step * training.steps
                or steps_allowed <= training.schedule.mean_length
            ):
                return
            found = self._search(training)
            if not self._try(training, found, int(steps_allowed)):
                return

    def _search(self, training: Training) -> Found:
        state, config, dataset = self._state(training), training.config, training.dataset
        archive, graph = dataset.archive(), state.graph_of(self.most_expanded)
        before = graph.work
        spread = np.ptp(archive.returns, axis=0)
        search = RouteSearch(
            graph=graph,
            discount=config.discount,
            step_limit=training.spec.step_limit,
            beam=state.beam,
            labels_per_state=self.labels_per_state,
            num_weights=self.weights,
            patience=self.patience,
            gain=self.gain * spread,
        )
        chosen = training.rng.permutation(len(archive))[: max(4, state.beam // 4)]
        ways = _ways(dataset, archive.rows.taking(chosen), state, config.discount, graph)
        start = int(graph.numbers_of(state.start[None])[0])
        found = search.run(start, ways, archive.returns, training.rng)
        state.expanded += graph.work - before + len(found)
        return found

    def _try(self, training: Training, found: Found, steps_allowed: int) -> bool:
        """Play promised routes as long as promises are kept; tell whether there were any.

        A few are played first. If they keep what was promised, so will the others.
        """
        state, dataset, config = self._state(training), training.dataset, training.config
        index = np.arange(len(found.returns))
        count, kept = FIRST_PLAYED, 1.0
        while kept >= self.trusted:
            front = dataset.archive().returns
            index = index[promising(found.returns[index], front, config.return_tolerance, count)]
            scripts = [found.route(route) for route in index[:count].tolist()]
            num_promised = len(scripts)
            if count == FIRST_PLAYED:
                scripts += self._strange(training, found)
            lengths = np.cumsum([len(script) for script in scripts])
            scripts = scripts[: int(np.searchsorted(lengths, steps_allowed, side="right"))]
            num_promised = min(num_promised, len(scripts))
            if not scripts:
                break
            steps_allowed -= int(lengths[len(scripts) - 1])
            episodes = self._play(training, scripts)
            returns = episodes.returns(discount=config.discount)
            promised = found.returns[index[:num_promised]]
            as_promised = np.abs(returns[:num_promised] - promised) <= config.return_tolerance
            if num_promised:
                kept = float(np.all(as_promised, axis=1).mean())
            covered = covered_mask(returns, front, tolerance=config.return_tolerance)
            dataset.add(episodes, stored_mask=~covered)
            import os, time  # DEBUG
            if os.environ.get("DBG"):  # DEBUG
                print(f"DBG steps {training.steps} beam {state.beam} foresight {state.model.foresight:.3f} samples {len(state.model)} kinds {len(state.model._kind_of_effect)} total {state.expanded} promised {len(index)} unknown {len(found.unfamiliar)} labels {len(found)} surr {len(state._graph._rests)} places {len(state._graph._places)} moving {state._graph._moving.nonzero()[0].tolist()} work {state._graph.work} {time.process_time()-0:.1f} played {len(scripts)} kept {kept:.2f}/{num_promised} new {int((~covered[:len(scripts)]).sum())} archive {len(front)} longest {dataset.archive().horizons.max()} len {lengths[len(scripts)-1]/len(scripts):.1f} spent {state.steps_spent}",flush=True)  # DEBUG
            index, count = index[num_promised:], PLAYED_AT_ONCE
            if len(index) == 0:
                break
        if kept >= self.trusted:
            state.beam = min(self.beam, 2 * state.beam)
        elif kept < 1 - self.trusted:
            state.beam = max(FIRST_BEAM, state.beam // 2)
        return len(found.returns) > 0

    def _strange(self, training: Training, found: Found) -> list[Int[np.ndarray, " time"]]:
        """Routes to steps of which little is known, with a few random steps behind them."""
        state, rng, limit = self._state(training), training.rng, training.spec.step_limit
        chosen = rng.permutation(len(found.unfamiliar))[: self.strange]
        ways = [found.actions(found.unfamiliar[step]) for step in chosen.tolist()]
        beyond = [sticky(self.beyond, state.model.num_actions, rng) for _ in ways]
        return [np.concatenate(both)[:limit] for both in zip(ways, beyond, strict=True)]

    def _play(self, training: Training, scripts: list[Int[np.ndarray, " time"]]) -> Episodes:
        state, head = self._state(training), training.learner.policy.action_head
        longest = max(map(len, scripts))
        numbers = np.zeros((PLAYED_AT_ONCE, training.spec.step_limit), np.int64)
        for row, script in zip(numbers, scripts, strict=False):
            row[: len(script)] = script
            row[len(script) :] = script[-1]
        rows = state.rows_of(numbers).astype(head.dtype)
        before = training.steps
        episodes = training.runner.run(
            ScriptedAgent(rows, np.zeros(PLAYED_AT_ONCE, np.int32), head),
            training.next_key(),
            PLAYED_AT_ONCE,
            count=len(scripts),
            most_steps=longest,
        )
        state.steps_spent += training.steps - before
        return episodes

    def _state(self, training: Training) -> "RoutesState":
        state = training.states[type(self).__name__]
        assert isinstance(state, RoutesState)
        return state


class RoutesState(AbstractState):
    """The model of what actions do, and what searching and playing have cost."""

    def __init__(self, spec: EnvironmentSpec) -> None:
        self._sizes = _sizes(spec)
        self.start = np.zeros(gym.spaces.utils.flatdim(spec.observation_space))
        self.model: Effects
        self._num_objectives = spec.num_objectives
        self._made = False
        self._graph: RouteGraph | None = None
        self._graph_version = -1
        self.beam = FIRST_BEAM
        """Labels that the next search keeps after each event."""
        self.expanded = 0
        """Steps of the model that searches have computed."""
        self.steps_spent = 0
        """Environment steps of played routes."""
        self._num_steps = 0

    def learn(self, episodes: Episodes) -> None:
        """Learn from every step of the real episodes."""
        real = np.flatnonzero(np.asarray(episodes.real_mask))
        lengths = np.asarray(episodes.lengths)[real]
        if episodes.last_observations is None or len(real) == 0:
            return
        longest = int(lengths.max())
        seen = flat(episodes.observations, 2)[real, :longest]
        last = flat(episodes.last_observations, 1)[real]
        after = np.concatenate([seen[:, 1:], np.zeros_like(seen[:, :1])], axis=1)
        after[np.arange(len(real)), lengths - 1] = last
        ends = np.zeros(seen.shape[:2], dtype=bool)
        ends[np.arange(len(real)), lengths - 1] = np.asarray(episodes.terminated)[real]
        valid = np.arange(longest) < lengths[:, None]
        rewards = np.asarray(episodes.rewards, np.float64)[real, :longest]
        numbers = self.numbers_of(np.asarray(episodes.actions)[real, :longest])
        if not self._made:
            self._make(seen.shape[2])
            self.start = np.round(seen[0, 0], 5) + 0.0
        self._num_steps += int(lengths.sum())
        self.model.learn(
            seen[valid], numbers[valid], Outcomes(after[valid], rewards[valid], ends[valid])
        )

    def _make(self, num_parts: int) -> None:
        self.model = Effects(num_parts, self._num_objectives, int(np.prod(self._sizes)))
        self._made = True

    def worth_searching(self, repeated: float) -> bool:
        """Whether enough steps had been taken before."""
        return self._made and self.model.num_repeated >= repeated * self._num_steps

    def graph_of(self, most_steps: int) -> RouteGraph:
        """The graph of the model as it is now."""
        if self._graph is None or self._graph_version != self.model.version or self._graph.full:
            self._graph = RouteGraph(self.model, most_steps=most_steps)
            self._graph_version = self.model.version
        return self._graph

    def numbers_of(self, actions: np.ndarray) -> Int[np.ndarray, "episode time"]:
        """Each action as one number."""
        parts = tuple(actions[..., part].astype(np.int64) for part in range(actions.shape[-1]))
        return np.ravel_multi_index(parts, self._sizes)

    def rows_of(self, numbers: Int[np.ndarray, "episode time"]) -> np.ndarray:
        """Each action as a row of its parts."""
        return np.stack(np.unravel_index(numbers, self._sizes), axis=-1)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The model and the costs."""
        if not self._made:
            return {}
        costs = np.array([self.expanded, self.steps_spent, self._num_steps])
        model = {f"model.{name}": array for name, array in self.model.to_arrays().items()}
        return {"costs": costs, "start": self.start, **model}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.expanded, self.steps_spent, self._num_steps = (int(cost) for cost in arrays["costs"])
        self.start = arrays["start"]
        self._make(len(self.start))
        self.model.from_arrays(
            {name.removeprefix("model."): array for name, array in arrays.items()}
        )


def flat(observations: PyTree[AnyArray], num_axes: int) -> Float[np.ndarray, "..."]:
    """All numbers of each observation in a row; the first `num_axes` axes stay as they are."""
    leaves = [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(observations)]
    return np.concatenate([leaf.reshape(*leaf.shape[:num_axes], -1) for leaf in leaves], axis=-1)


def promising(
    returns: Float[np.ndarray, "route objective"],
    front: Float[np.ndarray, "point objective"],
    tolerance: float,
    count: int,
) -> Int[np.ndarray, " route"]:
    """Routes that would add to the front; the first `count` add most, taken together.

    A return adds by how much it is better than each point of the front in at least one objective,
    measured in the spread of that objective.
    """
    if len(returns) == 0:
        return np.zeros(0, np.int64)
    index = unique_front(rounded(returns, tolerance))
    index = index[~covered_mask(returns[index], front, tolerance=tolerance)]
    everything = np.concatenate([front, returns[index]])
    spread = np.maximum(np.ptp(everything, axis=0), 1e-12)

    def better_by(than: Float[np.ndarray, "point objective"]) -> Float[np.ndarray, "route point"]:
        return np.max((returns[index][:, None] - than[None]) / spread, axis=2)

    adds = better_by(front).min(axis=1)
    order: list[int] = []
    for _ in range(min(count, len(index))):
        best = int(adds.argmax())
        order.append(best)
        adds = np.minimum(adds, better_by(returns[index[best : best + 1]])[:, 0])
        adds[order] = -np.inf
    others = np.setdiff1d(np.arange(len(index)), order)
    return index[np.concatenate([np.array(order, np.int64), others])]


def sticky(count: int, num_actions: int, rng: np.random.Generator) -> Int[np.ndarray, " time"]:
    """Random actions, each repeated for a while."""
    repeat = rng.uniform()
    drawn = rng.integers(num_actions, size=count)
    changes = rng.uniform(size=count) >= repeat
    changes[0] = True
    return drawn[np.maximum.accumulate(np.where(changes, np.arange(count), 0))]


def _ways(dataset: Dataset, rows, state, discount: float, graph: RouteGraph) -> list[Way]:
    longest = int(rows.lengths.max())
    store = dataset.store
    observations = jax.tree.map(
        lambda leaf: np.asarray(leaf)[rows.slots, :longest], store.observations
    )
    seen = np.round(flat(observations, 2), 5) + 0.0
    to_go = np.asarray(store.returns_to_go, np.float64)[rows.slots, :longest]
    actions = state.numbers_of(np.asarray(store.actions)[rows.slots, :longest])
    ways = []
    for row, length in enumerate(rows.lengths.tolist()):
        rewards = to_go[row, :length].copy()
        rewards[:-1] -= discount * to_go[row, 1:length]
        # The last event ends the episode: nothing follows it.
        is_event = np.any(np.abs(rewards - graph.ordinary) > 1e-4, axis=1)[:-1]
        times = np.flatnonzero(is_event) + 1
        so_far = to_go[row, 0] - (discount ** times)[:, None] * to_go[row, times]
        states = graph.numbers_of(seen[row, times])
        ways.append(Way(states, times, so_far, actions[row, :length]))
    return ways


def _sizes(spec: EnvironmentSpec) -> tuple[int, ...]:
    return CategoricalHead.for_space(spec.action_space).sizes


def _num_actions(spec: EnvironmentSpec) -> int:
    return int(np.prod(_sizes(spec)))
