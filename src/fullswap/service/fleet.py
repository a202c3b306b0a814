"""All streams of one spec: rows, what waits, and what is watched."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import stream_of
from fullswap.base.protocols import Points, Vector
from fullswap.forecasting import Forecaster, MulticlassForecaster, Recalibrator
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.contexts import context_of
from fullswap.forecasting.groups import contexts_in_groups
from fullswap.inputs.memberships import Memberships
from fullswap.kernels.columns import VERSION as STATE
from fullswap.online.desk import Desk, Made, Tickets
from fullswap.online.rows import Rows
from fullswap.service.messages import Issued, SpecBody
from fullswap.service.problems import Refused
from fullswap.service.records import Waiting, decode_waiting, encode, packed, unpacked
from fullswap.service.watch import Watch

KINDS = ("recalibrator", "forecaster", "multiclass")
MOST_LETTERS = 256
"""Of the name of a group."""
RUN_LENGTH = 100_000.0
"""Of monitors, where a spec only says that there is one."""


class Held(NamedTuple):
    """What is remembered of a forecast until its outcome comes."""

    time: float
    id: str | None
    """The client's, if it chose one."""
    event: str | None
    p: Any
    answer: Issued
    groups: list[str] | None = None
    """To which it belongs; None where its spec has none."""


def pattern_of(body: SpecBody) -> OnlineForecaster:
    """The forecaster as which streams of a spec begin; ValueError for settings that do not fit."""
    kind = body.forecaster.lower()
    common: dict[str, Any] = {
        "horizon": body.horizon, "max_weight": _float("max_weight", body.max_weight),
    }  # fmt: skip
    if isinstance(body.groups, str):
        raise ValueError(
            f"groups must be a list of names, got {body.groups!r}: a service has room for the "
            "groups that its spec names, and takes no others"
        )
    if body.groups is not None:
        for name in body.groups:
            if not 0 < len(name) <= MOST_LETTERS:
                rule = f"have 1 to {MOST_LETTERS} characters each"
                checks.refuse("groups", rule, f"{name[:40]!r} ({len(name)} characters)")
        common["groups"] = body.groups
    if kind == "recalibrator":
        return Recalibrator(body.step, classes=body.classes, models=body.models, **common)
    if body.models != 1:
        raise ValueError(f"models must be left out for {kind!r}, got {body.models}")
    if kind == "forecaster":
        if body.classes != 2:
            raise ValueError(f"classes must be 2 for 'forecaster', got {body.classes}")
        return Forecaster(step=body.step, **common)
    if kind == "multiclass":
        if body.step is not None:
            raise ValueError(f"step must be left out for 'multiclass', got {body.step}")
        if body.groups is not None:
            raise ValueError("groups must be left out for 'multiclass': they are for yes or no")
        return MulticlassForecaster(body.classes, **common)
    raise ValueError(f"forecaster must be one of {', '.join(KINDS)}, got {body.forecaster!r}")


def run_length_of(body: SpecBody) -> float | None:
    """Of the monitors of a spec; None if there are none."""
    if body.monitor is False or body.monitor == 0:
        return None
    return RUN_LENGTH if body.monitor is True else _float("monitor", body.monitor)


