"""Games of the solver's tests, and the slow references that results are checked against."""

import itertools

import numpy as np

from fullswap.games import Product, StructuredGame, Vectors, from_matrices, from_tensor


def ring(n, others=None, shifts=(0.7, -1.9)):
    """u_1 = cos(θ_i − θ_j + φ), u_2 = cos(θ_i − θ_j + ψ): no pure equilibrium, rank 2."""
    first = 2 * np.pi * np.arange(n) / n
    second = 2 * np.pi * np.arange(others or n) / (others or n)

    def circle(angle):
        return np.column_stack((np.cos(angle), np.sin(angle)))

    return StructuredGame.from_embeddings(
        circle(first), circle(second - shifts[0]), circle(first + shifts[1]), circle(second)
    )


def auction(bids, values):
    """First-price auction: a plan bids for each of equally likely private values."""
    amounts, worth = np.arange(bids) / bids, (np.arange(values) + 1.0) / values
    plans = Product([Vectors(np.eye(bids)) for _ in range(values)])

    def against(others):
        choices = plans.choices(others[0])
        share = np.stack([(choices == b).mean(axis=1) for b in range(bids)], axis=1)
        wins = np.cumsum(share, axis=1) - share / 2
        surplus = worth[:, None] - amounts
        return (surplus * wins[:, None, :] / values).reshape(len(choices), -1)

    return StructuredGame([plans, plans], [against, against], "auction")


def whole(game):
    """Payoff tensors of a finite game."""
    return game.table([np.arange(s.size) for s in game.actions])


def as_table(game, profile):
    """Probabilities of all joint actions of a finite game."""
    table = np.zeros([s.size for s in game.actions])
    np.add.at(table, tuple(profile.support.astype(int).T), profile.weights)
    return table


def random_game(shape, seed=0):
    return from_tensor(np.random.default_rng(seed).random((len(shape), *shape)))


def slow_gap(tables, joint) -> float:
    """The largest gain by a swap, by loops over players, actions and answers."""
    worst = 0.0
    for p, table in enumerate(tables):
        gain = 0.0
        for a in range(table.shape[p]):
            values = []
            for b in range(table.shape[p]):
                value = 0.0
                for cell in itertools.product(*(range(k) for k in table.shape)):
                    if cell[p] == a:
                        other = (*cell[:p], b, *cell[p + 1 :])
                        value += joint[cell] * (table[other] - table[cell])
                values.append(value)
            gain += max(values)
        worst = max(worst, gain)
    return worst


SMALL = {
    "2x3": random_game((2, 3)),
    "3x5": random_game((3, 5), 1),
    "1x4": random_game((1, 4), 2),
    "2x3x4": random_game((2, 3, 4), 3),
    "2x2x2x3": random_game((2, 2, 2, 3), 4),
    "ring 9x7": ring(9, 7),
    "constant": from_matrices(np.full((2, 3), 5.0), np.zeros((2, 3))),
}
