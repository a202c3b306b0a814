"""One thread that owns all state; requests that come together are made durable together.

A commit to disk takes a fraction of a millisecond however much is in it. So the writer takes all
requests that wait, works them out, makes them durable in one commit, and answers all of them.
Outcomes go first, because forecasts of the same moment may learn from them.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from fullswap.service.engine import Engine
from fullswap.service.forecasting import Asked
from fullswap.service.limits import Limits
from fullswap.service.messages import ForecastItem, Issued, OutcomeItem, Refusal, Settled
from fullswap.service.problems import Unavailable
from fullswap.service.resolving import Reported
from fullswap.service.storage import Folder, Journal, reason_of
from fullswap.service.warming import warm

Answer = TypeVar("Answer")
IDLE = 1.0
"""Seconds without requests after which the tables are brought up to date."""
MOST_AT_ONCE = 20_000
"""Items that share a commit."""


class Service:
    """All streams of a folder, behind a queue."""

    def __init__(self, folder: Folder, engine: Engine, journal: Journal, limits: Limits) -> None:
        self.limits = limits
        self._folder, self._engine, self._journal = folder, engine, journal
        self._wake = threading.Condition()
        self._outcomes: deque[tuple[list[Any], Future[Any]]] = deque()
        self._forecasts: deque[tuple[list[Any], Future[Any]]] = deque()
        self._questions: deque[tuple[Callable[[Engine], Any], Future[Any]]] = deque()
        self._waiting = 0
        self._closing = False
        self.commits = 0
        self._thread = threading.Thread(target=self._run, name="fullswap writer", daemon=True)
        self._thread.start()

    @classmethod
    def open(
        cls, folder: str | os.PathLike[str], limits: Limits | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Service:  # fmt: skip
        """Take a folder, and go on from where it was left, however that was."""
        limits = limits or Limits()
        own = Folder(folder)
        with contextlib.ExitStack() as opened:
            opened.callback(own.close)
            journal = Journal(own.path / "journal.db")
            opened.callback(journal.close)
            engine = Engine(own.path, journal, limits, clock)
            opened.callback(engine.abandon)
            engine.recover()
            for fleet in engine.fleets.values():
                warm(fleet.body)
            opened.pop_all()
        return cls(own, engine, journal, limits)

    # --- from any thread --------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """Items that wait for the writer."""
        return self._waiting

    def forecasts(
        self, items: list[ForecastItem | Refusal]
    ) -> Future[list[Issued | Refusal]]:  # fmt: skip
        """Forecast; what comes back is durable."""
        return self._put(self._forecasts, items, len(items))

    def outcomes(
        self, items: list[OutcomeItem | Refusal]
    ) -> Future[list[Settled | Refusal]]:  # fmt: skip
        """Learn; what comes back is durable."""
        return self._put(self._outcomes, items, len(items))

    def ask(self, question: Callable[[Engine], Answer]) -> Future[Answer]:
        """Have the writer answer a question, after what was asked before."""
        return self._put(self._questions, question, 0)

    def _put(self, where: Any, what: Any, items: int) -> Future[Any]:
        future: Future[Any] = Future()
        with self._wake:
            if self._closing:
                future.set_exception(Unavailable("the service is closing: try again"))
                return future
            if self._waiting + items > self.limits.waiting:
                future.set_exception(Unavailable("too much is waiting: try again"))
                return future
            self._waiting += items
            where.append((what, future))
            self._wake.notify()
        return future

    def close(self) -> None:
        """Answer what was asked, write everything down, and let go of the folder."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()

    # --- the writer -------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while self._turn():
                pass
            with contextlib.suppress(Unavailable):  # the journal has it all
                self._engine.saving.save_all()
        finally:
            # after an error that nobody foresaw memory is not trusted, and not written down: what
            # clients were promised is in the journal
            self._refuse_all()
            self._engine.abandon()
            self._journal.close()
            self._folder.close()

    def _refuse_all(self) -> None:
        """Nothing is answered any more."""
        with self._wake:
            self._closing = True
            left = [*self._outcomes, *self._forecasts, *self._questions]
        for _, future in left:
            if future.set_running_or_notify_cancel():
                future.set_exception(Unavailable("the service has stopped: start it again"))

    def _turn(self) -> bool:
        """One round of the writer; whether there is another."""
        with self._wake:
            if not (self._outcomes or self._forecasts or self._questions or self._closing):
                self._wake.wait(IDLE)
            outcomes, forecasts = self._taken(self._outcomes), self._taken(self._forecasts)
            questions = [
                (question, future) for question, future in self._questions
                if future.set_running_or_notify_cancel()
            ]  # fmt: skip
            self._questions.clear()
            closing = self._closing and not (self._outcomes or self._forecasts)
        items = self._serve(Reported, outcomes) + self._serve(Asked, forecasts)
        for question, future in questions:
            _answer(future, lambda question=question: question(self._engine))  # type: ignore[misc]
        try:
            if items:
                self._engine.saving.work(items)
            elif not questions:
                self._engine.saving.rest()
        except Unavailable as trouble:
            self._engine.saving.trouble = str(trouble)
        return not closing

    def _taken(self, waiting: deque[Any]) -> list[Any]:
        """Requests that share a commit."""
        taken, items = [], 0
        while waiting and items < MOST_AT_ONCE:
            own, future = waiting.popleft()
            items += len(own)
            if future.set_running_or_notify_cancel():  # nobody may cancel it from now on
                taken.append((own, future))
        self._waiting -= items
        return taken

    def _serve(self, kind: Any, requests: list[tuple[list[Any], Future[Any]]]) -> int:
        """Work requests out, make them durable, answer them; how many items these were."""
        if not requests:
            return 0
        items = [item for own, _ in requests for item in own]
        try:
            if (trouble := self._engine.saving.stuck) is not None:
                raise Unavailable(trouble)
            batch = kind(self._engine, items)
            try:
                entries = batch.entries
                seq = self._journal.append(entries) if entries else self._journal.seq
            except BaseException:
                batch.undo()
                raise
        except BaseException as error:
            for _, future in requests:
                future.set_exception(_told(error))
            return len(items)
        self.commits += bool(entries)
        try:
            answers = batch.finish(seq)
        except BaseException:  # it is durable, and memory is neither before nor after it
            for _, future in requests:
                future.set_exception(Unavailable("the service has stopped: start it again"))
            raise
        begin = 0
        for own, future in requests:
            future.set_result(answers[begin : begin + len(own)])
            begin += len(own)
        return len(items)


def _answer(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(_told(error))


def _told(error: BaseException) -> BaseException:
    """What clients are told of it."""
    return Unavailable(reason_of(error)) if isinstance(error, sqlite3.Error) else error
