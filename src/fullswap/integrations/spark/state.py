"""Streams as bytes, for the state store: rows with every bit, and what waits in them.

A page holds the streams of some keys: a mark with the version, a fingerprint of what they are
streams of, a checksum, then keys and ids as JSON and everything else as plain arrays.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import Any

import numpy as np

from fullswap.base.keys import key_of, plain_key
from fullswap.forecasting.base import OnlineForecaster
from fullswap.integrations.spark.plan import Held, Waiting
from fullswap.integrations.spark.streams import Streams
from fullswap.kernels.columns import LEVEL, NEXT_ID
from fullswap.kernels.columns import VERSION as ROW_VERSION
from fullswap.online.kind import MOST_IDS, Kind
from fullswap.online.rows import Rows
from fullswap.online.tickets import Forecast

VERSION = 1
"""Of pages; raised when a reader of the old ones would misread the new ones."""
MARK = b"fspage" + bytes((VERSION, ROW_VERSION))
FINGERPRINT = 16
HEAD = len(MARK) + FINGERPRINT + 8
"""Bytes before the content: also the checksum, and how long the JSON is."""
NOTES = 5
"""Whole numbers of a forecast that waits: place of its key, id, place of the draw, level, crowd."""


def fingerprint_of(text: str, pages: int) -> bytes:
    """Sixteen bytes for a pattern, its seed included, and for how many pages there are."""
    return hashlib.blake2b(f"{pages} {text}".encode(), digest_size=FINGERPRINT).digest()


def to_bytes(streams: Streams, fingerprint: bytes) -> bytes:
    """A page of all these streams."""
    rows, held = streams.rows, streams.held
    own = [rows.row(place) for place in range(len(rows))]
    notes = np.zeros((len(held), NOTES), np.int64)
    numbers = []
    for k, ((place, _), waiting) in enumerate(held.items()):
        ticket = waiting.ticket
        notes[k] = place, ticket.id, ticket._play[1], ticket.level, ticket.crowd
        said = (*np.ravel(waiting.issued), *np.ravel(waiting.mean))
        numbers.append([*said, *streams.kind.encode(ticket._play)])
    times = [waiting.time for waiting in held.values()]
    about = {
        "keys": [plain_key(key) for key in streams.keys],
        "ids": [plain_key(name) for _, name in held],
        "times": [time.item() if isinstance(time, np.generic) else time for time in times],
        "widths": [len(row) for row in own],
        "lengths": [len(one) for one in numbers],
    }
    text = json.dumps(about, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    arrays = (rows.words[: len(rows)], *own, notes, *(np.array(one) for one in numbers))
    content = text + b"".join(
        array.astype(array.dtype.newbyteorder("<")).tobytes() for array in arrays
    )
    sizes = zlib.crc32(content).to_bytes(4, "little") + len(text).to_bytes(4, "little")
    return MARK + fingerprint + sizes + content


def from_bytes(
    pattern: OnlineForecaster, fingerprint: bytes, pages: list[bytes]
) -> tuple[Streams, list[int]]:
    """The streams of some pages, one behind the other, and how many each page has."""
    kind, seed = pattern._stream.kind, pattern._stream.draws.seed
    keys: list[Any] = []
    held: Held = {}
    words, arenas = [], []
    widths: list[int] = []
    counts: list[int] = []
    for page in pages:
        about, content = _opened(page, fingerprint)
        count, waits = len(about["keys"]), len(about["ids"])
        sizes = [2 * count, sum(about["widths"]), NOTES * waits, sum(about["lengths"])]
        if 8 * sum(sizes) != len(content):
            raise ValueError("a page of the state must have the arrays it names, got others")
        ends = np.cumsum([0, *sizes]) * 8
        parts = [content[a:b] for a, b in zip(ends, ends[1:], strict=False)]
        words.append(np.frombuffer(parts[0], "<u8").reshape(-1, 2))
        arenas.append(np.frombuffer(parts[1], "<f8"))
        widths += about["widths"]
        notes = np.frombuffer(parts[2], "<i8").reshape(-1, NOTES)
        numbers = np.frombuffer(parts[3], "<f8")
        _read_waiting(kind, len(keys), about, notes.tolist(), numbers, held)
        keys += [key_of(key) for key in about["keys"]]
        counts.append(count)
    if not keys:
        return Streams(pattern, []), counts
    arena = np.concatenate(arenas).astype(np.float64)
    own = np.array(widths, np.int64)
    _check(kind, arena, own)
    rows = Rows.of(kind, seed, np.concatenate(words).astype(np.uint64), arena, own)
    return Streams(pattern, keys, rows, held), counts


def _opened(page: bytes, fingerprint: bytes) -> tuple[dict[str, Any], bytes]:
    """What a page says of itself, and its arrays."""
    if page[: len(MARK)] != MARK:
        raise ValueError(
            f"the state must have been written by this version of fullswap, got {page[:8]!r}: "
            "begin with a new checkpoint"
        )
    if page[len(MARK) : len(MARK) + FINGERPRINT] != fingerprint:
        raise ValueError(
            "the checkpoint must be of the same pattern, seed and pages, got another one: give "
            "pattern a seed, or the seed itself, and change neither them nor pages from one "
            "start to the next"
        )
    content = page[HEAD:]
    if zlib.crc32(content).to_bytes(4, "little") != page[HEAD - 8 : HEAD - 4]:
        raise ValueError("a page of the state must be as it was written, got one that is damaged")
    length = int.from_bytes(page[HEAD - 4 : HEAD], "little")
    return json.loads(content[:length]), content[length:]


def _check(kind: Kind, arena: Any, widths: Any) -> None:
    """What costs little: whole levels, lengths that fit them, ids that can be counted."""
    starts = np.cumsum(widths) - widths
    levels, ids = arena[starts + LEVEL], arena[starts + NEXT_ID]
    sound = np.isin(levels, np.arange(len(kind.spec.levels))).all() and np.isfinite(arena).all()
    if sound:
        met = {int(level): kind.row_width(int(level)) for level in np.unique(levels)}
        sound = [met[int(level)] for level in levels] == widths.tolist()
    if not (sound and ((ids >= 0) & (ids <= MOST_IDS)).all()):
        raise ValueError("a page of the state must hold rows of the pattern, got others")


def _read_waiting(
    kind: Kind, first: int, about: dict[str, Any], notes: list[Any], numbers: Any, held: Held
) -> None:
    """What waits in the streams of a page, the first of which is at this place."""
    one = np.shape(kind.points(0))[1:]
    said, begin = int(np.prod(one)), 0
    lines = zip(about["ids"], about["times"], about["lengths"], notes, strict=True)
    for name, time, length, (place, number, drawn, level, crowd) in lines:
        own = numbers[begin : begin + length]
        begin += length
        play = (number, drawn, *kind.decode(own[2 * said :].tolist(), level))
        ticket = Forecast(kind, level, play)
        ticket.crowd = crowd
        issued, mean = own[:said].reshape(one), own[said : 2 * said].reshape(one)
        held[first + place, key_of(name)] = Waiting(ticket, time, issued, mean)
