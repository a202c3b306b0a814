"""``python -m studies solvers``: this solver and others on the same games, in one run.

CPU seconds, in one thread, to a gap of 0.001 and of 0.000001 of the range of payoffs. Gaps are
calculated anew by ``studies.posed``, which shares no code with the solver. Games are made and
kernels compiled before the clock starts; a short run is done three times and the median told.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import process_time
from typing import TypeVar

import numpy as np

from fullswap.games import (
    CorrelatedEquilibrium,
    from_tensor,
    solve,
)
from fullswap.games.lp import ANY
from studies import rivals
from studies.baselines import Found
from studies.posed import Posed, posed
from studies.report.markers import rewrite
from studies.report.text import table
from studies.threads import THREADS, one_thread

Result = TypeVar("Result")
NAME = "solvers"
SHARES = (1e-3, 1e-6)
"""Gaps that are asked for, as shares of the range of payoffs."""
BUDGET = 10.0
"""CPU seconds for a run."""
TIMES, PLUS = 3.0, 0.02
"""Nowhere more than so many times the best other method, and so many seconds."""
_REPEATED = 0.2
_ROUNDING = 1e-12


@dataclass
class Line:
    """One game: what was found, by whom, in which time; None where a gap was not reached."""

    game: str
    ours: list[float | None] = field(default_factory=list)
    by: list[str] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    others: dict[str, list[float | None]] = field(default_factory=dict)
    memory: float = 0.0

    def late(self, k: int) -> bool:
        """Whether another method was clearly quicker, or the larger gap was not reached."""
        known = [times[k] for times in self.others.values()]
        best = min((t for t in known if t is not None), default=None)
        ours = self.ours[k]
        if ours is None:
            return k == 0 or best is not None
        return best is not None and ours > TIMES * best + PLUS

    @property
    def unreached(self) -> bool:
        """Whether no method reached the smaller gap."""
        return all(times[-1] is None for times in (self.ours, *self.others.values()))


def exact_runs(game: Posed) -> dict[str, list[Callable[[], Found]]]:
    """Methods that know no gap, in all forms that anybody would use; the quickest counts."""
    if game.matrices is None:
        return {}
    first, second = game.matrices
    return {
        "LP": [
            partial(rivals.linear_programme, first, second, BUDGET, objective)
            for objective in (ANY, "welfare")
        ],
        "Lemke–Howson": [partial(rivals.lemke_howson, first, second, BUDGET)],
        "Gambit lcp": [partial(rivals.gambit_lcp, first, second, BUDGET)],
    }


def _ours(game: Posed, gap: float) -> Callable[[], CorrelatedEquilibrium]:
    return lambda: solve(game.game, gap, seconds=2 * BUDGET)


def timed(run: Callable[[], Result]) -> tuple[Result, float]:
    """What it finds and the CPU seconds it takes: the median of three for short runs."""
    spent: list[float] = []
    while not spent or (spent[0] < _REPEATED and len(spent) < 3):
        started = process_time()
        found = run()
        spent.append(process_time() - started)
    return found, float(np.median(spent))


def measure(game: Posed) -> Line:
    """All methods on one game."""
    line = Line(game.name)
    for share in SHARES:
        gap = share * game.scale
        found, seconds = timed(_ours(game, gap))
        again = game.gap(found.support, found.weights)
        reached = again <= gap + _ROUNDING * game.scale and seconds <= BUDGET
        line.ours.append(seconds if reached else None)
        line.gaps.append(again / game.scale)
        line.by.append(found.method)
        line.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for name, runs in exact_runs(game).items():
        told = [_told(game, run) for run in runs]
        line.others[name] = [
            min((seconds for gap, seconds in told if gap <= share * game.scale), default=None)
            for share in SHARES
        ]
    return line


def _told(game: Posed, run: Callable[[], Found]) -> tuple[float, float]:
    """Gap, infinite if nothing was found, and CPU seconds of another method."""
    found, seconds = timed(run)
    if found.joint is None or game.matrices is None:
        return math.inf, seconds
    gap = rivals.matrix_gap(*game.matrices, found.joint)
    return gap, seconds if found.seconds is None else found.seconds


def as_table(lines: Sequence[Line]) -> str:
    """CPU seconds by game and method, at both gaps."""
    names = list(dict.fromkeys(name for line in lines for name in line.others))
    names = [
        n for n in names if any(t is not None for line in lines for t in line.others.get(n, ()))
    ]
    head = ["game", "fullswap", "found by", *names, "MB"]
    rows = []
    for line in lines:
        cells = [_pair(line.others.get(name)) for name in names]
        by = " / ".join(dict.fromkeys(line.by))
        rows.append([line.game, _pair(line.ours), by, *cells, f"{line.memory:.0f}"])
    late = [f"{line.game} (at {SHARES[k]:g})" for line in lines for k in range(2) if line.late(k)]
    unreached = [line.game for line in lines if line.unreached]
    return (
        table(head, rows)
        + f"\n\nBehind another method (more than {TIMES:g} times the best other one plus "
        f"{1000 * PLUS:g} ms), or the larger gap not reached: {_listed(late)}. The smaller gap "
        f"was reached by no method: {_listed(unreached)}."
    )


def _listed(names: Sequence[str]) -> str:
    return "; ".join(names) or "none"


def _pair(times: Sequence[float | None] | None) -> str:
    if times is None or all(t is None for t in times):
        return "–"
    said = ["–" if t is None else _seconds(t) for t in times]
    return said[0] if len(set(said)) == 1 else " / ".join(said)


def _seconds(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def warm_up() -> None:
    """Import and compile whatever is used, so that no run pays for it."""
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 30, 30))
    for run in (rivals.linear_programme, rivals.lemke_howson):
        run(first, second, 1.0)
    for game in posed(quick=True):
        solve(game.game, 1e-3 * game.scale, seconds=1.0)
    # three players without a pure equilibrium, for methods that two do not use
    solve(from_tensor(np.random.default_rng(1).random((3, 10, 10, 10))), 1e-3)


def main(arguments: Sequence[str] | None = None) -> int:
    """The table, on the page or printed; 1 if a game was not solved in time."""
    parser = argparse.ArgumentParser("python -m studies solvers", description=__doc__)
    parser.add_argument("--page", type=Path, help="file with the markers, to be rewritten")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller games")
    asked = parser.parse_args(arguments)
    if any(os.environ.get(name) != "1" for name in THREADS):
        given = list(sys.argv[2:] if arguments is None else arguments)
        with one_thread():  # the linear algebra of this process has its threads already
            return subprocess.run([sys.executable, "-m", "studies", NAME, *given]).returncode
    warm_up()
    lines = []
    for game in posed(asked.quick):
        lines.append(measure(game))
        line = lines[-1]
        print(line.game, line.ours, line.by, line.gaps, line.others, file=sys.stderr, flush=True)
    content = as_table(lines)
    print(content)
    if asked.page is not None:
        rewrite(asked.page, NAME, content)
    return int(any(line.late(k) for line in lines for k in range(len(SHARES))))
