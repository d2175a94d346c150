"""Counts of transitions against a slow count, and the models that they give."""

from collections import Counter

import numpy as np
import pytest

from pcn.planning.counting import TransitionCounts
from pcn.planning.estimation import estimated_model, pooled_means, well_known_mask
from random_walks import episodes_of, random_walks

NOTHING = np.zeros(2)


def fresh(**options):
    return TransitionCounts({"place": np.zeros(1, np.int32)}, (2, 3), 2, **options)


def slow_counts(batches):
    """(place, action, next place, terminated) -> (count, sum, sum of squares)."""
    visits, sums, squares, starts = Counter(), Counter(), Counter(), Counter()
    for batch in batches:
        for episode in np.flatnonzero(batch.real_mask):
            places = batch.observations["place"][episode, :, 0].tolist()
            length = int(batch.lengths[episode])
            starts[places[0]] += 1
            last = int(batch.last_observations["place"][episode, 0])
            for time in range(length):
                end = time == length - 1
                row = (
                    places[time],
                    tuple(batch.actions[episode, time].tolist()),
                    last if end else places[time + 1],
                    bool(batch.terminated[episode]) and end,
                )
                visits[row] += 1
                sums[row] += float(batch.rewards[episode, time, 0])
                squares[row] += float(batch.rewards[episode, time, 1]) ** 2
    return visits, sums, squares, starts


def test_every_step_of_real_episodes_is_counted():
    rng = np.random.default_rng(0)
    batches = [random_walks(rng) for _ in range(10)]
    counts = fresh()
    for batch in batches:
        counts.add(batch)
    places = counts.observations["place"][:, 0].tolist()
    actions = [tuple(row) for row in counts.action_rows(counts.actions).tolist()]
    rows = [
        (places[state], action, places[after], bool(ends))
        for state, action, after, ends in zip(
            counts.states, actions, counts.next_states, counts.terminated, strict=True
        )
    ]
    visits, sums, squares, starts = slow_counts(batches)
    assert dict(zip(rows, counts.visits.tolist(), strict=True)) == visits
    assert dict(zip(places, counts.starts.tolist(), strict=True)) == {
        place: starts[place] for place in places
    }
    np.testing.assert_allclose(counts.sums[:, 0], [sums[row] for row in rows], atol=1e-6)
    np.testing.assert_allclose(counts.squares[:, 1], [squares[row] for row in rows], rtol=1e-6)


def test_a_checkpoint_holds_everything():
    rng = np.random.default_rng(1)
    counts, again = fresh(), fresh()
    counts.add(random_walks(rng))
    again.from_arrays(counts.to_arrays())
    more = random_walks(rng)
    counts.add(more)
    again.add(more)
    for name, array in counts.to_arrays().items():
        np.testing.assert_array_equal(again.to_arrays()[name], array)


def test_known_observations_are_found_again():
    counts = fresh()
    counts.add(random_walks(np.random.default_rng(2), num_places=3))
    places = np.array([[[0], [1], [2], [9]]], np.int32)
    found = counts.states_of({"place": places}, 4)
    assert counts.observations["place"][found[0, :3], 0].tolist() == [0, 1, 2]
    assert found[0, 3] == -1


@pytest.mark.parametrize(("num_places", "given_up"), [(1 << 30, True), (100, False)])
def test_counting_is_given_up_where_observations_do_not_repeat(num_places, given_up):
    counts, rng = fresh(window=200), np.random.default_rng(3)
    for _ in range(40):
        counts.add(random_walks(rng, num_places=num_places))
    assert counts.given_up == given_up
    assert (counts.num_states == 0) == given_up


def test_counting_is_given_up_when_there_are_too_many_states():
    counts = fresh(most_states=10)
    counts.add(random_walks(np.random.default_rng(4), num_places=50))
    assert counts.given_up


def test_masks_are_those_seen_when_acting():
    episodes = episodes_of(
        {"place": np.array([[[1], [2]]], np.int32)},
        np.zeros((1, 2, 2), np.int32),
        np.zeros((1, 2, 2), np.float32),
        np.array([2], np.int32),
        np.array([True]),
        action_masks=np.array([[[1, 0, 1, 1, 0], [0, 1, 1, 0, 0]]], bool),
        last_observations={"place": np.array([[3]], np.int32)},
    )
    counts = fresh(mask_size=5)
    counts.add(episodes)
    known = dict(zip(counts.observations["place"][:, 0].tolist(), counts.masks, strict=True))
    assert known[1].tolist() == [True, False, True, True, False]
    assert known[2].tolist() == [False, True, True, False, False]
    assert not known[3].any()  # nobody has acted there


