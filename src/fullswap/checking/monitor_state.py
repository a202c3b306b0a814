"""Monitors as versioned JSON: what is written comes back to the last bit, or is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fullswap.base import checks
from fullswap.base.keys import event_name, key_of, plain_key
from fullswap.base.protocols import Vector
from fullswap.checking.evidence_inputs import probabilities_of
from fullswap.checking.evidence_rows import beginnings_left, blank_rows
from fullswap.checking.monitor_alarm import MOST_ALARMS, Alarm
from fullswap.checking.monitor_events import MOST_SETTLED, Settled, Waiting
from fullswap.forecasting.state import pack, pack_row, unpack, unpack_row
from fullswap.kernels.evidence import (
    ALARM,
    ALARMS,
    BEST,
    BLOCKS,
    EVENTS,
    HEAD,
    IMPOSSIBLE,
    LEFT,
    MOST,
    MOST_AT,
    MOST_SCALE,
    NOW,
    NOW_SCALE,
    NUMBER,
    RANG_AT,
    RUN,
    SCALE,
    SINCE,
    SQUARES,
    START,
    WEALTH,
    WEIGHTS,
)

if TYPE_CHECKING:
    from fullswap.checking.monitor import Monitor
    from fullswap.checking.monitor_settings import Settings

    Kind = TypeVar("Kind", bound=Monitor)

BETS_VERSION = 1
"""Of bets and columns of a row; raised when a reader of the old would misread the new."""
FIELDS = frozenset({"bets", "settings", "row", "pending", "alarms", "rang", "settled"})
SETTINGS = ("run_length", "classes", "step")


def write_settings(settings: Settings) -> dict[str, Any]:
    """Settings as plain data."""
    return {name: getattr(settings, name) for name in SETTINGS}


def read_settings(stored: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a monitor; the version of the bets is checked first."""
    if stored["bets"] != BETS_VERSION:
        checks.refuse("text", f"have version {BETS_VERSION} of the bets", stored["bets"])
    settings = stored["settings"]
    if not isinstance(settings, dict) or set(settings) != set(SETTINGS):
        checks.refuse("settings", f"have the fields {list(SETTINGS)}", settings)
    return settings


def write_waiting(waiting: Waiting) -> list[Any]:
    """Forecasts that wait as plain data."""
    return [[plain_key(name), [list(row) for row in held]] for name, held in waiting.items()]


def read_waiting(stored: Any, classes: int) -> Waiting:
    """What ``write_waiting`` gave, checked."""
    waiting: Waiting = {}
    if not isinstance(stored, list):
        checks.refuse("pending", "be a list", stored)
    for entry in stored:
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[1], list):
            checks.refuse("pending", "be [name, forecasts] each", entry)
        name, held = event_name(key_of(entry[0])), []
        for row in entry[1]:
            if not isinstance(row, list) or len(row) < 2:
                checks.refuse("pending", "have a weight and probabilities each", row)
            weight = checks.setting("pending", row[0], least=0.0, most=1.0)
            own = row[1:] if classes == 2 else [row[1:]]
            table = probabilities_of(own, classes)
            if table.shape != (1, len(row) - 1):
                checks.refuse("pending", "have as many probabilities as the monitor", row)
            held.append((weight, *(float(x) for x in row[1:])))
        if not held or name in waiting:
            checks.refuse("pending", "name each event once, with forecasts", name)
        waiting[name] = held
    return waiting


def write_settled(settled: Settled) -> list[Any]:
    """Names of events that have their outcome, as plain data."""
    return [plain_key(name) for name in settled]


def read_settled(stored: Any) -> Settled:
    """What ``write_settled`` gave, checked."""
    if not isinstance(stored, list) or len(stored) > MOST_SETTLED:
        checks.refuse("settled", f"be a list of at most {MOST_SETTLED} names", stored)
    return {event_name(key_of(name)): None for name in stored}


def read_alarms(stored: Any) -> list[Alarm]:
    """Alarms from outside, checked."""
    if not isinstance(stored, list) or len(stored) > MOST_ALARMS:
        checks.refuse("alarms", f"be a list of at most {MOST_ALARMS}", stored)
    return [Alarm.from_list(alarm) for alarm in stored]


def read_row(text: Any, settings: Settings) -> Vector:
    """A row from outside, checked: no number in it can make the monitor go wrong."""
    row, blank = unpack_row(text), blank_rows(1, settings.classes)[0]
    if row.shape != blank.shape:
        checks.refuse("row", f"have {len(blank)} columns", len(row))
    checks.refuse_at("row", "be finite", row, ~np.isfinite(row))
    bets = len(settings.prior)
    blocks = row[HEAD : HEAD + BLOCKS * bets].reshape(BLOCKS, bets)
    events = row[EVENTS]
    counts = row[[EVENTS, SCALE, NOW_SCALE, MOST_SCALE, ALARMS, IMPOSSIBLE]]
    places = np.concatenate((row[[MOST_AT, BEST, SINCE, RANG_AT, NUMBER]], blocks[START]))
    variances = row[HEAD + BLOCKS * bets + 1 :: 2] if settings.classes == 2 else np.zeros(1)
    sound = (
        (counts >= 0).all()
        and (counts <= checks.MOST_EVENTS).all()
        and (counts == np.floor(counts)).all()
        and (places >= -1).all()
        and (places == np.floor(places)).all()
        and (np.delete(places, 1) < max(events, 1)).all()
        and row[BEST] < bets
        and row[ALARMS] <= events
        and (row[ALARMS] == 0) == (row[BEST] == -1)
        and abs(row[LEFT] - (beginnings_left(int(events)) if events else 1.0)) <= 1e-9
        and row[NOW] > 0
        and row[MOST] > 0
        and (blocks[[WEALTH, RUN, ALARM]] >= 0).all()
        and blocks[RUN].max() <= 1e250
        and blocks[WEALTH].sum() <= 2.0**513
        and blocks[ALARM].sum() <= settings.run_length * (1 + 1e-9)
        and (variances >= 0).all()
        and min(row[WEIGHTS], row[SQUARES]) >= 0
    )
    if not sound:
        checks.refuse("row", "be one that a monitor can have", "another")
    return row


def write_monitor(monitor: Monitor) -> str:
    """The state of a monitor."""
    content = {
        "bets": BETS_VERSION,
        "settings": write_settings(monitor._settings),
        "row": pack_row(monitor._row),
        "pending": write_waiting(monitor._waiting),
        "alarms": [alarm.to_list() for alarm in monitor._alarms],
        "rang": monitor.drift_detected,
        "settled": write_settled(monitor._settled.get(0, {})),
    }
    return pack("Monitor", content)


def read_monitor(kind: type[Kind], text: Any) -> Kind:
    """What ``write_monitor`` gave, checked."""
    stored = unpack("Monitor", text, FIELDS)
    self = kind(**read_settings(stored))
    row = read_row(stored["row"], self._settings)
    waiting = read_waiting(stored["pending"], self.classes)
    alarms, rang = read_alarms(stored["alarms"]), stored["rang"]
    rings = sum(alarm.rings for alarm in alarms)
    if not isinstance(rang, bool) or rings > row[ALARMS] or (rang and not alarms):
        checks.refuse("alarms", "fit the row", len(alarms))
    self._begin(row[np.newaxis])
    self._waiting, self._alarms, self._rang = waiting, alarms, rang
    settled = read_settled(stored["settled"])
    self._settled = {0: settled} if settled else {}
    return self
