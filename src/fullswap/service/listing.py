"""What can be asked of an engine: lists of streams, one stream, exports, numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.forecasting.guarantees import (
    explanation_of,
    first_certificate_of,
    group_table_of,
)
from fullswap.kernels.columns import NEXT_ID, ROUNDS
from fullswap.service.fleet import Fleet, run_length_of
from fullswap.service.index import said_of

if TYPE_CHECKING:
    from fullswap.service.index import Index
    from fullswap.service.saving import Saving
    from fullswap.service.storage import Journal

SORTS = (
    "certain", "stream", "error", "evidence", "events", "pending", "oldest_pending", "last_event",
    "alarm", "verdict",
)  # fmt: skip
RECENT = 100
"""Forecasts that the page of a stream shows."""
MOST_LISTED = 1_000
_SHIFT = 2**53
"""Numbers of forecasts are below this."""


class Listing:
    """Questions that change nothing."""

    fleets: dict[int, Fleet]
    specs_by_name: dict[str, Fleet]
    places: dict[str, tuple[Fleet, int]]
    by_no: dict[int, tuple[Fleet, int]]
    index: Index
    saving: Saving
    journal: Journal
    counts: dict[str, int]
    clock: Any
    started: float
    recovered: int

    # --- specs ------------------------------------------------------------------------------------

    def specs(self) -> list[dict[str, Any]]:
        """All of them."""
        return [self.spec_view(fleet) for fleet in self.fleets.values()]

    def spec_view(self, fleet: Fleet) -> dict[str, Any]:
        """A spec as clients see it; the seed of its draws stays here."""
        streams = sum(name is not None for name in fleet.names)
        return {"name": fleet.name, "streams": streams, **msgspec.to_builtins(fleet.body)}

    # --- many streams -----------------------------------------------------------------------------

    def streams(
        self, search: str = "", verdict: str | None = None, alarm: bool = False,
        sort: str = "certain", descending: bool = True, limit: int = 100, offset: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """Streams whose names hold a text, sorted, and counts over all."""
        checks.one_of("sort", sort, SORTS)
        checks.whole("limit", limit, 0, MOST_LISTED)
        checks.whole("offset", offset, 0)
        pages = [_Columns(fleet) for fleet in self.fleets.values() if len(fleet)]
        chosen = [page.chosen(search, verdict, alarm) for page in pages]
        counts = _added([page.counts() for page in pages])
        keys = [page.keys(sort)[own] for page, own in zip(pages, chosen, strict=True)]
        who = [(k, place) for k, own in enumerate(chosen) for place in own.tolist()]
        order = _order(keys, sort, descending)
        wanted = [who[k] for k in order[offset : offset + limit].tolist()]
        return {
            "streams": self._rows([(pages[k].fleet, place) for k, place in wanted]),
            "total": len(self.places),
            "matching": len(who),
            "time": self.clock(),
            "counts": counts,
            "budget": self._budget(pages),
        }

    def _budget(self, pages: list[_Columns]) -> dict[str, Any]:
        """How many false alarms are to be expected over all streams."""
        watched = [page for page in pages if run_length_of(page.fleet.body) is not None]
        streams = sum(int(page.alive.sum()) for page in watched)
        events = [int(page.events[page.alive].sum()) for page in watched]
        lengths = [run_length_of(page.fleet.body) or 1.0 for page in watched]
        expected = sum(count / length for count, length in zip(events, lengths, strict=True))
        active = sum(int((page.own["alarm"][page.alive] > 0).sum()) for page in watched)
        seen = sum(int(page.own["acknowledged"][page.alive].sum()) for page in watched)
        rung = sum(int(page.own["alarms"][page.alive].sum()) for page in watched)
        length = min(lengths, default=0.0)
        text = "no stream is watched"
        if streams:
            text = (
                f"at most one in {length:,.0f} events of a stream, on average; with "
                f"{counted(streams, 'stream')} watched, one in {length:,.0f} events of all of them "
                "together"
            )
        return {
            "streams": streams, "run_length": length or None, "events": sum(events),
            "expected": expected, "rung": rung, "unacknowledged": active - seen,
            "text": text,
        }  # fmt: skip

    def _rows(self, wanted: list[tuple[Fleet, int]]) -> list[dict[str, Any]]:
        watched = {}
        for fleet in {fleet.no: fleet for fleet, _ in wanted}.values():
            own = [place for other, place in wanted if other is fleet]
            for place, row in zip(own, fleet.watch.rows(own), strict=True):
                watched[fleet.no, place] = row
        return [self._row(fleet, place, watched[fleet.no, place]) for fleet, place in wanted]

    def _row(self, fleet: Fleet, place: int, watched: dict[str, Any]) -> dict[str, Any]:
        row, name = fleet.rows.row(place), fleet.names[place]
        if watched["alarm"] is not None:
            watched = {**watched, "alarm": self._alarm(fleet, place, watched["alarm"])}
        return {
            "stream": name,
            "spec": fleet.name,
            "events": int(row[ROUNDS]),
            "forecasts": int(row[NEXT_ID]),
            "pending": fleet.desk.pending(place),
            "oldest_pending": _oldest(fleet, place),
            "last_event": float(fleet.last[place]) or None,
            **watched,
        }

    def watch_row(self, fleet: Fleet, place: int) -> dict[str, Any]:
        """What the watch says of one stream."""
        return fleet.watch.rows([place])[0]

    @staticmethod
    def _alarm(fleet: Fleet, place: int, alarm: dict[str, Any]) -> dict[str, Any]:
        token = f"{fleet.nos[place]}:{alarm['at']}"
        return {"id": token, "stream": fleet.names[place], **alarm}

    def alarms(self) -> list[dict[str, Any]]:
        """Active alarms, newest first."""
        found = []
        for fleet in self.fleets.values():
            own = np.flatnonzero(fleet.watch.columns()["alarm"] > 0).tolist()
            own = [place for place in own if fleet.names[place] is not None]
            rows = fleet.watch.rows(own)
            pairs = zip(own, rows, strict=True)
            found += [self._alarm(fleet, place, row["alarm"]) for place, row in pairs]
        return sorted(found, key=lambda alarm: -alarm["time"])

    # --- one stream -----------------------------------------------------------------------------

    def stream(self, name: str) -> dict[str, Any] | None:
        """All that is known of a stream; None if there is none of this name."""
        found = self.places.get(name)
        if found is None:
            return None
        fleet, place = found
        kind, row = fleet.rows.kind, fleet.rows.row(place)
        certificate = first_certificate_of(kind, row)
        detail = fleet.watch.detail(place)
        alarms = [self._alarm(fleet, place, alarm) for alarm in detail["alarms"]]
        return {
            **self._row(fleet, place, self.watch_row(fleet, place)),
            "created": fleet.created[place],
            "certificate": certificate.to_dict(),
            "certificate_text": str(certificate),
            "explain": explanation_of(kind, row),
            "by_group": _by_group(fleet, row),
            **detail,
            "alarms": alarms,
            "recent": self._recent(fleet, place),
        }

    def _recent(self, fleet: Fleet, place: int) -> list[dict[str, Any]]:
        no = fleet.nos[place]
        waiting = [
            (fleet.desk.number(slot), _waits(fleet.held[slot]))
            for slot, _ in zip(fleet.desk.waiting(place), range(RECENT), strict=False)
        ]
        done = [(row[1], _done(row)) for row in self.index.recent(no, RECENT)]
        listed = sorted(waiting + done, key=lambda entry: -entry[0])[:RECENT]
        return [entry for _, entry in listed]

    # --- exports --------------------------------------------------------------------------------

    def export(
        self, stream: str | None, after: int, limit: int
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Forecasts behind a cursor, stream by stream, and the next cursor; None: that was all.

        Those that wait come last.
        """
        no = None
        if stream is not None:
            if stream not in self.places:
                raise KeyError(stream)
            fleet, place = self.places[stream]
            no = fleet.nos[place]
        if after >= 0:
            if after == 0:
                self.saving.flush_rows()
            rows = self.index.page(divmod(after, _SHIFT) if after else (0, -1), no, limit)
            # a stream that was deleted just now may still be in the tables
            shown = [self._named(row[0], _done(row)) for row in rows if row[0] in self.by_no]
            if len(rows) == limit:
                return shown, rows[-1][0] * _SHIFT + rows[-1][1]
            more, cursor = self._export_waiting(no, -1, limit)
            return shown + more, cursor
        return self._export_waiting(no, after, limit)

    def _export_waiting(self, no: int | None, after: int, limit: int) -> tuple[Any, int | None]:
        """Cursors below 0 count forecasts that wait."""
        fleets = self.fleets.values() if no is None else [self.by_no[no][0]]
        slots = [
            (fleet.nos[int(place)], fleet.desk.number(slot), fleet, slot)
            for fleet in fleets for slot in fleet.held
            if no is None or self.by_no[no][1] == fleet.desk.stream(slot)
            for place in (fleet.desk.stream(slot),)
        ]  # fmt: skip
        begin = -after - 1
        slots.sort(key=lambda entry: entry[:2])
        part = slots[begin : begin + limit]
        shown = [self._named(n, _waits(fleet.held[slot])) for n, _, fleet, slot in part]
        left = begin + limit < len(slots)
        return shown, -(begin + limit) - 1 if left else None

    def _named(self, no: int, entry: dict[str, Any]) -> dict[str, Any]:
        fleet, place = self.by_no[no]
        return {"stream": fleet.names[place], **entry}

    # --- health ---------------------------------------------------------------------------------

    def health(self) -> dict[str, Any]:
        """Whether all is well, and since when."""
        trouble = self.journal.trouble or self.saving.trouble
        return {
            "status": "ok" if trouble is None else "failing",
            **({} if trouble is None else {"trouble": trouble}),
            "uptime": max(self.clock() - self.started, 0.0),
            "streams": len(self.places),
            "recovered": self.recovered,
        }

    def numbers(self) -> dict[str, float]:
        """For metrics."""
        return {
            "streams": len(self.places),
            "pending": sum(len(fleet.held) for fleet in self.fleets.values()),
            "alarms": len(self.alarms()),
            "forecasts_total": self.counts["forecasts"],
            "outcomes_total": self.counts["outcomes"],
            "refused_total": self.counts["refused"],
            "alarms_total": self.counts["alarms"],
            "journal_bytes": self.journal.bytes,
            "unsaved_streams": self.saving.unsaved,
        }


