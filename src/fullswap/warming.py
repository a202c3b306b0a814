"""Compile ahead what forecasting, checking, monitors and games need.

Kernels are compiled on their first call and kept (``fullswap.kernels.keeping``). Where the first
answer must be fast, or where nothing can be written later, do it beforehand: when an image is
built, after an upgrade, in the start of a service. An image that is built on another processor than
it runs on needs ``NUMBA_CPU_NAME=generic`` in both places, or its kernels are compiled again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fullswap.kernels import compiling, keeping

SHARES = np.array([0.2, 0.3, 0.5])
EVENTS = 20
"""In a run: enough for every kernel, and soon over."""


@dataclass(frozen=True)
class WarmUp:
    """What ``warm_up`` did.

    Attributes
    ----------
    folder : str or None
        Where compiled code is kept; None if it cannot be.
    temporary : bool
        Whether that is a folder for temporary files, which may be emptied.
    compiled : int
        Kernels that were compiled; the others were there.
    seconds : float
        How long it took.
    """

    folder: str | None
    temporary: bool
    compiled: int
    seconds: float

    @property
    def kept(self) -> bool:
        """Whether later starts are fast."""
        return self.folder is not None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {**asdict(self), "kept": self.kept}

    def __str__(self) -> str:
        if self.folder is None:
            return f"Compiled code cannot be kept.\n{compiling.CURE}"
        done = f"{self.compiled} kernels compiled" if self.compiled else "Nothing to compile"
        text = f"{done}, in {self.seconds:.0f} s. Compiled code is kept in\n  {self.folder}"
        return f"{text}\n  which may not last.\n{compiling.CURE}" if self.temporary else text


def warm_up(
    progress: Callable[[str], None] | None = None,
    more: Mapping[str, Callable[[], object]] | None = None,
) -> WarmUp:
    """Compile what forecasting, checking, monitors and games need, so that first calls are fast.

    Takes a minute or two the first time, and seconds later.

    Parameters
    ----------
    progress : callable, optional
        Told in a few words what is compiled next.
    more : mapping, optional
        Further steps, by what they are called.

    Returns
    -------
    WarmUp
        Where compiled code is kept and how long it took.
    """
    start, before = time.monotonic(), compiling.progress.compiled
    with compiling.progress.silent():
        for words, step in {**STEPS, **(more or {})}.items():
            if progress is not None:
                progress(words)
            step()
    folder = keeping.writable_folder()
    compiled = compiling.progress.compiled - before
    if folder is None and not compiled:
        folder = keeping.BESIDE  # nothing was missing: an image that was warmed up and sealed
    temporary = folder is not None and keeping.is_temporary(folder)
    seconds = time.monotonic() - start
    return WarmUp(None if folder is None else str(folder), temporary, compiled, seconds)


def _use(forecaster: Any, given: tuple[Any, ...], *columns: Any, **more: Any) -> None:
    """One event, a run, a run with late outcomes, and the same for many streams."""
    from fullswap.forecasting import Bank

    bank = Bank(forecaster)
    forecaster.predict(*given)
    forecaster.update(1)
    known = np.arange(EVENTS) + 2
    forecaster.run(*columns, **more)
    forecaster.run(*columns, known=known, **more)
    keys = np.arange(EVENTS) % 2
    bank.run(keys, *columns, **more)
    bank.run(keys, *columns, threads=2, **more)
    bank.run(keys, *columns, known=known, **more)


def _two_classes() -> None:
    from fullswap.forecasting import Forecaster

    _use(Forecaster(seed=0), (), _outcomes(2))


def _three_classes() -> None:
    from fullswap.forecasting import MulticlassForecaster

    _use(MulticlassForecaster(3, seed=0), (), _outcomes(3))


def _recalibration() -> None:
    from fullswap.forecasting import Recalibrator

    _use(Recalibrator(seed=0), (0.3,), np.full(EVENTS, 0.3), _outcomes(2))


def _groups() -> None:
    from fullswap.forecasting import Recalibrator

    groups = ["one", "other"] * (EVENTS // 2)
    recalibrator = Recalibrator(groups=["one", "other"], seed=0)
    _use(recalibrator, (0.3,), np.full(EVENTS, 0.3), _outcomes(2), groups=groups)


def _recalibration_of_three() -> None:
    from fullswap.forecasting import Recalibrator

    shares = np.tile(SHARES, (EVENTS, 1))
    _use(Recalibrator(classes=3, seed=0), (SHARES,), shares, _outcomes(3))


def _checks() -> None:
    from fullswap.checking import check

    str(check(np.tile(_outcomes(2), 10), np.tile([0.25, 0.75, 0.5, 0.6], 5 * EVENTS // 2)))
    str(check(np.tile(_outcomes(3), 10), np.tile(SHARES, (10 * EVENTS, 1))))


def _monitors() -> None:
    from fullswap.checking.monitor import Monitor
    from fullswap.checking.monitor_bank import MonitorBank

    bank = MonitorBank(Monitor())
    bank.update(["one", "other"] * (EVENTS // 2), _outcomes(2), np.full(EVENTS, 0.3))
    Monitor().update(1, 0.3)
    Monitor(classes=3).update(1, SHARES)


def _games() -> None:
    from fullswap.games import solve, zoo
    from fullswap.games.nash import Paths

    for method in ("matching", "oracle", "lemke-howson"):
        solve(zoo.ring(7), 0.1, method)
    path = Paths(zoo.ring(7).table([np.arange(7)] * 2)).start(0)
    path.advance(1)  # stopped on the way, it calculates its inverses anew


def _outcomes(classes: int) -> Any:
    return np.arange(EVENTS) % classes


STEPS: dict[str, Callable[[], None]] = {
    "forecasts of two classes": _two_classes,
    "recalibration of two classes": _recalibration,
    "recalibration in groups": _groups,
    "forecasts of three classes": _three_classes,
    "recalibration of three classes": _recalibration_of_three,
    "checks": _checks,
    "monitors": _monitors,
    "games": _games,
}
"""What is compiled, in words, and by which calls."""
