"""Independent runs that are kept as they end, so that a study can stop and go on.

A part of a study is a list of jobs. What a job measures becomes rows; the rows of a part are kept
in a journal, to which every job adds a line as it ends, and written as a table (CSV) at the end.
Rows carry the versions and the revision that made them.
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

Value = str | int | float | bool | None
Row = dict[str, Value]
Measure = Callable[..., list[Row]]
Advance = Callable[[float, float], None]
"""Hears of the cost that is done and of the cost of all jobs."""


@dataclass(frozen=True)
class Job:
    """One independent run: a function of a module and its arguments.

    Attributes
    ----------
    measure : callable
        Called with the arguments, perhaps in another process; returns at least one row.
    arguments : dict
        Plain values. They are columns of the rows, and name the job.
    cost : float
        Expected work, in any unit that jobs of a part share; for the remaining time.
    """

    measure: Measure
    arguments: Mapping[str, Value]
    cost: float = 1.0

    @property
    def name(self) -> str:
        """The job's name within its part.

        Examples
        --------
        >>> Job(print, {"row": "smooth", "dim": 2}).name
        'row=smooth dim=2'
        """
        return " ".join(f"{key}={value}" for key, value in self.arguments.items())


@dataclass(frozen=True)
class Part:
    """A part of the study: what to run, and what the rows say.

    Attributes
    ----------
    name : str
        As on the command line and in file names.
    jobs : callable
        (quick, seed) ↦ jobs, with names of their own.
    summarise : callable
        Rows ↦ what is worth keeping of them, as plain values for JSON.
    timed : bool
        Whether times are measured: such jobs run one after the other.
    prepare : callable or None
        Called once in every process before its first job.
    """

    name: str
    jobs: Callable[[bool, int], list[Job]]
    summarise: Callable[[Sequence[Row]], dict[str, Any]]
    timed: bool = False
    prepare: Callable[[], None] | None = None


def run(
    jobs: Sequence[Job],
    store: Store,
    executor: Executor,
    advance: Advance = lambda done, total: None,
) -> list[Row]:
    """Rows of all jobs in their order; those that the store knows are not run again.

    ``executor`` is any of ``concurrent.futures`` or of its kind.
    """
    known = store.load()
    waiting = [job for job in jobs if job.name not in known]
    total = sum(job.cost for job in waiting)
    done = 0.0
    advance(done, total)
    # the longest first: a long run at the end would keep one process busy and the others idle
    waiting.sort(key=lambda job: -job.cost)
    futures = {executor.submit(_measured, job): job for job in waiting}
    failure: BaseException | None = None
    try:
        for future in as_completed(futures):
            if future.cancelled():
                continue
            failure = failure or future.exception()
            if future.exception() is not None:
                _cancel(futures)  # what runs already is waited for and kept
                continue
            job = futures[future]
            known[job.name] = future.result()
            store.append(known[job.name])
            done += job.cost
            advance(done, total)
    finally:
        _cancel(futures)
    if failure is not None:
        raise failure
    asked = {job.name for job in jobs}
    others = [rows for name, rows in known.items() if name not in asked]
    rows = [row for job in jobs for row in known[job.name]]
    # what is not asked for this time is not thrown away
    store.save([*rows, *(row for kept in others for row in kept)])
    return rows


def _cancel(futures: Iterable[Future[Any]]) -> None:
    for future in futures:
        future.cancel()


def _measured(job: Job) -> list[Row]:
    began = process_time()
    measured = job.measure(**job.arguments)
    spent = process_time() - began
    if not measured:
        raise ValueError(f"a job must give at least one row, got none from {job.name}")
    about: Row = {"job": job.name, "cpu_seconds": round(spent, 3), **provenance()}
    return [_plain({**job.arguments, **row, **about}) for row in measured]


def _plain(row: Mapping[str, Any]) -> Row:
    """Values of Python's own kinds; nothing where there is no value."""
    return {
        key: value.item() if isinstance(value, np.generic) else value
        for key, value in row.items()
        if value is not None
    }


@cache
def provenance() -> Row:
    """Versions of what computes, and the revision of the source if it is a checkout."""
    row: Row = {"python": f"python {platform.python_version()}"}
    row |= {name: f"{name} {version(name)}" for name in ("fullswap", "numpy", "scipy", "numba")}
    return row | {"revision": _revision()}


def _revision() -> str:
    here = Path(__file__).resolve().parent
    command = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        said = subprocess.run(command, check=True, capture_output=True, timeout=10, text=True)
    except (OSError, subprocess.SubprocessError):
        return "no checkout"
    return f"git {said.stdout.strip()}"


class Store:
    """Journal and table of one part in a folder.

    Parameters
    ----------
    folder : Path
        Made when first written to.
    name : str
        Of the part: ``runs/name.jsonl`` is the journal, ``name.csv`` the table.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.journal = folder / "runs" / f"{name}.jsonl"
        self.table = folder / f"{name}.csv"

    def load(self) -> dict[str, list[Row]]:
        """Rows by job, from the journal; a line that was cut off is passed over."""
        known: dict[str, list[Row]] = {}
        if self.journal.exists():
            for line in self.journal.read_text(encoding="utf-8").splitlines():
                try:
                    rows = json.loads(line)
                except ValueError:
                    continue
                known[rows[0]["job"]] = rows
        return known

    def append(self, rows: Sequence[Row]) -> None:
        """Keep the rows of one job, on disk when this returns."""
        self.journal.parent.mkdir(parents=True, exist_ok=True)
        with self.journal.open("a", encoding="utf-8") as file:
            # begins with a line end, in case the last line was cut off
            file.write("\n" + json.dumps(rows, allow_nan=False))
            file.flush()
            os.fsync(file.fileno())

    def save(self, rows: Sequence[Row]) -> None:
        """Write journal and table anew, in the order of the rows."""
        by_job: dict[str, list[Row]] = {}
        for row in rows:
            by_job.setdefault(str(row["job"]), []).append(row)
        lines = "".join(json.dumps(own, allow_nan=False) + "\n" for own in by_job.values())
        write(self.table, to_csv(rows))
        write(self.journal, lines)


def to_csv(rows: Sequence[Row]) -> str:
    r"""A table with the columns of all rows; a cell is empty where a row has no such column.

    Examples
    --------
    >>> to_csv([{"name": "a", "gap": 0.5}, {"name": "b", "found": True}])
    'name,gap,found\na,0.5,\nb,,True\n'
    """
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write(path: Path, content: str | bytes) -> None:
    """Replace a file as a whole: at no moment is there half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def rows_where(rows: Iterable[Row], **wanted: Value) -> list[Row]:
    """Rows that have these values.

    Examples
    --------
    >>> rows_where([{"dim": 1, "gap": 3}, {"dim": 2, "gap": 4}], dim=2)
    [{'dim': 2, 'gap': 4}]
    """
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def number(row: Row, key: str) -> float:
    """A value that is known to be a number."""
    value = row[key]
    if isinstance(value, str) or value is None:
        raise ValueError(f"{key} must be a number, got {value!r} in {row!r}")
    return float(value)
