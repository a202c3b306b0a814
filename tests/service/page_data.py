"""Made-up streams for the page, the same at every run."""

import math

import numpy as np

NOW = 1_790_000_000.0
VERDICTS = (
    "miscalibrated", "miscalibrated, but little", "no evidence of miscalibration",
    "too little data to say", "not watched",
)  # fmt: skip
DIRECTIONS = ("too high", "too low", "over-confident", "under-confident")
HOSTILE = [
    "<img src=x onerror=window.broken=1>",
    '"><script>window.broken=1</script>',
    "javascript:window.broken=1",
    "w" * 200,
    "günther/日本 ☂/%2F?#&=+ 100 %",
    "\u202egnp.exe و \u05d0\u05d1",
    "__proto__",
    "a long name of many words " * 7,
]
TOLERANCE = 0.02
RUN_LENGTH = 100_000
WINDOWS = 40


def named(index):
    """The name of a stream: the first are hostile, the others plain."""
    return HOSTILE[index] if index < len(HOSTILE) else f"region-{index % 97:02d}/sensor-{index:06d}"


class Streams:
    """So many streams as columns; a row is put together when it is asked for."""

    def __init__(self, count):
        rng = np.random.default_rng(7)
        self.count = count
        self.names = [named(k) for k in range(count)]
        self.place = {name: k for k, name in enumerate(self.names)}
        self.verdict = rng.choice(5, count, p=[0.03, 0.05, 0.6, 0.3, 0.02])
        self.verdict[:5] = [0, 1, 2, 3, 4][:count]
        off = np.array([0.05, 0.012, 0.0, 0.0, 0.0])[self.verdict]
        self.events = rng.integers(300, 90_000, count)
        self.events[self.verdict == 3] = rng.integers(3, 200, int((self.verdict == 3).sum()))
        self.noise = 0.6 / np.sqrt(self.events)
        size = off * (0.5 + rng.random(count))
        self.error = np.hypot(size, self.noise * (0.7 + 0.5 * rng.random(count)))
        self.certain = np.where(self.verdict < 2, size, 0.0)
        most = np.array([3.0, 1.6, 0.4, 0.1, 0.0])[self.verdict]
        self.most = most * (0.9 + 4 * rng.random(count) ** 3)
        self.evidence = np.where(rng.random(count) < 0.5, self.most, self.most - 1)
        self.pending = rng.integers(0, 40, count)
        self.last_event = NOW - 10 ** (5 * rng.random(count))
        self.oldest_pending = self.last_event - 10 ** (5 * rng.random(count))
        self.alarm = np.where((self.verdict == 0) & (rng.random(count) < 0.5), self.last_event, 0.0)
        self.alarm[:1] = NOW - 7_200
        self.acknowledged = set()
        self.model = rng.random(count) < 0.9
        self.model[:3] = True

    def settle(self, place):
        """One more event, now."""
        self.events[place] += 1
        self.last_event[place] = NOW

    def alarm_of(self, k, number=0):
        rang = float(self.alarm[k]) - 3e5 * number
        direction = DIRECTIONS[k % 4]
        seen = number > 0 or k in self.acknowledged
        return {
            "id": 1000 * k + number, "stream": self.names[k], "time": rang,
            "at": int(self.events[k] * (0.7 - 0.3 * number)),
            "since": int(self.events[k] * (0.6 - 0.3 * number)),
            "since_time": rang - 9_000, "direction": direction, "rings": 3 - number,
            "acknowledged": seen, "acknowledged_time": rang + 60 if seen else None,
            "recovered": number > 0, "recovered_time": rang + 9e4 if number else None,
            "text": f"Alarm after {int(self.events[k] * 0.7):,} events: forecasts have been "
            f"{direction} since about event {int(self.events[k] * 0.6):,}. Right ones ring at "
            "most once in 100,000 events on average.",
        }  # fmt: skip

    def row(self, k):
        rng = np.random.default_rng([3, k])
        verdict = int(self.verdict[k])
        watched = verdict != 4
        sign = -1 if k % 2 else 1
        trend = sign * self.certain[k] * np.linspace(0.2, 1.3, 32)
        spark = rng.normal(trend, 4 * self.noise[k])
        return {
            "stream": self.names[k], "spec": "default" if k % 5 else "hourly",
            "events": int(self.events[k]), "forecasts": int(self.events[k] + self.pending[k]),
            "pending": int(self.pending[k]),
            "oldest_pending": float(self.oldest_pending[k]) if self.pending[k] else None,
            "last_event": float(self.last_event[k]), "verdict": VERDICTS[verdict],
            "watched": "model" if self.model[k] else "ours",
            "error": float(self.error[k]), "noise": float(self.noise[k]), "tolerance": TOLERANCE,
            "certain": float(self.certain[k]), "ours_error": float(1.05 * self.noise[k]),
            "ours_noise": float(self.noise[k]),
            "evidence_log10": float(self.evidence[k]) if watched else None,
            "evidence_log10_most": float(self.most[k]) if watched else None,
            "direction": DIRECTIONS[k % 4] if verdict < 2 else None,
            "spark": [float(v) for v in spark[: max(1, min(32, self.events[k] // 10))]],
            "alarm": self.alarm_of(k) if self.alarm[k] else None,
        }  # fmt: skip

    def detail(self, k):
        rng = np.random.default_rng([5, k])
        row = self.row(k)
        model = row["watched"] == "model"
        off = self.certain[k] * (-1 if k % 2 else 1)
        return row | {
            "certificate": {
                "subject": "issued forecasts", "holds": True, "points": 0.0536,
                "points_noise": 0.0519, "points_guaranteed": 0.223, "theorem": "FKO25, Lemma 26",
            },
            "certificate_text": f"{row['events']:,} forecasts: 5.4 percentage points off in root "
            "mean square (chance alone would show 5.2); guaranteed at most 22.3, whatever happens."
            "\nOn average over our own draws, if the outcome of an event does not depend on the "
            "draw for that event.",
            "explain": "Forecasts are among 21 values: multiples of 1/20; the same for all events.",
            "reliability": {
                "raw": self._dots(rng, k, 1.6 * off) if model else [],
                "ours": self._dots(rng, k, 0.0),
            },
            "by_group": self._groups(k),
            "windows": self._windows(rng, k, off, model),
            "recent": self._recent(rng, k, model),
            "alarms": [self.alarm_of(k, n) for n in range(2)] if self.alarm[k] else [],
        }  # fmt: skip

    def _groups(self, k):
        """A third of the streams have groups, with the same names as streams; the last is empty."""
        if k % 3:
            return None
        found = []
        for j, name in enumerate(["everybody", *HOSTILE, "nobody"]):
            empty = name == "nobody"
            found.append({
                "name": name, "rounds": 0 if empty else int(self.events[k]) // (1 + j),
                "mass": 0.0 if empty else float(self.events[k] // (1 + j)),
                "said": None if empty else 0.4 + 0.01 * j,
                "happened": None if empty else 0.4 + 0.015 * j,
                "points": None if empty else 0.05 + 0.001 * j,
                "points_noise": None if empty else 0.048,
                "points_after_the_fact": None if empty else 0.09 + 0.001 * j,
                "points_guaranteed": None if j % 2 or empty else 0.2 + 0.01 * j,
            })  # fmt: skip
        return found

    def _dots(self, rng, k, off):
        dots = []
        for said in np.linspace(0.04, 0.96, 12) + rng.uniform(-0.02, 0.02, 12):
            n = max(2, int(self.events[k] / 12 * rng.uniform(0.2, 1.8)))
            spread = 1.645 * math.sqrt(said * (1 - said) / n)
            happened = said - off * (1 + said) + rng.normal(0, spread / 1.645)
            dots.append({
                "p": float(said), "happened": float(np.clip(happened, 0, 1)), "n": n,
                "low": float(max(0, said - spread)), "high": float(min(1, said + spread)),
            })  # fmt: skip
        return dots

    def _windows(self, rng, k, off, model):
        edges = np.linspace(0, self.events[k], min(WINDOWS, int(self.events[k])) + 1).astype(int)
        share = np.linspace(0, 1, len(edges) - 1)
        wealth = self.most[k] * np.clip(share * 1.5 - 0.4, 0, 1) + 0.1 * rng.normal(
            0, 1, len(share)
        )
        found = []
        for j, (start, stop) in enumerate(zip(edges[:-1], edges[1:], strict=True)):
            noise = 0.9 / math.sqrt(max(stop - start, 1))
            raw, ours = np.tanh(rng.normal([off * share[j], 0.0], noise / 2))
            found.append({
                "from": int(start), "to": int(stop), "n": int(stop - start),
                "time": float(self.last_event[k] - 3600 * (len(share) - j)), "noise": noise,
                "raw_error": float(raw) if model else None, "ours_error": float(ours),
                "evidence_log10": float(wealth[j]) if self.verdict[k] != 4 else None,
            })  # fmt: skip
        return found

    def _recent(self, rng, k, model):
        found = []
        for j in range(min(100, int(self.events[k]))):
            p = float(rng.random())
            issued = round(20 * p) / 20
            settled = j >= min(int(self.pending[k]), 5)
            found.append({
                "id": f"f-{self.events[k] - j}", "event": f"game {j}" if k % 2 else None,
                "time": float(self.last_event[k] - 60 * j), "p": p if model else None,
                "issued": issued, "mean": p, "outcome": int(rng.random() < p) if settled else None,
                "resolved": float(self.last_event[k] - 30 * j) if settled else None,
            })  # fmt: skip
        return found
