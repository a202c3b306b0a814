"""A log that grows: every line answered as it comes."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from fullswap.base import checks
from fullswap.base.files import refuse_same
from fullswap.certificates import Certificate
from fullswap.inputs.sources import arrow
from fullswap.replay.by_group import GroupChanges, totals_of
from fullswap.replay.files import Replay, Source
from fullswap.replay.journal import Journal
from fullswap.replay.lines import Lines
from fullswap.replay.output import refuse_kind
from fullswap.replay.session import Session
from fullswap.replay.settings import ReplaySettings
from fullswap.replay.state import Consumed, StateFile, opened

SNAPSHOT = 4_096
"""Lines after which the state is written anew."""

Say = Callable[[str], None]
Begin = Callable[[Any, bool, str], Session]


class Ended(dict[Any, Certificate]):
    """The certificate of every stream; of the only one under the key None."""

    groups: GroupChanges | None = None
    """Of all streams together, where there are groups."""


class _Stopped(Exception):
    """Somebody ends it."""


def follow_file(
    path: Any, roles: dict[str, Any], settings: ReplaySettings, *, out: Any = "-",
    state: Any = None, pos_label: Any = None, strict: bool = False, say: Say | None = None,
    snapshot: int = SNAPSHOT, forever: bool = True,
) -> Ended:  # fmt: skip
    """Answer every line of a growing file, or of standard input, until it ends or is stopped.

    What a file holds at the start is replayed as ``replay_file`` does it.

    Parameters
    ----------
    path
        CSV with a line of names first, or JSON lines; "-" is standard input.
    roles, settings, pos_label
        As for ``replay_file``.
    out
        File to which answers are added; "-" is standard output. One line in, one line out.
    state
        File from which a later call goes on. Lines of standard input are noted beside it before
        they are answered, so that none is lost if the process is killed.
    strict
        Whether to raise at a malformed line; else it is said and left out.
    say
        What to do with a remark: a malformed line, an alarm.
    snapshot
        Lines after which the state is written anew.
    forever
        Whether to wait for more at the end of a file.

    Returns
    -------
    Ended
        The certificate of every stream; of the only one under the key None.
    """
    refuse_kind(out, True)
    refuse_same(path=path, out=out, state=state)
    checks.whole("snapshot", snapshot, 1)
    with opened(state) as file:
        following = _Following(path, file, strict, say or _say, snapshot, forever)
        return following.run(roles, settings, pos_label, out)


def _say(text: str) -> None:
    print(f"fullswap forecast: {text}", file=sys.stderr, flush=True)


class _Following:
    def __init__(
        self, path: Any, file: StateFile | None, strict: bool, say: Say, snapshot: int,
        forever: bool,
    ) -> None:  # fmt: skip
        self._path, self._file, self._strict, self._say = path, file, strict, say
        self._snapshot = snapshot
        self._lines = Lines(path, self._refuse, forever)
        self._journal = Journal(file.path) if file is not None and path == "-" else None
        self._since: list[dict[str, Any]] = []
        """Lines since the state was written."""
        self._stop = False

    def run(
        self, roles: dict[str, Any], settings: ReplaySettings, pos_label: Any, out: Any
    ) -> Ended:
        """Until the end."""
        session = None

        def begin(head: Any, comma: bool, kind: str) -> Session:
            session = Session(head, comma, roles, settings, pos_label, out, self._file, kind)
            session.output.__enter__()
            return session

        with _ending(self):
            try:
                if self._path != "-":
                    session = self._catch_up(begin)
                for number, row in self._lines.rows():
                    if session is None:
                        session = self._begin(row, begin)
                    self._answer(session, number, row)
                    if self._stop:
                        break
            except _Stopped:
                pass
            finally:
                if session is not None:
                    self._save(session)
                    session.output.__exit__()
        if session is None:
            return Ended()
        session.engine.finish()
        ended = Ended(session.engine.streams.certificates())
        ended.groups = totals_of(session.engine.streams.tables())
        return ended

    def ends(self, *_: object) -> None:
        """Somebody ends it: at once if nothing is being done, else after this line."""
        self._stop = True
        if self._lines.waiting:
            raise _Stopped

    def _refuse(self, number: int, why: str) -> None:
        message = f"line {number} {why}"
        if self._strict:
            raise ValueError(message)
        self._say(f"{message}; left out")

    # --- beginning --------------------------------------------------------------------------------

    def _catch_up(self, begin: Begin) -> Session | None:
        """Replay what a file holds already, up to its last whole line."""
        content = Path(self._path).read_bytes()
        content = content[: content.rfind(b"\n") + 1]
        lines = [line for line in content.split(b"\n", 3)[:3] if line.strip()]
        if len(lines) < (1 if content.lstrip().startswith(b"{") else 2):
            return None
        kind = "jsonl" if content.lstrip().startswith(b"{") else "csv"
        with closing(Source(io.BytesIO(content), self._strict)) as source:
            session = begin(source.head, source.comma, kind)
            Replay(source, session).run(None)
        if session.log.turned:
            raise ValueError("a log must have its newest rows last to be followed, got them first")
        self._say_notes(session)
        self._lines.behind(content)
        return session

    def _begin(self, row: dict[str, Any], begin: Begin) -> Session:
        """From the first line alone, or from the state; then the lines that were noted since."""
        pa = arrow()
        table = pa.table({name: [value] for name, value in row.items()})
        session = begin(table, self._lines.separator == ";", self._lines.kind)
        session.log = Consumed(start=session.engine.seen)
        self._say_notes(session)
        if self._journal is not None and session.is_new:
            self._journal.clear()  # of a state that is no more
        if self._journal is not None:
            again = session.output.path is not None
            noted = self._journal.rows(session.engine.seen)
            for old in noted:
                self._take(session, 0, old, again)
            if noted:
                self._say(f"{len(noted):,} lines since the last saved state taken from the journal")
        return session

    def _say_notes(self, session: Session) -> None:
        for note in session.notes:
            self._say(note)

    # --- lines ------------------------------------------------------------------------------------

    def _answer(self, session: Session, number: int, row: dict[str, Any]) -> None:
        if self._journal is not None:
            self._journal.note(session.engine.seen, row)
        self._take(session, number, row, True)
        if len(self._since) >= self._snapshot:
            self._save(session)

    def _take(self, session: Session, number: int, row: dict[str, Any], write: bool) -> None:
        own = {name: row.get(name) for name in session.columns}
        read = own
        if self._lines.separator == ";":  # then numbers may have a decimal comma
            numeric = session.reading.numeric()
            read = {name: value.replace(",", ".") if name in numeric and isinstance(value, str)
                    else value for name, value in own.items()}  # fmt: skip
        try:
            rows = session.reading.rows_of({name: [value] for name, value in read.items()})
            (done,) = session.engine.take(rows)
        except ValueError as error:
            why = str(error).replace(" at position 0", "")
            if self._path != "-":  # a file is read again by later calls, which could not go on
                raise ValueError(f"line {number} of {self._path}: {why}") from None
            self._refuse(number, why)
            return
        if write and session.output.wanted:
            session.output.write_row(own, done.made)
        self._since.append(own)
        session.summary.watch(done, rows)
        if session.summary.rang:
            self._say(str(session.summary.rang))

    def _save(self, session: Session) -> None:
        if self._since and self._file is not None:
            session.mark(self._since)
        self._since = []
        session.save()
        if self._journal is not None:
            self._journal.clear()


@contextmanager
def _ending(following: _Following) -> Iterator[None]:
    """End in order when the system or the user asks for it."""
    held = {}
    for name in (signal.SIGTERM, signal.SIGINT):
        try:
            held[name] = signal.signal(name, following.ends)
        except ValueError:  # not in the main thread
            pass
    try:
        yield
    finally:
        for name, handler in held.items():
            signal.signal(name, handler)
