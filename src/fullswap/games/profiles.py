"""Correlated profiles: who is recommended what, how often, and who would gain by not following."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.protocols import Points, Vector
from fullswap.games import card, exchange
from fullswap.games.actions import Action, Column
from fullswap.games.game import StructuredGame

if TYPE_CHECKING:
    from narwhals.typing import EagerAllowed, IntoBackend


# Share of the range of values by which those differ that count as the same: programmes are solved
# to a ten-millionth of it, and nobody notices a millionth.
_PROVED = 1e-6
_MOST_FIGURES = 15  # of a float


@dataclass(frozen=True, eq=False, repr=False)
class Gap:
    """What one player gains by leaving the recommendations."""

    swap: float
    """By the best map from recommended actions to actions: the correlated-equilibrium gap."""
    coarse: float
    """By one fixed action instead of all recommendations."""
    recommended: Column
    """Distinct recommendations, shape (r,)."""
    deviations: Column
    """The best answer to each."""
    gains: Vector
    """What each adds to ``swap`` (its probability counted), shape (r,)."""
    coarse_deviation: Action
    """The action that attains ``coarse``."""
    payoff: float
    """What the player is paid on average by following."""

    def __repr__(self) -> str:
        return f"<Gap: {self.swap:.3g} by swaps, {self.coarse:.3g} by one fixed action>"


@dataclass(frozen=True)
class Optimum:
    """How good an equilibrium is for the objective that was asked for."""

    objective: str
    """"welfare", "fair", "weights", or "entropy" (in nats)."""
    value: float
    bound: float | None
    """No equilibrium has more; None if no bound is known."""
    scale: float = 0.0
    """How far values of joint actions are apart."""
    searched: bool = True
    """Whether better ones were looked for; False if any equilibrium had to do."""

    @property
    def proved(self) -> bool:
        """Whether it is best, up to a millionth of the scale."""
        return self.bound is not None and abs(self.bound - self.value) <= _PROVED * self.scale

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**vars(self), "proved": self.proved}

    def __str__(self) -> str:
        known = "best among the actions looked at, no bound is known"
        if not self.searched:
            known = "not optimised"
        elif self.bound is not None:
            known = f"not proved best: no equilibrium has more than {self._said(self.bound)}"
        known = "proved best" if self.proved else known
        return f"{self.objective} {self._said(self.value)} ({known})"

    def _said(self, value: float) -> str:
        """Six figures of what values differ by, whatever their common level."""
        level = abs(value) / self.scale if self.scale > 0 else 1.0
        return f"{value:.{min(6 + math.floor(math.log10(max(level, 1.0))), _MOST_FIGURES)}g}"


@dataclass(frozen=True, eq=False, repr=False)
class CorrelatedEquilibrium:
    """A distribution over joint actions, with the gap to which it is an equilibrium."""

    game: StructuredGame
    support: NDArray[Any]
    """Joint actions that are recommended, shape (m, players)."""
    weights: Vector
    """Their probabilities, shape (m,)."""
    gaps: tuple[Gap, ...]
    """For each player, verified against every action."""
    rounds: int = 0
    """Rounds of self-play that led here (0 for other methods)."""
    reached: bool | None = None
    """Whether the gap asked for was reached; None if none was asked for."""
    method: str = ""
    """What found it; with "auto", the member of the portfolio that did."""
    notion: str = "correlated"
    """Which gap was to be small: "correlated", or "coarse"."""
    optimum: Optimum | None = None
    """How good it is for the objective that was asked for; None if nothing was optimised."""

    @property
    def gap(self) -> float:
        """The largest gain of a player by any swap of recommendations, error of rank included."""
        return max(g.swap + 2 * e for g, e in zip(self.gaps, self.game.errors, strict=True))

    @property
    def coarse_gap(self) -> float:
        """The largest gain of a player by one fixed action."""
        return max(g.coarse + 2 * e for g, e in zip(self.gaps, self.game.errors, strict=True))

    @property
    def tree_gap(self) -> float | None:
        """The largest gain in a tree whose moves are told one at a time (EFCE); None without one.

        It lies between ``coarse_gap`` and ``gap``: equilibria over reduced strategies are
        extensive-form correlated equilibria too.
        """
        from fullswap.games.verify import tree_gap

        return tree_gap(self)

    @property
    def payoffs(self) -> Vector:
        """Expected payoffs, shape (players,)."""
        return np.array([gap.payoff for gap in self.gaps])

    def marginal(self, player: int) -> tuple[Column, Vector]:
        """Distinct actions of a player with their probabilities."""
        actions, where = np.unique(self.support[:, player], return_inverse=True)
        return actions, np.bincount(where.ravel(), self.weights, len(actions)).astype(float)

    def sample(self, size: int, seed: int | np.random.Generator | None = None) -> NDArray[Any]:
        """Draw recommendations, shape (size, players)."""
        count = checks.whole("size", size, 0)
        generator = np.random.default_rng(seed)
        return self.support[generator.choice(len(self.weights), count, p=self.weights)]

    def to_frame(
        self, backend: IntoBackend[EagerAllowed] = "pandas", *, numbers: bool = False
    ) -> Any:
        """Joint actions by name, their probabilities and payoffs, as a frame.

        Parameters
        ----------
        backend
            Library of the frame: pandas, polars, pyarrow, … as narwhals knows them.
        numbers
            True: actions by their numbers, from 0, as in ``support``. Otherwise what has no name is
            counted from 1.

        Returns
        -------
        frame
            A column for each player, called by name, ``probability``, and ``payoff of …`` for each.

        Examples
        --------
        >>> from fullswap.games import from_matrices, verify
        >>> names = [["stop", "go"], ["stop", "go"]]
        >>> crossing = from_matrices([[0, 1], [2, -9]], [[0, 2], [1, -9]], None, "crossing", names)
        >>> verify(crossing, [[0, 0.5], [0.5, 0]]).to_frame().iloc[:, :3]
          player 1 player 2  probability
        0     stop       go          0.5
        1       go     stop          0.5
        """
        try:
            import narwhals
        except ImportError:
            raise ImportError("to_frame needs its extra: pip install 'fullswap[frames]'") from None
        columns = exchange.to_columns(self, numbers)
        return narwhals.from_dict(columns, backend=backend).to_native()

    def to_table(self) -> Points:
        """Probabilities of all joint actions of a finite game, shape (n_1, …, n_N).

        ``verify`` takes it, and so does OpenSpiel's JPSRO as a joint distribution.
        """
        return exchange.to_table(self)

    def to_mixed(self) -> list[list[float]]:
        """Each player's own probabilities of all actions, whatever the others are recommended.

        ``mixed_strategy_profile`` of a game in pygambit takes these. Gambit knows no correlated
        profiles: it is the same only if players are drawn independently, see ``correlation``.
        """
        return exchange.to_mixed(self)

    def to_openspiel(self) -> list[tuple[float, dict[str, list[Any]]]]:
        """A correlation device for OpenSpiel: pairs (weight, policy), one a joint action.

        Each policy is what ``pyspiel.TabularPolicy`` takes, for the turn-based form of the game:
        ``pyspiel.convert_to_turn_based(pyspiel.load_nfg_game(to_nfg(game, named=False)))``.
        """
        return exchange.to_openspiel(self)

    @property
    def correlation(self) -> float:
        """How far recommendations are from independent draws: total variation, 0 for a product."""
        return exchange.distance_to_product(self)

    @property
    def names(self) -> list[list[Any]]:
        """Names of the joint actions, row by row; what has none is counted from 1."""
        sets, columns = self.game.actions, self.game.columns(self.support)
        named = [[s.name(a) for a in column] for s, column in zip(sets, columns, strict=True)]
        return [list(row) for row in zip(*named, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: ``support`` has the numbers of actions, from 0, ``actions`` their names.

        Gaps and payoffs are in the order of ``players``. ``verify(game, (support, weights))`` makes
        an equilibrium of it again.
        """
        columns = [exchange.plain(c.tolist()) for c in self.game.columns(self.support)]
        return {
            "game": self.game.name,
            "method": self.method,
            "rounds": self.rounds,
            "reached": self.reached,
            "gap": self.gap,
            "coarse_gap": self.coarse_gap,
            "tree_gap": self.tree_gap,
            "notion": self.notion,
            "optimum": None if self.optimum is None else self.optimum.to_dict(),
            "gaps": [g.swap for g in self.gaps],
            "players": list(self.game.player_names),
            "payoffs": self.payoffs.tolist(),
            "actions": exchange.plain(self.names),
            "support": [list(row) for row in zip(*columns, strict=True)],
            "weights": self.weights.tolist(),
        }

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict())

    def __repr__(self) -> str:
        return f"<CorrelatedEquilibrium of {card.line_of(self)}>"

    def _repr_html_(self) -> str:
        return card.html_of(self)

    def __str__(self) -> str:
        paid = card.payoffs_of(self)
        state = " (the gap asked for was not reached)" if self.reached is False else ""
        kind, gap = "correlated equilibrium", self.gap
        if self.notion == "coarse":
            kind, gap = "coarse correlated equilibrium", self.coarse_gap
        best = "" if self.optimum is None else f"; {self.optimum}"
        return (
            f"{self.game.name}: {kind} with gap {card.number(gap)}{state}, "
            f"{counted(len(self.weights), 'joint action')}, payoffs {paid}{best}"
        )
