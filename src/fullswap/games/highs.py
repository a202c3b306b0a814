"""The one wrapper of scipy's linear programmes, which keeps to limits of time and hears Ctrl-C."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fullswap.base.protocols import Vector

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# How far constraints may be broken: the tightest that the solver takes, and its default, as the
# tighter one is sometimes out of reach.
TIGHT, LOOSE = 1e-10, 1e-7
_SOLVED = 0  # the state of scipy's linprog
_LEAST_SECONDS = 0.01  # the solver's clock takes nothing shorter for a limit
# For each entry, before the solver looks at its clock; measured 0.1e-6 to 0.4e-6.
SECONDS_AN_ENTRY = 4e-7
_HEARD = 0.1  # seconds after which Ctrl-C is heard


def no_time_for(entries: int, seconds: float | None, each: float = SECONDS_AN_ENTRY) -> bool:
    """Whether the time would be up before so many entries are dealt with; those of a programme."""
    return seconds is not None and entries * each > seconds


def solve_programme(
    cost: Vector, rows: csr_array, limits: Vector, counted: Vector, seconds: float | None,
    bounds: Any = (0.0, None), method: str = "highs", tolerances: Sequence[float] = (TIGHT,),
    tight_prices: bool = False,
) -> Any:  # fmt: skip
    """The cheapest x with rows·x ≤ limits and counted·x = 1, as scipy tells it.

    Constraints may be broken by the first of the ``tolerances`` that the solver attains, and with
    ``tight_prices`` those of the dual. None if there is none, or it takes more than ``seconds``.
    """
    from scipy.optimize import linprog

    ends = None if seconds is None else time.monotonic() + seconds
    for tolerance in tolerances:
        options: dict[str, float] = {"primal_feasibility_tolerance": tolerance}
        if tight_prices:
            options["dual_feasibility_tolerance"] = tolerance
        if ends is not None:
            left = ends - time.monotonic()
            if no_time_for(rows.nnz, left):
                return None
            options["time_limit"] = max(left - rows.nnz * SECONDS_AN_ENTRY, _LEAST_SECONDS)
        solution = interruptible(
            partial(
                linprog, cost, rows, limits, counted[None], [1.0], bounds, method=method,
                options=options,
            )
        )  # fmt: skip
        if solution.status == _SOLVED:
            return solution
    return None


def interruptible(work: Callable[[], Any]) -> Any:
    """What it returns or raises; Ctrl-C is heard while it works.

    The solver is compiled code that lets other threads run and hears no signals. It works in a
    thread of its own, which after Ctrl-C is left to its end: nothing can stop it earlier.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()  # nobody is told of Ctrl-C here
    result: list[Any] = []
    problem: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:  # carried over, whatever it is
            problem.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_HEARD)
    if problem:
        raise problem[0]
    return result[0]
