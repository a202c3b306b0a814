"""The folder of a service: a journal, in which everything is durable first, and tables.

``journal.db`` takes what clients were promised, one commit for all requests that came together.
``streams.db`` has a row for each stream as it was at some moment, and what was resolved. A stream
in it knows up to which entry of the journal it has gone (``seq``): what follows is done again when
the service starts, so rows may be written at leisure and one by one. Entries that every stream has
gone past are deleted.

Both are SQLite in WAL mode with synchronous=FULL: a commit that returned survives a power cut.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from fullswap.base.files import lock, make_folder, make_private
from fullswap.service.problems import Unavailable

VERSION = 2
"""Of the tables; raised when a reader of the old would misread the new."""
PATIENCE = 2.0
"""Seconds to wait for a database that somebody else has locked."""
TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS specs (
    no INTEGER PRIMARY KEY, name TEXT UNIQUE, body TEXT NOT NULL, seed TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS streams (
    no INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, spec INTEGER NOT NULL, created REAL,
    last REAL, seq INTEGER NOT NULL, state INTEGER NOT NULL, checksum INTEGER NOT NULL,
    row BLOB NOT NULL, tickets BLOB NOT NULL, watch BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS history (
    stream INTEGER, n INTEGER, time REAL, resolved REAL, id TEXT, event TEXT, outcome TEXT,
    body BLOB, PRIMARY KEY (stream, n)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_event ON history (event) WHERE event IS NOT NULL;
CREATE TABLE IF NOT EXISTS ids (id TEXT PRIMARY KEY, stream INTEGER, n INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sent (alarm TEXT PRIMARY KEY) WITHOUT ROWID;
"""
JOURNAL = "CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB)"


class Folder:
    """The one process that may write to a folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"folder must be a folder, got the file {path}")
        make_folder(self.path)
        self._lock = lock(
            self.path / "lock", f"folder must not be in use, got {path}: another service runs on it"
        )

    def close(self) -> None:
        """Let another process have it."""
        self._lock.close()


def connect(path: Path) -> sqlite3.Connection:
    """A durable database for the owner alone; one connection a thread."""
    make_private(path)  # its journals take its mode
    connection = sqlite3.connect(
        path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA cache_size=-65536")
    except BaseException:
        connection.close()
        raise
    return connection


def open_tables(path: Path) -> sqlite3.Connection:
    """The tables of a service, made if they are not there; other versions are refused."""
    connection = connect(path)
    try:
        connection.executescript(f"BEGIN IMMEDIATE;{TABLES}COMMIT;")
        found = connection.execute("SELECT value FROM about WHERE name = 'version'").fetchone()
        if found is None:
            connection.execute("INSERT INTO about VALUES ('version', ?)", (str(VERSION),))
        elif found[0] != str(VERSION):
            raise ValueError(
                f"folder must have tables of version {VERSION}, got {found[0]}: "
                "use the version of fullswap that wrote them"
            )
    except BaseException:
        connection.close()
        raise
    return connection


def reason_of(error: sqlite3.Error) -> str:
    """What a client is told: clear, and without paths."""
    text = str(error)
    if "full" in text:
        return "the disk is full: nothing was done; try again when there is room"
    if "locked" in text or "busy" in text:
        return "the store is locked by another program: nothing was done; try again"
    if "readonly" in text:
        return "the store cannot be written: nothing was done"
    return "the store failed: nothing was done; try again"


class Journal:
    """What clients were promised, in the order in which it happened."""

    def __init__(self, path: Path) -> None:
        self._connection = connect(path)
        self._connection.execute(JOURNAL)
        found = self._connection.execute(
            "SELECT coalesce(max(seq), 0), coalesce(sum(length(body)), 0) FROM journal"
        ).fetchone()
        last = self._connection.execute("SELECT seq FROM sqlite_sequence").fetchone()
        self.seq: int = max(found[0], last[0] if last else 0)
        """Number of the last entry."""
        self._sizes: deque[tuple[int, int]] = deque([(self.seq, found[1])])
        """Number and bytes of commits that are still there, oldest first."""
        self.bytes: int = found[1]
        self.trouble: str | None = None
        """Why the last entries could not be written, if they could not."""

    def append(self, bodies: Sequence[bytes]) -> int:
        """Make entries durable, all or none; the number of the first."""
        connection, first = self._connection, self.seq + 1
        try:
            if connection.in_transaction:  # it could not be rolled back
                connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO journal VALUES (?, ?)",
                [(first + k, body) for k, body in enumerate(bodies)],
            )
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
            self.trouble = reason_of(error)
            raise Unavailable(self.trouble) from error
        self.trouble = None
        self.seq += len(bodies)
        size = sum(map(len, bodies))
        self.bytes += size
        self._sizes.append((self.seq, size))
        return first

    def read(self) -> Iterator[tuple[int, bytes]]:
        """All entries that are still there, oldest first."""
        yield from self._connection.execute("SELECT seq, body FROM journal ORDER BY seq")

    def trim(self, upto: int) -> None:
        """Delete entries that are in the tables by now; if that fails they are deleted later."""
        try:
            self._connection.execute("DELETE FROM journal WHERE seq <= ?", (upto,))
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            return
        while self._sizes and self._sizes[0][0] <= upto:
            self.bytes -= self._sizes.popleft()[1]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
