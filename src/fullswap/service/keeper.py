"""A thread that writes the tables, so that no request waits for them."""

from __future__ import annotations

import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from fullswap.service.problems import Unavailable
from fullswap.service.storage import open_tables, reason_of

Job = Callable[[sqlite3.Connection], Any]
"""Statements of one transaction."""


class Keeper:
    """Runs jobs one after the other, each a transaction of its own."""

    def __init__(self, path: Path) -> None:
        self._connection = open_tables(path)
        self._jobs: queue.SimpleQueue[tuple[Job, Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="fullswap keeper", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future[Any]:
        """Have this written soon; its failure is the exception of what comes back."""
        future: Future[Any] = Future()
        self._jobs.put((job, future))
        return future

    def _run(self) -> None:
        while (entry := self._jobs.get()) is not None:
            job, future = entry
            try:
                future.set_result(self._transaction(job))
            except BaseException as error:
                future.set_exception(error)

    def _transaction(self, job: Job) -> Any:
        connection = self._connection
        try:
            if connection.in_transaction:  # it could not be rolled back
                connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
            answer = job(connection)
            connection.execute("COMMIT")
            return answer
        except sqlite3.Error as error:
            raise Unavailable(reason_of(error)) from error
        finally:
            if connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Finish what was submitted, and stop."""
        self._jobs.put(None)
        self._thread.join()
        self._connection.close()
