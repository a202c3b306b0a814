"""Correlated profiles: who is recommended what, how often, and who would gain by not following."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.protocols import Vector
from fullswap.games import card
from fullswap.games.actions import Action, Column
from fullswap.games.game import StructuredGame

if TYPE_CHECKING:
    from narwhals.typing import EagerAllowed, IntoBackend


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

    def __repr__(self) -> str:
        return f"<Gap: {self.swap:.3g} by swaps, {self.coarse:.3g} by one fixed action>"


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

    @property
    def gap(self) -> float:
        """The largest gain of a player by any swap of recommendations, error of rank included."""
        return max(g.swap + 2 * e for g, e in zip(self.gaps, self.game.errors, strict=True))

    @property
    def coarse_gap(self) -> float:
        """The largest gain of a player by one fixed action."""
        return max(g.coarse + 2 * e for g, e in zip(self.gaps, self.game.errors, strict=True))

    @property
    def payoffs(self) -> Vector:
        """Expected payoffs, shape (players,)."""
        return self.weights @ self.game.payoffs(self.support)

    def marginal(self, player: int) -> tuple[Column, Vector]:
        """Distinct actions of a player with their probabilities."""
        actions, where = np.unique(self.support[:, player], return_inverse=True)
        return actions, np.bincount(where.ravel(), self.weights, len(actions)).astype(float)

    def sample(self, size: int, seed: int | np.random.Generator | None = None) -> NDArray[Any]:
        """Draw recommendations, shape (size, players)."""
        count = checks.whole("size", size, 0)
        generator = np.random.default_rng(seed)
        return self.support[generator.choice(len(self.weights), count, p=self.weights)]

    def to_frame(self, backend: IntoBackend[EagerAllowed] = "pandas") -> Any:
        """Actions, probability, payoffs of each joint action, as pandas, polars, pyarrow, …"""
        try:
            import narwhals
        except ImportError:
            raise ImportError("to_frame needs its extra: pip install 'fullswap[frames]'") from None
        players = range(self.game.players)
        payoffs = self.game.payoffs(self.support)
        actions = self.game.columns(self.support)  # numbers of finite sets as whole numbers
        columns: dict[str, Any] = {f"action_{i}": actions[i] for i in players}
        columns["probability"] = self.weights
        columns.update({f"payoff_{i}": payoffs[:, i] for i in players})
        return narwhals.from_dict(columns, backend=backend).to_native()

    @property
    def names(self) -> list[list[Any]]:
        """Names of the joint actions, row by row; what has none is counted from 1."""
        sets, columns = self.game.actions, self.game.columns(self.support)
        named = [[s.name(a) for a in column] for s, column in zip(sets, columns, strict=True)]
        return [list(row) for row in zip(*named, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: ``support`` has the numbers of actions, from 0, ``actions`` their names."""
        columns = [column.tolist() for column in self.game.columns(self.support)]
        return {
            "game": self.game.name,
            "method": self.method,
            "rounds": self.rounds,
            "reached": self.reached,
            "gap": self.gap,
            "coarse_gap": self.coarse_gap,
            "gaps": [g.swap for g in self.gaps],
            "players": list(self.game.player_names),
            "payoffs": self.payoffs.tolist(),
            "actions": self.names,
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
        paid = ", ".join(map(card.number, self.payoffs))
        state = " (the gap asked for was not reached)" if self.reached is False else ""
        return (
            f"{self.game.name}: correlated equilibrium with gap {card.number(self.gap)}{state}, "
            f"{counted(len(self.weights), 'joint action')}, payoffs {paid}"
        )
