import dataclasses

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.dataset import Dataset
from pcn.algorithms.pcn.store import TransitionStore
from pcn.envs import EnvironmentSpec, Objective
from pcn.episodes import Episodes
from pcn.errors import UserError
from pcn.pareto import ORDERS, dominating_score, unique_front

LIMIT, BATCH, CAPACITY = 6, 8, 20
CONFIG = PCNConfig(capacity=CAPACITY, episodes_per_iteration=BATCH)
PLACES = eqx.filter_jit(TransitionStore.places)
TRANSITIONS = eqx.filter_jit(TransitionStore.at)


def make_spec(num_objectives=2):
    return EnvironmentSpec(
        name="numbers",
        objectives=tuple(Objective(str(i)) for i in range(num_objectives)),
        observation_space=gym.spaces.MultiDiscrete([1000, 9], dtype=np.int32),
        action_space=gym.spaces.Discrete(4),
        step_limit=LIMIT,
        reference_point=(-100.0,) * num_objectives,
    )


def make_episodes(rng, num_objectives=2, *, num_episodes=BATCH, returns=None):
    """Random episodes; with `returns`, the first reward makes up the difference to them."""
    lengths = rng.integers(1, LIMIT + 1, num_episodes)
    valid = (np.arange(LIMIT) < lengths[:, None])[:, :, None]
    shape = (num_episodes, LIMIT)
    rewards = rng.integers(-2, 3, (*shape, num_objectives)) * valid * 1.0
    if returns is not None:
        rewards[:, 0] += np.asarray(returns) - rewards.sum(axis=1)
    observations = np.stack([rng.integers(0, 1000, shape), rng.integers(0, 9, shape)], axis=2)
    return Episodes(
        observations=jnp.asarray(observations * valid, jnp.int32),
        actions=jnp.asarray(rng.integers(0, 4, (*shape, 1)) * valid, jnp.int32),
        rewards=jnp.asarray(rewards, jnp.float32),
        lengths=jnp.asarray(lengths, jnp.int32),
        terminated=jnp.ones(num_episodes, bool),
    )


def filled(rng, num_batches, num_objectives=2, config=CONFIG):
    dataset = Dataset(make_spec(num_objectives), config)
    for _ in range(num_batches):
        dataset.add(make_episodes(rng, num_objectives))
    return dataset


def stored_episode(dataset, row):
    """All transitions of one stored episode, as plain arrays."""
    length = int(dataset.rows.lengths[row])
    slot = np.full(LIMIT, dataset.rows.slots[row], np.int32)
    at = TRANSITIONS(dataset.store, slot, np.arange(LIMIT, dtype=np.int32))
    parts = (at.observation, at.command.desired_return, at.command.desired_horizon, at.action)
    return [np.asarray(part)[:length] for part in parts]


@pytest.mark.parametrize("num_objectives", [2, 3, 9])
def test_capacity_is_never_exceeded_and_slots_never_shared(num_objectives):
    rng = np.random.default_rng(0)
    dataset = Dataset(make_spec(num_objectives), CONFIG)
    for number in range(1, 8):
        dataset.add(make_episodes(rng, num_objectives))
        assert len(dataset) == len(dataset.board) == min(number * BATCH, CAPACITY)
        assert len(set(dataset.rows.slots.tolist())) == len(dataset)
        # What the scoreboard believes is what the rows say.
        np.testing.assert_allclose(dataset.board.returns, dataset.rows.returns, atol=1e-3)


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_every_stored_transition_is_that_of_its_episode(discount):
    rng = np.random.default_rng(1)
    config = dataclasses.replace(CONFIG, discount=discount)
    dataset, seen = Dataset(make_spec(), config), {}
    for _ in range(6):
        episodes = make_episodes(rng)
        dataset.add(episodes)
        for number in range(BATCH):
            first = np.asarray(episodes.observations[number, 0]).tobytes()
            seen[first] = jax.tree.map(np.asarray, episodes.taking(np.array([number])))
    assert len(dataset) == CAPACITY
    for row in range(len(dataset)):
        observation, desired_return, desired_horizon, action = stored_episode(dataset, row)
        episode = seen[observation[0].tobytes()]
        length = int(episode.lengths[0])
        np.testing.assert_array_equal(observation, episode.observations[0, :length])
        np.testing.assert_array_equal(action, episode.actions[0, :length])
        np.testing.assert_array_equal(desired_horizon, np.arange(length, 0, -1))  # h_t = T - t
        rewards = episode.rewards[0].astype(np.float64)
        returns_to_go = [
            sum(discount ** (later - time) * rewards[later] for later in range(time, length))
            for time in range(length)
        ]
        np.testing.assert_allclose(desired_return, returns_to_go, atol=1e-5)
        np.testing.assert_allclose(dataset.rows.returns[row], returns_to_go[0], atol=1e-9)
        np.testing.assert_allclose(dataset.rows.lowest[row], np.min(returns_to_go, 0), atol=1e-5)
        np.testing.assert_allclose(dataset.rows.highest[row], np.max(returns_to_go, 0), atol=1e-5)


