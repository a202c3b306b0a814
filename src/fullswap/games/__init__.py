"""Structured games and their correlated equilibria, with gaps checked against every action.

Payoffs are linear in each player's own embedding. That is all that is used, so the number of
actions does not matter: solve a game of a hundred thousand actions like one of a hundred.
"""

from fullswap.games import zoo
from fullswap.games.actions import ActionSet, Curve, Units, Vectors, column_of
from fullswap.games.decompose import decompose
from fullswap.games.extensive.payoffs import from_sequence_form
from fullswap.games.extensive.sequence import SequenceForm
from fullswap.games.extensive.tree import Tree, from_tree
from fullswap.games.files import parse, read, to_nfg, write
from fullswap.games.game import StructuredGame, from_matrices, from_tensor
from fullswap.games.learner import StructuredLearner
from fullswap.games.neighbours import congestion, from_function, from_sparse, polymatrix
from fullswap.games.plans import Product, Sum
from fullswap.games.player import MixedAction, Player, as_player
from fullswap.games.playout import PlayedOut, play_out
from fullswap.games.profiles import CorrelatedEquilibrium, Gap, Optimum
from fullswap.games.regions import Paraboloid, Region
from fullswap.games.solve import solve
from fullswap.games.verify import verify

__all__ = [
    "ActionSet",
    "CorrelatedEquilibrium",
    "Curve",
    "Gap",
    "MixedAction",
    "Optimum",
    "Paraboloid",
    "PlayedOut",
    "Player",
    "Product",
    "Region",
    "SequenceForm",
    "StructuredGame",
    "StructuredLearner",
    "Sum",
    "Tree",
    "Units",
    "Vectors",
    "as_player",
    "column_of",
    "congestion",
    "decompose",
    "from_function",
    "from_matrices",
    "from_sequence_form",
    "from_sparse",
    "from_tensor",
    "from_tree",
    "parse",
    "play_out",
    "polymatrix",
    "read",
    "solve",
    "to_nfg",
    "verify",
    "write",
    "zoo",
]
