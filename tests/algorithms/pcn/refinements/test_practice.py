import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.pcn.refinements import practice as module
from pcn.algorithms.pcn.refinements.practice import Practice
from pcn.algorithms.pcn.rows import Rows
from pcn.algorithms.pcn.store import TransitionStore
from pcn.command import Command
from pcn.nets.embeddings import OneHotEmbedding
from pcn.nets.heads import CategoricalHead
from pcn.nets.policy import ConditionedPolicy

LENGTHS = np.array([4, 6, 2])
SLOTS = np.array([3, 0, 2], np.int32)


@pytest.fixture(scope="module")
def policy():
    state_key, policy_key = jax.random.split(jax.random.key(0))
    return ConditionedPolicy(
        OneHotEmbedding((5,), 8, key=state_key),
        CategoricalHead((4,)),
        num_objectives=2,
        width=8,
        hidden_layers=1,
        gate="film",
        key=policy_key,
    )


UNSURE_SHARE = 0.5


def practice_of(rows):
    return Practice(rows, uncertain_share=UNSURE_SHARE, least_uncertainty=1e-6)


def rows():
    returns = np.zeros((3, 2))
    return Rows(SLOTS, LENGTHS, returns, returns, returns)


def step_by_step(policy, store):
    """The policy's probabilities at every stored step, one call each."""
    answers = {}
    for slot, length in zip(SLOTS, LENGTHS, strict=True):
        for time in range(length):
            command = Command(store.returns_to_go[slot, time], jnp.asarray(float(length - time)))
            answers[slot, time] = np.asarray(
                jax.nn.softmax(policy(store.observations[slot, time], command))
            )
    return answers


@pytest.fixture
def store(policy):
    """Three episodes of four slots; all that the policy would do, but for the last's first step."""
    rng = np.random.default_rng(0)
    lengths = np.zeros(4, int)
    lengths[SLOTS] = LENGTHS
    empty = TransitionStore(
        observations=jnp.asarray(rng.integers(0, 5, (4, 6, 1)), jnp.int32),
        actions=jnp.zeros((4, 6, 1), jnp.int32),
        returns_to_go=jnp.asarray(rng.normal(size=(4, 6, 2)), jnp.float32),
        lengths=jnp.asarray(lengths, jnp.int32),
        action_masks=None,
    )
    actions = np.zeros((4, 6, 1), np.int32)
    for (slot, time), probabilities in step_by_step(policy, empty).items():
        actions[slot, time] = np.argmax(probabilities)
    actions[2, 0] = (actions[2, 0] + 1) % 4
    return TransitionStore(
        empty.observations, jnp.asarray(actions), empty.returns_to_go, empty.lengths, None
    )


@pytest.mark.parametrize("part", [4096, 5])
def test_an_episode_is_known_by_heart_if_none_of_its_steps_is_wrong(
    policy, store, part, monkeypatch
):
    monkeypatch.setattr(module, "PART", part)
    practice = practice_of(rows())
    assert len(practice) == LENGTHS.sum()
    assert practice.test(policy, store).sum() == 2
    right = store.actions.at[2, 0].set((store.actions[2, 0] - 1) % 4)
    mended = TransitionStore(store.observations, right, store.returns_to_go, store.lengths, None)
    assert practice.test(policy, mended).sum() == 3


def test_half_of_a_batch_falls_where_the_policy_is_unsure_in_proportion(policy, store):
    practice = practice_of(rows())
    practice.test(policy, store)
    slots, times = practice.draw(np.random.default_rng(0), 500, 64)
    doubt = {
        place: 1 - probabilities[int(store.actions[place][0])]
        for place, probabilities in step_by_step(policy, store).items()
    }
    total = sum(doubt.values())
    drawn = list(zip(slots.ravel().tolist(), times.ravel().tolist(), strict=True))
    assert set(drawn) == {(int(slot), time) for slot, time in doubt}
    for (slot, time), share in doubt.items():
        expected = (1 - UNSURE_SHARE) / len(practice) + UNSURE_SHARE * share / total
        assert drawn.count((int(slot), time)) / len(drawn) == pytest.approx(expected, abs=0.01)


def test_before_the_first_test_all_steps_are_alike():
    slots, times = practice_of(rows()).draw(np.random.default_rng(1), 200, 60)
    _, counts = np.unique(np.stack([slots.ravel(), times.ravel()]), axis=1, return_counts=True)
    assert len(counts) == LENGTHS.sum()
    np.testing.assert_allclose(counts / counts.sum(), 1 / LENGTHS.sum(), atol=0.01)
