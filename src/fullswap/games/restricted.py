"""A game cut down to a few active actions of each player, and profiles on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import Action, Column, Vectors, stack
from fullswap.games.game import StructuredGame, tensor
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.verify import verify

SAME = 1e-9  # points of a continuum that lie closer, as a share of its size, are one action
MOST_WHOLE = 300  # actions that are all active from the start where embeddings are no saving
SAVING = 4  # embeddings are a saving for sets of more than so many actions a dimension
_SPREAD = 50  # actions, evenly numbered, that large sets without structure begin self-play with
_WHOLE_JOINT = 10**5  # joint actions to begin with: tables of a megabyte
_MIXED = 3  # actions in a random mixture: few, so that mixtures differ
MOST_JOINT = 2_000_000  # joint active actions, which are held as a table: 16 MB a player
MOST_ENTRIES = 50_000_000  # of payoff vectors against all joint actions of the others: 400 MB
_MOST_DROPPED = 0.5  # probability of joint actions that are left out, whatever was asked for


# Directions (m, dim) to best actions (m,) and their values (m,).
Oracle = Callable[[Points], tuple[Column, Vector]]


class Answers(NamedTuple):
    """Best answers of one player to each of r recommendations, all of shape (r,)."""

    actions: Column
    gains: Vector  # probability counted
    outside: Vector  # how much of that the best active action does not gain


class Restricted:
    """Active actions of each player, without duplicates, with the payoffs of the game on them.

    The ``columns`` (k_p,) get new actions at the end, ``tables`` are the payoffs of each player,
    shape (k_1, …, k_N), and ``full`` says whether the last actions found no room.
    """

    def __init__(self, game: StructuredGame, columns: Sequence[Column]) -> None:
        self.game = game
        self.columns: list[Column] = [np.asarray(column)[:0] for column in columns]
        self._places: list[dict[Hashable, int]] = [{} for _ in columns]
        self._units = [SAME * s.extent for s in game.actions]
        if not self.add(columns):
            sizes = " × ".join(str(len(column)) for column in columns)
            raise ValueError(
                f"game must begin with at most {MOST_JOINT} joint actions, too large is {sizes}; "
                "leave out players or actions"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many actions are active for each player."""
        return tuple(len(column) for column in self.columns)

    @property
    def ranges(self) -> Vector:
        """Largest minus smallest payoff of each player on the active actions; 1 where it is 0."""
        spread = np.array([float(np.ptp(table)) for table in self.tables])
        return np.where(spread > 0, spread, 1.0)

    def add(self, columns: Sequence[Column]) -> bool:
        """Make actions active; whether any was new, and there was room for the new ones."""
        fresh: list[dict[Hashable, int]] = [{} for _ in columns]  # first rows of new actions
        for p, column in enumerate(columns):
            for row, action in enumerate(column):
                fresh[p].setdefault(_key(action, self._units[p]), row)
            fresh[p] = {key: row for key, row in fresh[p].items() if key not in self._places[p]}
        if not any(fresh):
            return False
        sets = self.game.actions
        sizes = [len(old) + len(new) for old, new in zip(self._places, fresh, strict=True)]
        entries = max(math.prod(sizes) // k * s.dim for k, s in zip(sizes, sets, strict=True))
        self.full = math.prod(sizes) > MOST_JOINT or entries > MOST_ENTRIES
        if self.full:
            return False
        for p, rows in enumerate(fresh):
            self._places[p].update(zip(rows, range(len(self.columns[p]), sizes[p]), strict=True))
            new = np.asarray(columns[p])[list(rows.values())]
            self.columns[p] = np.concatenate((self.columns[p], new))
        self._vectors = [self.game.vectors_against_all(p, self.columns) for p in range(len(sets))]
        self.tables = [
            tensor(s.values(column, vectors), p, self.shape)
            for p, (s, column, vectors) in enumerate(
                zip(sets, self.columns, self._vectors, strict=True)
            )
        ]
        return True

    def places(self, player: int, column: Column) -> Indices:
        """Where actions stand among the active ones, −1 for those that are not, shape (m,)."""
        known, unit = self._places[player], self._units[player]
        return np.array([known.get(_key(action, unit), -1) for action in column], dtype=np.int64)

    def profile(self, joint: Points, drop: float) -> CorrelatedEquilibrium:
        """The verified profile ∝ ``joint``; its lightest entries, ``drop`` in all, are left out."""
        flat = joint.ravel() / joint.sum()
        order = np.argsort(flat)
        played = np.sort(order[np.cumsum(flat[order]) > min(drop, _MOST_DROPPED)])
        played = played[flat[played] > 0]
        places = np.unravel_index(played, joint.shape)
        support = stack([column[at] for column, at in zip(self.columns, places, strict=True)])
        return verify(self.game, (support, flat[played] / flat[played].sum()))

    def answers(self, joint: Points) -> list[Answers]:
        """Best answers of each player to every active action, by a linear maximum over all."""
        answers = []
        for player, actions in enumerate(self.game.actions):
            own = np.moveaxis(joint, player, 0).reshape(self.shape[player], -1)
            played = np.flatnonzero(own.any(axis=1))
            directions = own[played] @ self._vectors[player]
            best, values = actions.best(directions)
            active = actions.values(self.columns[player], directions).T
            following = active[np.arange(len(played)), played]
            inside = active.max(axis=1)
            answers.append(Answers(best, np.maximum(values, inside) - following, values - inside))
        return answers

    def answers_to(
        self, mixed: Sequence[Vector], among: Sequence[Oracle] | None = None
    ) -> list[Answers]:
        """Best answers to independent mixed actions, one for each player: one linear maximum.

        ``among`` what each player's best answers are sought, all actions unless given.
        """
        answers = []
        for player, own in enumerate(mixed):
            met = np.ones(1)
            for k, other in enumerate(mixed):
                met = met if k == player else np.outer(met, other).ravel()
            best = None if among is None else among[player]
            answers.append(self._answer(player, met, own, best))
        return answers

    def fixed_answers(self, joint: Points) -> list[Answers]:
        """The one action of each player that gains most if it replaces all recommendations."""
        answers = []
        for player, table in enumerate(self.tables):
            met = joint.sum(axis=player).ravel()
            answers.append(self._answer(player, met, float((joint * table).sum())))
        return answers

    def _answer(
        self, player: int, met: Vector, following: Vector | float, oracle: Oracle | None = None
    ) -> Answers:
        """To the others' joint actions with these probabilities, against mixed actions or a pay."""
        actions = self.game.actions[player]
        direction = met[None] @ self._vectors[player]
        best, value = (oracle or actions.best)(direction)
        active = actions.values(self.columns[player], direction)[:, 0]
        inside = active.max(keepdims=True)
        paid = following if isinstance(following, float) else float(following @ active)
        return Answers(best, np.maximum(value, inside) - paid, value - inside)


def pass_work(game: StructuredGame) -> float:
    """Operations of one best answer of every player: a pass over the lists of actions."""
    work = 0.0
    for s in game.actions:
        work += s.size * (s.dim + 1) if isinstance(s, Vectors) else 10.0 * s.dim
    return work


def initial_actions(
    game: StructuredGame, count: int, rng: np.random.Generator, whole: bool = True
) -> list[Column]:
    """About ``count`` actions of each player to begin with, fewer if players are many.

    All, where embeddings of many dimensions promise no saving, if ``whole``. Otherwise extreme
    actions in random directions, then best answers to random mixtures of the others': those are
    what matters.
    """
    count = min(count, max(2, int(_WHOLE_JOINT ** (1 / game.players))))
    sizes = [math.inf if s.size is None else s.size for s in game.actions]
    most = [max(count, min(MOST_WHOLE, SAVING * s.dim)) if whole else count for s in game.actions]
    if math.prod(k for k, limit in zip(sizes, most, strict=True) if k <= limit) > _WHOLE_JOINT:
        most = [count] * game.players
    all_of = [k <= limit for k, limit in zip(sizes, most, strict=True)]
    some, half = max(2, count // 4), max(2, count // 2)

    def mixed(player: int) -> Points:
        """Payoff vectors against random mixtures of some of the others' actions so far."""
        drawn = [column[rng.integers(len(column), size=_MIXED * half)] for column in chosen]
        vectors = game.vectors(player, drawn).reshape(half, _MIXED, -1)
        weights = rng.dirichlet(np.ones(_MIXED), size=half)
        return np.asarray(np.einsum("ij,ijk->ik", weights, vectors))

    chosen: list[Column] = [
        np.arange(s.size or 0) if all_ else s.best(rng.standard_normal((some, s.dim)))[0]
        for s, all_ in zip(game.actions, all_of, strict=True)
    ]
    for _ in range(2):
        chosen = [
            chosen[p] if all_of[p] else s.best(mixed(p))[0] for p, s in enumerate(game.actions)
        ]
    return chosen


def spread_actions(game: StructuredGame) -> list[Column]:
    """Evenly numbered actions of large sets whose embeddings are no saving, none of the others.

    Actions in an order, such as bids, answer one another step by step: best answers alone would
    climb one bid at a time.
    """
    columns: list[Column] = [np.empty(0, np.int64)] * game.players
    for p, s in enumerate(game.actions):
        if s.size is not None and MOST_WHOLE < s.size <= SAVING * s.dim:
            columns[p] = evenly_numbered(s.size, _SPREAD)
    return columns


def evenly_numbered(size: int, count: int) -> Column:
    """So many of the numbers 0 … size − 1, or all of them.

    Examples
    --------
    >>> evenly_numbered(9, 3).tolist(), evenly_numbered(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    return np.unique(np.linspace(0, max(size - 1, 0), min(count, size)).astype(np.int64))


def _key(action: Action, unit: float) -> Hashable:
    """Equal for actions that count as one."""
    if isinstance(action, tuple):
        return tuple(_key(part, unit) for part in action)
    if isinstance(action, int | np.integer):
        return int(action)
    if isinstance(action, float | np.floating):
        return round(float(action) / unit)
    key: Hashable = action
    return key  # of a set of the user's own: anything that can be looked up