def test_masks_that_an_observation_hides_are_pooled():
    counts = fresh(mask_size=5)
    for mask in ([1, 0, 1, 1, 0], [0, 1, 1, 0, 0]):
        counts.add(
            episodes_of(
                {"place": np.array([[[1]]], np.int32)},
                np.zeros((1, 1, 2), np.int32),
                np.zeros((1, 1, 2), np.float32),
                np.array([1], np.int32),
                np.array([True]),
                action_masks=np.array([[mask]], bool),
                last_observations={"place": np.array([[3]], np.int32)},
            )
        )
    known = dict(zip(counts.observations["place"][:, 0].tolist(), counts.masks, strict=True))
    assert known[1].tolist() == [True, True, True, True, False]


def test_the_model_has_the_shares_of_what_was_seen():
    rng = np.random.default_rng(5)
    counts = fresh()
    for _ in range(5):
        counts.add(random_walks(rng))
    model = estimated_model(counts, discount=1.0, least_visits=1, errors=0.0, unknown=NOTHING)
    np.testing.assert_allclose(model.start, counts.starts / 30)
    for row in range(len(model.states)):
        same = (counts.states == model.states[row]) & (counts.actions == model.actions[row])
        this = same & (counts.next_states == model.next_states[row])
        this &= counts.terminated == model.terminated[row]
        assert model.probabilities[row] == counts.visits[this] / counts.visits[same].sum()
        np.testing.assert_allclose(
            model.rewards[row], (counts.sums / counts.visits[:, None])[this][0]
        )


def one_step(last, reward=0.0):
    """An episode of one step from place 0, broken off in `last`."""
    return episodes_of(
        {"place": np.zeros((1, 1, 1), np.int32)},
        np.zeros((1, 1, 2), np.int32),
        np.full((1, 1, 2), reward, np.float32),
        np.ones(1, np.int32),
        np.array([False]),
        last_observations={"place": np.array([[last]], np.int32)},
    )


def test_a_state_in_which_nobody_acted_is_worth_what_is_assumed():
    counts = fresh()
    counts.add(one_step(1, reward=1.0))
    counts.add(one_step(0, reward=1.0))
    model = estimated_model(
        counts, discount=0.5, least_visits=1, errors=0.0, unknown=np.array([-4.0, 2.0])
    )
    lost = model.next_states == 1
    np.testing.assert_allclose(model.rewards[lost], [[1 - 2, 1 + 1]])
    np.testing.assert_allclose(model.rewards[~lost], [[1, 1]])
    assert model.terminated.tolist() == lost.tolist()


def test_rarely_visited_actions_count_only_where_there_are_no_others():
    states, visits = np.array([0, 0, 1, 1]), np.array([2, 9, 1, 2])
    assert well_known_mask(states, visits, 5).tolist() == [False, True, True, True]


def test_means_are_pooled_unless_they_clearly_differ():
    """Errors: two actions with 100 visits and variance 1 each have one of sqrt(2 / 100) = 0.14."""
    means = np.array([[0.0, 0.0], [0.3, 0.4], [0.3, 5.0]])
    visits = np.array([100, 100, 100])
    pooled = pooled_means(np.zeros(3, int), visits, means, np.full((3, 2), 100.0), errors=2.5)
    np.testing.assert_allclose(pooled[:, 0], 0.2)
    np.testing.assert_allclose(pooled[:, 1], [0.0, 0.4, 5.0])


def test_pooled_means_weigh_visits():
    pooled = pooled_means(
        np.array([0, 0]), np.array([30, 10]), np.array([[0.0], [0.4]]),
        np.array([[30.0], [10.0]]), errors=2.5,
    )  # fmt: skip
    np.testing.assert_allclose(pooled, 0.1)


def test_other_states_are_not_pooled():
    pooled = pooled_means(
        np.array([0, 1]), np.array([5, 5]), np.array([[0.0], [0.1]]),
        np.array([[5.0], [5.0]]), errors=2.5,
    )  # fmt: skip
    np.testing.assert_allclose(pooled, [[0.0], [0.1]])


def test_an_end_that_no_observation_announces_is_a_time_limit():
    """Every episode ends after three steps; another one ends where it always ends."""
    walks = [[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 2, 3], [0, 2, 3, 3]]
    lengths = np.array([3, 3, 3, 2], np.int32)
    seen = np.array(walks, np.int32)
    counts = fresh()
    counts.add(
        episodes_of(
            {"place": seen[:, :3, None]},
            np.zeros((4, 3, 2), np.int32),
            np.zeros((4, 3, 2), np.float32),
            lengths,
            np.ones(4, bool),
            last_observations={"place": seen[:, 3:]},
        )
    )
    places = counts.observations["place"][:, 0]
    ends = {
        (int(places[state]), int(places[after]))
        for state, after, ends in zip(
            counts.states, counts.next_states, counts.terminated, strict=True
        )
        if ends
    }
    assert ends == {(2, 3)}
    assert counts.longest == 3


def test_where_nothing_is_counted_observations_have_their_numbers_and_no_rows():
    assert fresh().numbers().shape == (0, 1)
