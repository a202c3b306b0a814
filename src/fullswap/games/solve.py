"""The solver: correlated equilibria to a gap that is checked against every action.

All methods share one idea. Only a few actions of each player are active; an equilibrium of that
small game is sought; the best answers to it among *all* actions, exact linear maxima, tell how far
it is from an equilibrium of the whole game and which actions are missing. So the time depends on
the embeddings and not on the number of actions.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.progress import Progress
from fullswap.games.game import StructuredGame
from fullswap.games.lp import as_objective, check_size
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.restricted import initial_actions, spread_actions
from fullswap.games.search import FIRST_LOOK, Search
from fullswap.games.verify import verify

__all__ = ["FIRST_LOOK", "METHODS", "solve"]

METHODS = ("auto", "matching", "optimistic", "weights", "oracle", "lp")
_MOST_ROUNDS = 200_000  # rounds of self-play unless a number is given
_SMALL = 400  # joint actions up to which a linear programme takes milliseconds
_SPREAD = 50  # actions, evenly numbered, that large sets without structure begin self-play with
# Actions of a player to begin with.
_INITIAL = {"auto": 8, "oracle": 8, "matching": 24, "optimistic": 24, "weights": 64}


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
        - "matching": self-play of learners, one for each active action, by regret matching+ that
          expects the last round again; averages weigh round t with t². Some hundred rounds, and
          the fastest to moderate gaps where a pass over all actions is cheap.
        - "optimistic": the same by multiplicative weights that expect the last round again.
        - "weights": by plain multiplicative weights on many extreme actions, as in [FKO25, Table 1
          row 3], and more where these fall short. Tens of thousands of rounds; no bound is computed
          beforehand, the check afterwards decides.
        - "oracle": exact equilibria of the active actions by linear programmes, of largest
          welfare among these. Few actions and tiny gaps on structured games.
        - "lp": one linear programme on the whole of a small finite game; exact, and the best
          equilibrium for the ``objective``.
        - "auto": "lp" up to 400 joint actions, and with an objective wherever it is possible. Else
          "oracle" while its programmes take milliseconds, which mostly suffices on structured
          games, whatever the number of actions. Then (without an objective) "matching" from
          there, with a programme on what is played now and then if it is slow.
    seed : int or numpy Generator
        For the actions to begin with. The same seed gives the same result.
    rounds, seconds : int and float, optional
        Rounds of self-play at most (200,000 unless given); stop soon after that time.
    start : CorrelatedEquilibrium, optional
        An earlier result, to go on from: its actions are active from the start, its rounds are
        counted on, and the result is never worse (with an objective, if that misses the gap).
    objective : {"welfare", "fair"} or sequence of float, optional
        For "lp" and "oracle": maximise the sum of payoffs, the smallest payoff, or the sum with
        these weights of the players. "oracle" maximises among its active actions only.
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
    if not isinstance(seed, np.random.Generator):
        seed = np.random.default_rng(checks.whole("seed", seed, 0))
    wanted = as_objective(objective, game.players)
    if objective is not None and method not in ("auto", "lp", "oracle"):
        checks.refuse("objective", f"be None for method={method!r}", objective)
    sizes = [s.size for s in game.actions]
    listed = [k for k in sizes if k is not None]
    if method == "auto" and objective is not None:
        method = "lp" if _fits(sizes) else "oracle"
    if method == "auto" and start is None and rounds is None:
        small = len(listed) == game.players and math.prod(listed) <= _SMALL
        method = "lp" if small else method
    earlier = None if start is None else verify(game, start)
    if earlier is not None and earlier.gap <= target and objective is None:
        return replace(earlier, reached=True)
    with Progress(100, progress, "gap") as bar:
        search = Search(game, target, rounds or _MOST_ROUNDS, seconds, bar)
        if method == "lp":
            check_size(sizes)
            search.begin([np.arange(k) for k in listed], earlier)
            search.programme(wanted, exact=True)
            return search.result("lp")
        search.begin(initial_actions(game, _INITIAL[method], seed), earlier)
        auto, learner = method == "auto", "matching" if method == "auto" else method
        if auto or method == "oracle":
            done = search.by_programmes(wanted, _SMALL if auto else None)
            if done or not auto:
                return search.result("oracle")
        search.active.add(spread_actions(game, _SPREAD))
        search.by_self_play(learner, polish=auto)
        return search.result(learner)


def _fits(sizes: list[int | None]) -> bool:
    """Whether a game of that many actions is small enough for one programme."""
    try:
        check_size(sizes)
    except ValueError:
        return False
    return True


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
    return target
