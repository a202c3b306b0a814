"""Files and standard input opened: what they hold is told from their first bytes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NoReturn

HEAD = 1 << 16
"""Bytes that are looked at first."""
BLOCK = 1 << 20
"""Bytes that are read at a time."""
PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
KINDS = "CSV (also with tabs or semicolons, also packed with gzip), Parquet or JSON lines"
SHOWN = 3
"""Malformed lines that a note names."""


@dataclass
class Source:
    """An open file, with its first bytes."""

    name: str
    head: bytes
    stream: Any
    """Reads from the very first byte."""
    path: Any = None
    """Where to open it once more; None for standard input."""
    packed: bool = False

    @property
    def kind(self) -> str:
        """One of parquet, json (an array), lines (of JSON) and csv."""
        start = self.head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if self.head.startswith(b"PAR1"):
            return "parquet"
        if start.startswith(b"{"):
            return "lines"
        return "json" if start.startswith((b"[{", b"[\n", b"[ ", b"[]", b"[\r")) else "csv"

    def refuse(self, what: str, fix: str = "") -> NoReturn:
        """Raise for a file that cannot be read."""
        raise ValueError(f"{self.name} must be {KINDS}, got {what}" + (f": {fix}" if fix else ""))

    def refuse_bytes(self, content: Iterable[bytes]) -> NoReturn:
        """Raise for text in another encoding, with the line where that shows."""
        where = ""
        for number, line in enumerate(content, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                where = f" in line {number}"
                break
        raise ValueError(
            f"{self.name} must be UTF-8, got other bytes{where}: save it as UTF-8, for example by "
            "iconv"
        )


class _Rejoined(io.RawIOBase):
    """Bytes that were looked at, then the rest of the stream."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._head.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


def arrow() -> Any:
    """The library that reads files."""
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError("files need pyarrow: pip install 'fullswap[cli]'") from None
    return pa


@contextmanager
def opened(path: Any) -> Iterator[Source]:
    """Open a file by its path, or standard input by "-"; packed files are unpacked.

    What can be read as a file is one already.
    """
    pa = arrow()
    if hasattr(path, "read"):
        name, file, path = getattr(path, "name", "the log"), path, "-"
    elif path == "-":
        name, file = "standard input", getattr(sys.stdin, "buffer", sys.stdin)
    else:
        name, file = os.fspath(path), _open(path)
    try:
        source = _begun(pa, name, file)
        source.path = None if path == "-" else path
        try:
            yield source
        except (pa.ArrowException, OSError, EOFError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            first = str(error).splitlines()[0]
            if "UTF8" in first or "utf-8" in first:
                source.refuse_bytes(_again(source))
            source.refuse(f"one that is damaged or of another kind ({first})")
    finally:
        if path != "-":
            file.close()


def _again(source: Source) -> Iterator[bytes]:
    """The lines of a file from its beginning; none of standard input, which is gone."""
    if source.path is not None:
        with opened(source.path) as again:
            yield from again.stream


def _open(path: Any) -> Any:
    if os.path.isdir(path):
        raise ValueError(f"path must be a file, got the folder {os.fspath(path)!r}")
    try:
        return open(path, "rb")
    except FileNotFoundError:
        from fullswap.inputs.frames import nearest

        folder = os.path.dirname(os.fspath(path)) or "."
        there = os.listdir(folder) if os.path.isdir(folder) else []
        near = nearest(os.path.basename(os.fspath(path)), there)
        hint = f": did you mean {near!r}?" if near else ""
        raise ValueError(
            f"path must be a file that exists, got {os.fspath(path)!r}{hint}"
        ) from None
    except OSError as error:
        raise ValueError(f"path must be a file that can be read, got {error}") from None


def _head_of(stream: Any, least: int = HEAD) -> bytes:
    """The first bytes; less than asked for only at the end."""
    parts, have = [], 0
    while have < least:
        part = stream.read(least - have)
        if not part:
            break
        parts.append(part)
        have += len(part)
    return b"".join(parts)


def _begun(pa: Any, name: str, file: Any) -> Source:
    head = _head_of(file)
    stream: Any = io.BufferedReader(_Rejoined(head, file), BLOCK)
    source = Source(name, head, stream)
    for mark, packing in PACKED.items():
        if head.startswith(mark):
            try:
                unpacked = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), packing)
                return replace(_begun(pa, name, unpacked), packed=True)
            except (pa.ArrowException, OSError) as error:
                source.refuse(f"a damaged {packing} file ({error})")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):  # what spreadsheets call Unicode text
        recoded = pa.transcoding_input_stream(pa.PythonFile(stream, mode="r"), "utf-16", "utf-8")
        return _begun(pa, name, recoded)
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise ValueError(f"{name} must hold a table, got an empty file")
    if head.startswith(b"PK\x03\x04"):
        source.refuse("a zip or spreadsheet file", "save the sheet as CSV")
    if b"\0" in head and not head.startswith(b"PAR1"):
        source.refuse("other binary data")
    return source