def test_padding_and_what_was_broken_off_are_not_stored():
    rng = np.random.default_rng(2)
    dataset = filled(rng, 1)
    before = [stored_episode(dataset, row) for row in range(BATCH)]
    episodes = make_episodes(rng)
    first_three = jnp.arange(BATCH) < 3
    dataset.add(dataclasses.replace(episodes, real_mask=first_three))
    assert len(dataset) == BATCH + 3
    np.testing.assert_array_equal(dataset.rows.returns[BATCH:], episodes.returns()[:3])
    for row, old in enumerate(before):  # the padding overwrites nothing
        for a, b in zip(stored_episode(dataset, row), old, strict=True):
            np.testing.assert_array_equal(a, b)
    dataset.add(dataclasses.replace(episodes, broken_off=jnp.ones(BATCH, bool)))
    assert len(dataset) == BATCH + 3


def test_only_marked_episodes_are_stored_in_their_order():
    rng = np.random.default_rng(2)
    dataset, episodes = filled(rng, 1), make_episodes(rng)
    mask = np.isin(np.arange(BATCH), [1, 4, 5])
    real = jnp.asarray(np.arange(BATCH) != 4)
    dataset.add(dataclasses.replace(episodes, real_mask=real), stored_mask=mask)
    np.testing.assert_array_equal(dataset.rows.returns[BATCH:], episodes.returns()[[1, 5]])
    for row, number in ((BATCH, 1), (BATCH + 1, 5)):
        length = int(episodes.lengths[number])
        seen = stored_episode(dataset, row)[0]
        np.testing.assert_array_equal(seen, np.asarray(episodes.observations)[number, :length])


@pytest.mark.parametrize("num_objectives", [2, 3, 9])
def test_the_archive_is_the_distinct_front_of_what_is_stored(num_objectives):
    rng = np.random.default_rng(3)
    dataset = Dataset(make_spec(num_objectives), CONFIG)
    for number in range(6):
        if number % 2 == 0:  # every episode comes twice
            episodes = make_episodes(rng, num_objectives)
        dataset.add(episodes)
        archive = dataset.archive()
        index = unique_front(dataset.rows.returns)
        np.testing.assert_array_equal(archive.returns, dataset.rows.returns[index])
        np.testing.assert_array_equal(archive.horizons, dataset.rows.lengths[index])
        np.testing.assert_array_equal(archive.rows.slots, dataset.rows.slots[index])
        assert len(archive) == len(index)


def test_what_is_pruned_scores_no_better_than_what_is_kept():
    rng = np.random.default_rng(4)
    dataset = Dataset(make_spec(), CONFIG)
    for _ in range(5):
        episodes = make_episodes(rng)
        before = np.concatenate([dataset.rows.returns, episodes.returns()])
        scores = dominating_score(before, extents=dataset.extents)
        dataset.add(episodes)
        kept = sorted(map(tuple, dataset.rows.returns.tolist()))
        best = np.sort(scores)[::-1][: len(kept)]
        expected_scores = sorted(
            scores[np.all(before == row, axis=1)].max() for row in np.array(kept)
        )
        # Copies have lower scores than their originals, so compare the worst one kept.
        assert min(expected_scores) >= best.min() - 1e-9


