"""Blackjack: Gymnasium's rules, and each card that is drawn costs; one to a few steps, much noise.

Observation: the player's sum, the dealer's card, and whether an ace counts as eleven. Actions:
stick, or draw a card. Rewards: what is won (1, 0 or -1), and -1 for each card.
"""

from functools import cache

import gymnasium as gym

from benchmarks.unseen.modelled import ModelledEnvironment

CARDS = {card: 1 / 13 for card in range(1, 10)} | {10: 4 / 13}


def with_card(total, ace, card):
    """The sum and whether an ace counts as eleven, after one more card."""
    hard = total - 10 * ace + card
    ace = (ace or card == 1) and hard + 10 <= 21
    return hard + 10 * ace, int(ace)


@cache
def dealt(total, ace):
    """How likely the dealer ends with each sum; 0 for more than 21."""
    if total >= 17:
        return {total if total <= 21 else 0: 1.0}
    chances = {}
    for card, likely in CARDS.items():
        for ended, probability in dealt(*with_card(total, ace, card)).items():
            chances[ended] = chances.get(ended, 0.0) + likely * probability
    return chances


class Blackjack(ModelledEnvironment):
    steps = 60_000
    step_limit = 12
    reference_point = (-0.5, -2.0)
    demonstrations = ()
    num_weights = 100

    def __init__(self):
        parts = (gym.spaces.Discrete(32), gym.spaces.Discrete(11), gym.spaces.Discrete(2))
        self.observation_space = gym.spaces.Tuple(parts)
        self.action_space = gym.spaces.Discrete(2)

    def starts(self):
        chances = {}
        for first, likely in CARDS.items():
            for second, probability in CARDS.items():
                total, ace = with_card(*with_card(0, 0, first), second)
                for shown, chance in CARDS.items():
                    state = (total, shown, ace)
                    chances[state] = chances.get(state, 0.0) + likely * probability * chance
        whole = sum(chances.values())
        return {state: chance / whole for state, chance in chances.items()}

    def outcomes(self, state, action):
        total, shown, ace = state
        if action == 0:
            chances = dealt(*with_card(0, 0, shown))
            above = sum(p for ended, p in chances.items() if ended > total)
            same = chances.get(total, 0.0)
            results = ((above, -1), (same, 0), (1 - above - same, 1))
            return [(p, state, (won, 0), True) for p, won in results if p > 0]
        possible = []
        for card, likely in CARDS.items():
            after, soft = with_card(total, ace, card)
            if after > 21:
                possible.append((likely, state, (-1, -1), True))
            else:
                possible.append((likely, (after, shown, soft), (0, -1), False))
        return possible

    def observed(self):
        return self.state
