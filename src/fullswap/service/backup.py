"""A copy of a folder, also of one that is in use.

The journal and the tables must be of the same moment: tables that are older than the journal lack
what was trimmed in between, and tables that are newer know ids of forecasts which no stream has
made. So a lock on the journal is held while a snapshot of each is opened, a few milliseconds in
which nothing is promised and nothing trimmed. What the two show then is what a kill in that moment
would have left, from which a service recovers: all promises made before are in the journal or,
where they were trimmed, in the tables. The snapshots are copied afterwards, at leisure.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from fullswap.base import checks
from fullswap.base.files import make_folder, make_private
from fullswap.service.tokens import FILE as TOKENS

JOURNAL, TABLES = "journal.db", "streams.db"
COUNTED = {JOURNAL: ("entries", "journal"), TABLES: ("streams", "streams")}
"""What is copied; what is counted in it, and in which table."""
PATIENCE = 30.0
"""Seconds to wait for a moment between two commits."""


def backup(folder: str | os.PathLike[str], target: str | os.PathLike[str]) -> dict[str, int]:
    """Copy a folder to a new one, whole or not at all.

    Parameters
    ----------
    folder : path
        That of a service, which may be running.
    target : path
        A folder that is not there yet.

    Returns
    -------
    dict
        How many streams and how many entries of the journal were copied, and bytes.
    """
    source, end = Path(folder), Path(target)
    for name in COUNTED:
        if not (source / name).is_file():
            raise ValueError(f"folder must be that of a service, got {folder} without {name}")
    if end.exists():
        checks.refuse("target", "be a folder that is not there yet", str(target))
    part = end.with_name(f".{end.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # what an interrupted backup left
    make_folder(part)
    try:
        about = _copy(source, part)
        if (source / TOKENS).is_file():
            shutil.copy2(source / TOKENS, part / TOKENS)
        _sync(part)
        os.rename(part, end)
        _sync(end.parent, files=False)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return about


def _copy(source: Path, part: Path) -> dict[str, int]:
    about = {"bytes": 0}
    with ExitStack() as stack:
        with _open(source / JOURNAL) as lock:
            lock.execute("BEGIN IMMEDIATE")
            snapshots = {}
            for name in COUNTED:
                snapshots[name] = stack.enter_context(_open(source / name))
                snapshots[name].execute("BEGIN")
                snapshots[name].execute("SELECT count(*) FROM sqlite_master").fetchone()
        for name, (what, table) in COUNTED.items():
            with _open(part / name, "rwc") as copy:
                snapshots[name].backup(copy)
                found = copy.execute("PRAGMA quick_check").fetchone()[0]
                if found != "ok":
                    raise ValueError(f"{name} must not be damaged, got {found}")
                about[what] = copy.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            about["bytes"] += (part / name).stat().st_size
    return about


@contextmanager
def _open(path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    if mode == "rwc":
        make_private(path)
    address = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def _sync(folder: Path, files: bool = True) -> None:
    """Have it on the disk."""
    for path in (*(folder.iterdir() if files else ()), folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