@pytest.mark.parametrize("stay", [True, False])
def test_newcomers_stay_for_one_pruning_if_they_may(stay):
    rng = np.random.default_rng(4)
    config = dataclasses.replace(CONFIG, capacity=10, newcomers_stay=stay)
    dataset = Dataset(make_spec(), config)
    front = np.array([[x, 7.0 - x] for x in range(8)])
    bad = np.full((8, 2), -9.0) - np.arange(8)[:, None]  # each is dominated by the one before
    dataset.add(make_episodes(rng, returns=front))
    dataset.add(make_episodes(rng, returns=bad))
    assert len(dataset) == 10
    assert np.sum(dataset.rows.returns < -8, axis=0).tolist() == ([8, 8] if stay else [2, 2])
    dataset.add(make_episodes(rng, returns=front))
    assert dataset.rows.returns.min() == 0, "then they are pruned like all others"


def test_the_best_are_those_of_highest_score_dominated_ones_included():
    rng = np.random.default_rng(6)
    dataset = Dataset(make_spec(), CONFIG)
    wanted = np.array([[9.0, 0.0], [0.0, 9.0], [5.0, 5.0], *([[-x, -x] for x in range(5)])])
    dataset.add(make_episodes(rng, returns=wanted))
    np.testing.assert_array_equal(dataset.best(5).returns, wanted[:5])
    np.testing.assert_array_equal(np.sort(dataset.best(99).returns), np.sort(wanted))


def test_copies_lose_to_the_original():
    rng = np.random.default_rng(5)
    config = dataclasses.replace(CONFIG, capacity=8)
    dataset = Dataset(make_spec(), config)
    front = np.array([[x, 7.0 - x] for x in range(8)])
    originals = make_episodes(rng, returns=front)
    dataset.add(originals)
    dataset.add(make_episodes(rng, returns=front))
    assert len(dataset) == 8
    for row in range(8):
        observation, *_ = stored_episode(dataset, row)
        number = int(np.flatnonzero(np.all(front == dataset.rows.returns[row], axis=1))[0])
        np.testing.assert_array_equal(observation[0], originals.observations[number, 0])


def test_candidates_are_the_best_distinct_commands_whatever_dominates_them():
    rng = np.random.default_rng(6)
    dataset = Dataset(make_spec(), CONFIG)
    wanted = np.array([[3.0, 3.0]] * 3 + [[2.0, 2.0]] * 2 + [[1.0, 1.0]] * 2 + [[-9.0, -9.0]])
    dataset.add(make_episodes(rng, returns=wanted))
    commands = {(*wanted[i], int(dataset.rows.lengths[i])) for i in range(BATCH)}
    all_of_them = dataset.candidates(BATCH)
    assert len(all_of_them) == len(commands)
    found = np.column_stack([all_of_them.returns, all_of_them.horizons])
    assert {tuple(row) for row in found} == commands
    few = dataset.candidates(len(commands) - 1)  # the worst is missing, the rest is in order
    np.testing.assert_array_equal(few.returns, all_of_them.returns[1:])
    assert few.returns.min() > -9


def test_candidates_come_in_the_order_of_the_first_objective():
    dataset = Dataset(make_spec(), CONFIG)
    wanted = np.array([[3.0, 0.0], [0.0, 3.0], [2.0, 1.0], [1.0, 2.0], [1.0, 5.0]])
    dataset.add(make_episodes(np.random.default_rng(6), num_episodes=5, returns=wanted))
    found = dataset.candidates(BATCH).returns
    assert found.tolist() == [[0, 3], [1, 2], [1, 5], [2, 1], [3, 0]]


def test_given_tolerances_hold_for_what_is_stored_already():
    dataset = Dataset(make_spec(), CONFIG)
    wanted = np.array([[3.0, 0.0], [0.0, 3.0], [2.9, 0.1], [0.1, 2.9]])
    dataset.add(make_episodes(np.random.default_rng(6), num_episodes=4, returns=wanted))
    assert len(dataset.archive()) == 4
    dataset.set_tolerances(np.array([0.5, 0.5]))
    assert len(dataset.archive()) == 2


def test_with_a_limit_on_copies_one_return_does_not_fill_the_dataset():
    rng, most = np.random.default_rng(6), 8
    dataset = Dataset(make_spec(), CONFIG, most_copies=most)
    for return_ in (0.0, 1.0, 5.0, 5.0, 5.0):
        dataset.add(make_episodes(rng, returns=np.full((BATCH, 2), return_)))
    counts = [int(np.sum(dataset.rows.returns[:, 0] == value)) for value in (5.0, 1.0, 0.0)]
    assert counts == [most, most, CAPACITY - 2 * most]


