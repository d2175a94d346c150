"""What the refinement `routes` remembers during a training."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from pcn.algorithms.pcn.dataset import Dataset
from pcn.algorithms.pcn.refinements.abstract import AbstractState
from pcn.algorithms.pcn.refinements.routing.effects import Effects
from pcn.algorithms.pcn.refinements.routing.grids import Grid, fitted
from pcn.algorithms.pcn.refinements.routing.outcomes import Outcomes
from pcn.algorithms.pcn.refinements.routing.route_graph import RouteGraph
from pcn.algorithms.pcn.refinements.routing.route_search import Way
from pcn.algorithms.pcn.refinements.routing.step_keys import tidy
from pcn.algorithms.pcn.rows import Rows
from pcn.envs.observations import num_parts, whole_numbers
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes, flat
from pcn.fingerprints import row_fingerprints
from pcn.nets.heads.categorical import CategoricalHead

FIRST_BEAM = 64
"""Labels that searches keep as long as promises are not kept."""
NEVER = np.iinfo(np.int64).max
"""The length of an episode that has not been."""
MOST_STEPS, MOST_NUMBERS = 200_000, 25_600_000
"""How many distinct steps are learnt from, and how many numbers their observations may have."""
MOST_RESTARTS = 20
"""How often a grid of real numbers may turn out too coarse; then they are taken for continuous."""
SMALLEST = 1e-5
"""Share of an episode's largest return-to-go below which a reward is rounding."""


