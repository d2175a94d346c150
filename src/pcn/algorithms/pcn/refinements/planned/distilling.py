"""Distilling: a fresh network learns to follow all plans of a model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int, UInt32

from pcn.algorithms.pcn.contender import AbstractFitting, Contender
from pcn.algorithms.pcn.network import fresh_policy
from pcn.algorithms.pcn.refinements.planned.curriculum import AbstractCurriculum
from pcn.algorithms.pcn.refinements.planned.gathered import Data
from pcn.algorithms.pcn.refinements.planned.lessons import Lessons, uncertainty
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.pcn.update import Learner, cosine_decay, update_on
from pcn.pareto import non_dominated_mask, spread_out
from pcn.serialisation.arrays import named_arrays, with_named_arrays

if TYPE_CHECKING:
    from pcn.algorithms.pcn.refinements.planned.abstract import AbstractPlanning

_SURE = 0.3
"""A lesson is known when all wrong actions together are less likely than this."""
_STORED_SHARE = 0.1
"""Plans are tested as if they lay apart by at least this share of the range of stored returns."""
_PATIENCE = 4
"""Executions that test the model are broken off after so many times as many steps as it says."""
_PROGRESS = 0.8
"""A cycle that leaves more than this share of what was missing is the last."""


class Distilling(AbstractFitting):
    """Plans are made first; then a network learns them, a few updates in each iteration.

    Every cycle of updates ends with a look at what the network returns in the model. The commands
    that it fails are taught more often in the next cycle; the best network wins. In the end a few
    executions tell whether the model is to be trusted.
    """

    def __init__(
        self,
        settings: "AbstractPlanning",
        training: Training,
        data: Data,
        key: UInt32[np.ndarray, " 2"],
    ) -> None:
        self.name = settings.name
        self._settings = settings
        self._training = training
        self._data = data
        self._rng = np.random.default_rng(key)
        policy = fresh_policy(training.spec, training.config, key)
        for refinement in training.refinements:
            policy = refinement.prepared(policy, training)
        self._learner = Learner.fresh(policy)
        self._policy = policy
        self._missed: Float[np.ndarray, " plan"] = np.zeros(0)
        self._best = np.inf
        self._reached: Float[np.ndarray, "plan objective"] = np.zeros(
            (0, training.spec.num_objectives)
        )
        self._ready: AbstractCurriculum | None = None
        self._looked_at = 0
        self._stuck = False
        self._tried = settings.trial_share == 0
        self._confirmed: bool | None = None
        self.num_updates = 0
        self.num_steps = 0

    @property
    def done(self) -> bool:
        """Whether the network has been fitted and tried."""
        return self._fitted and self._tried

    @property
    def _fitted(self) -> bool:
        """Whether the network follows all plans, stopped getting better, or had all its cycles."""
        settings = self._settings
        return (
            self._best <= settings.enough
            or self._stuck
            or self.num_updates >= settings.cycles * settings.updates
        )

    def iterate(self) -> None:
        """Plan the first time; later learn a little, and look at what was learnt if it is time."""
        if self._ready is None:
            self._ready = self._prepared()
            policy = self._ready.scaled(self._learner.policy)
            self._learner, self._policy = Learner.fresh(policy), policy
            self._missed = np.zeros(len(self._ready.vectors))
            return
        if self._fitted:
            self._try(self._ready)
            return
        doubt = uncertainty(self._learner.policy, self._ready.lessons, len(self._ready.weights))
        if self.num_updates > self._looked_at and doubt.max() < _SURE:
            self._look(self._ready)  # every lesson is known: perhaps that is enough
        if not self._fitted:
            self._study(self._ready, doubt)
        if self.num_updates % self._settings.updates == 0:
            self._look(self._ready)

    def _prepared(self) -> AbstractCurriculum:
        return self._settings.curriculum(self._training, self._data)

    def _study(self, ready: AbstractCurriculum, doubt: Float[np.ndarray, " lesson"]) -> None:
        """A round of updates: half of each batch where the network is still uncertain."""
        settings, config = self._settings, self._training.config
        count = min(settings.round, settings.updates - self.num_updates % settings.updates)
        weights = ready.weights * (1.0 + self._missed[ready.lessons.plans[: len(ready.weights)]])
        phase = (self.num_updates % settings.updates + np.arange(count)) / settings.updates
        rates = cosine_decay(config.learning_rate, settings.last_learning_rate, phase)
        self._learner = study(
            self._learner,
            ready.lessons,
            weights,
            doubt,
            rates,
            batch_size=config.batch_size,
            wrong_weight=settings.wrong_weight,
            rng=self._rng,
        )
        self.num_updates += count

    def _look(self, ready: AbstractCurriculum) -> None:
        """Compare what the network returns in the model with the plans; keep it if it is best."""
        self._looked_at = self.num_updates
        reached = ready.expected(self._learner.policy)
        vectors = ready.vectors
        extent, largest = np.ptp(vectors, axis=0), np.abs(vectors).max(axis=0)
        # What is the same for all plans differs by rounding only.
        size = np.where(extent > 1e-9 * largest, extent, np.maximum(largest, 1e-12))
        short = np.maximum((vectors - reached) / size, 0.0).max(axis=1)
        mean = float(short.mean())
        # Plans may remember what happened; a network does not, and more updates do not help there.
        self._stuck = mean > _PROGRESS * self._best
        if mean < self._best:
            self._best, self._policy, self._reached = mean, self._learner.policy, reached
        self._missed = np.where(short > self._settings.enough, self._settings.missed_weight, 0.0)

    def _try(self, ready: AbstractCurriculum) -> None:
        """Execute some of the commands once, and see whether the model told the truth.

        All executions together are compared with what the model says of them.
        """
        settings, training = self._settings, self._training
        self._tried = True
        steps = int(settings.trial_share * training.steps_left)
        size = training.actor.batch_size
        useful = self._useful()
        index = np.resize(useful, size)
        most_steps = np.full(size, float(training.spec.step_limit))
        count = min(size, steps // int(ready.lessons.first_horizon))
        if count < settings.fewest_trials:  # plans may take far fewer steps than an episode may
            most_steps = np.minimum(most_steps, np.ceil(_PATIENCE * ready.steps[index]))
            count = int((np.cumsum(ready.steps[index]) <= steps).sum())
        if count < settings.fewest_trials:
            return
        before = training.steps
        episodes = training.actor.run(
            self._policy,
            ready.vectors[index],
            np.full(size, float(ready.lessons.first_horizon)),
            upper_bound=np.full(training.spec.num_objectives, np.inf),
            key=self._rng.integers(1 << 32, size=2, dtype=np.uint32),
            greedy=True,
            follows_rewards=False,
            count=count,
            most_steps=most_steps.astype(np.int64),
        )
        self.num_steps += training.steps - before
        if not episodes.ended[:count].all():
            self._confirmed = False  # the model says that they end
            return
        returns = episodes.returns(discount=training.config.discount)[:count]
        missing = returns - self._reached[index[:count]]
        error = missing.std(axis=0, ddof=1) / np.sqrt(count)
        # Plans may hardly differ in an objective that others differ in a lot.
        stored = np.ptp(training.dataset.rows.returns, axis=0)
        extent = np.maximum(np.ptp(self._reached[useful], axis=0), _STORED_SHARE * stored)
        allowed = settings.trial_errors * error + settings.trial_slack * extent
        # What is the same for all commands has no extent, and is still no exact number.
        allowed += 1e-6 * np.abs(self._reached).max(axis=0)
        self._confirmed = bool(np.all(np.abs(missing.mean(axis=0)) <= allowed))

    def _useful(self) -> Int[np.ndarray, " plan"]:
        """The plans that the network follows to something worth it in the model, spread out."""
        assert self._ready is not None
        reached, slack = self._reached, self._ready.slack
        if slack == 0:
            index = np.flatnonzero(non_dominated_mask(reached))
        else:
            better = reached - slack * np.ptp(reached[non_dominated_mask(reached)], axis=0)
            clearly = (better[None] > reached[:, None]).all(axis=2).any(axis=1)
            index = np.flatnonzero(~clearly)
        return index[spread_out(self._reached[index], len(index))]

    @property
    def contender(self) -> Contender:
        """The best network under the commands that are worth it in the model, widespread first."""
        assert self._ready is not None
        index, ready = self._useful(), self._ready
        if self._confirmed is False:
            index = index[: self._settings.most_doubtful]
        return Contender(
            self._policy,
            ready.vectors[index],
            np.full(len(index), float(self._ready.lessons.first_horizon)),
            follows_rewards=False,
            expected=self._reached[index] if self._confirmed else None,
            expected_steps=ready.steps[index] if self._confirmed else None,
        )

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON.

        Plans are not part of it: they are made again from the data.
        """
        arrays = {
            **named_arrays(self._learner, "distilling.learner"),
            **named_arrays(self._policy, "distilling.policy"),
            **{f"distilling.data.{name}": it for name, it in self._data.to_arrays().items()},
            "distilling.missed": self._missed,
            "distilling.reached": self._reached,
        }
        facts = {
            "num_updates": self.num_updates,
            "looked_at": self._looked_at,
            "stuck": self._stuck,
            "tried": self._tried,
            "confirmed": self._confirmed,
            "num_steps": self.num_steps,
            "best": None if np.isinf(self._best) else float(self._best),
            "planned": self._ready is not None,
            "rng": self._rng.bit_generator.state,
        }
        return arrays, facts

    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        """Go back to a snapshot."""
        prefix = "distilling.data."
        self._data.from_arrays(
            {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}
        )
        if facts["planned"]:
            self._ready = self._prepared()
        self._learner = with_named_arrays(self._learner, arrays, "distilling.learner")
        self._policy = with_named_arrays(self._policy, arrays, "distilling.policy")
        self._missed = np.array(arrays["distilling.missed"])
        self._reached = np.array(arrays["distilling.reached"])
        self.num_updates, self._looked_at = facts["num_updates"], facts["looked_at"]
        self._stuck, self._tried = facts["stuck"], facts["tried"]
        self._confirmed, self.num_steps = facts["confirmed"], facts["num_steps"]
        self._best = np.inf if facts["best"] is None else facts["best"]
        self._rng.bit_generator.state = facts["rng"]


