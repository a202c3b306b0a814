"""The solver: correlated equilibria to a gap that is checked against every action.

All methods share one idea. Only a few actions of each player are active; an equilibrium of that
small game is sought; the best answers to it among *all* actions, exact linear maxima, tell how far
it is from an equilibrium of the whole game and which actions are missing. So the time depends on
the embeddings and not on the number of actions.
"""

from __future__ import annotations

import math
import numbers
import sys
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from fullswap.base.progress import PATIENCE
from fullswap.base.protocols import Points, Vector
from fullswap.games.game import StructuredGame
from fullswap.games.lp import as_objective, best_equilibrium, check_size
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.restricted import Answers, Restricted, initial_actions, spread_actions
from fullswap.games.selfplay import SelfPlay
from fullswap.games.verify import verify

METHODS = ("auto", "matching", "optimistic", "weights", "oracle", "lp")
MOST_ROUNDS = 200_000
"""Rounds of self-play unless told otherwise."""
_SMALL = 400
"""Joint actions up to which a linear programme takes milliseconds."""
_POLISHED = 2_500
"""Joint actions up to which one is tried when self-play is slow."""
FIRST_LOOK = 32
"""Rounds played before the first look."""
_SPREAD = 50
"""Actions, evenly numbered, that large sets without structure begin self-play with."""
_BATCH = 16
"""Most actions added at once to a player who has few."""
_PATIENT_ROUNDS = 2_000
"""Rounds on the same actions after which self-play counts as slow."""
_INITIAL = {"auto": 8, "oracle": 8, "matching": 24, "optimistic": 24, "weights": 64}


def solve(
    game: StructuredGame,
    gap: float = 0.01,
    method: str = "auto",
    seed: Any = 0,
    *,
    rounds: int | None = None,
    seconds: float | None = None,
    start: CorrelatedEquilibrium | None = None,
    objective: Any = None,
    progress: bool | None = None,
) -> CorrelatedEquilibrium:
    """A correlated equilibrium to within ``gap``, checked against every action of every player.

    Parameters
    ----------
    game : StructuredGame
        The game.
    gap : float
        What a player may gain at most by any swap of recommendations, in units of payoff.
    method : str
        - "matching": self-play of learners, one for each active action, by regret matching+ that
          expects the last round again; averages weigh round t with t². Some hundred rounds, and
          the fastest to moderate gaps where a pass over all actions is cheap.
        - "optimistic": the same by multiplicative weights that expect the last round again.
        - "weights": by plain multiplicative weights on a wide choice of extreme actions, as in
          [FKO25, Table 1 row 3], with actions added where that choice falls short. Tens of
          thousands of rounds; no bound is computed beforehand, the check afterwards decides.
        - "oracle": exact equilibria of the active actions by linear programmes, of largest
          welfare among these. Few actions and tiny gaps on structured games.
        - "lp": one linear programme on the whole of a small finite game; exact, and the best
          equilibrium for the ``objective``.
        - "auto": "lp" up to 400 joint actions; with an objective "lp" wherever it is possible, or
          "oracle". Else "oracle" while
          its programmes take milliseconds: on structured games that mostly ends there, with a
          handful of joint actions and a gap far below the one asked for, whatever the number of
          actions. Then "matching" from there, which hundreds of active actions do not slow
          down, with a programme on what is played now and then if it is slow.
    seed : int or numpy Generator
        For the actions to begin with. The same seed gives the same result.
    rounds : int, optional
        Rounds of self-play at most (200,000 unless given).
    seconds : float, optional
        Stop soon after that time.
    start : CorrelatedEquilibrium, optional
        An earlier result, to go on from: its actions are active from the start, its rounds are
        counted on, and the result is never worse (with an objective, if that misses the gap).
    objective : {"welfare", "fair"} or sequence of float, optional
        For "lp" and "oracle": maximise the sum of payoffs, the smallest payoff, or the sum with
        these weights of the players. "oracle" maximises among its active actions only.
    progress : bool, optional
        A line on standard error with the gap so far: None for long work on a terminal.

    Returns
    -------
    CorrelatedEquilibrium
        With ``reached`` False, and the best profile found, if the budget ended first.

    Examples
    --------
    >>> from fullswap.games import from_matrices
    >>> chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    >>> found = solve(chicken)
    >>> found.reached, found.payoffs.round(6).tolist()
    (True, [5.25, 5.25])
    """
    _check(game, gap, method, rounds, seconds, start, objective, progress)
    rng = _generator(seed)
    wanted = as_objective(objective, game.players)
    sizes = [s.size for s in game.actions]
    if method == "auto" and objective is not None:
        method = "lp" if _fits(sizes) else "oracle"
    if method == "auto" and start is None and rounds is None:
        small = all(k is not None for k in sizes) and math.prod(k or 0 for k in sizes) <= _SMALL
        method = "lp" if small else method
    earlier = None if start is None else verify(game, start)
    if earlier is not None and earlier.gap <= gap and objective is None:
        return replace(earlier, reached=True)
    with _Search(game, float(gap), rounds, seconds, progress) as search:
        if method == "lp":
            check_size(sizes)
            search.begin([np.arange(k or 0) for k in sizes], earlier)
            search.programme(wanted, exact=True)
            return search.result("lp")
        count = _INITIAL[method] if game.players == 2 else max(2, int(1e5 ** (1 / game.players)))
        search.begin(initial_actions(game, min(count, _INITIAL[method]), rng), earlier)
        if method in ("auto", "oracle") and search.by_programmes(
            wanted, _SMALL if method == "auto" else None
        ):
            return search.result("oracle")
        if method != "oracle":
            search.active.add(spread_actions(game, _SPREAD))
            search.by_self_play("matching" if method == "auto" else method, method == "auto")
        return search.result("matching" if method == "auto" else method)


