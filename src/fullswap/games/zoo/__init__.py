"""Named games with known answers, to learn on and to test solvers with.

Every function's docstring states what its correlated equilibria are. ``GAMES`` lists those that
can be called without arguments.
"""

from collections.abc import Callable

from fullswap.games.game import StructuredGame
from fullswap.games.zoo.markets import auction, bayesian_cournot, cournot, routing
from fullswap.games.zoo.shapes import calibration_game, quadratic_2d, ring
from fullswap.games.zoo.tables import chicken, kuhn_poker, shapley, von_stengel_forges

__all__ = [
    "GAMES", "auction", "bayesian_cournot", "calibration_game", "chicken", "cournot", "kuhn_poker",
    "quadratic_2d", "ring", "routing", "shapley", "von_stengel_forges",
]  # fmt: skip

GAMES: dict[str, Callable[..., StructuredGame]] = {name: globals()[name] for name in __all__[1:]}
"""Name ↦ function that makes the game."""