def study(
    learner: Learner,
    lessons: Lessons,
    weights: Float[np.ndarray, " lesson"],
    doubt: Float[np.ndarray, " lesson"],
    learning_rates: Float[np.ndarray, " update"],
    *,
    batch_size: int,
    wrong_weight: float,
    rng: np.random.Generator,
) -> Learner:
    """An update for each learning rate: half of a batch is drawn where the network is in doubt."""
    count, half = len(learning_rates), batch_size // 2
    index = np.concatenate(
        [
            _drawn(rng, weights, (count, batch_size - half)),
            _drawn(rng, weights * (doubt + 1e-6), (count, half)),
        ],
        axis=1,
    )
    learner, _ = update_on(
        learner,
        lessons.at,
        (index.astype(np.int32),),
        learning_rates.astype(np.float32),
        np.asarray(wrong_weight, np.float32),
    )
    return learner


def _drawn(
    rng: np.random.Generator, weights: Float[np.ndarray, " lesson"], shape: tuple[int, int]
) -> Int[np.ndarray, "update batch"]:
    """Lessons drawn in proportion to their weights."""
    cumulative = np.cumsum(weights)
    draws = rng.random(shape) * cumulative[-1]
    return np.minimum(np.searchsorted(cumulative, draws, side="right"), len(weights) - 1)