class _Search:
    """One run: the active actions, the best profile so far, and what is left of the budget."""

    def __init__(
        self,
        game: StructuredGame,
        gap: float,
        rounds: int | None,
        seconds: float | None,
        progress: bool | None,
    ) -> None:
        self.game, self.gap = game, gap
        self._slack = 2 * np.array(game.errors)
        self._rounds_left = MOST_ROUNDS if rounds is None else int(rounds)
        self._deadline = math.inf if seconds is None else time.monotonic() + seconds
        self._line = _Line(progress)
        self._earlier: CorrelatedEquilibrium | None = None
        self._rounds = 0
        self._best_gap = math.inf
        self._checked: CorrelatedEquilibrium | None = None
        self._exact = False

    def __enter__(self) -> _Search:
        return self

    def __exit__(self, *error: object) -> None:
        self._line.close()

    def begin(self, columns: list[Any], earlier: CorrelatedEquilibrium | None) -> None:
        """Make actions active, those of an earlier profile first."""
        if earlier is not None:
            self._earlier = earlier
            checked = self.game.columns(earlier.support)
            columns = [np.concatenate(pair) for pair in zip(checked, columns, strict=True)]
        self.active = Restricted(self.game, columns)
        self._best = np.full(self.active.shape, 1 / math.prod(self.active.shape))

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._deadline

    def look(self, joint: Points) -> tuple[float, list[Answers]]:
        """The gap of a profile in the whole game, and the best answers to it."""
        answers = self.active.answers(joint)
        gap = max(float(a.gains.sum()) + e for a, e in zip(answers, self._slack, strict=True))
        if gap < self._best_gap:
            self._best_gap, self._best, self._checked = gap, joint, None
        self._line.show(gap, self._best_gap, self.gap, self.active.shape, self._rounds)
        return gap, answers

    def programme(self, objective: str | Vector, exact: bool = False) -> list[Answers] | None:
        """The best equilibrium of the active actions, looked at; None if the time did not do.

        What is ``exact`` keeps joint actions of little probability, down to rounding errors.
        """
        self._exact = exact
        joint = best_equilibrium(self.active.tables, objective, self._time_left())
        return None if joint is None else self.look(joint)[1]

    def by_programmes(self, objective: str | Vector, most: int | None) -> bool:
        """Programmes on more and more actions, up to ``most`` joint ones; whether it is done."""
        while not self.over and (most is None or math.prod(self.active.shape) <= most):
            answers = self.programme(objective)
            if answers is None:
                return False
            if self.done():
                return True
            if not self._grow(answers, 0.0):
                return False
        return False

    def by_self_play(self, rule: str, polish: bool) -> bool:
        """Self-play on more and more actions; whether it is done."""
        share = self.gap / float(self.active.ranges.max())
        play = SelfPlay(self.active, rule, min(max(0.05 * share, 1e-9), 1e-4))
        length, polished_at = FIRST_LOOK, _PATIENT_ROUNDS
        while self._rounds_left > 0 and not self.over:
            length = min(length, self._rounds_left, play.longest)
            play.play(length)
            self._rounds_left -= length
            self._rounds += length
            gap, answers = self.look(play.average())
            if self.done():
                return True
            # while play is far from its own equilibrium, what it lacks tells little
            grown = self._grow(answers, max(0.25 * self.gap, 0.5 * gap))
            if not grown and polish and play.averaged >= polished_at:
                polished_at *= 2
                grown = self._polish(play.average())
                if self.done():
                    return True
            if grown:
                play.fit()
            length = max(FIRST_LOOK, play.averaged // 3)
        return False

    def _polish(self, joint: Points) -> bool:
        """Programmes on the actions that are played and best answers to them, while few.

        Whether they led to actions that were not active.
        """
        players = range(self.game.players)
        used: list[Any] = []
        for p in players:
            marginal = joint.sum(axis=tuple(k for k in players if k != p))
            used.append(np.flatnonzero(marginal > 1e-3 / len(marginal)))
        while not self.over and math.prod(len(places) for places in used) <= _POLISHED:
            tables = [table[np.ix_(*used)] for table in self.active.tables]
            part = best_equilibrium(tables, "welfare", self._time_left())
            if part is None:
                return False
            whole = np.zeros(self.active.shape)
            whole[np.ix_(*used)] = part
            answers = self.look(whole)[1]
            if self._grow(answers, 0.0):
                return True
            before = [len(places) for places in used]
            for p in players:
                places = self.active.places(p, answers[p].actions)
                used[p] = np.union1d(used[p], places[places >= 0])
            if before == [len(places) for places in used]:
                return False
        return False

    def _time_left(self) -> float | None:
        return None if math.isinf(self._deadline) else self._deadline - time.monotonic()

    def _grow(self, answers: list[Answers], enough: float) -> bool:
        """Add the best answers that are not active, of players who gain more than ``enough``."""
        columns = []
        for answer in answers:
            outside = answer.outside
            order = np.argsort(-outside, kind="stable")[: max(_BATCH, len(outside) // 2)]
            order = order[outside[order] > 0.1 * self.gap / len(outside)]
            columns.append(answer.actions[order if outside.sum() > enough else order[:0]])
        return self.active.add(columns)

    def done(self) -> bool:
        """Whether the best profile so far passes the check."""
        return self._best_gap <= self.gap and self._profile().gap <= self.gap

    def _profile(self) -> CorrelatedEquilibrium:
        """The best profile, without joint actions of next to no probability where that will do."""
        if self._checked is None:
            drop = 1e-12 if self._exact else 0.1 * self.gap / float(self.active.ranges.max())
            found = self.active.profile(self._best, drop)
            if found.gap > self.gap:
                found = self.active.profile(self._best, 0.0)
            self._checked = found
        return self._checked

    def result(self, method: str) -> CorrelatedEquilibrium:
        """The best profile, verified."""
        found = self._profile()
        before = 0
        if self._earlier is not None:
            before = self._earlier.rounds
            found = found if found.gap <= max(self.gap, self._earlier.gap) else self._earlier
        reached = found.gap <= self.gap
        if self.active.full and not reached:
            sizes = " × ".join(str(k) for k in self.active.shape)
            warnings.warn(
                f"there was no room for more than {sizes} active actions: the gap stays at "
                f"{found.gap:.3g}; ask for a larger one, or for embeddings of fewer dimensions",
                RuntimeWarning,
                stacklevel=3,
            )
        return replace(found, rounds=before + self._rounds, reached=reached, method=method)


class _Line:
    """One line on standard error that says how far the gap has fallen."""

    def __init__(self, wanted: bool | None) -> None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self._shown = bool(wanted) or (wanted is None and terminal)
        self._end = "\r" if terminal else "\n"
        self._next = time.monotonic() + (0.0 if wanted else PATIENCE)
        self._width = 0

    def show(
        self, gap: float, best: float, target: float, shape: tuple[int, ...], rounds: int
    ) -> None:
        """At most a few times a second."""
        if not self._shown or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 0.2
        active = " × ".join(str(k) for k in shape)
        text = f"gap {gap:.3g}, best {best:.3g} of {target:.3g}; {active} actions, {rounds} rounds"
        print(text.ljust(self._width), end=self._end, file=sys.stderr, flush=True)
        self._width = len(text)

    def close(self) -> None:
        """Leave the line."""
        if self._width and self._end == "\r":
            print(file=sys.stderr)


def _fits(sizes: list[int | None]) -> bool:
    """Whether a game of that many actions is small enough for one programme."""
    try:
        check_size(sizes)
    except ValueError:
        return False
    return True


def _generator(seed: Any) -> np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or int(seed) < 0:
        raise ValueError(f"seed must be a whole number >= 0 or a numpy Generator, got {seed!r}")
    return np.random.default_rng(int(seed))


def _check(
    game: Any, gap: Any, method: Any, rounds: Any, seconds: Any, start: Any, objective: Any,
    progress: Any,
) -> None:  # fmt: skip
    if not isinstance(game, StructuredGame):
        raise ValueError(
            f"game must be a StructuredGame, got {type(game).__name__}; from_matrices and "
            "from_tensor make one of arrays"
        )
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if not _is_number(gap) or not gap > 0:
        raise ValueError(
            f"gap must be a finite number > 0, got {gap!r}; for an exact equilibrium of a finite "
            'game use method="lp" with any gap'
        )
    error = 2 * max(game.errors)
    if error >= gap:
        raise ValueError(
            f"gap must be larger than {error:.3g}, twice the error of the game's embeddings, "
            f"got {gap!r}; use embeddings of higher rank, or a larger gap"
        )
    if rounds is not None and (
        isinstance(rounds, bool) or not isinstance(rounds, numbers.Integral) or int(rounds) < 1
    ):
        raise ValueError(f"rounds must be a whole number >= 1, or None, got {rounds!r}")
    if seconds is not None and (not _is_number(seconds) or not seconds > 0):
        raise ValueError(f"seconds must be a finite number > 0, or None, got {seconds!r}")
    if start is not None and not isinstance(start, CorrelatedEquilibrium):
        raise ValueError(
            f"start must be an earlier CorrelatedEquilibrium, got {type(start).__name__}; "
            "verify makes one of a profile"
        )
    as_objective(objective, game.players)
    if objective is not None and method not in ("auto", "lp", "oracle"):
        raise ValueError(f'objective is for method "lp" or "oracle", not for {method!r}')
    if progress not in (None, True, False):
        raise ValueError(f"progress must be None, True or False, got {progress!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
