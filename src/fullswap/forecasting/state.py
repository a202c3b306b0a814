"""State as versioned JSON: what is written comes back to the last bit, or is refused."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from fullswap.base.protocols import Vector

_OWN_STREAM = tuple(b"fullswap")
FORMAT = "fullswap forecaster"
VERSION = 1
"""Version of the layout below; raised when a reader of the old one would misread the new one."""


def pack(kind: str, content: dict[str, Any]) -> str:
    """One line of JSON; numbers are written so that they are read back exactly."""
    body = {"format": FORMAT, "version": VERSION, "kind": kind, **content}
    return json.dumps({**body, "checksum": _checksum(body)}, allow_nan=False)


def unpack(kind: str, text: Any) -> dict[str, Any]:
    """The content, or a ValueError that says why it cannot be used."""
    if not isinstance(text, str | bytes):
        raise ValueError(f"text must be JSON as written by to_json(), got {type(text).__name__}")
    try:
        body = json.loads(text)
    except ValueError as error:
        raise ValueError(f"text is damaged: it is not JSON ({error})") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise ValueError("text is JSON, but not a state written by to_json()")
    version = body.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ValueError(
            f"text has state version {version!r}, and this fullswap reads versions up to "
            f"{VERSION}: upgrade fullswap to read it"
        )
    checksum = body.pop("checksum", None)
    if checksum != _checksum(body):
        raise ValueError("text is damaged: its checksum does not match its content")
    if body.get("kind") != kind:
        raise ValueError(
            f"text is the state of a {body.get('kind')}: read it with {body.get('kind')}.from_json"
        )
    return body


def _checksum(body: dict[str, Any]) -> str:
    plain = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


class Draws:
    """Uniform draws, one for each forecast, taken from the generator some at a time.

    A number seeds a stream of the forecaster's own: the outcomes of a simulation that began with
    ``default_rng`` and the same number must not be the draws over again, for then they would
    depend on them. A Generator is taken over: it runs ahead of the draws that were used.
    """

    _AHEAD = 256

    def __init__(self, seed: Any) -> None:
        try:
            if isinstance(seed, bool | np.bool_):
                raise TypeError
            whole = isinstance(seed, int | np.integer)
            own = np.random.SeedSequence(int(seed), spawn_key=_OWN_STREAM) if whole else seed
            self._generator = np.random.default_rng(own)
        except (TypeError, ValueError):
            raise ValueError(
                f"seed must be a whole number >= 0, None or a numpy Generator, got {seed!r}"
            ) from None
        if not isinstance(self._generator.bit_generator, np.random.PCG64):
            name = type(self._generator.bit_generator).__name__
            raise ValueError(f"seed must be a Generator over PCG64, to be saved, got {name}")
        self._ahead: list[float] = []

    def one(self) -> float:
        """The next draw."""
        if not self._ahead:
            self._ahead = self._generator.random(self._AHEAD)[::-1].tolist()
        return self._ahead.pop()

    def some(self, most: int) -> Vector:
        """The next draws, at least one and at most so many."""
        if self._ahead:
            taken, self._ahead = self._ahead[-most:][::-1], self._ahead[:-most]
            return np.array(taken)
        return self._generator.random(most)

    def dump(self) -> dict[str, Any]:
        """The state of the generator at the next draw.

        Its integers are written as text: they exceed what most JSON readers keep exact.
        """
        bits = np.random.PCG64()
        bits.state = self._generator.bit_generator.state  # type: ignore[assignment]
        bits.advance(2**128 - len(self._ahead))  # back to where the draws ahead began
        state: Any = bits.state["state"]
        return {name: str(value) for name, value in state.items()}

    @classmethod
    def load(cls, stored: dict[str, str]) -> Draws:
        """Draws that go on where the stored ones were."""
        inner: Any = {name: int(value) for name, value in stored.items()}
        bits = np.random.PCG64()
        bits.state = {"bit_generator": "PCG64", "state": inner, "has_uint32": 0, "uinteger": 0}
        return cls(np.random.Generator(bits))
