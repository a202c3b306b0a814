"""CPU time that can be told and compared.

Linear algebra in one thread: on small matrices more of them mostly wait, which counts as CPU time.
And budgets of CPU time for what minds the clock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import TypeVar

Found = TypeVar("Found")

THREADS = (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
_ENOUGH, _MOST_DOUBLINGS = 0.8, 4


@contextmanager
def one_thread() -> Iterator[None]:
    """Processes that are started meanwhile, other than by a fork, keep to one thread.

    Examples
    --------
    >>> with one_thread():
    ...     os.environ["OMP_NUM_THREADS"]
    '1'
    """
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def within_budget(
    run: Callable[[float], Found], stopped: Callable[[Found], bool], budget: float
) -> tuple[Found, float]:
    """What a run that minds the clock finds in a budget of CPU seconds, and the seconds it took.

    On a busy machine the clock ends it early: then it is done again with twice as much of the
    clock, until it ends by itself, or has had four fifths of its budget, or four times over.

    Examples
    --------
    >>> from time import sleep
    >>> def doze(seconds):  # the clock passes, but no CPU time
    ...     return sleep(seconds) or seconds
    >>> within_budget(doze, lambda seconds: seconds < 0.03, budget=0.01)[0]
    0.04
    """
    clock = budget
    while True:
        began, started = perf_counter(), process_time()
        result = run(clock)
        spent, passed = process_time() - started, perf_counter() - began
        # one that ends early of itself, for lack of room, would do so again
        starved = stopped(result) and passed >= _ENOUGH * clock and spent < _ENOUGH * budget
        if not starved or clock >= 2**_MOST_DOUBLINGS * budget:
            return result, spent
        clock *= 2
