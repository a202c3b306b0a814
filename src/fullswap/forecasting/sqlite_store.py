"""A store of streams in a SQLite file: saves cost what has changed, and a crash loses nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from fullswap.base import checks
from fullswap.forecasting.stores import StoredStream, refuse_others

if TYPE_CHECKING:
    import sqlite3

APPLICATION = 0x66755357
"""Marks the file as ours."""
VERSION = 1
"""Of the tables."""
TABLES = (
    "CREATE TABLE bank (one INTEGER PRIMARY KEY CHECK (one = 1), settings TEXT NOT NULL)",
    "CREATE TABLE streams (key TEXT PRIMARY KEY, row BLOB NOT NULL, tickets BLOB NOT NULL, "
    "checksum INTEGER NOT NULL)",
)
READ = "SELECT key, row, tickets, checksum FROM streams"
WRITE = (
    "INSERT INTO streams (key, row, tickets, checksum) VALUES (?, ?, ?, ?) ON CONFLICT (key) "
    "DO UPDATE SET row = excluded.row, tickets = excluded.tickets, checksum = excluded.checksum"
)
AT_ONCE = 10_000
"""Streams that are read at once."""
Answer = TypeVar("Answer")


class SQLiteStore:
    """Streams in a SQLite file, one row a stream.

    A save is one transaction, on the disk when ``Bank.save`` returns (write-ahead log,
    ``synchronous=FULL``): a crash or a full disk in the middle loses nothing that was saved before.
    Other processes may read meanwhile; a second writer waits. One thread at a time; close it, or
    use it in a ``with`` statement, before a process forks.

    Parameters
    ----------
    path : path
        The file; it is made if there is none. Beside it, files of the same name with ``-wal`` and
        ``-shm`` belong to it as long as it is open.
    wait : float
        Seconds for which a write waits for another process that writes; then TimeoutError.

    Examples
    --------
    >>> import tempfile
    >>> from fullswap.forecasting import Bank, Forecaster
    >>> bank = Bank(Forecaster(seed=1))
    >>> with tempfile.TemporaryDirectory() as folder, SQLiteStore(f"{folder}/bank.db") as store:
    ...     record = bank.run(["north", "south"], [1, 0])
    ...     bank.save(store)                                      # both
    ...     record = bank.run(["south"], [1])
    ...     bank.save(store)                                      # south alone
    ...     Bank.load(store)["south"].rounds
    2
    """

    def __init__(self, path: str | os.PathLike[str], wait: float = 10.0) -> None:
        self.path = Path(path)
        self._wait = checks.number("wait", wait, least=0)
        self._open: sqlite3.Connection | None = None
        self._try(self._connect)

    def settings(self) -> str | None:
        """What the bank wrote about itself; None as long as nothing was saved."""
        return self._try(self._settings)

    def put(self, settings: str, streams: Iterable[StoredStream]) -> None:
        """Keep these streams beside the others that are there: all of them, or none."""

        def write() -> None:
            with _Transaction(self._connection):
                refuse_others(self._settings(), settings)
                self._connection.execute("INSERT OR IGNORE INTO bank VALUES (1, ?)", (settings,))
                self._connection.executemany(WRITE, streams)

        self._try(write)

    def get(self, keys: Iterable[str] | None = None) -> Iterator[StoredStream]:
        """The streams of these keys that are there; None: all, in the order in which they came."""
        if keys is None:
            return self._all()
        return iter(self._try(lambda: self._some(list(keys))))

    def close(self) -> None:
        """Put all into the one file and let go of it."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def __repr__(self) -> str:
        return f"SQLiteStore({str(self.path)!r})"

    # --- inside -----------------------------------------------------------------------------------

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            raise ValueError(f"store must be open, got {self!r}, which was closed")
        return self._open

    def _connect(self) -> None:
        import sqlite3  # where it is used: some builds of Python are without

        self._open = sqlite3.connect(
            self.path, timeout=self._wait, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """Make the tables of a new file, or see that those of an old one are ours."""
        run = self._connection.execute
        if not self._marked():
            with _Transaction(self._connection):
                if not self._marked():  # still, now that nobody else writes
                    for table in TABLES:
                        run(table)
                    run(f"PRAGMA application_id = {APPLICATION}")
                    run(f"PRAGMA user_version = {VERSION}")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")

    def _marked(self) -> bool:
        """Whether the file is a store; False if it is empty."""
        run = self._connection.execute
        (mark,), (version,) = (run(f"PRAGMA {name}").fetchone()
                               for name in ("application_id", "user_version"))  # fmt: skip
        if mark == APPLICATION:
            if version != VERSION:
                raise ValueError(
                    f"{self.path} must be a store of version {VERSION}, got version {version}: "
                    "upgrade fullswap to read it"
                )
            return True
        if run("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise ValueError(f"{self.path} must be a store of streams, got another database")
        return False

    def _settings(self) -> str | None:
        found = self._connection.execute("SELECT settings FROM bank").fetchone()
        return None if found is None else str(found[0])

    def _all(self) -> Iterator[StoredStream]:
        cursor = self._try(lambda: self._connection.execute(f"{READ} ORDER BY rowid"))
        while rows := self._try(lambda: cursor.fetchmany(AT_ONCE)):
            yield from map(StoredStream._make, rows)

    def _some(self, keys: list[str]) -> list[StoredStream]:
        found = list[StoredStream]()
        with _Transaction(self._connection, "BEGIN"):  # all as of one moment
            for key in keys:
                own = self._connection.execute(f"{READ} WHERE key = ?", (key,))
                found += map(StoredStream._make, own)
        return found

    def _try(self, act: Callable[[], Answer]) -> Answer:
        """Errors of SQLite in words that name the file."""
        import sqlite3

        try:
            return act()
        except sqlite3.Error as error:
            code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                said = f"{self.path} is being written by another process, waited {self._wait:g} s"
                raise TimeoutError(said) from None
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                said = f"{self.path} must be a store of streams, got a file that is none or damaged"
                raise ValueError(f"{said} ({error})") from None
            raise OSError(f"{self.path} could not be used: {error}") from error


class _Transaction:
    """All that is done inside, or nothing."""

    def __init__(self, connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> None:
        self._connection, self._begin = connection, begin

    def __enter__(self) -> None:
        self._connection.execute(self._begin)

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            if kind is None:
                self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:  # some errors end it by themselves
                self._connection.execute("ROLLBACK")
