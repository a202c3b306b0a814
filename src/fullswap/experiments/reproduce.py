"""All parts of the study in one folder: what is run, kept, and said of it."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from fullswap.experiments import attempts, convex, equilibria, figure, forecasters, table
from fullswap.experiments.study import Part, Row, Store, number, run, write
from fullswap.experiments.threads import one_thread

PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        table.PART,
        attempts.PART,
        figure.PART,
        convex.PART,
        equilibria.PART,
        forecasters.PART,
    )  # fmt: skip
}
"""In the order of the page."""
ENGINES = ("processes",)
"""Where independent runs may go."""
SETTINGS, SUMMARY, PAGE, TWIN = "settings.json", "summary.json", "index.html", "page.md"
"""Files of a study beside the tables of its parts and the pictures."""


Advance = Callable[[float, float], None]


@contextmanager
def silent(name: str) -> Iterator[Advance]:
    """No progress shown."""
    yield lambda done, total: None


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
    logs : Path or None
        Folder of forecast logs, for the forecasters.
    """

    folder: Path
    quick: bool = True
    seed: int = 0
    logs: Path | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What the results depend on; a folder holds those of one setting only."""
        return {"scale": "quick" if self.quick else "full", "seed": self.seed}

    def part(self, name: str) -> Part:
        """A part of this study."""
        if name == "forecasters" and self.logs is not None:
            return forecasters.part_with_logs(self.logs)
        return PARTS[name]

    def check(self, names: Sequence[str], engine: str) -> None:
        """Whatever can be found wrong before anything is run or dropped."""
        if engine not in ENGINES:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
        for name in names:
            self.part(name)

    def claim(self, fresh: Sequence[str] = ()) -> None:
        """Make the folder this study's own; results of parts to be done ``fresh`` are dropped.

        Results of other settings are an error, since they would be taken for these, unless all
        begins afresh.
        """
        path = self.folder / SETTINGS
        found = _read(path) if path.exists() else self.settings
        if found != self.settings and not fresh:
            raise ValueError(
                f"{self.folder} holds results of {_told(found)}, not of "
                f"{_told(self.settings)}: choose another folder, or begin afresh"
            )
        if fresh:
            for name in PARTS if found != self.settings else fresh:
                store = self.store(name)
                store.journal.unlink(missing_ok=True)
                store.table.unlink(missing_ok=True)
            for name in (SUMMARY, PAGE, TWIN):  # they would tell of what is gone
                (self.folder / name).unlink(missing_ok=True)
        write(path, json.dumps(self.settings, indent=2) + "\n")

    def run(
        self,
        names: Sequence[str],
        workers: int,
        progress: Callable[[str], AbstractContextManager[Advance]] = silent,
        engine: str = "processes",
    ) -> None:
        """Run what is missing of these parts; those that are timed last, each on its own."""
        self.check(names, engine)
        parts = [self.part(name) for name in names]
        with processes(workers) as executor:
            for part in parts:
                if not part.timed:
                    self._run(part, executor, progress)
        for part in parts:
            if part.timed:
                with processes(1, part.prepare) as executor:
                    self._run(part, executor, progress)

    def _run(
        self,
        part: Part,
        executor: Executor,
        progress: Callable[[str], AbstractContextManager[Advance]],
    ) -> None:
        with progress(part.name) as advance:
            run(part.jobs(self.quick, self.seed), self.store(part.name), executor, advance)

    def store(self, name: str) -> Store:
        """Where the rows of a part are kept."""
        return Store(self.folder, name)

    def kept(self, name: str) -> tuple[int, set[str]]:
        """How many jobs of a part are done, and the revisions that did them."""
        known = self.store(name).load()
        done = [known[job.name] for job in self.part(name).jobs(self.quick, self.seed)
                if job.name in known]  # fmt: skip
        return len(done), {str(rows[0]["revision"]) for rows in done}

    def summary(self) -> dict[str, Any]:
        """What all finished parts say, with what made them."""
        parts: dict[str, Any] = {}
        rows: list[Row] = []
        for name in PARTS:
            found = self._finished(name)
            if found:
                parts[name] = self.part(name).summarise(found)
                rows += found
        return {**self.settings, **about(rows), "parts": parts}

    def _finished(self, name: str) -> list[Row]:
        known = self.store(name).load()
        wanted = self.part(name).jobs(self.quick, self.seed)
        if not all(job.name in known for job in wanted):
            return []
        rows = [row for job in wanted for row in known.pop(job.name)]
        # recorded streams stay in the summary when their logs are not at hand this time
        return rows + [row for kept in known.values() for row in kept if row.get("recorded")]


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


def _read(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    try:
        found = json.loads(text)
        _told(found)
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} must hold the settings of a study, got {text!r}") from None
    return dict(found)


def _told(settings: dict[str, Any]) -> str:
    return f"--{settings['scale']} --seed {settings['seed']}"
