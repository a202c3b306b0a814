"""Games on circles, parabolas and discs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import ActionSet, Column, Curve, Vectors
from fullswap.games.game import Against, StructuredGame
from fullswap.games.regions import Paraboloid
from fullswap.sets import Ball


def ring(n: int = 100, others: int | None = None, shift: float = 1.0) -> StructuredGame:
    """Points on a circle that chase one another.

        u_1 = cos(α_i − β_j − φ) ,   u_2 = cos(β_j − α_i − φ)

    Each player wants to be ``shift`` = φ ahead of the other (π/2: a zero-sum game). They have
    ``n`` and ``others`` points (n by default), embedded in dimension 2 whatever these numbers.
    Uniform play of both is a correlated equilibrium that pays 0, because the directions of all
    points add up to 0. Pure equilibria need α − β = φ and = −φ at once: unless φ is a multiple of
    π there is none on a fine circle, and every pure profile has a gap of at least 1 − cos φ, up to
    the spacing (φ ≤ π/2).

    Examples
    --------
    >>> from fullswap.games import verify
    >>> bool(verify(ring(6), np.full((6, 6), 1 / 36)).gap < 1e-15)
    True
    """
    mine = checks.whole("n", n, 2)
    theirs = mine if others is None else checks.whole("others", others, 2)
    phase = checks.setting("shift", shift)
    first, second = _circle(mine), _circle(theirs)
    cosine, sine = np.cos(phase), np.sin(phase)
    ahead = np.array([[cosine, sine], [-sine, cosine]])  # rows are turned by the shift
    return StructuredGame.from_embeddings(
        first, second @ ahead, first @ ahead, second, f"ring {mine} × {theirs}"
    )


def calibration_game(points: int | None = None) -> StructuredGame:
    """Forecast x ∈ [0, 1] of an event b ∈ {0, 1}: u_1 = −x² + b·(2x − 1), nature is indifferent.

    v_x = (2x − 1, −x²) and w_b = (b, 1). The forecaster's swap gap under a distribution of (x, b)
    is the mean l2 calibration error, E (x − E[b | x])²: an equilibrium is a calibrated forecast.

    ``points`` is a number of evenly spaced forecasts, at least 2; None for all of [0, 1].

    Examples
    --------
    >>> from fullswap.games import verify
    >>> rain = ([[0.25, 1], [0.25, 0]], [0.5, 0.5])   # says 25 %, it rains half of the time
    >>> verify(calibration_game(), rain).gaps[0].swap
    0.0625
    """

    def embed(x: Vector) -> Points:
        return np.column_stack((2 * x - 1, -x * x))

    def maximise(directions: Points) -> Vector:
        # 2·w_1·x − w_2·x²: at its peak if it has one, else at the better end
        slope, square = directions.T
        ends = np.where(2 * slope >= square, 1.0, 0.0)
        peak = np.divide(slope, square, out=np.zeros_like(slope), where=square > 0)
        return np.where(square > 0, np.clip(peak, 0.0, 1.0), ends)

    forecasts: ActionSet = Curve(0.0, 1.0, embed, maximise)
    if points is not None:
        grid = np.linspace(0.0, 1.0, checks.whole("points", points, 2))
        forecasts = Vectors(embed(grid), [f"{x:.6g}" for x in grid])
    events = np.array([[0.0, 1.0], [1.0, 1.0]])
    nature = Vectors(np.eye(2), ["no", "yes"])
    against = (lambda others: events[others[0]], lambda others: np.zeros((len(others[0]), 2)))
    return StructuredGame((forecasts, nature), against, "calibration")


def quadratic_2d(
    target: ArrayLike = ((1.0, 0.0), (0.0, 1.0)),
    coupling: ArrayLike = ((0.0, 0.5), (-0.5, 0.0)),
    radius: float = 3.0,
) -> StructuredGame:
    """Two players choose points of a disc and have quadratic payoffs.

        u_1 = ⟨a_1 + M·y, x⟩ − ‖x‖²/2 ,   u_2 = ⟨a_2 + Mᵀ·x, y⟩ − ‖y‖²/2

    ``target`` has rows a_1 and a_2, ``coupling`` is M, ``radius`` that of the disc around 0. The
    best answer to y on average is a_1 + M·y, if it lies in the disc. With ‖M‖ < 1 these answers
    contract, so the only correlated equilibrium is the pure one,

        x* = (1 − M·Mᵀ)⁻¹·(a_1 + M·a_2) ,   y* = a_2 + Mᵀ·x* ,

    as long as both lie in the disc: for the default x* = (2, 0), y* = (0, 2).

    Examples
    --------
    >>> from fullswap.games import verify
    >>> game = quadratic_2d()
    >>> pure = np.column_stack([s.column([p]) for s, p in zip(game.actions, [(2, 0), (0, 2)])])
    >>> bool(verify(game, (pure, [1.0])).gap < 1e-12)
    True
    """
    targets = checks.matrix("target", target, (2, 2)).copy()
    matrix = checks.matrix("coupling", coupling, (2, 2)).copy()
    norm = float(np.linalg.norm(matrix, 2))
    if norm >= 1:
        checks.refuse("coupling", "have norm below 1", norm)
    disc = Paraboloid(Ball([0.0, 0.0], checks.setting("radius", radius, above=0.0)))

    def against(own: Vector, turned: Points) -> Against:
        def vectors(others: list[Column]) -> Points:
            slope = own + disc.points(others[0]) @ turned.T
            return np.column_stack((slope, np.full(len(slope), -0.5)))

        return vectors

    both = against(targets[0], matrix), against(targets[1], matrix.T)
    return StructuredGame((disc, disc), both, "quadratic game on a disc")


def _circle(n: int) -> Points:
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack((np.cos(angle), np.sin(angle)))
