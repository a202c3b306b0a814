"""A game played out: learners against one another, and the equilibrium that their average is.

If the swap regret of every player over T rounds is at most R_i, the average of what they played
together is a correlated equilibrium to within max_i R_i/T: what a player gains on average by a map
of recommendations is the swap regret a round of that map. [FKO25, Cor 2].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.progress import Progress
from fullswap.base.protocols import Points
from fullswap.certificates import Certificate
from fullswap.games import card
from fullswap.games.actions import ActionSet, Column, column_of
from fullswap.games.averages import Expectation, JointAverage, Labels
from fullswap.games.game import StructuredGame
from fullswap.games.hull import affine_frame
from fullswap.games.learner import BestRow, Place, StructuredLearner, place_of
from fullswap.games.player import Player
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.verify import verify
from fullswap.template import plan

Maker: TypeAlias = Callable[[ActionSet, Any, int], Player]
"""(actions, bound, horizon) ↦ a player; ``StructuredLearner`` is one."""
MOST_ROUNDS = 1_000_000
"""Rounds that a gap may ask for; more must be asked for by ``rounds``."""
_EVERY = 200_000  # joint actions of the others against which all payoff vectors are formed
_ENTRIES = 4_000_000  # and numbers in these
_SAMPLED = 4_096  # payoff vectors that are looked at where there are more
_DIRECTIONS = 256  # in which actions of the others are looked for then
_BEYOND = 1.25  # factor by which the unseen may be longer than those; every round checks it
_NOTHING = 1e-9  # share of payoff vectors that is rounding
_FIRST, _LAST = 64, 2**52  # rounds between which those that a gap needs are sought
_SLACK = 1.02  # factor within which they are found


@dataclass(frozen=True, eq=False, repr=False)
class PlayedOut(CorrelatedEquilibrium):
    """The average play of learners, with what was guaranteed of it before the first round."""

    guaranteed: float = math.nan
    """The gap is at most this, known beforehand; NaN if a learner guarantees nothing."""
    regrets: tuple[float, ...] = ()
    """Measured swap regret of each player a round: the gap of each."""
    rate: float = math.nan
    """``guaranteed`` falls like rounds^rate, from this number of rounds to 16 times as many."""
    certificates: tuple[Certificate, ...] = ()
    """Of each player."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what is not known is None."""
        known = {"guaranteed": self.guaranteed, "rate": self.rate}
        more = {name: None if math.isnan(x) else x for name, x in known.items()}
        return {**super().to_dict(), **more, "regrets": list(self.regrets)}

    def __str__(self) -> str:
        if math.isnan(self.guaranteed):
            return f"{super().__str__()}; average of {self.rounds:,} rounds"
        return (
            f"{super().__str__()}; average of {self.rounds:,} rounds, for which a gap of at most "
            f"{card.number(self.guaranteed)} was guaranteed"
        )


def play_out(
    game: StructuredGame,
    rounds: int | None = None,
    gap: float | None = None,
    *,
    learner: str | Maker | None = None,
    bounds: Sequence[ArrayLike] | None = None,
    progress: bool | None = None,
) -> PlayedOut:
    """Let learners play the game, and check the average of their joint play as an equilibrium.

    Every player runs a ``StructuredLearner`` of their own, sees the expected payoff vector against
    the others' mixed actions, and knows nothing else of the game. Nothing is drawn at random. The
    gap is verified against every action; it equals the largest measured swap regret a round, and is
    at most ``guaranteed``, which is known beforehand.

    ``solve`` finds smaller gaps in a fraction of the time; this is the decentralised way, with a
    bound before the first round: of order rounds^(−2/(d + 3)) in d dimensions, up to logarithms.

    Parameters
    ----------
    game : StructuredGame
    rounds : int, optional
    gap : float, optional
        Without ``rounds``, as many are played as the guarantee needs for this gap, up to a million;
        a ValueError says how many it would take if that is not enough. With both, ``reached`` says
        whether the gap was reached.
    learner : str or callable, optional
        "hedge" or "matching", see ``StructuredLearner``; or a function of actions, bound and
        horizon that makes a player, such as one of ``as_player``.
    bounds : sequence, optional
        For each player what ``StructuredLearner`` takes as ``bound``: the largest length of a
        payoff vector, or vectors of which all are mixtures. By default the vectors against all
        joint actions of the others, where these are at most 200,000; else 4,096 of them, taken
        1.25 times as long. Longer ones are noticed: a warning, and no guarantee.
    progress : bool, optional
        A bar on standard error: None for long work on a terminal.

    Examples
    --------
    >>> from fullswap.games import from_matrices
    >>> pennies = from_matrices([[1, -1], [-1, 1]], [[-1, 1], [1, -1]])
    >>> average = play_out(pennies, 1_000)
    >>> average.gap <= average.guaranteed, round(average.guaranteed, 2), round(average.rate, 2)
    (True, 0.05, -0.5)
    """
    wanted = "a StructuredGame (from_matrices and from_tensor make one of arrays)"
    checks.instance("game", game, StructuredGame, wanted)
    if rounds is None and gap is None:
        checks.refuse("rounds", "be given, or gap", rounds)
    count = None if rounds is None else checks.whole("rounds", rounds, 1)
    target = None if gap is None else checks.setting("gap", gap, above=0)
    if learner is not None and not isinstance(learner, str) and not callable(learner):
        checks.refuse("learner", "be the name of a sub-learner, or a function", learner)
    known = _bounds(game, bounds)
    field = None if callable(learner) else _Field(game, known, learner)
    if count is None:
        assert target is not None
        if field is None:
            checks.refuse("rounds", "be given with learners of one's own", rounds)
        count = field.rounds_for(target)
    players = [_made(own, known[i], count, learner) for i, own in enumerate(game.actions)]
    support, weights = _played(game, players, count, progress)
    checked = verify(game, (support, weights))
    ends = [p.guarantee / count + 2 * e for p, e in zip(players, game.errors, strict=True)]
    certificates = tuple(player.certificate() for player in players)
    return PlayedOut(
        game, checked.support, checked.weights, checked.gaps, count,
        None if target is None else checked.gap <= target, "play_out",
        guaranteed=float(np.max(ends)), regrets=tuple(c.measured / count for c in certificates),
        rate=math.nan if field is None else field.rate(count), certificates=certificates,
    )  # fmt: skip