class RoutesState(AbstractState):
    """The model of what actions do, and what searching and playing have cost."""

    def __init__(self, spec: EnvironmentSpec) -> None:
        self._sizes = action_sizes(spec)
        self._num_parts = num_parts(spec)
        self._num_objectives = spec.num_objectives
        self._is_whole = whole_numbers(spec)
        self._grid: Grid | None = None
        self.restarts = 0
        """How often real numbers did not fit the grid that they were on so far."""
        self.model = self._fresh_model()
        self.start = np.zeros(self._num_parts)
        """What is observed first."""
        self.beam = FIRST_BEAM
        """Labels that the next search keeps after each event."""
        self.work = 0
        """Steps of the model that searches have looked up or walked."""
        self.fruitless = 0
        """Searches in a row that brought nothing."""
        self.steps = 0
        """Environment steps of played routes."""
        self.num_seen = 0
        """Steps that were learnt from."""
        self._step_limit = spec.step_limit
        self._shortest, self._longest = NEVER, 0  # of the episodes that came to an end
        self._graph: RouteGraph | None = None
        self._graph_version = -1

    def _fresh_model(self) -> Effects:
        return Effects(
            self._num_parts,
            self._num_objectives,
            int(np.prod(self._sizes)),
            most_steps=min(MOST_STEPS, MOST_NUMBERS // max(1, self._num_parts)),
        )

    @property
    def continuous(self) -> bool:
        """Whether observations are real numbers that lie on no grid: nothing can be learnt."""
        return self.restarts > MOST_RESTARTS

    def _fit_grid(self, numbers: Float[np.ndarray, "step part"]) -> None:
        """Find a grid for real numbers; the model begins anew where the old one is too coarse."""
        if self._is_whole or (self._grid is not None and self._grid.holds(numbers)):
            return
        grid = fitted(numbers) if self._grid is None else self._grid.widened(numbers)
        if self._grid is not None:
            self.restarts += 1
            self.model, self._graph, self.num_seen = self._fresh_model(), None, 0
        if grid is None:
            self.restarts = MOST_RESTARTS + 1
        self._grid = grid

    def _in_levels(
        self, numbers: Float[np.ndarray, "*step part"]
    ) -> Float[np.ndarray, "*step part"]:
        """Real numbers as whole ones; whole ones as they are."""
        return numbers if self._grid is None else self._grid.levels(numbers)

    def learn(self, episodes: Episodes) -> None:
        """Learn from every step of the real episodes."""
        real = np.flatnonzero(np.asarray(episodes.real_mask))
        if episodes.last_observations is None or len(real) == 0:
            return
        lengths, ended = np.asarray(episodes.lengths, np.int64)[real], episodes.ended[real]
        self._shortest = min(self._shortest, int(lengths[ended].min(initial=NEVER)))
        self._longest = max(self._longest, int(lengths[ended].max(initial=0)))
        longest, last = int(lengths.max()), (np.arange(len(real)), lengths - 1)
        seen = flat(episodes.observations, 2)[real, :longest]
        after = np.concatenate([seen[:, 1:], seen[:, :1]], axis=1)
        after[last] = flat(episodes.last_observations, 1)[real]
        terminated = np.zeros(seen.shape[:2], dtype=bool)
        # Every other end than that at the step limit comes from the step, a truncation too.
        early = ended & (lengths < self._step_limit)
        terminated[last] = np.asarray(episodes.terminated)[real] | early
        rewards = np.asarray(episodes.rewards, np.float64)[real, :longest]
        numbers = self.numbers_of(np.asarray(episodes.actions)[real, :longest])
        valid = np.arange(longest) < lengths[:, None]
        self._fit_grid(np.concatenate([seen[valid], after[last]]))
        if self.continuous:
            return
        seen, after = self._in_levels(seen), self._in_levels(after)
        self.start = tidy(seen[0, 0])
        self.num_seen += int(lengths.sum())
        outcomes = Outcomes(after[valid], rewards[valid], terminated[valid])
        at_limit = np.zeros_like(terminated)
        at_limit[last] = lengths == (self.fixed_length or self._step_limit)
        self.model.learn(seen[valid], numbers[valid], outcomes, at_limit=at_limit[valid])
        if episodes.action_masks is not None:
            self._forbid(seen[valid], np.asarray(episodes.action_masks)[real, :longest][valid])

    def _forbid(
        self,
        observations: Float[np.ndarray, "step part"],
        masks: Bool[np.ndarray, "step choice"],
    ) -> None:
        """Learn what is not allowed, once for each observation."""
        _, first = np.unique(row_fingerprints(tidy(observations)), return_index=True)
        options = self.rows_of(np.arange(self.model.num_actions))
        ends = np.cumsum(self._sizes)
        allowed = masks[first][:, options + (ends - self._sizes)].all(axis=2)
        which, actions = np.nonzero(~allowed)
        self.model.forbid(observations[first][which], actions)

    @property
    def fixed_length(self) -> int | None:
        """The length that all episodes have had; None where they differ or none has ended."""
        return self._longest if self._shortest == self._longest else None

    def repeats(self, share: float) -> bool:
        """Whether at least this share of all steps had been taken before."""
        return self.model.num_repeated >= share * max(1, self.num_seen)

    def graph(self, most_steps: int) -> RouteGraph:
        """The graph of the model as it is now; kept until the model changes or it is forgotten."""
        stale = self._graph_version != self.model.version
        if self._graph is None or stale or self._graph.full:
            self._graph = RouteGraph(self.model, most_steps=most_steps)
            self._graph_version = self.model.version
        return self._graph

    def forget_graph(self) -> None:
        """Start with a new graph: what a search does must not depend on earlier iterations.

        A checkpoint does not hold the graph.
        """
        self._graph = None

    def ways(self, dataset: Dataset, rows: Rows, graph: RouteGraph, discount: float) -> list[Way]:
        """Stored episodes as the events that they consist of."""
        store, longest = dataset.store, int(rows.lengths.max())
        seen = tidy(self._in_levels(flat(dataset.padded_observations(rows), 2)))
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
        counts = np.array([self.beam, self.work, self.fruitless, self.steps, self.num_seen])
        model = {f"model.{name}": array for name, array in self.model.to_arrays().items()}
        lengths = np.array([self._shortest, self._longest])
        grid = (
            {} if self._grid is None else {"origins": self._grid.origins, "units": self._grid.units}
        )
        restarts = np.array(self.restarts)
        start = {"start": self.start, "restarts": restarts, **grid}
        return {"counts": counts, "lengths": lengths, **start, **model}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        counts = (int(count) for count in arrays["counts"])
        self.beam, self.work, self.fruitless, self.steps, self.num_seen = counts
        self.start = np.array(arrays["start"])
        self.restarts = int(arrays.get("restarts", 0))  # older ones have none
        if "units" in arrays:
            self._grid = Grid(np.array(arrays["origins"]), np.array(arrays["units"]))
        lengths = arrays.get("lengths", np.array([0, self._step_limit]))  # older ones have none
        self._shortest, self._longest = lengths.tolist()
        own = {name.removeprefix("model."): array for name, array in arrays.items()}
        self.model.from_arrays(own)


def action_sizes(spec: EnvironmentSpec) -> tuple[int, ...]:
    """How many choices each part of an action has."""
    return CategoricalHead.for_space(spec.action_space).sizes
