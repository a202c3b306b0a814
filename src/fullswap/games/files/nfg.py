"""Strategic games in Gambit's .nfg format: payoffs cell by cell, or by numbered outcomes.

    NFG 1 R "title" { "player" … } { counts } ["comment"] payoffs …
    NFG 1 R "title" { "player" … } { { "action" … } … } ["comment"] { { "" payoffs } … } numbers …

Both forms of the action list go with both forms of the body. Cells are listed with the first
player's action changing fastest; outcome 0 pays nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Points
from fullswap.games.extensive.tree import NOBODY
from fullswap.games.files.tokens import Scanner
from fullswap.games.game import StructuredGame, from_tensor

_MOST_PLAYERS = 32  # arrays have no more axes to spare (and two actions each would make 2^32 cells)


@dataclass(frozen=True, eq=False)
class Table:
    """What a file says: payoffs[p, a_1, …, a_N], shape (N, n_1, …, n_N)."""

    title: str
    comment: str
    players: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    payoffs: Points

    def game(self, name: str) -> StructuredGame:
        """The structured game; one player alone gets company by a second, without interest."""
        payoffs, labels, players = self.payoffs, self.actions, self.players
        if len(self.players) == 1:
            payoffs = np.stack((payoffs[0], np.zeros_like(payoffs[0])))[:, :, None]
            labels, players = (*labels, ("nothing",)), (*players, NOBODY)
        return from_tensor(payoffs, name, labels, players)


def parse(words: Scanner) -> Table:
    """Read a whole file, from its first word."""
    title = words.header("NFG", "1")
    at = words.next
    players = words.strings("player")
    if not 1 <= len(players) <= _MOST_PLAYERS:
        words.fail(f"1 to {_MOST_PLAYERS} players, got {len(players)}", at)
    counts, labels = _actions(words, len(players))
    comment = words.optional("the comment")
    cells, shown = math.prod(counts), " x ".join(map(str, counts))
    # Now and not later: a damaged count would otherwise ask for more memory than there is.
    if words.left < cells:
        words.fail(f"payoffs for {shown} cells, got {words.left} words")
    read = _by_outcomes if words.is_mark("{") else _by_cells
    flat = read(words, len(players), cells)
    words.finish(f"the payoffs of {shown} cells")
    payoffs = np.array(flat).reshape((len(players), *counts), order="F")
    named = labels or [[""] * count for count in counts]
    actions = tuple(tuple(text or str(k) for k, text in enumerate(row, 1)) for row in named)
    return Table(title, comment, tuple(players), actions, np.ascontiguousarray(payoffs))


def _actions(words: Scanner, players: int) -> tuple[list[int], list[list[str]] | None]:
    """{ 2 3 } or { { "a" "b" } { "c" "d" "e" } }: counts, and names where given."""
    words.mark("{", "before the actions of the players")
    if words.is_mark("{"):
        labels = [words.strings("action") for _ in range(players)]
        words.mark("}", f"after the actions of {players} players")
        return [len(row) for row in labels], labels
    counts = [words.whole("the number of actions of a player", 1) for _ in range(players)]
    words.mark("}", f"after the numbers of actions of {players} players")
    return counts, None


def _by_cells(words: Scanner, players: int, cells: int) -> list[float]:
    flat = []
    for k in range(cells * players):
        flat.append(words.number(f"payoff {k + 1} of {cells * players}"))
        words.skip(",")
    return flat


def _by_outcomes(words: Scanner, players: int, cells: int) -> list[float]:
    words.mark("{", "before the outcomes")
    outcomes = [[0.0] * players]
    while not words.skip("}"):
        words.mark("{", "before an outcome, or '}' after the last")
        words.optional("the name of an outcome")
        outcomes.append(words.numbers("payoffs", players))
    flat: list[float] = []
    for k in range(cells):
        at = words.next
        number = words.whole(f"the outcome of cell {k + 1} of {cells}")
        if number >= len(outcomes):
            words.fail(f"an outcome from 0 to {len(outcomes) - 1}, got {number}", at)
        flat.extend(outcomes[number])
        words.skip(",")
    return flat