def _played(
    game: StructuredGame, players: Sequence[Player], rounds: int, progress: bool | None
) -> tuple[Any, Any]:
    """The average of the joint play."""
    labels = [Labels() for _ in players]
    expected = [Expectation(game, i, labels) for i in range(len(players))]
    average = JointAverage(labels)
    with Progress(rounds, progress) as bar:
        for done in range(1, rounds + 1):
            mixed = [player.play() for player in players]
            places = [own.of(play.actions) for own, play in zip(labels, mixed, strict=True)]
            average.add([(at, m.weights) for at, m in zip(places, mixed, strict=True)])
            vectors = [seen.vector(mixed, places) for seen in expected]
            for player, vector in zip(players, vectors, strict=True):
                player.observe(vector)
            bar.update(done)
    return average.profile()


def _made(own: ActionSet, bound: Any, rounds: int, learner: str | Maker | None) -> Player:
    if not callable(learner):
        return StructuredLearner(own, bound, rounds, learner=learner)
    player = learner(own, bound, rounds)
    checks.instance("learner", player, Player, "a function that makes players")
    return player


class _Field:
    """What is guaranteed of every player, for any number of rounds."""

    def __init__(self, game: StructuredGame, bounds: Sequence[Any], learner: str | None) -> None:
        pairs = zip(game.actions, bounds, strict=True)
        self._places: list[Place] = [place_of(own, bound) for own, bound in pairs]
        self._errors, self._learner = game.errors, learner

    def guaranteed(self, rounds: int) -> float:
        """The gap after that many rounds is at most this."""
        worst = 0.0
        for place, error in zip(self._places, self._errors, strict=True):
            bound = 0.0
            if place.hull is not None:
                chosen = plan(place.hull, place.losses, rounds, BestRow(self._learner))
                bound = chosen.bound(rounds, built=False)
            worst = max(worst, bound / rounds + 2 * error)
        return worst

    def rate(self, rounds: int) -> float:
        """The slope of ``guaranteed`` from there to 16 times as many: grids change in steps."""
        ends = self.guaranteed(rounds), self.guaranteed(16 * rounds)
        return math.log(ends[1] / ends[0], 16) if min(ends) > 0 else math.nan

    def rounds_for(self, gap: float) -> int:
        """About the fewest rounds for which the gap is guaranteed; ValueError if they are many."""
        high = _FIRST
        while self.guaranteed(high) > gap:
            high *= 4
            if high > _LAST:
                rule = f"be larger: not even {_LAST:.1e} rounds guarantee it"
                checks.refuse("gap", rule, gap)
        low = high // 4
        while high > _SLACK * low and high > _FIRST:
            middle = math.isqrt(low * high) + 1
            if middle >= high:
                break
            low, high = (low, middle) if self.guaranteed(middle) <= gap else (middle, high)
        if high > MOST_ROUNDS:
            rule = (
                f"be larger, or rounds be given: {high:,} rounds would guarantee it, and "
                f"{MOST_ROUNDS:,} guarantee {self.guaranteed(MOST_ROUNDS):.3g}"
            )
            checks.refuse("gap", rule, gap)
        return high


def _bounds(game: StructuredGame, bounds: Sequence[ArrayLike] | None) -> list[Any]:
    """What is known of the payoff vectors of each player."""
    if bounds is None:
        return [_vectors(game, player) for player in range(game.players)]
    if not isinstance(bounds, list | tuple | np.ndarray):
        checks.refuse("bounds", "be a sequence, one for each player", bounds)
    checks.same_length("bounds", bounds, "players", game.players)
    return list(bounds)


def _vectors(game: StructuredGame, player: int) -> Points | float:
    """Payoff vectors against all joint actions of the others, or longer ones than those sampled."""
    others = [s for k, s in enumerate(game.actions) if k != player]
    sizes, own = [s.size for s in others], game.actions[player]
    every = math.prod(k for k in sizes if k is not None)
    if None not in sizes and every <= _EVERY and every * own.dim <= _ENTRIES:
        first = own.best(np.zeros((1, own.dim)))[0]
        columns = [
            first if k == player else np.arange(s.size or 1) for k, s in enumerate(game.actions)
        ]
        vectors = game.vectors_against_all(player, columns)
    else:
        generator = np.random.default_rng(0)
        some = [_extremes(s, generator) for s in game.actions]
        drawn = [column[generator.integers(len(column), size=_SAMPLED)] for column in some]
        vectors = _BEYOND * game.vectors(player, drawn)
    apart = np.abs(vectors @ affine_frame(own)[1]).max(initial=0.0)
    longest = float(np.linalg.norm(vectors, axis=1).max())
    # where all actions are worth the same against anyone, what is left of a vector is rounding
    return vectors if apart > _NOTHING * longest else _NOTHING * (longest or 1.0)


def _extremes(own: ActionSet, generator: np.random.Generator) -> Column:
    """Actions that are best in some direction, each once."""
    axes = np.eye(own.dim)
    turns = generator.standard_normal((_DIRECTIONS, own.dim))
    found = own.best(np.vstack((axes, -axes, turns)))[0]
    return column_of(list(dict.fromkeys(found.tolist())))