class _Columns:
    """Numbers of all streams of a fleet, by place."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        count = len(fleet)
        self.alive = np.array([name is not None for name in fleet.names], bool)
        self.own = fleet.watch.columns()
        starts = fleet.rows.start[:count]
        self.events = fleet.rows.arena[starts + ROUNDS]
        self.pending = fleet.desk.pending_of_all()[:count]

    def chosen(self, search: str, verdict: str | None, alarm: bool) -> Any:
        """Places of streams that match."""
        keep = self.alive.copy()
        if search:
            wanted = search.casefold()
            keep &= np.array([name is not None and wanted in name.casefold()
                              for name in self.fleet.names], bool)  # fmt: skip
        if verdict is not None:
            keep &= self.own["verdict"] == _code(verdict)
        if alarm:
            keep &= self.own["alarm"] > 0
        return np.flatnonzero(keep)

    def counts(self) -> dict[str, int]:
        """How many streams have which verdict; alarms and forecasts that wait."""
        from fullswap.service.watch_figures import WORDS

        codes = self.own["verdict"][self.alive]
        own = {word: int((codes == code).sum()) for code, word in enumerate(WORDS)}
        alarms = int((self.own["alarm"][self.alive] > 0).sum())
        return {**own, "alarms": alarms, "pending": int(self.pending.sum())}

    def keys(self, sort: str) -> Any:
        """By what streams are sorted."""
        if sort == "stream":
            return np.array([name or "" for name in self.fleet.names], dtype=object)
        if sort == "events":
            return self.events
        if sort == "pending":
            return self.pending.astype(float)
        if sort == "last_event":
            return self.fleet.last[: len(self.fleet)]
        if sort == "oldest_pending":
            oldest = np.full(len(self.fleet), np.nan)
            for place in np.flatnonzero(self.pending).tolist():
                oldest[place] = _oldest(self.fleet, place)
            return oldest
        return self.own[{"alarm": "alarm_time"}.get(sort, sort)].astype(float)


def _code(verdict: str) -> int:
    from fullswap.service.watch_figures import WORDS

    return list(WORDS).index(checks.one_of("verdict", verdict, WORDS))


def _order(keys: list[Any], sort: str, descending: bool) -> Any:
    """Places in sorted order; what has no number comes last."""
    if not keys:
        return np.zeros(0, np.int64)
    joined = np.concatenate(keys)
    if sort == "stream":
        order = np.array(sorted(range(len(joined)), key=joined.__getitem__), np.int64)
        return order[::-1] if descending else order
    absent = np.isnan(joined)
    return np.lexsort((-joined if descending else joined, absent))


def _added(counts: list[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for own in counts:
        for name, count in own.items():
            total[name] = total.get(name, 0) + count
    return total


def _oldest(fleet: Fleet, place: int) -> float | None:
    """When the oldest forecast that waits was made."""
    slot = fleet.desk.oldest(place)
    return None if slot < 0 else fleet.held[slot].time


def _by_group(fleet: Fleet, row: Any) -> list[dict[str, Any]] | None:
    """Everybody and all groups, those least explained by chance first; None without groups."""
    if fleet.groups is None:
        return None
    table = group_table_of(fleet.rows.kind, row, fleet.groups.names).to_dict()["rows"]
    return [{name: value for name, value in own.items() if name != "certificate"} for own in table]


def _waits(held: Any) -> dict[str, Any]:
    answer = held.answer
    return {
        "id": answer.id, "event": held.event, "time": held.time, "p": held.p,
        "issued": answer.issued, "mean": answer.mean, "outcome": None, "resolved": None,
        **_own(held.groups, answer.declared),
    }  # fmt: skip


def _done(row: Any) -> dict[str, Any]:
    no, number, time, resolved, name, event, outcome, _ = row
    said = said_of(row)
    return {
        "id": name or f"fs-{no}-{number}", "event": event, "time": time, "p": said.p,
        "issued": said.issued, "mean": said.mean,
        "outcome": None if outcome is None else msgspec.json.decode(outcome),
        "resolved": resolved, **_own(said.groups, said.declared),
    }  # fmt: skip


def _own(groups: list[str] | None, declared: Any) -> dict[str, Any]:
    """What only some specs have."""
    return {
        **({} if groups is None else {"groups": groups}),
        **({} if declared is msgspec.UNSET else {"declared": declared}),
    }
