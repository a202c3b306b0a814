"""The solver: correlated equilibria to a gap that is checked against every action.

Most methods share one idea. Only a few actions of each player are active; an equilibrium of that
small game is sought; the best answers to it among *all* actions, exact linear maxima, tell how far
it is from an equilibrium of the whole game and which actions are missing. So the time depends on
the embeddings and not on the number of actions. No method is best everywhere: several take turns.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.progress import Progress
from fullswap.games import pivots
from fullswap.games.game import StructuredGame
from fullswap.games.profiles import CorrelatedEquilibrium, Optimum
from fullswap.games.pure import MOST_SCANNED
from fullswap.games.record import NOTIONS, Record
from fullswap.games.run import AMONG_ACTIVE, OBJECTIVE, Run
from fullswap.games.search import FIRST_LOOK
from fullswap.games.values import as_objective, name_of, value_of
from fullswap.games.verify import verify

__all__ = ["FIRST_LOOK", "METHODS", "solve"]

METHODS = ("auto", "matching", "oracle", "lp", pivots.METHOD)
_MOST_ROUNDS = 200_000  # rounds of self-play unless a number is given
_SMALL = 400  # joint actions up to which a linear programme takes milliseconds


def solve(
    game: StructuredGame,
    gap: float = 0.01,
    method: str = "auto",
    seed: int | np.random.Generator = 0,
    *,
    rounds: int | None = None,
    seconds: float | None = None,
    start: CorrelatedEquilibrium | None = None,
    objective: str | ArrayLike | None = None,
    notion: str = "correlated",
    progress: bool | None = None,
) -> CorrelatedEquilibrium:
    """A correlated equilibrium to within ``gap``, checked against every action of every player.

    If the budget ends first: the best profile found, with ``reached`` False.

    Parameters
    ----------
    game : StructuredGame
    gap : float
        What a player may gain at most by any swap of recommendations, in units of payoff.
    method : str
        - "auto": one programme, of largest welfare, up to 400 joint actions. Beyond that a
          portfolio: a scan for pure equilibria, players who answer in turn, Lemke–Howson (two
          players), Nash equilibria or programmes on a few active actions that grow by best
          answers, self-play, and for many players programmes on a few joint actions. They take
          turns, counted in operations and not in seconds; the first verified gap wins, and
          ``method`` of the result says whose it was.
        - "lemke-howson": complementary pivoting alone, two players and finite games; exact.
        - "lp": one linear programme on the whole of a small finite game; exact, and the best
          equilibrium for the ``objective``.
        - "oracle": exact equilibria of the active actions by linear programmes, of largest
          welfare among these.
        - "matching": self-play of learners, one for each active action, by regret matching+ that
          expects the last round again; averages weigh round t with t².
    seed : int or numpy Generator
        For the actions to begin with. The same seed gives the same result.
    rounds, seconds : int and float, optional
        Rounds of self-play at most (200,000 unless given); stop after that time, to within a
        tenth. A run that is stopped, or interrupted from the keyboard, returns the best verified
        profile it has.
    start : CorrelatedEquilibrium, optional
        An earlier result, to go on from: its actions are active from the start, its rounds are
        counted on, and the result is never worse (with an objective, if that misses the gap).
    objective : {"welfare", "fair", "entropy"} or sequence of float, optional
        For "auto", "lp" and "oracle": the largest sum of payoffs, the largest smallest payoff, the
        largest entropy, or the largest sum with these weights of the players. ``optimum`` of the
        result says whether it was proved best, or which value no equilibrium exceeds. "oracle", and
        "auto" where sets are infinite or tables too large, maximise among active actions only,
        without a bound; where even these are too many, "auto" returns any equilibrium and says that
        it is not optimised.
    notion : {"correlated", "coarse"}
        Coarse equilibria need only deter one action in place of all recommendations.
    progress : bool, optional
        A bar on standard error that fills as the gap falls: None for long work on a terminal.

    Examples
    --------
    >>> from fullswap.games import from_matrices
    >>> chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    >>> equilibrium = solve(chicken)
    >>> equilibrium.reached, equilibrium.payoffs.round(6).tolist()
    (True, [5.25, 5.25])
    """
    target = _check(game, gap, method, rounds, seconds, start)
    checks.one_of("notion", notion, NOTIONS)
    if not isinstance(seed, np.random.Generator):
        seed = np.random.default_rng(checks.whole("seed", seed, 0))
    wanted = as_objective(objective, game.players)
    if objective is not None and method not in ("auto", "lp", "oracle"):
        checks.refuse("objective", f"be None for method={method!r}", objective)
    sizes = [s.size for s in game.actions]
    earlier = None if start is None else verify(game, start)
    with Progress(100, progress, "gap") as bar:
        record = Record(game, target, seconds, bar, notion)
        if earlier is not None and objective is None:
            record.settle(earlier)
            if record.done():
                return replace(earlier, reached=True, notion=notion, optimum=None)
        if name_of(wanted) == "entropy" and (method == "oracle" or not _fits(sizes)):
            rule = "be 'welfare', 'fair' or weights unless tables of all joint actions are at hand"
            checks.refuse("objective", rule, objective)
        if method == "auto" and objective is not None:
            method = OBJECTIVE if _fits(sizes) else AMONG_ACTIVE
        elif method == "auto" and start is None and rounds is None and _is_small(sizes):
            method = "lp"
        run = Run(game, record, seed, rounds or _MOST_ROUNDS, earlier)
        try:
            interrupted = run.by(method, wanted, seconds is None)
        except KeyboardInterrupt:  # while actions to begin with were chosen
            interrupted = True
        result = run.result(method, interrupted)
        if objective is None:
            # a small game's programme takes the largest welfare; nobody asked how good that is
            return replace(result, optimum=None)
        optimum = result.optimum
        if optimum is None:
            value = value_of(result.weights, result.payoffs, wanted)
            # programmes on active actions are as good as these only if no action is missing
            searched = method == "oracle" and bool(result.reached)
            optimum = Optimum(name_of(wanted), value, None, searched=searched)
        if max(game.errors) > 0:
            # what was proved is true of the payoffs as they are approximated
            optimum = replace(optimum, bound=None)
        return replace(result, optimum=optimum)


def _is_small(sizes: list[int | None]) -> bool:
    listed = [k for k in sizes if k is not None]
    return len(listed) == len(sizes) and math.prod(listed) <= _SMALL


def _fits(sizes: list[int | None]) -> bool:
    """Whether tables of a game of that many actions fit the memory."""
    listed = [k for k in sizes if k is not None]
    return len(listed) == len(sizes) and math.prod(listed) <= MOST_SCANNED


def _check(
    game: StructuredGame, gap: float, method: str, rounds: int | None, seconds: float | None,
    start: CorrelatedEquilibrium | None,
) -> float:  # fmt: skip
    """Refuse what cannot be solved; the gap."""
    wanted = "a StructuredGame (from_matrices and from_tensor make one of arrays)"
    checks.instance("game", game, StructuredGame, wanted)
    checks.one_of("method", method, METHODS)
    target = checks.setting("gap", gap)
    if target <= 0:
        checks.refuse("gap", 'be positive (method="lp" is exact whatever the gap)', gap)
    error = 2 * max(game.errors)
    if error >= target:
        checks.refuse("gap", f"be above {error:.3g}, twice the error of the game's payoffs", gap)
    if rounds is not None:
        checks.whole("rounds", rounds, 1)
    if seconds is not None:
        checks.setting("seconds", seconds, above=0)
    if start is not None:
        wanted = "an earlier CorrelatedEquilibrium (verify makes one of a profile)"
        checks.instance("start", start, CorrelatedEquilibrium, wanted)
        if start.game is not game and not game.pays_like(start.game, start.support):
            got = f"one of {start.game.name}, which has other actions or payoffs"
            raise ValueError(
                f"start must be a profile of the game to solve, {game.name}, got {got}"
            )
    return target
