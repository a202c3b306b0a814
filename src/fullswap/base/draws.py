"""Seeds and streams of draws: a uniform number for every (seed, stream, id), in any order.

Nothing is drawn ahead and no generator has a state: restarts, late outcomes and replays give the
same draws (``fullswap.kernels.philox``).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks

Words = NDArray[np.uint64]
_MASK = 2**64 - 1
_OWN = b"fullswap draws"
"""A seed of the user's is mixed with this: the outcomes of a simulation that began with the same
number must not be the draws over again, for then they would depend on them."""
ALONE = 0
"""The stream of a forecaster that is on its own."""


def seed_of(seed: Any) -> int:
    """128 bits from None (the system's entropy), a whole number >= 0, or a numpy Generator.

    Examples
    --------
    >>> seed_of(1) == seed_of(1), seed_of(None) == seed_of(None)
    (True, False)
    """
    if seed is None:
        return secrets.randbits(128)
    if isinstance(seed, np.random.Generator):
        low, high = seed.integers(0, 2**64, 2, dtype=np.uint64).tolist()
        return int(low | (high << 64))
    if not checks.is_whole(seed) or seed < 0:
        checks.refuse("seed", "be a whole number >= 0, None or a numpy Generator", seed)
    return _hashed(_OWN + str(int(seed)).encode())


def stream_of(key: Any) -> int:
    """128 bits for a key: a text, bytes, a number, or a tuple of such.

    Examples
    --------
    >>> stream_of("north") == stream_of("north"), stream_of(1) == stream_of("1")
    (True, False)
    """
    return _hashed(b"stream" + _spelled(key))


def stream_words(keys: Iterable[Any]) -> Words:
    """The same for many keys as low and high words, shape (n, 2).

    Examples
    --------
    >>> stream_words(["north"]).tolist() == [list(words(stream_of("north")))]
    True
    """
    hashes = [hashlib.blake2b(b"stream" + _spelled(key), digest_size=16).digest() for key in keys]
    return np.frombuffer(b"".join(hashes), "<u8").reshape(-1, 2).astype(np.uint64)


def words(number: int) -> tuple[int, int]:
    """Low and high word."""
    return number & _MASK, number >> 64


def _spelled(key: Any) -> bytes:
    """A key as bytes; keys that are equal have the same ones, others differ."""
    if type(key) is int:  # the usual case, and quick
        return b"n%d" % key
    if isinstance(key, tuple):
        parts = [_spelled(part) for part in key]
        return b"t" + b"".join(str(len(part)).encode() + b":" + part for part in parts)
    if isinstance(key, str):
        return b"s" + key.encode("utf-8", "surrogatepass")
    if isinstance(key, bytes):
        return b"b" + key
    if isinstance(key, int | np.integer | np.bool_) or (
        isinstance(key, float | np.floating) and float(key).is_integer()
    ):
        return b"n" + str(int(key)).encode()
    if isinstance(key, float | np.floating) and np.isfinite(key):
        return b"f" + float(key).hex().encode()
    return checks.refuse("key", "be a text, bytes, a number, or a tuple of such", key)


def _hashed(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=16).digest(), "little")


class Draws:
    """Where the draws of one stream come from: what compiled code needs to make them."""

    __slots__ = ("seed", "source")

    def __init__(self, seed: int, stream: int = ALONE) -> None:
        self.seed = seed
        self.source: Words = np.array([*words(stream), *words(seed)], dtype=np.uint64)

    @classmethod
    def of_words(cls, seed: int, own: Words) -> Draws:
        """The same from low and high words of stream and seed, shape (4,)."""
        self = object.__new__(cls)
        self.seed, self.source = seed, own
        return self

    @property
    def stream(self) -> int:
        """The number of the stream."""
        return int(self.source[0]) | int(self.source[1]) << 64
