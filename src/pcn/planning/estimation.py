"""A tabular model from counts of transitions, careful where little was seen."""

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from pcn.planning.clocks import PooledCounts
from pcn.planning.counting import TransitionCounts
from pcn.planning.model import TabularModel
from pcn.planning.reward_noise import comes_back_mask, unexplained
from pcn.planning.similarity import most_similar


def estimated_model(
    counts: TransitionCounts | PooledCounts,
    *,
    discount: float,
    least_visits: int,
    errors: float,
    unknown: Float[np.ndarray, " objective"],
    over: Bool[np.ndarray, " state"] | None = None,
    numbers: Float[np.ndarray, "state number"] | None = None,
) -> TabularModel:
    """The model that the counts suggest; pairs (state, action) never seen are not available.

    Args:
        counts: what was seen.
        discount: factor on the return from the next step on.
        least_visits: pairs that were visited less often are not available either, unless all
            pairs of their state are like that.
        errors: mean rewards of two actions in a state that differ by no more than this many
            standard errors are the same, and so are the probabilities of two ends with the same
            reward, wherever they happen: plans must not follow noise.
        unknown: what a state is worth from which no step was ever seen.
        over: states in which every episode is over; see `last_states`.
        numbers: the observation of each state. Where given, a state from which no step was ever
            seen is taken for the most similar one from which some were.
    """
    states, actions, terminated = counts.states, counts.actions, counts.terminated
    first = np.flatnonzero(np.append(True, (np.diff(states) != 0) | (np.diff(actions) != 0)))
    row_pairs = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(states))))
    visits = np.add.reduceat(counts.visits, first)
    factors = pooled_end_factors(
        row_pairs, terminated, counts.visits, counts.sums / counts.visits[:, None], errors=errors
    )
    row_visits, row_sums = counts.visits * factors, counts.sums * factors[:, None]
    sums = np.add.reduceat(row_sums, first, axis=0)
    squares = np.add.reduceat(counts.squares * factors[:, None], first, axis=0)
    means = sums / visits[:, None]
    spread = np.maximum(squares - sums * means, 0.0)
    constant = constant_mask(states[first], actions[first], visits, means, spread, errors=errors)
    noise = unexplained(counts, first, visits, spread, factors)
    noise = np.where(comes_back_mask(counts)[states[first], None], noise, spread)
    pooled = pooled_means(states[first], visits, means, noise, errors=errors, apart=constant)
    rewards = counts.sums / counts.visits[:, None] + (pooled - means)[row_pairs]
    # Where nobody ever acted, the episode ends with what is assumed of such a state.
    acted = np.zeros(counts.num_states, dtype=bool)
    acted[states] = True
    left = ~acted[counts.next_states] & ~terminated
    lost = left if over is None else left & ~over[counts.next_states]
    next_states = counts.next_states
    if numbers is None:
        rewards[lost] += discount * unknown
    else:
        next_states, left = most_similar(numbers, acted)[next_states], left & ~lost
    kept = well_known_mask(states[first], visits, least_visits)[row_pairs]
    return TabularModel(
        counts.starts / counts.starts.sum(),
        states[kept],
        actions[kept],
        next_states[kept],
        (terminated | left)[kept],
        (row_visits / visits[row_pairs])[kept],
        rewards[kept],
    )


def pooled_end_factors(
    row_pairs: Int[np.ndarray, " row"],
    terminated: Bool[np.ndarray, " row"],
    visits: Int[np.ndarray, " row"],
    rewards: Float[np.ndarray, "row objective"],
    *,
    errors: float,
) -> Float[np.ndarray, " row"]:
    """By what to multiply the visits of each row so that ends of one kind share a probability.

    Ends are of one kind if they bring the same reward. A danger that many pairs share is known far
    better from all of them than from each alone. Pairs that always end, never do, or end in several
    ways stay as they are. The visits of a pair remain the same in sum.
    """
    factors = np.ones(len(visits))
    totals = np.bincount(row_pairs, visits)
    num_ends = np.bincount(row_pairs, terminated)
    may_end = terminated & (visits < totals[row_pairs]) & (num_ends[row_pairs] == 1)
    rows = np.flatnonzero(may_end)
    if len(rows) < 2:
        return factors
    size = np.maximum(np.abs(rewards).max(axis=0), 1e-300)
    _, kinds = np.unique(np.round(rewards[rows] / size, 6), axis=0, return_inverse=True)
    going_on = np.ones(len(totals))
    for kind in range(int(kinds.max()) + 1):
        own = rows[kinds.ravel() == kind]
        count = totals[row_pairs[own]]
        share = visits[own] / count
        pooled = pooled_shares(visits[own], count, errors=errors)
        factors[own] = pooled / share
        going_on[row_pairs[own]] = (1 - pooled) / (1 - share)
    return np.where(may_end, factors, going_on[row_pairs])


