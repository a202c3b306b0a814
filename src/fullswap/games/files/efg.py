"""Extensive games in Gambit's .efg format: the nodes of the tree, each before its children.

    EFG 2 R "title" { "player" … } ["comment"]
    c "node" set ["name" { "action" probability … }] outcome
    p "node" player set ["name" { "action" … }] outcome
    t "node" outcome

with outcome = 0 or number ["name" { payoffs }]. Information sets and outcomes are described
where they first occur; later on the description may be left out, and may not change.
"""

from __future__ import annotations

import math
from fractions import Fraction

from fullswap.base.checks import ROW_TOLERANCE
from fullswap.games.extensive.tree import CHANCE, Tree
from fullswap.games.files.tokens import Scanner

MOST_PLAYERS = 1_000
MOST_ENTRIES = 16_000_000
"""Nodes times players, of which tables are made: 128 MB each."""
_MOST_BITS = 2_048  # of a common denominator; beyond, sums are taken as floats
_SHOWN = 40  # letters of a sum that messages show


def parse(words: Scanner) -> Tree:
    """Read a whole file, from its first word."""
    title, at = words.header("EFG", "2"), words.next
    players = words.strings("player")
    if len(players) > MOST_PLAYERS:
        words.fail(f"1 to {MOST_PLAYERS:,} players, got {len(players):,}", at)
    reader = _Reader(words, Tree(players, title, words.comment()))
    most = MOST_ENTRIES // len(players)
    while reader.tree.missing:
        if reader.tree.nodes == most:
            words.fail(f"at most {most:,} nodes in a game of {len(players):,} players, got more")
        reader.node()
    words.finish("the last node of the tree")
    return reader.tree


class _Reader:
    """What has been described so far: information sets and outcomes by their numbers."""

    def __init__(self, words: Scanner, tree: Tree) -> None:
        self.words, self.tree = words, tree
        self.sets: dict[tuple[int, int], int] = {}
        self.outcomes: dict[int, tuple[float, ...]] = {}

    def node(self) -> None:
        """One node."""
        words = self.words
        if words.next.kind != "word" or words.next.text not in ("c", "p", "t"):
            missing = self.tree.missing
            more = f"{missing} more {'branch' if missing == 1 else 'branches'} to fill"
            words.wrong(f"a node, c, p or t ({more})")
        kind = words.take().text
        words.string("the name of the node")
        if kind == "t":
            self.tree.leaf(self._outcome())
            return
        player, at = CHANCE, words.next
        if kind == "p":
            player = words.whole("the number of the player", 1) - 1
        if player >= len(self.tree.players):
            words.fail(f"a player from 1 to {len(self.tree.players)}, got {player + 1}", at)
        where = self._information_set(player)
        self.tree.node(where, self._outcome())

    def _information_set(self, player: int) -> int:
        """Names may change; numbers of actions and probabilities may not."""
        words = self.words
        at = words.next
        number = words.whole("the number of the information set")
        known = self.sets.get((player, number))
        name = words.optional("its name") or f"information set {number}"
        opening = words.next
        if not words.is_mark("{"):
            if known is None:
                words.fail(f"actions of information set {number}, which is new here", at)
            return known
        chances: list[float] = []
        if player == CHANCE:
            actions, chances = self._chances()
        else:
            actions = words.strings("action")
        if known is None:
            known = self.tree.information_set(player, name, actions, chances)
            self.sets[player, number] = known
        first = self.tree.sets[known]
        if len(actions) != len(first.actions):
            expected = f"{len(first.actions)} actions in information set {number} as before"
            words.fail(f"{expected}, got {len(actions)}", opening)
        pairs = zip(chances, first.probabilities, strict=True)
        if any(abs(now - before) > ROW_TOLERANCE for now, before in pairs):
            words.fail(f"the same probabilities in information set {number} as before", opening)
        return known

    def _chances(self) -> tuple[list[str], list[float]]:
        """{ "heads" 1/2 "tails" 1/2 }: probabilities that add up to 1."""
        words = self.words
        opening = words.next
        words.mark("{", "before actions with probabilities")
        actions: list[str] = []
        values: list[Fraction | float] = []
        while not (actions and words.skip("}")):
            actions.append(words.string("an action of chance"))
            values.append(words.probability("its probability"))
        chances = [float(value) for value in values]
        total = _exact_sum(values)
        if total is not None and total != 1:
            shown = str(total) if len(str(total)) <= _SHOWN else f"{float(total):.9g}"
            words.fail(f"probabilities that add up to 1, got {shown}", opening)
        if total is not None:
            return actions, chances
        rounded = math.fsum(chances)
        if round(abs(rounded - 1), 12) > ROW_TOLERANCE:  # rounded: 0.333333 three times is well
            words.fail(f"probabilities that add up to 1, got {rounded:.9g}", opening)
        return actions, [chance / rounded for chance in chances]

    def _outcome(self) -> tuple[float, ...] | None:
        words = self.words
        at = words.next
        number = words.whole("the number of the outcome")
        described = words.next.kind == "text" or words.is_mark("{")
        if number == 0:
            if described:
                words.fail("no payoffs for outcome 0, which pays nothing")
            return None
        if described:
            words.optional("its name")
            words.mark("{", "before payoffs")
            payoffs = tuple(words.numbers("payoffs", len(self.tree.players)))
            if self.outcomes.setdefault(number, payoffs) != payoffs:
                words.fail(f"the same payoffs of outcome {number} as before", at)
        if number not in self.outcomes:
            words.fail(f"payoffs of outcome {number}, which is new here", at)
        return self.outcomes[number]


def _exact_sum(values: list[Fraction | float]) -> Fraction | None:
    """The sum of fractions; None for decimals, or if the common denominator becomes too long."""
    total = Fraction(0)
    for value in values:
        if not isinstance(value, Fraction):
            return None
        total += value
        if total.denominator.bit_length() > _MOST_BITS:
            return None
    return total