def _float(name: str, value: Any) -> float:
    """ValueError for whole numbers beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        checks.refuse(name, "be a finite number", value)


class Fleet:
    """The streams of a spec by place; names, numbers and rows have the same places."""

    def __init__(self, no: int, name: str, body: SpecBody, seed: int | None = None) -> None:
        self.no, self.name, self.body = no, name, body
        self.pattern = pattern_of(body)
        self.seed = self.pattern._stream.draws.seed if seed is None else seed
        self.rows = Rows(self.pattern._stream.kind, self.seed, [])
        self.desk = Desk(self.rows)
        spec = self.pattern.spec
        self.models, self.classes = spec.models, spec.classes
        self.labels = self.pattern.labels
        """Of the classes; None if these are numbers."""
        self.groups = self.pattern._groups
        """Groups by name; None if the spec has none."""
        self.vector = spec.kind == "classwise"
        """Whether forecasts and outcomes are vectors."""
        self.plain_outcomes = not self.vector and spec.max_weight == 1.0
        self.watch = Watch(spec.classes, run_length_of(body), float(body.tolerance), self.labels)
        self.nos: list[int] = []
        self.names: list[str | None] = []
        """None where a stream was deleted."""
        self.created: list[float] = []
        self.last: Vector = np.zeros(0)
        """When something happened last."""
        self.held: dict[int, Held] = {}
        """What waits, by its place at the desk."""
        self.crowds: list[int] = []
        """How many forecasts wait."""
        self._free: list[int] = []
        """Places of streams that were deleted."""

    def __len__(self) -> int:
        return len(self.names)

    def add(self, no: int, name: str, time: float) -> int:
        """A blank stream; its place."""
        if self._free:
            place = self._free.pop()
            self.rows.clear(place, stream_of(name))
            self.nos[place], self.names[place], self.created[place] = no, name, time
            self.last[place], self.crowds[place] = 0.0, 0
            return place
        self.rows.add([stream_of(name)])
        self.desk.add()
        self.watch.add(1)
        self.nos.append(no)
        self.names.append(name)
        self.created.append(time)
        self.crowds.append(0)
        if len(self.names) > len(self.last):
            self.last = np.concatenate((self.last, np.zeros(len(self.names))))
        return len(self.names) - 1

    def remove(self, place: int) -> None:
        """A stream in which nothing waits is no more; another may have its place."""
        self.watch.remove(place)
        self.names[place], self.last[place], self.crowds[place] = None, 0.0, 0
        self._free.append(place)

    # --- what models say ----------------------------------------------------------------------

    def context(self, p: Any) -> Any:
        """What comes with one event, checked: a number or an array; None where nothing does."""
        if not self.models:
            if p is not None:
                raise Refused("bad-p", f"p must be left out: spec {self.name!r} takes no model")
            return None
        if p is None:
            raise Refused("bad-p", f"p must be given: spec {self.name!r} recalibrates models")
        try:
            return context_of(_filled(p), self.models, self.classes)
        except (ValueError, TypeError) as error:
            raise Refused("bad-p", str(error)) from None

    def numbers(self, groups: list[str] | None) -> list[int]:
        """Numbers of the groups of one event, checked."""
        if self.groups is None:
            if groups:
                raise Refused("bad-groups", f"groups must be left out: spec {self.name!r} has none")
            return []
        try:
            return self.groups.of_event(groups)[1]
        except ValueError as error:
            words = str(error).removesuffix(" in event 0")
            raise Refused("bad-groups", words) from None

    def contexts(self, given: list[Any], groups: list[list[int]]) -> Any:
        """What comes with many events, as compiled code reads it."""
        said = None
        if self.models == 1 and self.classes == 2:
            said = np.array(given, dtype=float)[:, None]
        elif self.models:
            said = np.ascontiguousarray(np.stack(given), dtype=float)
        if self.groups is None:
            return said
        starts = np.cumsum([0, *map(len, groups)])
        members = np.array([number for own in groups for number in own], np.int64)
        return contexts_in_groups(said, Memberships(self.groups.names, starts, members))

    def plain(self, contexts: Any) -> list[Any]:
        """What models said, as clients gave it."""
        if not self.models:
            return [None] * len(contexts)
        own = contexts if self.groups is None else contexts[:, : self.models]
        own = own[:, 0] if self.models == 1 else own
        return [_emptied(p) for p in own.tolist()]

    def group_names(self, contexts: Any, events: int) -> list[Any]:
        """The groups of each event by name; None each where the spec has none."""
        if self.groups is None:
            return [None] * events
        names, first = self.groups.names, 1 + self.models
        return [
            [names[int(number)] for number in own[first : first + int(own[self.models])]]
            for own in contexts.tolist()
        ]

    def said(self, p: Any) -> Any:
        """What a single model said of an event, for the watch; NaN where there is no such."""
        if self.models == 1 and p is not None:
            return _single(p)
        return [np.nan] * self.classes if self.vector else np.nan

    def watched(self, said: list[Any], ours: list[Any], outcomes: Any) -> tuple[Any, Any, Any]:
        """What models said, what we said and what happened, as the watch reads them."""
        given, own = np.array(said, float), np.array(ours, float)
        if self.vector and self.classes == 2:  # the second is yes
            return given[:, 1], own[:, 1], outcomes[:, 1]
        return given, own, outcomes

    # --- rows of the tables -------------------------------------------------------------------

    def state(self, place: int) -> tuple[int, int, bytes, bytes, bytes]:
        """Version and checksum; row, what waits and what was watched, of one stream."""
        slots = list(self.desk.waiting(place))[::-1]
        tickets = b""
        if slots:
            own = self.desk.tickets(slots)
            fields = 5 if self.groups is None else 6
            records = [tuple(self.held[slot])[:fields] for slot in slots]
            tickets = encode(Waiting(packed(own.notes), packed(own.plays), records))
        row = self.rows.row(place).astype("<f8").tobytes()
        watch = self.watch.dump(place)
        return STATE, _checksum(row, tickets, watch), row, tickets, watch

    def restore(
        self, place: int, state: int, checksum: int, row: bytes, tickets: bytes, watch: bytes
    ) -> None:  # fmt: skip
        """What ``state`` gave, for a blank stream."""
        if state != STATE:
            raise ValueError(
                f"folder must have states of version {STATE}, got {state}: start the version of "
                "fullswap that wrote it, export, and replay the log"
            )
        if checksum != _checksum(row, tickets, watch):
            raise ValueError(
                f"folder must be as it was written, got damage in stream {self.names[place]!r}: "
                "restore a backup"
            )
        self.rows.put(place, np.frombuffer(row, dtype="<f8").astype(np.float64))
        if tickets:
            waiting = decode_waiting(tickets)
            self.put(
                np.full(len(waiting.records), place),
                unpacked(waiting.notes),
                unpacked(waiting.plays),
                [_held(*entry) for entry in waiting.records],
            )
        if watch:
            self.watch.load(place, watch)

    def put(self, places: Any, notes: Any, plays: Points, held: list[Held]) -> Any:
        """Have forecasts wait that were made before; where they wait."""
        slots = self.desk.put(places, Tickets(notes, plays), [one.event for one in held])
        self.held.update(zip(slots.tolist(), held, strict=True))
        for place in places.tolist():
            self.crowds[place] += 1
        return slots


def _checksum(*parts: bytes) -> int:
    """Tells of accidents; whoever can write the folder is trusted."""
    total = 0
    for part in parts:
        total = zlib.crc32(part, total)
    return total


def _held(
    time: float, name: str | None, event: str | None, p: Any, answer: Any, groups: Any = None
) -> Held:
    return Held(time, name, event, p, _answer(answer), groups)


def _answer(stored: Any) -> Issued:
    return stored if isinstance(stored, Issued) else Issued(**stored)


def _filled(p: Any) -> Any:
    """null is NaN."""
    if isinstance(p, list):
        return [_filled(one) for one in p]
    return float("nan") if p is None else p


def _emptied(p: Any) -> Any:
    """NaN is null."""
    if isinstance(p, list):
        return [_emptied(one) for one in p]
    return None if p != p else p


def _single(p: Any) -> Any:
    """What one model said, whether or not it stands in a list of its own."""
    nested = isinstance(p, list) and len(p) == 1
    return p[0] if nested else p


def answers_of(made: Made, ids: list[str], labels: Sequence[str] | None) -> list[Issued]:
    """What clients are told; classes by their labels, if they have any."""
    supports, weights = made.supports.tolist(), made.weights.tolist()
    issued, means = made.issued.tolist(), made.means.tolist()
    answers = []
    for k, name in enumerate(ids):
        own, shares = supports[k], weights[k]
        if 0.0 in shares:
            own = [point for point, share in zip(own, shares, strict=True) if share > 0]
            shares = [share for share in shares if share > 0]
        answers.append(Issued(name, issued[k], means[k], own, shares))
    if made.declared is not None:
        for answer, label in zip(answers, made.declared.tolist(), strict=True):
            answer.declared = label if labels is None else labels[label]
    return answers