def pooled_shares(
    hits: Num[np.ndarray, " pair"], counts: Num[np.ndarray, " pair"], *, errors: float
) -> Float[np.ndarray, " pair"]:
    """The probability of each pair's hits; pairs share one unless they clearly differ from it.

    The pair that is least likely under the probability of all is taken out, as long as that would
    happen by chance less often than a difference of `errors` standard errors, the number of pairs
    considered. Those that were taken out share a probability in the same way.
    """
    shares = np.zeros(len(hits))
    left, allowed = np.arange(len(hits)), _chance_beyond(errors)
    while len(left):
        inside = left
        while len(inside) > 1:
            share = hits[inside].sum() / counts[inside].sum()
            rarer = np.minimum(*binomial_tails(hits[inside], counts[inside], share))
            chance = 2 * rarer * len(inside)
            if chance.min() > allowed:
                break
            inside = np.delete(inside, chance.argmin())
        shares[inside] = hits[inside].sum() / counts[inside].sum()
        left = np.setdiff1d(left, inside)
    return shares


def _chance_beyond(errors: float) -> float:
    """How likely it is by chance to be so many standard errors away, to either side."""
    from scipy.special import ndtr  # few trainings need it, and it takes a while

    return float(2 * ndtr(-errors))


def binomial_tails(
    hits: Num[np.ndarray, " pair"], counts: Num[np.ndarray, " pair"], share: float
) -> tuple[Float[np.ndarray, " pair"], Float[np.ndarray, " pair"]]:
    """How likely so many hits or fewer are, and so many or more, if each has probability `share`.

    `scipy.stats.binom` says the same, but importing `scipy.stats` takes as long as importing JAX.

    >>> [tail.tolist() for tail in binomial_tails(np.array([0, 2]), np.array([2, 2]), 0.5)]
    [[0.25, 1.0], [1.0, 0.25]]
    """
    from scipy.special import betainc, betaincc  # few trainings need it, and it takes a while

    others = counts - hits
    # The functions are not defined where an outcome is certain: there another argument stands in.
    fewer = np.where(others > 0, betaincc(hits + 1, np.maximum(others, 1), share), 1.0)
    more = np.where(hits > 0, betainc(np.maximum(hits, 1), others + 1, share), 1.0)
    return fewer, more


def well_known_mask(
    states: Int[np.ndarray, " pair"], visits: Int[np.ndarray, " pair"], least_visits: int
) -> Bool[np.ndarray, " pair"]:
    """Mark the pairs that were visited often enough, and all of states where none was."""
    often = visits >= least_visits
    any_often = np.zeros(states.max() + 1, dtype=bool)
    any_often[states[often]] = True
    return often | ~any_often[states]


