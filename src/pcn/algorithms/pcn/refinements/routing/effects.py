"""Effects: what each action changes, learnt from every step that was taken.

In a deterministic environment an action has the same effect wherever the parts of the observation
that matter are the same: a step to the left is a step to the left, whatever was collected before.
A decision tree for each action finds out which parts matter. It is right about all steps seen, and
predicts steps that were never taken. Where a step had another outcome before, the observation does
not tell all that matters: nothing is predicted of it.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

from pcn.algorithms.pcn.refinements.routing.effect_trees import EffectTrees
from pcn.algorithms.pcn.refinements.routing.outcomes import (
    Effect,
    Outcomes,
    Predicted,
    effects_of,
    unlike,
)
from pcn.algorithms.pcn.refinements.routing.step_keys import step_keys, tidy

BUILT_ANEW = 1.5
"""Growth of the number of steps after which the trees are built anew, from all of them."""
MEMORY = 0.999
"""Weight of the past in the share of first-time steps that were predicted."""


class Effects:
    """Predicts what follows an observation and an action.

    Learns from each distinct step, and again where its outcome is another one. The effect of a step
    with several outcomes is not a number (NaN) in every part.
    """

    def __init__(
        self, num_parts: int, num_objectives: int, num_actions: int, *, most_steps: int = 200_000
    ) -> None:
        self.num_actions = num_actions
        self.num_objectives = num_objectives
        self._most_steps = most_steps
        self._step_of_key: dict[int, int] = {}
        self._kind_of_effect: dict[bytes, int] = {}
        self._effects = np.zeros((0, num_parts + num_objectives + 1))
        self._observations = np.zeros((0, num_parts))
        self._actions = np.zeros(0, np.int64)
        self._kinds = np.zeros(0, np.int64)
        self._leaves = np.zeros(0, np.int64)
        self._trees = EffectTrees(num_actions, num_parts)
        self._common_leaves = np.arange(num_actions)
        self._num_built = 0
        self.version = 0
        """Changes with everything that changes predictions."""
        self._low, self._high = np.full(num_parts, np.inf), np.full(num_parts, -np.inf)
        self.num_repeated = 0
        """Steps that had been seen before."""
        self.foresight = 0.0
        """Share of steps taken for the first time whose effect was predicted, recently."""

    def __len__(self) -> int:
        return len(self._kinds)

    @property
    def generalises(self) -> bool:
        """Whether predictions of steps never taken are right more often than not."""
        return self.foresight > 0.5

    @property
    def has_kinds(self) -> bool:
        """Whether effects come in kinds; where each is an effect of its own, nothing is learnt."""
        return len(self._kind_of_effect) <= max(100, len(self) // 4)

    @property
    def num_parts(self) -> int:
        """How many numbers an observation has."""
        return self._observations.shape[1]

    def common_reward(self) -> Float[np.ndarray, " objective"]:
        """The most frequent reward among all distinct steps."""
        counts, split = self._counts(self._kinds), self.num_parts
        rewards, which = np.unique(self._effects[:, split:-1], axis=0, return_inverse=True)
        common: Float[np.ndarray, " objective"] = rewards[
            np.bincount(which.ravel(), weights=counts).argmax()
        ]
        return common

    def learn(
        self,
        observations: Float[np.ndarray, "step part"],
        actions: Int[np.ndarray, " step"],
        outcomes: Outcomes,
        *,
        at_limit: Bool[np.ndarray, " step"] | None = None,
    ) -> None:
        """Take in steps; those seen before change nothing unless their outcome is another one.

        A step `at_limit`, which ended the episode in any case, contradicts nothing: what is
        different there may come from the end.
        """
        steps, fresh = self._numbered(observations, actions)
        self._low = np.minimum(self._low, outcomes.observations.min(axis=0, initial=np.inf))
        self._high = np.maximum(self._high, outcomes.observations.max(axis=0, initial=-np.inf))
        self.num_repeated += len(actions) - len(fresh)
        again = steps >= 0
        again[fresh] = False
        if at_limit is not None:
            again &= ~at_limit
        fresh, index = fresh[: self._most_steps - len(self)], np.flatnonzero(again)
        if len(fresh):
            seen = tidy(observations[fresh])
            self._add(seen, actions[fresh], effects_of(seen, outcomes.taking(fresh)), taken=True)
        if len(index):
            self._correct(steps[index], observations[index], outcomes.taking(index))

    def forbid(
        self, observations: Float[np.ndarray, "step part"], actions: Int[np.ndarray, " step"]
    ) -> None:
        """Take in actions that are not allowed: nothing is predicted of them, as if they had had
        several outcomes, and the trees learn where else they are not allowed."""
        _, fresh = self._numbered(observations, actions)
        fresh = fresh[: self._most_steps - len(self)]
        if len(fresh):
            nothing = np.full((len(fresh), self._effects.shape[1]), np.nan)
            self._add(tidy(observations[fresh]), actions[fresh], nothing, taken=False)

    def _add(
        self,
        observations: Float[np.ndarray, "step part"],
        actions: Int[np.ndarray, " step"],
        effects: Effect,
        *,
        taken: bool,
    ) -> None:
        """Take in steps that are new; those that were taken show how good predictions are."""
        kinds = np.fromiter((self._kind(effect) for effect in effects), np.int64, len(effects))
        leaves = self._trees.leaves(actions, observations)
        right = self._trees.labels[leaves] == kinds
        if taken:
            # The first steps count equally; later on, older ones fade.
            now = max(len(right) / (len(self) + len(right)), 1 - MEMORY ** len(right))
            self.foresight += now * (float(right.mean()) - self.foresight)
        self._observations = np.concatenate([self._observations, observations])
        self._actions = np.concatenate([self._actions, actions])
        self._kinds = np.concatenate([self._kinds, kinds])
        self._leaves = np.concatenate([self._leaves, leaves])
        self.version += int(not self.generalises)
        if not self.has_kinds:
            return
        if len(self) > BUILT_ANEW * self._num_built:
            self._build()
        else:
            self.version += int(not right.all())
            self._grow_again(leaves[~right])
        self._find_common()

    def _correct(
        self,
        steps: Int[np.ndarray, " step"],
        observations: Float[np.ndarray, "step part"],
        outcomes: Outcomes,
    ) -> None:
        """Learn from other outcomes of steps that were taken before.

        Where only the end differs, it did not come from the step: it ends nothing. Where anything
        else does, nothing more is predicted. So a step changes twice at most.
        """
        known = self._effects[self._kinds[steps]]
        other = unlike(known, observations, outcomes)
        goes_on = ~other & (known[:, -1] == 1) & ~outcomes.terminated
        for step in np.unique(steps[goes_on]):
            effect = self._effects[self._kinds[step]].copy()
            effect[-1] = 0.0
            self._kinds[step] = self._kind(effect)
        if other.any():
            self._kinds[steps[other]] = self._kind(np.full(known.shape[1], np.nan))
        changed = self._leaves[steps[other | goes_on]]
        if len(changed) and self.has_kinds:
            self.version += 1
            self._grow_again(changed)
            self._find_common()

    def _numbered(
        self, observations: Float[np.ndarray, "step part"], actions: Int[np.ndarray, " step"]
    ) -> tuple[Int[np.ndarray, " step"], Int[np.ndarray, " fresh"]]:
        """The number of each step, -1 without one, and which are new: the first of equal ones."""
        known, fresh, numbers = self._step_of_key, [], []
        for row, key in enumerate(step_keys(tidy(observations), actions).tolist()):
            number = known.get(key, -1)
            if number < 0:
                if len(known) < self._most_steps:
                    number = known[key] = len(known)
                fresh.append(row)
            numbers.append(number)
        return np.array(numbers, np.int64), np.array(fresh, np.int64)

    def _kind(self, effect: Float[np.ndarray, " change"]) -> int:
        key = effect.tobytes()
        kind = self._kind_of_effect.setdefault(key, len(self._kind_of_effect))
        if kind == len(self._effects):
            self._effects = np.concatenate([self._effects, effect[None]])
        return kind

    def _build(self) -> None:
        self._num_built = len(self)
        self.version += 1
        self._trees = EffectTrees(self.num_actions, self._observations.shape[1])
        for action in range(self.num_actions):
            self._grow(action, np.flatnonzero(self._actions == action))

    def _find_common(self) -> None:
        """For each action a leaf that says what it mostly does."""
        for action in range(self.num_actions):
            index = np.flatnonzero(self._actions == action)
            counts = self._counts(self._kinds[index])
            if counts.any():
                kind = counts.argmax()
                self._common_leaves[action] = self._leaves[index[self._kinds[index] == kind][0]]

    def _counts(self, kinds: Int[np.ndarray, " step"]) -> Int[np.ndarray, " kind"]:
        """How often each effect occurs; several outcomes are none."""
        counts = np.bincount(kinds, minlength=len(self._effects))
        return np.where(np.isnan(self._effects[:, -1]), 0, counts)

    def _grow_again(self, leaves: Int[np.ndarray, " step"]) -> None:
        for leaf in np.unique(leaves):
            self._grow(int(leaf), np.flatnonzero(self._leaves == leaf))

    def _grow(self, node: int, index: Int[np.ndarray, " step"]) -> None:
        observations = self._observations[index]
        self._trees.grow(node, observations, self._kinds[index])
        self._leaves[index] = self._trees.leaves(np.full(len(index), node), observations)

    def predict(
        self, observations: Float[np.ndarray, "step part"], actions: Int[np.ndarray, " step"]
    ) -> "Predicted":
        """What should follow.

        Where the trees do not generalise, only steps that were taken before are predicted.
        """
        leaves = self._trees.leaves(actions, observations)
        known = self._trees.labels[leaves] >= 0
        if not self.generalises:
            known &= self.taken(observations, actions)
        outcomes = self.outcomes_of(observations, leaves)
        strange = self._strange(outcomes)
        if strange.any():
            # What has happened already does not happen again: then the action does what it mostly
            # does, if that is possible.
            leaves = np.where(strange, self._common_leaves[actions], leaves)
            outcomes = self.outcomes_of(observations, leaves)
            known &= ~self._strange(outcomes)
        return Predicted(
            outcomes.observations,
            outcomes.rewards,
            outcomes.terminated,
            known=known & ~outcomes.several,
            leaves=leaves,
        )

    def _strange(self, outcomes: Outcomes) -> Bool[np.ndarray, " step"]:
        """Where a number is beyond all that any observation has ever had."""
        after = outcomes.observations
        strange: Bool[np.ndarray, " step"] = np.any(
            (after < self._low) | (after > self._high), axis=1
        )
        return strange

    def outcomes_of(
        self, observations: Float[np.ndarray, "step part"], leaves: Int[np.ndarray, " step"]
    ) -> Outcomes:
        """What follows observations according to these leaves of the trees."""
        effects, split = self._effects[self._trees.labels[leaves]], self.num_parts
        return Outcomes(
            tidy(observations + effects[:, :split]), effects[:, split:-1], effects[:, -1] > 0
        )

    def tested_parts(self) -> Bool[np.ndarray, "leaf part"]:
        """Which parts of an observation decide about each leaf."""
        return self._trees.tested_parts()

    def parts_changed(self, reward: Float[np.ndarray, " objective"]) -> Bool[np.ndarray, " part"]:
        """The parts that steps with this reward change, unless they end the episode."""
        split = self.num_parts
        same = np.all(self._effects[:, split:-1] == reward, axis=1) & (self._effects[:, -1] == 0)
        changed: Bool[np.ndarray, " part"] = np.any(self._effects[same, :split] != 0, axis=0)
        return changed

    def keys_of_steps(self, parts: Bool[np.ndarray, " part"]) -> UInt64[np.ndarray, " step"]:
        """A number for each step seen; equal for the same action where these parts are the same."""
        return step_keys(np.where(parts, self._observations, 0.0), self._actions)

    def taken(
        self, observations: Float[np.ndarray, "step part"], actions: Int[np.ndarray, " step"]
    ) -> Bool[np.ndarray, " step"]:
        """Which of these steps have been taken before."""
        steps, keys = self._step_of_key, step_keys(observations, actions).tolist()
        return np.fromiter((key in steps for key in keys), bool, len(actions))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything learnt."""
        return {
            "observations": self._observations,
            "actions": self._actions,
            "kinds": self._kinds,
            "leaves": self._leaves,
            "effects": self._effects,
            "counts": np.array([self._num_built, self.num_repeated]),
            "foresight": np.array(self.foresight),
            "range": np.stack([self._low, self._high]),
        } | {f"trees.{name}": array for name, array in self._trees.to_arrays().items()}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self._observations, self._actions = arrays["observations"], arrays["actions"]
        self._kinds, self._leaves = arrays["kinds"].copy(), arrays["leaves"].copy()
        self._effects = arrays["effects"]
        self._num_built, self.num_repeated = (int(count) for count in arrays["counts"])
        self.foresight = float(arrays["foresight"])
        self._low, self._high = arrays["range"]
        keys = step_keys(self._observations, self._actions).tolist()
        self._step_of_key = {key: step for step, key in enumerate(keys)}
        self._kind_of_effect = {row.tobytes(): kind for kind, row in enumerate(self._effects)}
        trees = {name.removeprefix("trees."): array for name, array in arrays.items()}
        self._trees.from_arrays(trees)
        self._find_common()