def test_a_dataset_of_a_single_episode_works():
    config = dataclasses.replace(CONFIG, capacity=1, episodes_per_iteration=1)
    dataset = Dataset(make_spec(), config)
    rng = np.random.default_rng(6)
    for returns in ([0.0, 0.0], [1.0, 1.0], [-1.0, -1.0]):
        dataset.add(make_episodes(rng, num_episodes=1, returns=[returns]))
        assert len(dataset.archive()) == 1
    assert dataset.rows.returns.tolist() == [[1.0, 1.0]]
    assert dataset.command_scale().shape == (3,)
    assert np.isfinite(dataset.drawing(dataset.rows).cumulative).all()


def test_ranges_and_bounds_are_those_of_all_stored_steps():
    dataset = filled(np.random.default_rng(7), 4)
    steps = [stored_episode(dataset, row)[1] for row in range(len(dataset))]
    highest = dataset.rows.highest.max(axis=0)
    np.testing.assert_allclose(highest, np.concatenate(steps).max(axis=0), atol=1e-5)
    archive = dataset.archive()
    slots = dataset.rows.slots.tolist()
    own = np.concatenate([steps[slots.index(slot)] for slot in archive.rows.slots])
    expected = np.append(own.max(axis=0) - own.min(axis=0), archive.horizons.max())
    np.testing.assert_allclose(dataset.command_scale(), CONFIG.command_spread / expected, rtol=1e-5)


@pytest.mark.parametrize("sample_by", ["transition", "episode"])
def test_batches_are_drawn_by_transition_or_by_episode(sample_by):
    rng = np.random.default_rng(8)
    dataset = filled(rng, 1, config=dataclasses.replace(CONFIG, sample_by=sample_by))
    drawing = dataset.drawing(dataset.rows)
    draws = jax.random.uniform(jax.random.key(0), (2, 2_000, 8))
    slots, _ = PLACES(dataset.store, (drawing,), (8,), draws)
    shares = np.bincount(np.asarray(slots).ravel(), minlength=BATCH)[dataset.rows.slots] / 16_000
    weights = dataset.rows.lengths if sample_by == "transition" else np.ones(BATCH)
    assert len(set(dataset.rows.lengths.tolist())) > 2
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.015)


def test_after_a_round_trip_through_arrays_everything_goes_on_as_before():
    rng = np.random.default_rng(9)
    dataset = filled(rng, 5)  # pruned, so that slots are out of order
    arrays = {name: array.copy() for name, array in dataset.to_arrays().items()}
    loaded = Dataset(make_spec(), CONFIG)
    loaded.add(make_episodes(rng))  # to be forgotten
    loaded.from_arrays(arrays)
    for number in range(4):
        assert len(loaded) == len(dataset)
        for name in ("lengths", "returns", "lowest", "highest"):
            np.testing.assert_array_equal(
                getattr(loaded.rows, name), getattr(dataset.rows, name), err_msg=name
            )
        np.testing.assert_array_equal(loaded.board.scores(), dataset.board.scores())
        np.testing.assert_array_equal(loaded.archive().returns, dataset.archive().returns)
        for row in range(len(dataset)):
            pairs = zip(stored_episode(loaded, row), stored_episode(dataset, row), strict=True)
            for a, b in pairs:
                np.testing.assert_array_equal(a, b)
        draws = jax.random.uniform(jax.random.key(number), (2, 5, 8))
        batches = []
        for data in (loaded, dataset):
            slots, times = PLACES(data.store, (data.drawing(data.rows),), (8,), draws)
            batches.append(TRANSITIONS(data.store, slots[0], times[0]))
        np.testing.assert_array_equal(batches[0].observation, batches[1].observation)
        episodes = make_episodes(rng)
        loaded.add(episodes)
        dataset.add(episodes)


def test_going_on_after_a_restore_leaves_the_arrays_alone():
    rng = np.random.default_rng(10)
    arrays = filled(rng, 4).to_arrays()
    copies = {name: array.copy() for name, array in arrays.items()}
    loaded = Dataset(make_spec(), CONFIG)
    loaded.from_arrays(arrays)
    for _ in range(3):
        loaded.add(make_episodes(rng))
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, copies[name], err_msg=name)


