"""All parts of the study in one folder: what is run, kept, and summarised."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from studies import attempts, convex, equilibria, figure, table
from studies.runs import Advance, Part, Row, Store, number, run, write
from studies.threads import one_thread

PARTS: dict[str, Part] = {
    module.PART.name: module.PART for module in (table, attempts, figure, convex, equilibria)
}
"""In the order of the page."""
SETTINGS, SUMMARY, PAGE = "settings.json", "summary.json", "page.md"
"""Files of a study beside the tables of its parts and the pictures."""
_BETWEEN_LINES = 15.0
"""Seconds from one line about progress to the next."""


@contextmanager
def processes(workers: int, prepare: Callable[[], None] | None = None) -> Iterator[Executor]:
    """Fresh processes, each with one thread of linear algebra."""
    # spawned: a fork would inherit the threads of this process, and linear algebra that is
    # already set up to use all cores
    with (
        one_thread(),
        ProcessPoolExecutor(workers, get_context("spawn"), _begin, (prepare,)) as executor,
    ):
        yield executor


def _begin(prepare: Callable[[], None] | None) -> None:
    # Ctrl-C goes to all processes: these just end, and the one that started them says so
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if prepare is not None:
        prepare()


def progress_lines(name: str) -> Advance:
    """How far a part is and how long it will take, as a line on standard error now and then."""
    began = last = time.monotonic()

    def advance(done: float, total: float) -> None:
        nonlocal last
        now = time.monotonic()
        if done and (now - last > _BETWEEN_LINES or done > 0.999999 * total):
            last = now
            left = (now - began) * max(0.0, total / done - 1)
            print(f"{name}: {done / total:.0%}, about {left:.0f} s to go", file=sys.stderr)

    return advance


@dataclass(frozen=True)
class Study:
    """A folder of results and what they are results of.

    Attributes
    ----------
    folder : Path
        Made when first written to.
    quick : bool
        Fewer and shorter runs.
    seed : int
        First seed.
    """

    folder: Path
    quick: bool = True
    seed: int = 0

    @property
    def settings(self) -> dict[str, Any]:
        """What the results depend on; a folder holds those of one setting only."""
        return {"scale": "quick" if self.quick else "full", "seed": self.seed}

    def claim(self, fresh: Sequence[str] = ()) -> None:
        """Make the folder this study's own; results of parts to be done ``fresh`` are dropped.

        Results of other settings are an error, since they would be taken for these, unless all
        begins afresh.
        """
        path = self.folder / SETTINGS
        held = _read(path) if path.exists() else self.settings
        if held != self.settings and not fresh:
            raise ValueError(
                f"{self.folder} holds results of {options(held)}, not of "
                f"{options(self.settings)}: choose another folder, or begin afresh"
            )
        if fresh:
            for name in PARTS if held != self.settings else fresh:
                store = Store(self.folder, name)
                store.journal.unlink(missing_ok=True)
                store.table.unlink(missing_ok=True)
            for name in (SUMMARY, PAGE):  # they would tell of what is gone
                (self.folder / name).unlink(missing_ok=True)
        write(path, json.dumps(self.settings, indent=2) + "\n")

    def run(self, names: Sequence[str], executor: Executor) -> None:
        """Run what is missing of these parts, but for those that are timed."""
        for part in (PARTS[name] for name in names):
            if not part.timed:
                self._run(part, executor)

    def run_timed(self, names: Sequence[str]) -> None:
        """Run what is missing of those parts that are timed, each in a process of its own."""
        for part in (PARTS[name] for name in names):
            if part.timed:
                # one at a time: runs beside each other would share caches and memory
                with processes(1, part.prepare) as executor:
                    self._run(part, executor)

    def _run(self, part: Part, executor: Executor) -> None:
        store = Store(self.folder, part.name)
        run(part.jobs(self.quick, self.seed), store, executor, progress_lines(part.name))

    def summary(self) -> dict[str, Any]:
        """What all finished parts say, with what made them."""
        parts: dict[str, Any] = {}
        rows: list[Row] = []
        for name in PARTS:
            finished = self._finished(name)
            if finished:
                parts[name] = PARTS[name].summarise(finished)
                rows += finished
        return {**self.settings, **about(rows), "parts": parts}

    def _finished(self, name: str) -> list[Row]:
        known = Store(self.folder, name).load()
        wanted = PARTS[name].jobs(self.quick, self.seed)
        if not all(job.name in known for job in wanted):
            return []
        return [row for job in wanted for row in known[job.name]]


def broken(summary: Mapping[str, Any]) -> list[str]:
    """Parts in which a run exceeded its guarantee: none, if theorems and code are right."""
    return [name for name, part in summary["parts"].items() if part.get("largest_ratio", 0.0) > 1]


def about(rows: Sequence[Row]) -> dict[str, Any]:
    """Versions, revisions, number of runs and CPU time behind rows."""
    tools = ("python", "fullswap", "numpy", "scipy", "numba")
    spent = {str(row["job"]): number(row, "cpu_seconds") for row in rows}
    return {
        "versions": sorted({str(row[tool]) for row in rows for tool in tools}),
        "revisions": sorted({str(row["revision"]) for row in rows}),
        "runs": len(rows),
        "cpu_seconds": round(sum(spent.values())),
    }


def options(settings: Mapping[str, Any]) -> str:
    """Settings as on the command line.

    Examples
    --------
    >>> options({"scale": "full", "seed": 3})
    '--full --seed 3'
    """
    return f"--{settings['scale']} --seed {settings['seed']}"


def _read(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    try:
        settings = json.loads(text)
        options(settings)
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} must hold the settings of a study, got {text!r}") from None
    return dict(settings)