def constant_mask(
    states: Int[np.ndarray, " pair"],
    actions: Int[np.ndarray, " pair"],
    visits: Int[np.ndarray, " pair"],
    means: Float[np.ndarray, "pair objective"],
    spread: Float[np.ndarray, "pair objective"],
    *,
    errors: float,
) -> Bool[np.ndarray, "pair objective"]:
    """Mark actions that never bring what is rare under other actions, in each objective.

    A single state cannot tell a rare loss from bad luck, but all states together can. An action is
    marked if its reward never varied in any state, and if this would be less likely than a
    difference of `errors` standard errors, were it like the actions beside it whose rewards vary.
    """
    count, varied = visits[:, None], spread > 1e-9 * (spread + visits[:, None] * means**2)
    num_states, num_actions = int(states.max()) + 1, int(actions.max()) + 1
    beside, total, squares = (
        _sums(states, np.where(varied, values, 0.0), num_states)[states]
        for values in (count + 0 * means, count * means, spread + count * means**2)
    )
    known = np.maximum(beside, 1)
    # How often something else than this pair's reward comes, if it is always the same thing.
    shift = total / known - means
    variance = np.maximum(squares / known - (total / known) ** 2, 0.0)
    share = np.where(beside > 0, shift**2 / np.maximum(shift**2 + variance, 1e-300), 0.0)
    evidence = np.where(varied, 0.0, count * np.log1p(-np.minimum(share, 0.999)))
    chance = _sums(actions, evidence, num_actions)
    never = _sums(actions, varied.astype(np.int64), num_actions) == 0
    marked: Bool[np.ndarray, "pair objective"] = (
        never & (chance < np.log(_chance_beyond(errors) / num_actions))
    )[actions]
    return marked


def _sums(
    groups: Int[np.ndarray, " pair"], values: Num[np.ndarray, "pair objective"], num_groups: int
) -> Float[np.ndarray, "group objective"]:
    return np.stack([np.bincount(groups, column, num_groups) for column in values.T], axis=1)


def pooled_means(
    states: Int[np.ndarray, " pair"],
    visits: Int[np.ndarray, " pair"],
    means: Float[np.ndarray, "pair objective"],
    spread: Float[np.ndarray, "pair objective"],
    *,
    errors: float,
    apart: Bool[np.ndarray, "pair objective"] | None = None,
) -> Float[np.ndarray, "pair objective"]:
    """Mean rewards, in which actions of a state share a mean unless they clearly differ.

    In each state and objective, the two neighbouring groups of actions that differ least become
    one, again and again, until all differ by more than `errors` standard errors. `spread` is the
    sum of squared deviations of each pair's rewards; pairs are sorted by state. Those that are
    marked in `apart` share no mean with those that are not.
    """
    apart = np.zeros_like(means, dtype=bool) if apart is None else apart
    pooled = means.copy()
    begin = np.flatnonzero(np.append(True, np.diff(states) != 0))
    for start, end in zip(begin, np.append(begin[1:], len(states)), strict=True):
        block = means[start:end]
        for objective in np.flatnonzero(block.max(axis=0) > block.min(axis=0)):
            for marked in (False, True):
                group = start + np.flatnonzero(apart[start:end, objective] == marked)
                pooled[group, objective] = _pooled(
                    visits[group], means[group, objective], spread[group, objective], errors
                )
    return pooled


def _pooled(
    visits: Int[np.ndarray, " action"],
    means: Float[np.ndarray, " action"],
    spread: Float[np.ndarray, " action"],
    errors: float,
) -> Float[np.ndarray, " action"]:
    order = np.argsort(means, kind="stable")
    groups = [[index] for index in order.tolist()]
    count, mean, within = (array[order].astype(np.float64) for array in (visits, means, spread))
    while len(groups) > 1:
        both = count[:-1] + count[1:]
        gap = np.diff(mean)
        variance = (within[:-1] + within[1:]) / both
        error = np.sqrt(variance * (1 / count[:-1] + 1 / count[1:]))
        # Equal means are the same, whatever their errors.
        distance = np.where(gap == 0, 0.0, gap / np.where(error > 0, error, 1e-300))
        closest = int(distance.argmin())
        if distance[closest] > errors:
            break
        share = count[closest] * count[closest + 1] / both[closest]
        within[closest] += within[closest + 1] + share * gap[closest] ** 2
        mean[closest] += gap[closest] * count[closest + 1] / both[closest]
        count[closest] = both[closest]
        groups[closest : closest + 2] = [groups[closest] + groups[closest + 1]]
        count, mean, within = (np.delete(array, closest + 1) for array in (count, mean, within))
    result = np.empty(len(means))
    for group, value in zip(groups, mean, strict=True):
        result[group] = value
    return result