@pytest.mark.parametrize("name", ["rows.lengths", "rows.returns", "rows.lowest", "rows.highest"])
@pytest.mark.parametrize(
    "wrong", [lambda array: array[:-1], lambda array: array[[0, *range(len(array))]]]
)
def test_arrays_for_another_number_of_episodes_are_refused(name, wrong):
    arrays = filled(np.random.default_rng(0), 3).to_arrays()
    loaded = Dataset(make_spec(), CONFIG)
    with pytest.raises(
        UserError, match=f"^{name} has shape .*, expected {len(arrays['rows.slots'])}"
    ):
        loaded.from_arrays({**arrays, name: wrong(arrays[name])})


def test_one_number_does_not_stand_for_all_episodes():
    arrays = filled(np.random.default_rng(0), 3).to_arrays()
    loaded = Dataset(make_spec(), CONFIG)
    with pytest.raises(UserError, match=r"^store\.lengths has shape \(\)"):
        loaded.from_arrays({**arrays, "store.lengths": np.zeros((), np.int32)})


def test_an_empty_dataset_makes_the_round_trip_too():
    empty = Dataset(make_spec(), CONFIG)
    loaded = filled(np.random.default_rng(11), 1)
    loaded.from_arrays(empty.to_arrays())
    assert len(loaded) == len(loaded.board) == 0


@pytest.mark.parametrize(
    "space",
    [gym.spaces.Discrete(5), gym.spaces.MultiDiscrete([5, 5]), gym.spaces.Box(0, 1, (3,), float)],
    ids=["Discrete", "MultiDiscrete", "Box of doubles"],
)
def test_spaces_of_64_bits_make_a_dataset_of_32(space):
    spec = dataclasses.replace(make_spec(), observation_space=space)
    observations = Dataset(spec, CONFIG, room=BATCH).store.observations
    assert observations.dtype in (jnp.int32, jnp.float32)
    assert observations.shape == (CAPACITY + BATCH, LIMIT, *space.shape)


def test_an_equal_way_replaces_the_stored_one_and_all_that_is_known_of_it():
    def episode(rewards):
        length = len(rewards)
        padded = jnp.asarray([[*rewards, *[[0.0, 0.0]] * (LIMIT - length)]], jnp.float32)
        one = make_episodes(np.random.default_rng(0), num_episodes=1)
        return dataclasses.replace(one, rewards=padded, lengths=jnp.array([length], jnp.int32))

    dataset = Dataset(make_spec(), CONFIG)
    dataset.add(episode([[3.0, -1.0], [1.0, -1.0]]))
    np.testing.assert_array_equal(dataset.rows.highest.max(axis=0), [4.0, -1.0])
    dataset.replace_equals(dataset.archive().rows, episode([[-2.0, -1.0], [6.0, -1.0]]))
    np.testing.assert_array_equal(stored_episode(dataset, 0)[1], [[4.0, -2.0], [6.0, -1.0]])
    np.testing.assert_array_equal(dataset.rows.highest.max(axis=0), [6.0, -1.0])
    # Another return leaves it alone, and so does the same return in more steps or fewer.
    for other in (
        [[9.0, -1.0], [9.0, -1.0]],
        [[9.0, -1.0], [-5.0, 0.0], [0.0, -1.0]],
        [[4.0, -2.0]],
    ):
        dataset.replace_equals(dataset.archive().rows, episode(other))
        np.testing.assert_array_equal(stored_episode(dataset, 0)[1], [[4.0, -2.0], [6.0, -1.0]])
        np.testing.assert_array_equal(dataset.rows.highest.max(axis=0), [6.0, -1.0])


def one_episode(value):
    return make_episodes(np.random.default_rng(0), num_episodes=1, returns=[value])


def test_wasteful_episodes_do_not_blur_the_front():
    """The front spans 2 in both objectives; a return of -1000 is stored, too."""
    dataset = Dataset(make_spec(), PCNConfig(capacity=8))
    values = [[0.0, 2.0], [1.0, 1.0], [2.0, 0.0], [-1000.0, -1000.0], [1.05, 0.96]]
    for value in values:
        dataset.add(one_episode(value))
    np.testing.assert_allclose(dataset.tolerances, 1e-4 * 2)
    np.testing.assert_allclose(dataset.extents, 1002)
    assert len(dataset.archive()) == 4


