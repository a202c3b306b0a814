"""A service without an engine: in memory, as small as the contract allows.

Forecasts say what the model said. Streams called "slow" take their time, "broken" raise an error,
"full" say that the disk is full.
"""

import time
import uuid
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec

from fullswap.service.limits import Limits
from fullswap.service.messages import Issued, Refusal, Settled, SpecBody, refusal
from fullswap.service.problems import Conflict, Unavailable

ALARM = {
    "time": 1.0, "at": 300, "since": 120, "since_time": None, "direction": "too high", "rings": 1,
    "acknowledged": False, "acknowledged_time": None, "recovered": False, "recovered_time": None,
    "text": "Alarm after 300 events",
}  # fmt: skip


class FakeEngine:
    def __init__(self, limits=None):
        self.limits = limits or Limits()
        self.kept_specs = {"default": SpecBody()}
        self.forecast = {}
        """id ↦ row of the export."""
        self.kept_alarms = {}
        self.unsent = []
        self.computed = 0
        """Forecasts that were really made."""
        self.healthy = True

    def issue(self, item):
        if item.stream == "slow":
            time.sleep(0.5)
        if item.stream == "broken":
            raise RuntimeError(f"cannot do {item.stream}")
        if item.stream == "full":
            raise Unavailable("the disk is full")
        if not 0 < len(item.stream) <= self.limits.name:
            return refusal("invalid", "stream must have 1 to 200 characters")
        if item.spec is not None and item.spec not in self.kept_specs:
            return refusal("unknown-spec", "spec must exist")
        if isinstance(item.p, int | float) and not 0 <= item.p <= 1:
            return refusal("invalid", "p must lie in [0, 1]")
        number = item.id or uuid.uuid4().hex
        if number not in self.forecast:
            self.computed += 1
            p = item.p if isinstance(item.p, int | float) else 0.5
            self.forecast[number] = {
                "stream": item.stream, "id": number, "event": item.event, "time": time.time(),
                "p": item.p, "issued": float(p), "mean": float(p), "outcome": None,
                "resolved": None,
            }  # fmt: skip
        p = self.forecast[number]["issued"]
        return Issued(number, p, p, [p], [1.0])

    def settle(self, item):
        if item.id is None:
            return refusal("invalid", "id must be given")
        row = self.forecast.get(item.id)
        if row is None:
            return refusal("unknown-id", "there is no such forecast")
        if row["resolved"] is not None:
            return Settled(item.id, "known")
        row.update(outcome=item.outcome, resolved=time.time())
        return Settled(item.id, "learnt" if item.outcome is not None else "dropped")

    def put_spec(self, name, body):
        if body.models < 1:
            raise ValueError(f"models must be at least 1, got {body.models}")
        if name in self.kept_specs and self.kept_specs[name] != body:
            raise Conflict("another spec of this name is there")
        new = name not in self.kept_specs
        self.kept_specs[name] = body
        return new, self._spec(name)

    def _spec(self, name):
        return {"name": name, "streams": 0, **msgspec.to_builtins(self.kept_specs[name])}

    def specs(self):
        return [self._spec(name) for name in self.kept_specs]

    def _names(self):
        return list(dict.fromkeys(row["stream"] for row in self.forecast.values()))

    def _row(self, name):
        rows = [row for row in self.forecast.values() if row["stream"] == name]
        waiting = sum(row["resolved"] is None for row in rows)
        return {
            "stream": name, "spec": "default", "events": len(rows) - waiting,
            "forecasts": len(rows), "pending": waiting, "oldest_pending": None, "last_event": None,
            "verdict": "too little data to say", "watched": "model", "error": 0.041,
            "noise": 0.019, "tolerance": 0.02, "certain": None, "ours_error": 0.012,
            "ours_noise": 0.011, "evidence_log10": 3.25, "evidence_log10_most": 4.0,
            "direction": None, "spark": [0.01, None], "alarm": self.kept_alarms.get(name),
        }  # fmt: skip

    def streams(self, search="", verdict=None, alarm=False, sort="certain", descending=True,
                limit=100, offset=0):  # fmt: skip
        names = [name for name in self._names() if search in name]
        rows = [self._row(name) for name in names if not alarm or name in self.kept_alarms]
        if verdict is not None:
            rows = [row for row in rows if row["verdict"] == verdict]
        return {
            "streams": rows[offset : offset + limit], "total": len(self._names()),
            "matching": len(rows), "time": time.time(), "counts": {"alarms": 0, "pending": 0},
            "budget": {"streams": 0, "text": "…"},
        }  # fmt: skip

    def stream(self, name):
        if name not in self._names():
            return None
        return {
            **self._row(name), "certificate": {}, "certificate_text": "", "explain": "",
            "reliability": {"raw": [], "ours": []}, "windows": [], "recent": [], "alarms": [],
        }  # fmt: skip

    def delete(self, name):
        gone = [key for key, row in self.forecast.items() if row["stream"] == name]
        for key in gone:
            del self.forecast[key]
        return bool(gone)

    def ring(self, name):
        """For tests: an alarm begins."""
        alarm = {"id": len(self.kept_alarms) + 1, "stream": name, **ALARM}
        self.kept_alarms[name] = alarm
        self.unsent.append(alarm)

    def acknowledge(self, name):
        if name not in self.kept_alarms or self.kept_alarms[name]["acknowledged"]:
            return False
        self.kept_alarms[name]["acknowledged"] = True
        return True

    def alarms(self):
        return list(reversed(self.kept_alarms.values()))

    def export(self, stream, after, limit):
        if stream is not None and stream not in self._names():
            raise KeyError(stream)
        rows = [row for row in self.forecast.values() if stream in (None, row["stream"])]
        if stream is not None and not rows:
            raise KeyError(stream)
        page = rows[after : after + limit]
        return page, after + limit if after + limit < len(rows) else None

    def health(self):
        status = {} if self.healthy else {"status": "failing"}
        return {**status, "streams": len(self._names()), "recovered": 0}

    def numbers(self):
        return {"commits_total": self.computed, "streams": len(self._names()), "pending": 0}

    def alarms_to_send(self):
        return list(self.unsent)

    def alarms_sent(self, ids):
        self.unsent = [alarm for alarm in self.unsent if alarm["id"] not in ids]


class FakeService:
    def __init__(self, limits=None):
        self.engine = FakeEngine(limits)
        self.closed = False
        self._thread = ThreadPoolExecutor(1)

    @classmethod
    def open(cls, folder, limits=None):
        return cls(limits)

    def forecasts(self, items):
        return self._do(self.engine.issue, items)

    def outcomes(self, items):
        return self._do(self.engine.settle, items)

    def ask(self, question) -> Future:
        if self.closed:
            raise Unavailable("the service is closing")
        return self._thread.submit(question, self.engine)

    def _do(self, do, items) -> Future:
        def all_of_them(_):
            return [item if isinstance(item, Refusal) else do(item) for item in items]

        return self.ask(all_of_them)

    def close(self):
        self.closed = True
        self._thread.shutdown()
