"""Game trees, and the structured games they are.

Nodes are given each before its children, the way files list them, so a tree is as deep as it
likes to be: nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points
from fullswap.games.actions import ActionSet, Vectors
from fullswap.games.extensive.payoffs import payoff_maps
from fullswap.games.extensive.sequence import SequenceForm
from fullswap.games.game import StructuredGame
from fullswap.games.names import told_apart

CHANCE = -1  # chance as a player
NOBODY = "nobody"  # the company of one player alone
_LISTED = 4_000_000  # entries of the list of strategies of a player with imperfect recall: 32 MB
_LETTERS = 50_000_000  # of their names


@dataclass(frozen=True)
class InformationSet:
    """Where a player (or chance) cannot tell nodes apart; probabilities only for chance."""

    player: int
    name: str
    actions: tuple[str, ...]
    probabilities: tuple[float, ...] = ()


class Tree:
    """A game tree, grown node by node, each before its children and these in order.

    Payoffs may be given at any node and add up along the path.

    Examples
    --------
    >>> tree = Tree(["thrower", "guesser"])
    >>> coin = tree.information_set(CHANCE, "coin", ["heads", "tails"], [0.5, 0.5])
    >>> guess = tree.information_set(1, "guess", ["heads", "tails"])
    >>> _ = tree.node(coin)
    >>> for pays in (1, -1):
    ...     _ = tree.node(guess), tree.leaf((-pays, pays)), tree.leaf((pays, -pays))
    >>> from_tree(tree).payoffs([[0, 1]]).tolist()
    [[0.0, 0.0]]
    """

    def __init__(self, players: Sequence[str], title: str = "", comment: str = "") -> None:
        self.players = tuple(str(player) for player in players)
        self.title, self.comment = title, comment
        self.sets: list[InformationSet] = []
        self.where: list[int] = []  # information set of each node, −1 for leaves
        self.parents: list[int] = []
        self.branches: list[int] = []  # which action of its parent leads to a node
        self.payoffs: list[Sequence[float] | None] = []
        self._open: list[list[int]] = [[-1, 0, 1]]  # nodes with [next, number of] children
        self.missing = 1  # branches that still lead nowhere

    @property
    def nodes(self) -> int:
        """How many there are."""
        return len(self.where)

    def information_set(
        self,
        player: int,
        name: str,
        actions: Sequence[str],
        probabilities: Sequence[float] | None = None,
    ) -> int:
        """Describe an information set, of a player from 0 or of CHANCE; returns its number."""
        if not CHANCE <= player < len(self.players):
            checks.refuse("player", f"be 0 to {len(self.players) - 1} or CHANCE", player)
        if not len(actions):
            checks.refuse("actions", "be one or more names", actions)
        chances = tuple(float(p) for p in probabilities or ())
        if len(chances) != (len(actions) if player == CHANCE else 0):
            rule = "be given for each action of chance, and only then"
            checks.refuse("probabilities", rule, probabilities)
        if chances and not (min(chances) >= 0 and abs(sum(chances) - 1) <= checks.ROW_TOLERANCE):
            checks.refuse("probabilities", "be at least 0 and add up to 1", chances)
        self.sets.append(InformationSet(player, name, tuple(map(str, actions)), chances))
        return len(self.sets) - 1

    def node(self, information_set: int, payoffs: Sequence[float] | None = None) -> int:
        """Add a node of an information set; its children are added next. Returns its number."""
        if not 0 <= information_set < len(self.sets):
            rule = "be a number that information_set() gave"
            checks.refuse("information_set", rule, information_set)
        number = self._add(information_set, payoffs)
        count = len(self.sets[information_set].actions)
        self._open.append([number, 0, count])
        self.missing += count
        return number

    def leaf(self, payoffs: Sequence[float] | None = None) -> int:
        """Add an end of the game. Returns its number."""
        return self._add(-1, payoffs)

    def _add(self, where: int, payoffs: Sequence[float] | None) -> int:
        if not self.missing:
            raise ValueError("the tree is complete: no branch is left for another node")
        if payoffs is not None:
            payoffs = tuple(checks.vector("payoffs", payoffs, len(self.players)).tolist())
        while self._open[-1][1] == self._open[-1][2]:
            self._open.pop()
        parent, branch, _ = self._open[-1]
        self._open[-1][1] += 1
        self.missing -= 1
        self.where.append(where)
        self.parents.append(parent)
        self.branches.append(branch)
        self.payoffs.append(payoffs)
        return len(self.where) - 1


class _Histories:
    """Sequences of one player: for each in each information set, a block of one an action."""

    def __init__(self) -> None:
        self.parents, self.sets, self.moves = [-1], [-1], [""]
        self.blocks: dict[tuple[int, int], int] = {}

    def block(self, where: int, sequence: int, actions: tuple[str, ...]) -> int:
        """First sequence of the block."""
        start = self.blocks.setdefault((where, sequence), len(self.parents))
        if start == len(self.parents):
            self.parents.extend([sequence] * len(actions))
            self.sets.extend([where] * len(actions))
            self.moves.extend(actions)
        return start


def from_tree(tree: Tree, name: str | None = None) -> StructuredGame:
    """The structured game of a tree.

    Actions are reduced strategies, with perfect recall as :class:`SequenceForm`; those of a player
    who forgets are listed one by one. One player alone gets company by a second, who has one
    action and no interest.
    """
    if tree.missing:
        checks.refuse("tree", "be complete, without branches that lead nowhere", tree.missing)
    if not tree.players:
        checks.refuse("tree", "have at least 1 player", tree.players)
    with np.errstate(over="ignore", invalid="ignore"):  # sums that are not finite are refused
        histories, sequences, payoffs = _leaves(tree)
    if len(histories) == 1:
        histories.append(_Histories())
        sequences = np.column_stack((sequences, np.zeros_like(sequences)))
        payoffs = np.column_stack((payoffs, np.zeros_like(payoffs)))
    sets = [_strategies(tree, player, history) for player, history in enumerate(histories)]
    against, names = payoff_maps(sets, sequences, payoffs), (*tree.players, NOBODY)[: len(sets)]
    return StructuredGame(sets, against, name or tree.title or "game", player_names=names)


def _leaves(tree: Tree) -> tuple[list[_Histories], Indices, Points]:
    """Per player its sequences; per leaf sequences (l, N), and payoffs times chance (l, N)."""
    players = len(tree.players)
    histories = [_Histories() for _ in range(players)]
    blocks = [0] * tree.nodes
    at = np.zeros((tree.nodes, players), dtype=np.int64)
    reach, paid = np.ones(tree.nodes), np.zeros((tree.nodes, players))
    for k in range(tree.nodes):
        parent, branch = tree.parents[k], tree.branches[k]
        if parent >= 0:
            at[k], reach[k], paid[k] = at[parent], reach[parent], paid[parent]
            before = tree.sets[tree.where[parent]]
            if before.player == CHANCE:
                reach[k] *= before.probabilities[branch]
            else:
                at[k, before.player] = blocks[parent] + branch
        if tree.payoffs[k] is not None:
            paid[k] += tree.payoffs[k]
        if tree.where[k] >= 0 and tree.sets[tree.where[k]].player != CHANCE:
            here = tree.sets[tree.where[k]]
            own = int(at[k, here.player])
            blocks[k] = histories[here.player].block(tree.where[k], own, here.actions)
    leaves = np.flatnonzero(np.array(tree.where) < 0)
    huge = leaves[~np.isfinite(paid[leaves]).all(axis=1)]
    if huge.size:
        raise ValueError(f"payoffs must add up to finite ones, got {paid[huge[0]]} at a leaf")
    return histories, at[leaves], paid[leaves] * reach[leaves, None]


def _strategies(tree: Tree, player: int, history: _Histories) -> ActionSet:
    used = np.unique(history.sets)  # -1 among them
    if len(used) <= len(history.blocks):
        return _listed(tree, player, history)
    places = [tree.sets[where].name for where in used[1:]]
    sets = np.searchsorted(used, history.sets) - 1
    return SequenceForm(history.parents, sets, history.moves, places)


def _listed(tree: Tree, player: int, history: _Histories) -> Vectors:
    """All reduced strategies of a player who may forget, each with the sequences it plays."""
    # One pass over the blocks, which come after those that lead to them: a set that is reached
    # without an action gets its first, and the others wait, with the place where they differ.
    dim = len(history.parents)
    every = list(history.blocks.items())
    own = list(dict.fromkeys(where for where, _ in history.blocks))
    names = told_apart([tree.sets[where].name for where in own])
    places = dict(zip(own, names, strict=True))
    moves = {where: told_apart(tree.sets[where].actions) for where in own}
    plans: list[Points] = []
    labels: list[str] = []
    letters = 0
    begun = np.zeros(dim)
    begun[0] = 1.0
    waiting: list[tuple[dict[int, int], Points, int]] = [({}, begun, 0)]
    while waiting:
        strategy, plan, place = waiting.pop()
        for k in range(place, len(every)):
            (where, sequence), start = every[k]
            if plan[sequence] and where not in strategy:
                others = range(len(tree.sets[where].actions) - 1, 0, -1)
                _refuse_many(tree, player, len(plans) + len(waiting) + len(others), dim, letters)
                waiting.extend(({**strategy, where: b}, plan.copy(), k) for b in others)
                strategy[where] = 0
            if plan[sequence]:
                plan[start + strategy[where]] = 1.0
        plans.append(plan)
        labels.append(", ".join(f"{moves[at][b]} at {places[at]}" for at, b in strategy.items()))
        letters += len(labels[-1])
        _refuse_many(tree, player, len(plans) + len(waiting), dim, letters)
    return Vectors(np.array(plans), labels)


def _refuse_many(tree: Tree, player: int, count: int, dim: int, letters: int) -> None:
    """Strategies are listed, with their names, as long as they fit into memory."""
    if count * dim > _LISTED or letters > _LETTERS:
        most = _LISTED // dim if count * dim > _LISTED else count - 1
        raise ValueError(
            f"player {player + 1} ({tree.players[player]}) has imperfect recall and more than "
            f"{most} strategies: too many to list; games with perfect recall have no such limit"
        )
