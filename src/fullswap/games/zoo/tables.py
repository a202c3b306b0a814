"""Small games given by their payoffs, and one by its tree."""

from __future__ import annotations

import numpy as np

from fullswap.games.extensive.tree import CHANCE, Tree, from_tree
from fullswap.games.game import StructuredGame, from_tensor


def chicken() -> StructuredGame:
    """Chicken: dare (0) or yield (1), payoffs [0 7; 2 6] to the row player, symmetric.

    The correlated equilibrium with the largest total payoff plays (yield, yield) half of the
    time and the two asymmetric outcomes a quarter each; it pays 5.25 to both. The symmetric Nash
    equilibrium, in which both dare with probability 1/3, pays 14/3.

    Examples
    --------
    >>> from fullswap.games import verify
    >>> best = verify(chicken(), [[0, 0.25], [0.25, 0.5]])
    >>> best.gap, best.payoffs.tolist()
    (0.0, [5.25, 5.25])
    """
    first = np.array([[0, 7], [2, 6]])
    return from_tensor((first, first.T), "chicken", [["dare", "yield"]] * 2)


def shapley() -> StructuredGame:
    """Shapley's game, in which fictitious play cycles for ever: three actions a player.

    The first player gets 1 at (i, i + 1 mod 3), the second at (i, i + 2 mod 3), nobody on the
    diagonal. The uniform distribution on the six outcomes off the diagonal is a correlated
    equilibrium that pays 0.5 to each, the most that both can have; the only Nash equilibrium,
    uniform play by both, pays 1/3.

    Examples
    --------
    >>> from fullswap.games import verify
    >>> best = verify(shapley(), (1 - np.eye(3)) / 6)
    >>> round(best.gap, 12), best.payoffs.round(12).tolist()
    (0.0, [0.5, 0.5])
    """
    first = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    return from_tensor((first, first.T), "Shapley's game")


def von_stengel_forges() -> StructuredGame:
    """The signalling game of von Stengel and Forges (2008, figure 1), in its normal form.

    Nature makes a student good or bad (1/2 each), the student sends the signal X or Y, and the
    professor, who sees the signal only, accepts (l) or refuses (r). Accepting a good student pays
    (4, 10), a bad one (6, 0), refusing (0, 6).

    Every correlated equilibrium pays (0, 6): a bad student sends whatever gets good ones
    accepted, so the professor refuses always. (If the recommended signal is told only once the
    type is known, 3.5 and 6.5 become possible; that is an equilibrium of the extensive form, and
    not of this game.)

    Examples
    --------
    >>> von_stengel_forges().payoffs([[0, 0], [1, 1]]).tolist()   # XX, ll and XY, lr
    [[5.0, 5.0], [2.0, 8.0]]
    """
    signals = [(good, bad) for good in "XY" for bad in "XY"]
    answers = [(to_x, to_y) for to_x in "lr" for to_y in "lr"]
    payoffs = np.zeros((2, 4, 4))
    for i, plan in enumerate(signals):
        for j, answer in enumerate(answers):
            for signal, accepted in zip(plan, ((4, 10), (6, 0)), strict=True):
                welcome = answer["XY".index(signal)] == "l"
                payoffs[:, i, j] += np.array(accepted if welcome else (0, 6)) / 2
    labels = [["".join(plan) for plan in plans] for plans in (signals, answers)]
    return from_tensor(payoffs, "von Stengel and Forges' signalling game", labels)


def kuhn_poker() -> StructuredGame:
    """Kuhn's poker with three cards: each antes 1, one bet of 1, check or bet, fold or call.

    The game is zero-sum; every correlated equilibrium pays −1/18 to the first player.

    Examples
    --------
    >>> kuhn_poker()
    StructuredGame('Kuhn poker', actions 27 × 64, dimensions 13, 13)
    """
    cards = ("Jack", "Queen", "King")
    tree = Tree(["First", "Second"], "Kuhn poker")
    deals = [(a, b) for a in range(3) for b in range(3) if a != b]
    names = [f"{cards[a]}-{cards[b]}" for a, b in deals]
    deal = tree.information_set(CHANCE, "deal", names, [1 / 6] * 6)

    def decisions(player: int, after: str, actions: list[str]) -> list[int]:
        return [tree.information_set(player, card + after, actions) for card in cards]

    opening = decisions(0, "", ["Check", "Bet"])
    after_check = decisions(1, " after a check", ["Check", "Bet"])
    after_bet = decisions(1, " after a bet", ["Fold", "Call"])
    answer = decisions(0, " after check and bet", ["Fold", "Call"])

    tree.node(deal)
    for a, b in deals:
        won = 1 if a > b else -1
        tree.node(opening[a])
        tree.node(after_check[b])
        tree.leaf((won, -won))
        tree.node(answer[a])
        tree.leaf((-1, 1))
        tree.leaf((2 * won, -2 * won))
        tree.node(after_bet[b])
        tree.leaf((1, -1))
        tree.leaf((2 * won, -2 * won))
    return from_tree(tree)