def test_tolerances_follow_a_spread_that_doubles_and_survive_a_checkpoint():
    dataset = Dataset(make_spec(), PCNConfig(capacity=8))
    for value in ([0.0, 2.0], [2.0, 0.0], [3.0, -1.0]):  # the last one adds less than half
        dataset.add(one_episode(value))
    np.testing.assert_allclose(dataset.tolerances, 2e-4)
    dataset.add(one_episode([4.5, -3.0]))
    np.testing.assert_allclose(dataset.tolerances, [4.5e-4, 5e-4])
    again = Dataset(make_spec(), PCNConfig(capacity=8))
    again.from_arrays(dataset.to_arrays())
    np.testing.assert_array_equal(again.tolerances, dataset.tolerances)
    np.testing.assert_array_equal(again.board.scores(), dataset.board.scores())
    again.set_tolerances(np.array([10.0, 10.0]))
    again.add(one_episode([40.0, -30.0]))
    np.testing.assert_array_equal(again.tolerances, [10.0, 10.0])


def test_given_tolerances_stay_when_the_spread_doubles_after_a_checkpoint():
    dataset = Dataset(make_spec(), CONFIG)
    dataset.add(one_episode([1.0, 1.0]))
    dataset.set_tolerances(np.array([0.25, 0.5]))
    again = Dataset(make_spec(), CONFIG)
    again.from_arrays(dataset.to_arrays())
    again.add(one_episode([100.0, -100.0]))
    assert again.tolerances.tolist() == [0.25, 0.5]


def test_a_constant_objective_of_any_size_makes_a_small_input():
    dataset = Dataset(make_spec(3), PCNConfig(capacity=8))
    rng = np.random.default_rng(0)
    for value in ([1e6, 0.0, 1.0], [1e6, 0.0, 2.0]):
        episodes = make_episodes(rng, 3, num_episodes=1, returns=[value])
        # One step, so that nothing varies on the way.
        rewards = np.zeros((1, LIMIT, 3), np.float32)
        rewards[0, 0] = value
        episodes = eqx.tree_at(
            lambda one: (one.rewards, one.lengths),
            episodes,
            (jnp.asarray(rewards), jnp.ones(1, jnp.int32)),
        )
        dataset.add(episodes)
    scale = dataset.command_scale()
    assert np.isfinite(scale).all()
    assert scale[0] * 1e6 == pytest.approx(10.0 / 0.2)
    assert scale[2] == pytest.approx(10.0 / 0.4)  # one return of the archive: a fifth of it


@pytest.mark.parametrize("name", ORDERS)
def test_the_archive_follows_the_order_also_after_a_checkpoint(name):
    config = PCNConfig(capacity=8, dominance=name)
    dataset = Dataset(make_spec(), config)
    values = [[0.0, 9.0], [4.0, 4.0], [1.0, 5.0], [3.0, 3.0], [9.0, 0.0]]
    for value in values:
        dataset.add(one_episode(value))
    mask = ORDERS[name]().non_dominated_mask(np.array(values))
    expected = sorted(np.array(values)[mask].tolist())
    assert dataset.archive().returns.tolist() == expected
    # One and five are worse than four and four, if who has what does not matter.
    assert ([1.0, 5.0] in expected) == (not dataset.order.needs_one_unit)
    again = Dataset(make_spec(), config)
    again.from_arrays(dataset.to_arrays())
    np.testing.assert_array_equal(again.board.scores(), dataset.board.scores())


def test_scaled_objectives_follow_the_range_seen_also_after_a_checkpoint():
    config = PCNConfig(capacity=8, dominance="lorenz", dominance_scaling="seen")
    dataset = Dataset(make_spec(), config)
    for value in ([0.0, 1000.0], [10.0, 0.0], [5.0, 500.0]):
        dataset.add(one_episode(value))
    assert dataset.order.to_json()["scaled"] == {"lowest": [0, 0], "extents": [10, 1000]}
    assert dataset.archive().returns.tolist() == [[5.0, 500.0]]
    again = Dataset(make_spec(), config)
    again.from_arrays(dataset.to_arrays())
    assert again.order == dataset.order
    np.testing.assert_array_equal(again.board.scores(), dataset.board.scores())
