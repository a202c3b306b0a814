"""A service that tests may kill."""

import shutil
import sqlite3

from fullswap.service.limits import Limits
from fullswap.service.service import Service


class Life:
    """A service that can be killed: it goes on with what was on the disk at that moment."""

    def __init__(self, path, **limits):
        self.path, self.turn, self.limits = path, 0, Limits(**limits)
        self.lock = None
        self.open()

    @property
    def folder(self):
        return self.path / f"life {self.turn}"

    def open(self):
        self.service = Service.open(self.folder, self.limits)

    def ask(self, question):
        return self.service.ask(question).result(60)

    def kill(self):
        """Goes on from a copy of what a kill would leave; both threads stand still meanwhile."""
        self.unlock()
        now, self.turn = self.folder, self.turn + 1
        copy = self.folder
        keep = shutil.ignore_patterns("*-shm", "lock")
        self.ask(lambda e: e.keeper.submit(
            lambda _: shutil.copytree(now, copy, ignore=keep)).result())  # fmt: skip
        self.service.close()
        self.open()

    def restart(self):
        self.unlock()
        self.service.close()
        self.open()

    def locked(self, name="streams.db"):
        self.lock = sqlite3.connect(self.folder / name, isolation_level=None)
        self.lock.execute("BEGIN IMMEDIATE")

    def unlock(self):
        if self.lock is not None:
            self.lock.close()
            self.lock = None

    def forecast(self, *items):
        return self.service.forecasts(list(items)).result(60)

    def report(self, *items):
        return self.service.outcomes(list(items)).result(60)

    def save(self, streams=10**6):
        """Have so many streams written, and notice it; rows that are resolved too."""
        self.ask(
            lambda e: (
                e.saving._land(wait=True),
                e.saving._hand(streams),
                e.saving._land(wait=True),
            )
        )

    def exported(self):
        rows, cursor = [], 0
        while cursor is not None:
            page, cursor = self.ask(lambda e, c=cursor: e.export(None, c, 50))
            rows += page
        return rows
