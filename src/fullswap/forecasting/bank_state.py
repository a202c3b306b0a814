"""The state of a bank as text, and back."""

from __future__ import annotations

from typing import Any

from fullswap.base import checks
from fullswap.base.draws import Draws
from fullswap.base.keys import key_of, plain_key
from fullswap.base.protocols import Vector
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.multiclass import MulticlassForecaster
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.forecasting.state import (
    pack,
    pack_groups,
    pack_labels,
    pack_row,
    unpack,
    unpack_groups,
    unpack_labels,
    unpack_number,
    unpack_stream,
)
from fullswap.online.spec import Spec
from fullswap.online.stream import Stream
from fullswap.online.tickets import Forecast

FIELDS = frozenset({"spec", "forecaster", "seed", "streams"})
"""Of a saved state."""
Entry = tuple[Any, Vector, list[Forecast]]
"""Key, row and forecasts that wait, of one stream."""


def settings_of(pattern: OnlineForecaster, seed: int) -> dict[str, Any]:
    """What a bank is made from, as plain data."""
    return {
        "forecaster": type(pattern).__name__,
        "spec": pattern.spec.to_dict(),
        "seed": str(seed),
        **pack_labels(pattern.labels),
        **pack_groups(pattern._groups),
    }


def pattern_of(stored: dict[str, Any]) -> OnlineForecaster:
    """The pattern from what ``settings_of`` gave, checked."""
    spec = Spec.from_dict(stored["spec"])
    seed = unpack_number("seed", stored["seed"])
    skins = {skin.__name__: skin for skin in (Forecaster, MulticlassForecaster, Recalibrator)}
    skin = skins[checks.one_of("forecaster", stored["forecaster"], skins)]
    skin._check_spec(spec)
    pattern = object.__new__(skin)
    labels, groups = unpack_labels(stored, spec.classes), unpack_groups(stored, spec)
    pattern._adopt(spec, Draws(seed), labels, groups=groups)
    return pattern


def text_of(pattern: OnlineForecaster, seed: int, streams: list[Stream]) -> str:
    """The whole state, pending forecasts and seed of the draws included, as JSON."""
    stored = []
    for stream in streams:
        tickets = [ticket.to_list() for ticket in stream.pending]
        stored.append([plain_key(stream.key[0]), pack_row(stream.settle()), tickets])
    return pack("Bank", {**settings_of(pattern, seed), "streams": stored})


def bank_of(text: str | bytes) -> tuple[OnlineForecaster, list[Entry]]:
    """The pattern and the streams of a bank from what ``text_of`` wrote, all checked."""
    stored = unpack("Bank", text, FIELDS)
    pattern = pattern_of(stored)
    if not isinstance(stored["streams"], list):
        checks.refuse("streams", "be a list", stored["streams"])
    entries = []
    for entry in stored["streams"]:
        if not isinstance(entry, list) or len(entry) != 3:
            checks.refuse("streams", "be [key, row, pending] each", entry)
        key = key_of(entry[0])
        entries.append((key, *unpack_stream(pattern.spec, entry[1], entry[2], (key,))))
    if len({key for key, _, _ in entries}) < len(entries):
        raise ValueError("streams must have distinct keys, got one twice")
    return pattern, entries
