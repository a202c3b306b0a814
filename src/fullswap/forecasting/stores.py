"""Stores: where a bank keeps its streams, one entry a stream, so that a save writes what changed.

A store knows nothing of forecasters. It keeps the settings of one bank, and for each key the bytes
of a row and of the forecasts that wait, and gives them back. ``Bank.save`` and ``Bank.load`` check
all that comes out of it. A store of your own is a class with the three methods of ``Store``.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from fullswap.base.files import write_bytes

MAGIC = b"fullswap streams, version 1\n"
"""How a file of streams begins."""
DIGEST = hashlib.sha256().digest_size


class StoredStream(NamedTuple):
    """One stream as a store sees it."""

    key: str
    """As JSON."""
    row: bytes
    """Little-endian floats: as many as the row has columns, few for a stream that has seen little.
    """
    tickets: bytes
    """Forecasts that wait as JSON; empty if none does."""
    checksum: int

    @classmethod
    def of(cls, key: str, row: bytes, tickets: bytes) -> StoredStream:
        """With the checksum of all three."""
        return cls(key, row, tickets, _checksum(key, row, tickets))

    @property
    def sound(self) -> bool:
        """Whether it is as it was written."""
        return self.checksum == _checksum(self.key, self.row, self.tickets)


def _checksum(key: str, row: bytes, tickets: bytes) -> int:
    return zlib.crc32(row, zlib.crc32(tickets, zlib.crc32(key.encode())))


@runtime_checkable
class Store(Protocol):
    """What ``Bank.save`` and ``Bank.load`` need of a store; one writer at a time."""

    def settings(self) -> str | None:
        """What the bank wrote about itself; None as long as nothing was saved."""

    def put(self, settings: str, streams: Iterable[StoredStream]) -> None:
        """Keep these streams beside the others that are there: all of them, or none.

        ValueError if the store holds streams of other settings.
        """

    def get(self, keys: Iterable[str] | None = None) -> Iterator[StoredStream]:
        """The streams of these keys that are there; None: all, in the order in which they came."""


def refuse_others(held: str | None, settings: str) -> None:
    """Refuse to mix streams of two banks."""
    if held is not None and held != settings:
        raise ValueError(
            "store must be empty or hold streams of this bank, got one with streams of another "
            "bank: other settings or another seed"
        )


class MemoryStore:
    """Streams in a dictionary: for tests, and for copies that cost little.

    Examples
    --------
    >>> from fullswap.forecasting import Bank, Forecaster
    >>> store, bank = MemoryStore(), Bank(Forecaster(seed=1))
    >>> record = bank.run(["north", "south"], [1, 0])
    >>> bank.save(store)
    >>> Bank.load(store, keys=["south"]).keys()
    dict_keys(['south'])
    """

    def __init__(self) -> None:
        self._settings: str | None = None
        self._streams: dict[str, StoredStream] = {}

    def settings(self) -> str | None:
        """What the bank wrote about itself; None as long as nothing was saved."""
        return self._settings

    def put(self, settings: str, streams: Iterable[StoredStream]) -> None:
        """Keep these streams beside the others."""
        refuse_others(self._settings, settings)
        more = {stream.key: stream for stream in streams}  # whole, before anything is kept
        self._streams, self._settings = {**self._streams, **more}, settings

    def get(self, keys: Iterable[str] | None = None) -> Iterator[StoredStream]:
        """The streams of these keys that are there; None: all."""
        return _picked(self._streams, keys)


class FileStore:
    """All streams in one file, which is written anew by each save: whole, or not at all.

    A save takes as long as writing the whole file, however little has changed; where that is too
    long, take a ``SQLiteStore``. Of two processes that write the same file the later one wins.

    Parameters
    ----------
    path : path
        The file; it need not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def settings(self) -> str | None:
        """What the bank wrote about itself; None as long as there is no file."""
        return self._read()[0]

    def put(self, settings: str, streams: Iterable[StoredStream]) -> None:
        """Write a file with these streams and the others."""
        held, known = self._read()
        refuse_others(held, settings)
        known.update((stream.key, stream) for stream in streams)
        write_bytes(self.path, _packed(settings, list(known.values())))

    def get(self, keys: Iterable[str] | None = None) -> Iterator[StoredStream]:
        """The streams of these keys that are there; None: all."""
        return _picked(self._read()[1], keys)

    def _read(self) -> tuple[str | None, dict[str, StoredStream]]:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None, {}
        return _unpacked(str(self.path), content)

    def __repr__(self) -> str:
        return f"FileStore({str(self.path)!r})"


def _picked(streams: dict[str, StoredStream], keys: Iterable[str] | None) -> Iterator[StoredStream]:
    if keys is None:
        return iter(streams.values())
    return iter([streams[key] for key in keys if key in streams])


def _packed(settings: str, streams: list[StoredStream]) -> bytes:
    """The content of a file.

    MAGIC · size of the settings and number of streams · settings · sizes and checksums of streams ·
    their contents · digest of all before it.
    """
    sizes, parts = np.zeros((len(streams), 4), "<i8"), list[bytes]()
    for k, (key, row, tickets, checksum) in enumerate(streams):
        name = key.encode()
        parts += name, row, tickets
        sizes[k] = len(name), len(row), len(tickets), checksum
    said = settings.encode()
    head = np.array([len(said), len(streams)], "<i8")
    body = b"".join((MAGIC, head.tobytes(), said, sizes.tobytes(), *parts))
    return body + hashlib.sha256(body).digest()


def _unpacked(name: str, content: bytes) -> tuple[str, dict[str, StoredStream]]:
    if not content.startswith(MAGIC[:16]):
        raise ValueError(f"{name} must be a file of streams as a FileStore writes it, got another")
    if not content.startswith(MAGIC):
        version = content[: len(MAGIC)].split(b"\n")[0].decode("ascii", "replace")
        raise ValueError(f"{name} must be written by this version of fullswap, got {version!r}")
    body = memoryview(content)[:-DIGEST]
    if hashlib.sha256(body).digest() != content[-DIGEST:]:
        raise ValueError(f"{name} must be as it was written, got a file that is damaged")
    at = len(MAGIC) + 16
    said, count = np.frombuffer(content, "<i8", 2, len(MAGIC)).tolist()
    settings = bytes(body[at : at + said]).decode()
    at += said
    sizes = np.frombuffer(content, "<i8", 4 * count, at).reshape(count, 4)
    at += sizes.nbytes
    streams = {}
    for key_size, row_size, tickets_size, checksum in sizes.tolist():
        row, tickets = at + key_size, at + key_size + row_size
        key = content[at:row].decode()
        at = tickets + tickets_size
        streams[key] = StoredStream(key, content[row:tickets], content[tickets:at], checksum)
    return settings, streams


def json_of(tickets: list[Any]) -> bytes:
    """Forecasts that wait, as a store keeps them."""
    return json.dumps(tickets, allow_nan=False).encode() if tickets else b""
