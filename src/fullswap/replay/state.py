"""A replay that goes on in a later call: its state in a file that is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import math
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullswap.base import checks
from fullswap.base.files import lock, write_text
from fullswap.base.keys import key_of, plain_key
from fullswap.inputs.sources import arrow
from fullswap.replay.engine import Due, Engine, Said, Token
from fullswap.replay.output import csv_rows
from fullswap.replay.streams import Streams

FORMAT, VERSION = "fullswap forecast", 1
DIGEST = 16
"""Bytes of the mark by which rows are known again."""


class StateFile:
    """The file, and the lock that keeps other processes off it."""

    def __init__(self, path: Any) -> None:
        self.path = Path(path)
        if self.path.is_dir() or not self.path.absolute().parent.is_dir():
            checks.refuse("state", "be a file in a folder that exists", str(path))
        self._lock: Any = None

    def __enter__(self) -> StateFile:
        self._lock = lock(
            self.path.with_name(f"{self.path.name}.lock"),
            f"state must be used by one process at a time, got {self.path}, which another one "
            "is using: wait for it, or give another file",
        )
        return self

    def __exit__(self, *error: object) -> None:
        if self._lock is not None:
            self._lock.close()

    def load(self) -> dict[str, Any] | None:
        """What was saved; None if nothing was."""
        if not self.path.exists():
            return None
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
        except ValueError:
            stored = None
        if not isinstance(stored, dict) or stored.get("format") != FORMAT:
            checks.refuse("state", "be a file that this command wrote", str(self.path))
        if stored.get("version") != VERSION:
            checks.refuse("state", f"be of version {VERSION}", stored.get("version"))
        return stored

    def save(self, content: dict[str, Any]) -> None:
        """Write it, in place of what was there."""
        text = json.dumps({"format": FORMAT, "version": VERSION, **content})
        write_text(self.path, text, private=True)


def opened(state: Any) -> AbstractContextManager[StateFile | None]:
    """The file of a state, locked; nothing where none is kept."""
    return nullcontext() if state is None else StateFile(state)


@dataclass
class Consumed:
    """The rows of the present log that have been forecast."""

    start: int = 0
    """Rows of earlier logs."""
    rows: int = 0
    total: int = 0
    """Rows that the log had when it was read last."""
    turned: bool = False
    """Whether its newest rows come first."""
    sorted: list[list[int]] = field(default_factory=list)
    """Stretches [from, to) of it that were put in order of time."""
    first: str = ""
    """Mark of the first row."""
    chain: str = ""
    """Mark of all rows that were forecast, in their order."""

    def extend(self, rows: list[str]) -> None:
        """More rows have been forecast."""
        if rows and not self.first:
            self.first = chained("", rows[:1])
        self.chain = chained(self.chain, rows)
        self.rows += len(rows)


def chained(mark: str, rows: list[str]) -> str:
    """The mark of rows that follow those of a mark."""
    digest = bytes.fromhex(mark)
    for row in rows:
        digest = hashlib.blake2b(digest + row.encode(), digest_size=DIGEST).digest()
    return digest.hex()


def row_texts(table: Any, columns: list[str]) -> list[str]:
    """Rows as texts, by which they are known again; whole numbers as other numbers are."""
    pa = arrow()
    if not columns:
        return [""] * int(table.num_rows)
    parts = []
    for name in columns:
        column = table[name]
        whole = pa.types.is_integer(column.type)
        parts.append(column.cast(pa.float64(), safe=False) if whole else column)
    return list(csv_rows(pa.table(parts, names=columns)).to_pylist())


# --- parts ------------------------------------------------------------------------------------


def pack_engine(engine: Engine) -> dict[str, Any]:
    """As plain data."""
    return {
        "forecasters": engine.streams.held.to_json(),
        "seen": engine.seen, "forecast": engine.forecast,
        "clock": engine.clock if math.isfinite(engine.clock) else None,
        "waiting": [[*_packed(token), *due] for token, due in engine.waiting.items()],
        "pending": [
            [*_packed(token), [list(one) for one in said]]
            for token, said in engine.pending.items()
        ],
    }  # fmt: skip


def unpack_engine(stored: dict[str, Any], streams: Streams, by_rows: bool, delay: int) -> Engine:
    """What ``pack_engine`` gave; ``streams`` are of the right kind, and blank."""
    streams.held = type(streams.held).from_json(stored["forecasters"])
    clock = -math.inf if stored["clock"] is None else stored["clock"]
    engine = Engine(streams, by_rows, delay, stored["seen"], clock, stored["forecast"])
    for key, name, *due in stored["waiting"]:
        engine.waiting[_unpacked(key, name)] = Due(*due)
    for key, name, said in stored["pending"]:
        engine.pending[_unpacked(key, name)] = [Said(*one) for one in said]
    engine.enqueue()
    return engine


def _packed(token: Token) -> list[Any]:
    return [token[0], plain_key(token[1])]


def _unpacked(key: Any, name: Any) -> Token:
    return key, key_of(name)


def refuse_other(was: dict[str, Any], now: dict[str, Any], path: Any) -> None:
    """Refuse settings that differ from those that the state was made with."""
    for name, value in now.items():
        if was.get(name) != value:
            raise ValueError(
                f"{name} must be {_shown(was.get(name))} as when {os.fspath(path)} was begun, got "
                f"{_shown(value)}: give the same, or another state"
            )


def _shown(value: Any) -> str:
    return "left out" if value is None or value == [] else repr(value)
