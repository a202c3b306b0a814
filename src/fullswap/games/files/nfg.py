"""Strategic games in Gambit's .nfg format: payoffs cell by cell, or by numbered outcomes.

    NFG 1 R "title" { "player" … } { counts } ["comment"] payoffs …
    NFG 1 R "title" { "player" … } { { "action" … } … } ["comment"] { { "" payoffs } … } numbers …

Both forms of the action list go with both forms of the body. Cells are listed with the first
player's action changing fastest; outcome 0 pays nothing.
"""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.extensive.tree import NOBODY
from fullswap.games.files.tokens import LONGEST_NUMBER, Scanner
from fullswap.games.game import StructuredGame, from_matrices, from_tensor

_MOST_PLAYERS = 32  # arrays have no more axes to spare (and two actions each would make 2^32 cells)
_PIECE = 1_000_000  # letters that are split into words at once
_SPACE = re.compile(r"\s")
_UNUSUAL = re.compile(r"[^0-9+\-.eE\s]", re.ASCII)  # what float() and the format may see otherwise


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
        if len(players) == 2:
            return from_matrices(payoffs[0], payoffs[1], None, name, labels, players)
        return from_tensor(payoffs, name, labels, players)


def parse(words: Scanner) -> Table:
    """Read a whole file, from its first word."""
    title = words.header("NFG", "1")
    at = words.next
    players = words.strings("player")
    if not 1 <= len(players) <= _MOST_PLAYERS:
        words.fail(f"1 to {_MOST_PLAYERS} players, got {len(players)}", at)
    counts, labels = _actions(words, len(players))
    comment = words.comment()
    cells, shown = math.prod(counts), " x ".join(map(str, counts))
    # Now and not later: a damaged count would otherwise ask for more memory than there is.
    if not words.may_have(cells):
        words.fail(f"payoffs for {shown} cells, got {words.count()} words")
    flat: array[float] | Vector | None
    if words.is_mark("{"):
        flat = _by_outcomes(words, len(players), cells)
    else:
        flat = _plain_numbers(words, cells * len(players))
        if flat is None:
            flat = _by_cells(words, len(players), cells)
    words.finish(f"the payoffs of {shown} cells")
    payoffs = np.asarray(flat).reshape((len(players), *counts), order="F")
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


def _plain_numbers(words: Scanner, count: int) -> Vector | None:
    """All payoffs at once, where they are plain numbers and nothing is wrong with them."""
    text = words.rest()
    if not words.may_have(count) or _UNUSUAL.search(text):
        return None
    values = np.empty(count)
    place = start = 0
    while start < len(text):
        end = _end_of_word(text, start + _PIECE)
        found = text[start:end].split()
        if place + len(found) > count or max(map(len, found), default=0) > LONGEST_NUMBER:
            return None
        try:
            numbers = [float(word) for word in found]
        except ValueError:
            return None
        values[place : place + len(numbers)] = numbers
        place, start = place + len(numbers), end
    if place < count or not np.isfinite(values).all():
        return None
    words.skip_rest()
    return values


def _end_of_word(text: str, place: int) -> int:
    """The first white space from here on."""
    found = _SPACE.search(text, place)
    return len(text) if found is None else found.start()


def _by_cells(words: Scanner, players: int, cells: int) -> array[float]:
    flat = array("d")
    for k in range(cells * players):
        flat.append(words.number(f"payoff {k + 1} of {cells * players}"))
        words.skip(",")
    return flat


def _by_outcomes(words: Scanner, players: int, cells: int) -> array[float]:
    words.mark("{", "before the outcomes")
    outcomes = [[0.0] * players]
    while not words.skip("}"):
        words.mark("{", "before an outcome, or '}' after the last")
        words.optional("the name of an outcome")
        outcomes.append(words.numbers("payoffs", players))
    flat = array("d")
    for k in range(cells):
        at = words.next
        number = words.whole(f"the outcome of cell {k + 1} of {cells}")
        if number >= len(outcomes):
            words.fail(f"an outcome from 0 to {len(outcomes) - 1}, got {number}", at)
        flat.extend(outcomes[number])
        words.skip(",")
    return flat
