"""Firms, commuters and bidders."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import ActionSet, Column, Curve, Vectors
from fullswap.games.game import Against, StructuredGame
from fullswap.games.plans import Product, Sum


def cournot(
    players: int = 2,
    demand: float = 1.0,
    slope: float = 1.0,
    cost: ArrayLike = 0.0,
    grid: int | None = None,
) -> StructuredGame:
    """Firms choose outputs q_i ∈ [0, a/b] at the price a − b·Σq: u_i = q_i·(a − b·Σ_j q_j − c_i).

    The game has a strictly concave potential, so its only correlated equilibrium is the pure one,

        q_i* = [(a + Σ_j c_j)/(k + 1) − c_i]/b   for k firms, if all of these are >= 0,

    which is (a − c)/(b·(k + 1)) if costs are equal.

    Here a = ``demand`` > 0, b = ``slope`` > 0, ``cost`` is c or a list of k, and ``grid`` a number
    of evenly spaced outputs (None for all of [0, a/b]).

    Examples
    --------
    >>> from fullswap.games import verify
    >>> bool(verify(cournot(3), ([[0.25, 0.25, 0.25]], [1.0])).gap < 1e-15)
    True
    """
    k = checks.whole("players", players, 2)
    a, b = checks.setting("demand", demand, above=0.0), checks.setting("slope", slope, above=0.0)
    given = checks.numbers("cost", cost)
    costs = checks.vector("cost", given if given.ndim else np.full(k, given), k).copy()
    outputs: ActionSet = Curve.parabola(0.0, a / b)
    if grid is not None:
        outputs = _quantities(np.linspace(0.0, a / b, checks.whole("grid", grid, 2)))

    def against(c: float) -> Against:
        def vectors(others: list[Column]) -> Points:
            rest = np.sum([outputs.embed(column)[:, 0] for column in others], axis=0)
            return np.column_stack((a - c - b * rest, np.full(len(rest), -b)))

        return vectors

    return StructuredGame([outputs] * k, [against(c) for c in costs], f"Cournot, {k} firms")


def routing(
    players: int = 2,
    traffic: float = 1.0,
    delays: ArrayLike = (0.0, 1.0),
    slopes: ArrayLike = (2.0, 1.0),
) -> StructuredGame:
    """Each player splits traffic over two links, whose delays grow with the load.

    The delays are a_1 + b_1·load and a_2 + b_2·load. An action is the part x ∈ [0, r] on the
    first link; the payoff is minus the total delay of the player's own traffic. The game has a
    strictly concave potential; its only correlated equilibrium is

        x* = (a_2 − a_1 + b_2·(k + 1)·r) / ((b_1 + b_2)·(k + 1)) ,   cut to [0, r].

    Here r = ``traffic`` > 0 of each of k players, a = ``delays`` and b = ``slopes`` > 0 are pairs.

    Examples
    --------
    >>> from fullswap.games import verify
    >>> bool(verify(routing(), ([[4 / 9, 4 / 9]], [1.0])).gap < 1e-15)
    True
    """
    k, r = checks.whole("players", players, 2), checks.setting("traffic", traffic, above=0.0)
    a1, a2 = checks.vector("delays", delays, 2)
    b1, b2 = checks.vector("slopes", slopes, 2)
    if not (b1 > 0 and b2 > 0):
        checks.refuse("slopes", "be positive", slopes)

    def vectors(others: list[Column]) -> Points:
        first = np.sum(others, axis=0, dtype=float)
        second = (k - 1) * r - first
        # −x·(a1 + b1·(x + first)) − (r − x)·(a2 + b2·(r − x + second)), by powers of x
        constant = -r * (a2 + b2 * (r + second))
        linear = -(a1 + b1 * first) + (a2 + b2 * (2 * r + second))
        return np.column_stack((constant, linear, np.full(len(first), -(b1 + b2))))

    return StructuredGame([_quadratics(r)] * k, [vectors] * k, f"routing, {k} players")


def bayesian_cournot(
    outputs: int = 25,
    demand: float = 12.0,
    slope: float = 1.0,
    costs: ArrayLike = (2.0, 4.0),
    chances: ArrayLike | None = None,
) -> StructuredGame:
    """Two Cournot firms, each of which knows its own unit cost only.

    A plan is an output for each cost, so there are outputs^types plans in dimension 2·types. In
    the continuum the only correlated equilibrium has mean output m = (a − E c)/(3b) and

        q*(c) = (a − c − b·m)/(2b) ;

    with the default it lies on the grid: outputs 3.5 and 2.5, plan 7·25 + 5 = 180.

    Outputs are evenly spaced in [0, a/b] for the price a − b·(q_1 + q_2), ``chances`` are the
    probabilities of ``costs``, equal by default.

    Examples
    --------
    >>> from fullswap.games import verify
    >>> game = bayesian_cournot()
    >>> game.actions[0].size, verify(game, ([[180, 180]], [1.0])).gap
    (625, 0.0)
    """
    count = checks.whole("outputs", outputs, 2)
    a, b = checks.setting("demand", demand, above=0.0), checks.setting("slope", slope, above=0.0)
    types = checks.vector("costs", costs).copy()
    shares = _probabilities("chances", chances, len(types))
    levels = np.linspace(0.0, a / b, count)
    plans = Product([_quantities(levels)] * len(types))

    def vectors(others: list[Column]) -> Points:
        mean = levels[plans.choices(others[0])] @ shares
        linear = shares * (a - types - b * mean[:, None])
        square = np.broadcast_to(-shares * b, linear.shape)
        return np.stack((linear, square), axis=-1).reshape(len(mean), -1)

    return StructuredGame([plans, plans], [vectors, vectors], "Bayesian Cournot")


def auction(
    bids: ArrayLike = 16, values: ArrayLike = 4, chances: ArrayLike | None = None
) -> StructuredGame:
    """First-price auction of two bidders who know their own value only; ties are split evenly.

    A plan is a bid for each value: n = bids^values plans. What a plan earns is linear in the
    probabilities of winning with each bid,

        u = Σ_j P_win(j)·Σ_{k bids j} chance_k·(value_k − bid_j) ,

    so it embeds exactly in dimension ``bids``.

    With numbers given and bids >= values, "bid half your value" by both is an exact pure
    equilibrium: with win probabilities (j + ½)/K the gain of bid j + 1 over j is
    v_k − (2j + 3/2)·step, which changes sign at j = k for v_k = 2k·step.

    ``bids`` (in rising order) and ``values`` are lists, or numbers: then values, at least 2, are
    evenly spaced in [0, 1], and bids are multiples of half the (largest) spacing of the values.
    ``chances`` are the probabilities of the values, equal by default.

    Examples
    --------
    >>> from fullswap.games import verify
    >>> game = auction(bids=16, values=4)
    >>> half = 1 * 16**2 + 2 * 16 + 3    # bids 0, 1, 2, 3 for values 0, 2, 4, 6 steps
    >>> game.actions[0].size, game.actions[0].dim, verify(game, ([[half, half]], [1.0])).gap
    (65536, 16, 0.0)
    """
    if np.ndim(values):
        worth = checks.vector("values", values)
        spacing = 2.0 if len(worth) < 2 else float(np.diff(np.sort(worth)).max())
    else:
        worth = np.linspace(0.0, 1.0, checks.whole("values", values, 2))
        spacing = float(worth[1])
    if np.ndim(bids):
        offers = checks.vector("bids", bids).copy()
        falls = np.diff(offers, prepend=-np.inf) <= 0
        checks.refuse_at("bids", "be in rising order", offers, falls)
    else:
        offers = np.arange(checks.whole("bids", bids, 1)) * spacing / 2
    shares = _probabilities("chances", chances, len(worth))
    labels = [f"{bid:.6g}" for bid in offers]
    tables = shares[:, None] * (worth[:, None] - offers)
    plans = Sum([Vectors(np.diag(table), labels) for table in tables])

    def vectors(others: list[Column]) -> Points:
        bid = np.zeros((len(others[0]), len(offers)))
        for choice, share in zip(plans.choices(others[0]).T, shares, strict=True):
            bid[np.arange(len(bid)), choice] += share
        return np.cumsum(bid, axis=1) - bid / 2

    name = f"first-price auction, {len(offers)} bids for {len(worth)} values"
    return StructuredGame([plans, plans], [vectors, vectors], name)


def _quantities(levels: Vector) -> Vectors:
    """Numbers t embedded as (t, t²)."""
    return Vectors(np.column_stack((levels, levels**2)), [f"{t:.6g}" for t in levels])


def _quadratics(high: float) -> Curve:
    """Numbers t ∈ [0, high] embedded as (1, t, t²): payoffs quadratic in t, constants included."""
    parabola = Curve.parabola(0.0, high)

    def embed(t: Vector) -> Points:
        return np.column_stack((np.ones_like(t), t, t * t))

    return Curve(0.0, high, embed, lambda directions: parabola.best(directions[:, 1:])[0])


def _probabilities(name: str, values: ArrayLike | None, length: int) -> Vector:
    """So many numbers > 0 that sum to 1; None for equal ones."""
    if values is None:
        return np.full(length, 1 / length)
    array = checks.vector(name, values, length)
    if array.min() <= 0 or abs(array.sum() - 1) > checks.ROW_TOLERANCE:
        checks.refuse(name, "be numbers > 0 that sum to 1", array.tolist())
    shares: Vector = array / array.sum()
    return shares
