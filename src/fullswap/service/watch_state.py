"""One stream of a watch as bytes: a header, floats, alarms as JSON, and a sum that tells damage.

A stream that has seen little is written as the list of forecasts that it is, another as its row.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import msgspec
import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.checking.monitor_state import BETS_VERSION
from fullswap.kernels.watch_sums import COUNT, FEWEST, MOST, WIDTH
from fullswap.service.watch_alarms import MOST_KEPT, Episode

MARK = b"FSWW"
VERSION = 1
HEADER = struct.Struct("<4sHHIBdQQI")
"""Mark, versions of this form and of the bets, classes, whether it is a row, run length (0: none),
numbers, alarms ever, bytes of alarms."""
SUM = struct.Struct("<I")


def write_stream(
    classes: int, run_length: float, whole: bool, numbers: Vector, ever: int, alarms: list[Episode]
) -> bytes:
    """A stream as bytes."""
    text = msgspec.json.encode(alarms) if alarms else b""
    header = HEADER.pack(
        MARK, VERSION, BETS_VERSION, classes, whole, run_length, numbers.size, ever, len(text)
    )
    content = header + np.ascontiguousarray(numbers, "<f8").tobytes() + text
    return content + SUM.pack(zlib.crc32(content))


def read_stream(
    content: Any, classes: int, run_length: float
) -> tuple[bool, Vector, int, list[Episode]]:
    """What ``write_stream`` was given, or a ValueError."""
    checks.instance("content", content, bytes, "bytes as dump() gives them")
    if len(content) < HEADER.size + SUM.size or content[:4] != MARK:
        checks.refuse("content", "be a stream as dump() writes it", content)
    body, (found,) = content[: -SUM.size], SUM.unpack(content[-SUM.size :])
    _, version, bets, own, whole, length, size, ever, text = HEADER.unpack_from(body)
    if (version, bets) != (VERSION, BETS_VERSION):
        wanted = f"have versions {VERSION} of the form and {BETS_VERSION} of the bets"
        checks.refuse("content", wanted, f"{version} and {bets}")
    if zlib.crc32(body) != found or len(body) != HEADER.size + 8 * size + text:
        checks.refuse("content", "be undamaged", f"{len(content)} bytes that do not fit their sum")
    if (own, length) != (classes, run_length):
        wanted = f"be of {classes} classes and run length {run_length:g} (0: not watched)"
        checks.refuse("content", wanted, f"{own} and {length:g}")
    numbers = np.frombuffer(body, "<f8", size, HEADER.size).astype(np.float64)
    try:
        alarms = msgspec.json.decode(body[len(body) - text :] or b"[]", type=list[Episode])
    except msgspec.DecodeError as error:
        raise ValueError(f"content must have alarms as dump() writes them: {error}") from None
    if len(alarms) > min(MOST_KEPT, ever):
        checks.refuse("content", f"have at most {min(MOST_KEPT, ever)} alarms", len(alarms))
    return bool(whole), numbers, ever, alarms


def check_row(row: Vector, columns: int, width: int) -> None:
    """Refuse a row that no stream can have: one in which an event would not find its window."""
    fits = row.shape == (width,) and bool(np.isfinite(row).all())
    if fits:
        span, count = row[columns + WIDTH], row[columns + COUNT]
        spans = FEWEST * 2.0 ** np.arange(50)
        fits = bool(span in spans and 0 <= count <= span * MOST and count == np.floor(count))
    if not fits:
        checks.refuse("content", "be a row that a watch can have", "another")


def check_list(numbers: Vector, width: int, most: int) -> Points:
    """The forecasts of a stream that has seen little, as a table."""
    count, rest = divmod(len(numbers), width)
    table = numbers.reshape(count, width) if not rest else np.zeros((0, width))
    begins = table[:, -1]
    fits = count <= most and set(begins.tolist()) <= {0.0, 1.0} and (begins[:1] == 1.0).all()
    if rest or not fits:
        checks.refuse("content", f"be at most {most} forecasts", f"{len(numbers)} numbers")
    return table
