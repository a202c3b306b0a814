"""What is recorded of the package: the one place that imports and calls it.

Keys and codes are neutral: a renaming edits the calls and the dictionaries of words here, never a
key. Long arrays are recorded by their first and last numbers and by two sums over all.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import tempfile
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

import fullswap as fs
from fullswap import FullSwapLearner, LossClass, games, grids, learners, losses, metrics, rounding
from fullswap import sets as convex
from fullswap.template import reference_step
from fullswap.theorems import Constants
from golden import inputs

Numbers = Iterator[tuple[str, Any]]

# --- shared ---------------------------------------------------------------------------------------

VERDICTS = {
    "miscalibrated": "off", "miscalibrated, but little": "little",
    "no evidence of miscalibration": "none", "too little data to say": "few",
    "not watched": "unwatched",
}  # fmt: skip
WAYS = {
    "": "none", "too high": "high", "too low": "low", "over-confident": "bold",
    "under-confident": "timid", "upside down": "reversed",
}  # fmt: skip


def few(values, most=10):
    """An array in short: all of it, or its ends, its size, its sum and a sum with other weights."""
    flat = np.asarray(values, float).ravel()
    if len(flat) <= 2 * most + 3:
        return flat
    known = np.nan_to_num(flat, nan=0.5, posinf=1e3, neginf=-1e3)
    weights = 1.0 + np.arange(len(flat)) % 97
    return np.concatenate((flat[:most], flat[-most:], [len(flat), known.sum(), weights @ known]))


def number(value):
    """A number; NaN for none."""
    return np.nan if value is None else float(value)


def numbers(*values):
    """An array of these."""
    return np.array([number(value) for value in values])


def way(words):
    """Which way forecasts are off, as codes."""
    parts = (words or "").split(" between ")[0].split(" for class ")[0].split(" and ")
    return "+".join(WAYS[part] for part in parts)


# --- forecasters ----------------------------------------------------------------------------------

LINES = {
    "anytime": {}, "planned-1": {"horizon": 1}, "planned-60": {"horizon": 60},
    "planned-1000": {"horizon": 1000}, "planned-100000": {"horizon": 100_000},
    "step-20": {"step": 0.05}, "step-4": {"step": 0.25},
    "step-10-planned-1000": {"step": 0.1, "horizon": 1000},
    "expected": {"feedback": "distribution"},
    "expected-planned-1000": {"feedback": "distribution", "horizon": 1000},
    "expected-step-10": {"feedback": "distribution", "step": 0.1},
    "weights": {"max_weight": 2.5}, "weights-planned-500": {"max_weight": 2.5, "horizon": 500},
}  # fmt: skip
QUANTITIES = {
    "l2 calibration error": "squares", "class-wise calibration error": "classes",
    "top-label calibration error": "top", "discretised swap regret": "swaps among steps",
    "total Brier score": "excess",
}  # fmt: skip


def played(name, record):
    """What a record says: published values, means, and how wide each mixture is."""
    points = record.points.reshape(len(record.points), -1)
    squares = np.square(points).sum(axis=1)[record.indices]
    widths = (record.weights * squares).sum(axis=1)
    yield (
        f"{name}/played",
        np.concatenate([few(own) for own in (record.issued, record.mean, widths)]),
    )


def shown(name, forecasts):
    """The same of single forecasts, and their numbers."""
    supports = np.concatenate([np.ravel(forecast.points) for forecast in forecasts])
    yield f"{name}/shown", np.concatenate([
        few([forecast.id for forecast in forecasts]),
        few([forecast.issued for forecast in forecasts]),
        few([forecast.mean for forecast in forecasts]),
        few(supports), few(np.concatenate([forecast.weights for forecast in forecasts])),
    ])  # fmt: skip


def certified(c):
    """The numbers of a certificate."""
    return numbers(
        c.rounds, c.events, c.mass, c.late, c.once, c.measured, c.guaranteed, c.after_the_fact,
        c.noise, c.brier, c.on_average, len(c.broken), c.holds, c.trivial, c.points,
        c.points_guaranteed, c.points_after_the_fact, c.points_noise,
    )  # fmt: skip


def promised(name, forecaster, decisions=False):
    """Measured and guaranteed."""
    own = forecaster.certificates()
    yield f"{name}/quantities", [QUANTITIES[str(c.quantity)] for c in own]
    found = [numbers(forecaster.guarantee), *map(certified, own)]
    yield f"{name}/promised", np.concatenate(found)
    first = own[0]
    if decisions and first.table is not None:
        yield f"{name}/table", few(np.stack(first.table))
        acted = first.decision(0.2), first.decisions()
        yield f"{name}/decisions", np.concatenate([numbers(*astuple(d)) for d in acted])


def peeked(name, mixture):
    """A distribution that would be forecast."""
    yield f"{name}/next", few(np.concatenate((np.ravel(mixture.points), mixture.weights)))


def saved(forecaster):
    """The same from its own text."""
    return type(forecaster).from_json(forecaster.to_json())


def forecasters():
    """Yes or no, from outcomes alone."""
    yield from line_promises()
    for name, settings in LINES.items():
        make = lambda settings=settings: fs.Forecaster(**settings, seed=7)  # noqa: E731
        heavy = "max_weight" in settings
        for kind in ("drifting", "runs", "softly", "mostly"):
            n = 1500 if kind == "drifting" else 400
            weights = inputs.line_weights(n, 2.5) if heavy else None
            forecaster = make()
            yield from played(
                f"{name}/{kind}", forecaster.run(inputs.line_outcomes(kind, n), weights)
            )
            yield from promised(f"{name}/{kind}", forecaster, True)
            yield from peeked(f"{name}/{kind}", forecaster.peek())
        yield from line_ways(name, make, heavy)
        yield from line_bank(name, make, heavy)


def line_promises():
    """What is guaranteed beforehand, and as events come."""
    plans = [1, 2, 3, 5, 10, 30, 100, 300, 1000, 10_000, 10**6, 10**9]
    for name, settings in (("line", {}), ("step-10", {"step": 0.1}), ("step-50", {"step": 0.02})):
        own = [fs.Forecaster(horizon=plan, **settings).guarantee for plan in plans]
        yield f"promises/{name}", numbers(*own)
        forecaster, grown = fs.Forecaster(seed=1, **settings), []
        for y in np.split(inputs.line_outcomes("drifting", 600), 12):
            forecaster.run(y, record=False)
            grown.append(forecaster.guarantee)
        yield f"promises/{name}-as-events-come", numbers(*grown)


def line_ways(name, make, heavy):
    """One after the other, late, several forecasts of an event, saved in the middle."""
    n = 300
    y = inputs.line_outcomes("drifting", n, 41)
    w = inputs.line_weights(n, 2.5, 42) if heavy else np.ones(n)
    forecaster, made = make(), []
    for outcome, weight in zip(y.tolist(), w.tolist(), strict=True):
        made.append(forecaster.predict())
        forecaster.update(outcome, weight=weight)
    yield from shown(f"{name}/one-by-one", made)
    yield from promised(f"{name}/one-by-one", forecaster)

    known, own = inputs.line_known(n), w if heavy else None
    forecaster = make()
    yield from played(f"{name}/late", forecaster.run(y, own, known=known))
    yield from promised(f"{name}/late", forecaster)
    yield f"{name}/late/waiting", [forecast.id for forecast in forecaster.pending]
    for forecast in list(forecaster.pending)[:-3]:
        forecaster.update(y[forecast.id], forecast.id)
    forecaster.drop(forecaster.pending[0])
    yield from played(f"{name}/late-answered", forecaster.run(y[:100]))
    yield from promised(f"{name}/late-answered", forecaster)

    forecaster, made = make(), {}
    for t in range(n):
        made[t] = forecaster.predict()
        for i in np.flatnonzero(known[: t + 1] == t + 1).tolist():
            forecaster.update(y[i], made[i].id, w[i])
        if t == n // 2:
            forecaster = saved(forecaster)
    yield from shown(f"{name}/late-one-by-one-saved", list(made.values()))
    yield from promised(f"{name}/late-one-by-one-saved", forecaster)

    names, said = inputs.line_events(n)
    forecaster = make()
    yield from played(f"{name}/events", forecaster.run(said, event=names))
    yield from promised(f"{name}/events", forecaster)
    forecaster, made = make(), []
    for t in range(60):
        made.append(forecaster.predict(event=f"e{t // 6 * 2 + t % 2}"))
        if t % 6 == 5:
            forecaster.resolve(f"e{t // 6 * 2}", said[t - 1])
            forecaster.resolve(f"e{t // 6 * 2 + 1}", said[t])
    yield from shown(f"{name}/events-one-by-one", made)
    yield from promised(f"{name}/events-one-by-one", forecaster)

    forecaster = make()
    forecaster.run(y[:150], own if own is None else own[:150], known=known[:150])
    forecaster = saved(forecaster)
    yield from played(f"{name}/saved", forecaster.run(y[150:]))
    yield from promised(f"{name}/saved", forecaster.copy())


def line_bank(name, make, heavy):
    """Many streams: at once, late, with shared events, by hand, saved."""
    n = 600
    keys, y = inputs.line_keys(n, 12), inputs.line_outcomes("drifting", n, 61)
    weights = {"sample_weight": inputs.line_weights(n, 2.5, 62)} if heavy else {}
    bank = fs.forecasting.Bank(make())
    yield from played(f"{name}/bank", bank.run(keys, y, **weights))
    yield from promised(f"{name}/bank/k0", bank["k0"])
    yield from promised(f"{name}/bank/k7", bank["k7"])
    sums = np.stack([certified(c) for _, c in sorted(bank.certificates().items())])
    yield f"{name}/bank/certificates", few(sums)
    record = bank.run(keys, y, known=inputs.line_known(n, 63), **weights)
    yield from played(f"{name}/bank-late", record)
    yield f"{name}/bank-late/waiting", len(bank.pending)
    bank = fs.forecasting.Bank.from_json(bank.to_json())
    yield from played(f"{name}/bank-saved", bank.run(keys[:200], y[:200]))
    made = bank.predict(keys[:30])
    yield from shown(f"{name}/bank-by-hand", made)
    bank.update(made[:20], y[:20])
    yield from promised(f"{name}/bank-by-hand/k0", bank["k0"])
    names, said = inputs.line_events(n)
    pairs = [f"k{int(event[1:] or 0) % 3}" if event else "k9" for event in names]
    yield from played(f"{name}/bank-events", bank.run(pairs, said, event=names))
    yield from promised(f"{name}/bank-events/k1", bank["k1"])


# --- recalibrators --------------------------------------------------------------------------------


def recalibrators():
    """Probabilities of models, yes or no."""
    makers = {
        "one": ({}, 1), "planned": ({"horizon": 500}, 1), "step-20": ({"step": 0.05}, 1),
        "three": ({"models": 3}, 3), "three-step-10": ({"step": 0.1, "models": 3}, 3),
        "weights": ({"max_weight": 2.0}, 1),
    }  # fmt: skip
    for name, (settings, models) in makers.items():
        make = lambda settings=settings: fs.Recalibrator(**settings, seed=9)  # noqa: E731
        n = 600
        p, y = inputs.claims_of(n, models)
        weights = inputs.line_weights(n, 2.0) if name == "weights" else None
        yield from contextual(name, make, p, y, weights)


def contextual(name, make, p, y, weights=None, more=None):
    """A recalibrator at once, one by one, late, saved and in a bank; ``more`` comes with rows."""
    n = len(y)

    def own(part):
        return {key: [values[t] for t in range(n)[part]] for key, values in (more or {}).items()}

    everything = slice(None)
    forecaster = make()
    yield from played(f"{name}/at-once", forecaster.run(p, y, weights, **own(everything)))
    yield from promised(f"{name}/at-once", forecaster, True)
    each = {key: values[0] for key, values in own(everything).items()}
    yield from peeked(f"{name}/at-once", forecaster.peek(p[0], **each))
    forecaster, made = make(), []
    for t in range(80):
        made.append(forecaster.predict(p[t], **{key: v[t] for key, v in (more or {}).items()}))
        forecaster.update(y[t])
    yield from shown(f"{name}/one-by-one", made)
    yield from promised(f"{name}/one-by-one", forecaster)
    forecaster, known = make(), inputs.line_known(n)
    yield from played(f"{name}/late", forecaster.run(p, y, known=known, **own(everything)))
    yield f"{name}/late/waiting", [forecast.id for forecast in forecaster.pending]
    forecaster = saved(forecaster)
    forecaster.update(y[forecaster.pending[0].id], forecaster.pending[0])
    yield from played(f"{name}/saved", forecaster.run(p[:200], y[:200], **own(slice(200))))
    yield from promised(f"{name}/saved", forecaster)
    bank = fs.forecasting.Bank(make())
    yield from played(f"{name}/bank", bank.run(inputs.line_keys(n, 5), p, y, **own(everything)))
    yield from promised(f"{name}/bank/k0", bank["k0"])


def groups():
    """Forecasters and recalibrators with groups of events."""
    n = 400
    p, y = inputs.claims_of(n, 1, 71)
    lists, table = inputs.group_lists(n), inputs.group_table(n)
    fixed = list(inputs.GROUP_NAMES)
    for name, given in (("named", fixed), ("open", "open")):
        make = lambda given=given: fs.Recalibrator(groups=given, seed=3)  # noqa: E731
        yield from contextual(f"{name}/recalibrator", make, p, y, None, {"groups": lists})
        forecaster = make()
        forecaster.run(p, y, groups=lists)
        yield from grouped(f"{name}/recalibrator", forecaster)
        forecaster = fs.Forecaster(groups=given, seed=3)
        yield from played(f"{name}/line", forecaster.run(y, groups=lists))
        yield from promised(f"{name}/line", forecaster)
        yield from grouped(f"{name}/line", forecaster)
    forecaster = fs.Recalibrator(groups=fixed, models=2, step=0.1, seed=3)
    p, y = inputs.claims_of(n, 2, 81)
    yield from played("table/recalibrator", forecaster.run(p, y, groups=table))
    yield from grouped("table/recalibrator", forecaster)


def grouped(name, forecaster):
    """The numbers of all groups, by name."""
    rows = sorted(forecaster.by_group(), key=lambda row: str(row.name))
    yield f"{name}/group-count", len(rows)
    for row in rows:
        label = "all" if row.name == "everybody" else str(row.name)
        yield f"{name}/of-{label}", np.concatenate((
            numbers(row.said, row.happened, row.points_high), certified(row.certificate),
        ))  # fmt: skip


def classes():
    """Several classes, each calibrated by itself."""
    for k, n in ((3, 400), (10, 300)):
        p, y = inputs.claims_of_classes(n, k)
        for name, settings in (("one", {}), ("planned", {"horizon": 500})):
            yield from contextual(
                f"{k}/{name}", lambda k=k, s=settings: fs.Recalibrator(classes=k, **s), p, y
            )
        both, y = inputs.claims_of_classes(n, k, 2, 91)
        forecaster = fs.Recalibrator(classes=k, models=2)
        yield from played(f"{k}/two", forecaster.run(both, y))
        yield from promised(f"{k}/two", forecaster)
        for name, settings in (("alone", {}), ("alone-planned", {"horizon": 500})):
            forecaster = fs.MulticlassForecaster(k, **settings)
            yield from played(f"{k}/{name}", forecaster.run(y))
            yield from promised(f"{k}/{name}", forecaster)
            made = []
            for outcome in y[:40].tolist():
                made.append(forecaster.predict())
                forecaster.update(outcome)
            yield from shown(f"{k}/{name}-one-by-one", made)
            yield f"{k}/{name}-one-by-one/top", [forecast.declared for forecast in made]
            yield from played(
                f"{k}/{name}-late", forecaster.run(y[:150], known=inputs.line_known(150))
            )
            yield from played(f"{k}/{name}-saved", saved(forecaster).run(y[:100]))
        bank = fs.forecasting.Bank(fs.MulticlassForecaster(k))
        yield from played(f"{k}/alone-bank", bank.run(inputs.line_keys(n, 5), y))
    named = fs.Recalibrator(classes=["a", "b", "c"])
    p, y = inputs.claims_of_classes(200, 3, 1, 95)
    yield from played("named", named.run(p, np.array(["a", "b", "c"])[y]))


# --- checks ---------------------------------------------------------------------------------------

CHECK_WORDS = {
    "step": "step", "weight": "sample_weight", "yes": "pos_label", "bins": "n_bins",
    "tolerance": "tolerance", "level": "level", "seed": "seed", "delay": "delay", "time": "time",
    "by": "by", "groups": "groups", "due": "due", "as_of": "as_of", "event": "event",
    "together": "together", "names": "labels",
}  # fmt: skip
"""Arguments of a check, by the words of ``inputs``."""


def check_of(y, p, more):
    """A log, checked."""
    given = {CHECK_WORDS[word]: value for word, value in more.items() if word in CHECK_WORDS}
    given |= {"strategy": "uniform"} if more.get("even") else {}
    given |= {"band": "simultaneous"} if more.get("whole_band") else {}
    if isinstance(p, dict):  # rivals are columns of a frame
        frame = {"y": y, **p}
        return fs.check(frame, y="y", p=list(p), recalibrate=False, **given)
    return fs.check(y, p, recalibrate=False, **given)


def checks():
    """Logs: what is exact, what is drawn, evidence, verdicts."""
    made = [(f"made/{name}", own) for name, own in inputs.check_logs().items()]
    found = [(f"found/{name}", (y, p, {})) for name, (y, p) in inputs.found_logs().items()]
    for name, own in made + found:
        result = check_of(*own)
        if isinstance(result, fs.checking.Comparison):
            yield f"{name}/ranking", list(result.checks)
            for rival, one in sorted(result.checks.items()):
                yield from checked(f"{name}/{rival}", one)
        else:
            yield from checked(name, result)


def checked(name, c):
    """All numbers of a check."""
    m = c.metrics
    exact = (
        "error", "mean_forecast", "mean_outcome", "bias", "bias_error", "intercept",
        "intercept_error", "slope", "slope_error", "smooth_calibration_error", "cumulative_error",
        "brier", "brier_miscalibration", "brier_discrimination", "brier_uncertainty", "log_loss",
        "log_loss_miscalibration", "log_loss_discrimination", "log_loss_uncertainty",
        "classwise_error", "top_label_error", "error_over_time",
    )  # fmt: skip
    yield f"{name}/verdict", VERDICTS[c.verdict]
    yield f"{name}/exact/counts", numbers(c.classes, c.rows, c.events, c.pending)
    yield f"{name}/exact/numbers", numbers(*(m.get(key) for key in exact))
    bins = (c.bins.forecast, c.bins.frequency, c.bins.weight, c.bins.count)
    yield f"{name}/exact/bins", few(np.stack(bins), 12)
    yield f"{name}/exact/curve", few(np.stack((c.curve.forecast, c.curve.frequency)), 10)
    w = c.windows
    windows = (w.start, w.stop, w.bias, w.noise, w.error, w.chance)
    yield f"{name}/exact/windows", few(np.stack(windows), 10)
    yield f"{name}/drawn/numbers", numbers(
        c.chance.median, c.chance.high, c.chance.level, c.chance.draws, c.smallest_seen,
        c.brier.chance,
    )  # fmt: skip
    yield f"{name}/drawn/band", few(np.stack((c.curve.low, c.curve.high)), 10)
    yield from proved(f"{name}/evidence", c.evidence)
    if c.by_class:
        parts = [*c.by_class, c.top]
        yield f"{name}/exact/classes", few([p.error for p in parts])
        yield f"{name}/drawn/classes", few([(p.chance.median, p.chance.high) for p in parts])
    if c.segments:
        own = sorted(c.segments, key=lambda s: (s.column, s.value))
        yield f"{name}/exact/segment-names", [s.value for s in own]
        yield f"{name}/exact/segments", few([
            (s.events, s.error, number(s.share_of_miscalibration)) for s in own
        ])  # fmt: skip
        yield f"{name}/drawn/segments", few([
            (s.chance.median, s.chance.high, s.chance.level, s.smallest_seen, s.little) for s in own
        ])  # fmt: skip
        yield f"{name}/evidence/segments", few([
            (s.evidence.log10, s.evidence.log10_most, s.flagged) for s in own
        ])  # fmt: skip


def proved(name, e):
    """Evidence of one stream."""
    yield f"{name}/numbers", numbers(
        e.log10, e.log10_most, e.most_at, e.events, e.since, e.shift, e.slope, e.low, e.high,
        e.label, len(e.impossible), *e.impossible[:3],
    )  # fmt: skip
    yield f"{name}/way", way(e.direction)
    yield f"{name}/history", few(np.stack((e.positions, e.history)), 10)


# --- monitors -------------------------------------------------------------------------------------


def watching(name, monitor):
    """What a monitor says now."""
    yield f"{name}/evidence", numbers(
        monitor.events, monitor.impossible, monitor.log10_evidence, monitor.log10_evidence_most,
        monitor.most_at, monitor.evidence, len(monitor.alarms), monitor.drift_detected,
    )  # fmt: skip
    yield from rung(name, monitor.alarms)


def rung(name, alarms):
    """Alarms."""
    if alarms:
        yield f"{name}/ways", [way(a.direction) for a in alarms]
        yield f"{name}/alarms", few([
            (a.at, a.since, a.shift, a.slope, a.low, a.high, number(a.label), a.last, a.rings)
            for a in alarms
        ])  # fmt: skip


def monitors():
    """Streams that are watched, alone and together."""
    kinds = ("right", "turns-high", "turns-bold", "turns-timid", "turns-low", "rare")
    for kind in kinds:
        y, p = inputs.watched(kind)
        for length in (100, 10_000):
            monitor, course = fs.Monitor(run_length=length), []
            for k in range(0, len(y), 50):
                monitor.update(y[k : k + 50], p[k : k + 50])
                course.append(monitor.log10_evidence)
            yield f"{kind}/{length}/course", course
            yield from watching(f"{kind}/{length}", monitor)
        monitor = fs.Monitor(run_length=1000)
        for t in range(len(y)):
            monitor.update(float(y[t]), float(p[t]))
            monitor = fs.Monitor.from_json(monitor.to_json()) if t == 650 else monitor
        yield from watching(f"{kind}/one-by-one-saved", monitor)
    y, p = inputs.watched("turns-bold")
    monitor = fs.Monitor(run_length=1000)
    monitor.update(y, p, weight=np.minimum(inputs.line_weights(len(y), 1.0), 1.0))
    yield from watching("weights", monitor)
    monitor = fs.Monitor(run_length=1000, step=0.1)
    monitor.update(y, np.round(p, 1))
    yield from watching("step", monitor)
    monitor = fs.Monitor(run_length=1000)
    monitor.update(y, p.round())
    yield from watching("certain-and-wrong", monitor)
    gy, gp, game = inputs.made_games(100, 4, 450)
    monitor = fs.Monitor(run_length=100)
    monitor.update(gy, gp, event=game)
    for k in range(120):
        monitor.expect(float(gp[k]), event=f"e{k // 3}")
    for k in range(30):
        monitor.resolve(f"e{k}", int(1 - gy[3 * k]))
    monitor.drop(event="e30")
    yield from watching("events", monitor)
    yield "events/waiting", len(monitor.pending)
    for classes in (3, 10):
        y, p = inputs.watched_classes(classes)
        monitor, course = fs.Monitor(run_length=1000, classes=classes), []
        for k in range(0, len(y), 50):
            monitor.update(y[k : k + 50], p[k : k + 50])
            course.append(monitor.log10_evidence)
        yield f"{classes}-classes/course", course
        yield from watching(f"{classes}-classes", monitor)
        bank = fs.MonitorBank(fs.Monitor(run_length=500, classes=classes))
        bank.update(inputs.line_keys(len(y), 6), y, p)
        yield from banked(f"{classes}-classes/bank", bank)
    for kind in kinds:
        y, p = inputs.watched(kind, 2400, 480)
        bank = fs.MonitorBank(fs.Monitor(run_length=200))
        keys = inputs.line_keys(len(y), 15)
        bank.update(keys[:1300], y[:1300], p[:1300])
        bank = fs.MonitorBank.from_json(bank.to_json())
        bank.update(keys[1300:], y[1300:], p[1300:])
        yield from banked(f"{kind}/bank", bank)
    bank.expect(["k0", "k1", "k1"], [0.3, 0.4, 0.5], event=["a", "a", "b"])
    bank.resolve(["k1", "k0"], ["a", "a"], [1, 0])
    bank.drop(key="k1", event="b")
    yield from banked("bank-by-hand", bank)


def banked(name, bank):
    """What many monitors say now."""
    own = bank.log10_evidence()
    yield f"{name}/evidence", [own[key] for key in sorted(own)]
    alarms = sorted(bank.alarms(), key=lambda pair: (pair[0], pair[1].at))
    yield f"{name}/alarm-keys", [key for key, _ in alarms] or [""]
    yield from rung(name, [alarm for _, alarm in alarms])


# --- service --------------------------------------------------------------------------------------

NEUTRAL: dict[str, str] = {}
"""Fields, values and codes of HTTP whose names have changed since they were recorded, now ↦ then:
{"n_events": "horizon"}. Mapped in answers alone; what is sent is in ``TALK_WORDS``."""
LEFT_OUT = {"calibration", "feedback", "drawn"}
"""Fields that went after they were first met; they are not recorded, wherever they stand."""
PASSING = {
    "time", "since_time", "acknowledged_time", "recovered_time", "created", "last_event",
    "oldest_pending", "resolved", "uptime", "version", "recovered", "text", "message",
    "explain", "certificate_text", "title", "about", "theorem", "conditions",
}  # fmt: skip
"""Fields whose values are not recorded: times, sentences, versions."""
TALK_WORDS = {
    "planned": "horizon", "step": "step", "most": "max_weight", "alarms": "monitor",
}  # fmt: skip
"""Settings of a spec, by the words of ``inputs``."""


class Site:
    """A service in a folder of its own, asked without sockets; seeds and clock are fixed."""

    def __init__(self, folder, limits=None, bounds=None, tokens=()):
        from fullswap.service import engine
        from fullswap.service.bounds import Bounds
        from fullswap.service.fleet import Fleet
        from fullswap.service.limits import Limits
        from fullswap.service.tokens import create_token

        self.folder, self.now = Path(folder), 1_000_000.0
        patient = {"answer_seconds": 600.0, **(bounds or {})}  # a cold start compiles first
        self.limits, self.bounds = Limits(**(limits or {})), Bounds(**patient)
        self.loop = asyncio.new_event_loop()
        self.seeded = mock.patch.object(
            engine, "Fleet", lambda no, name, body: Fleet(no, name, body, 1000 + no)
        )
        self.seeded.start()
        self.open()
        self.tokens = {role: create_token(self.folder, role, role)[0] for role in tokens}

    def open(self):
        from fullswap.service.access import Access
        from fullswap.service.app import make_app
        from fullswap.service.gate import Desk
        from fullswap.service.logs import Log
        from fullswap.service.service import Service
        from fullswap.service.tokens import TokenFile

        self.service = Service.open(self.folder, self.limits, lambda: self.now)
        self.lines = (self.folder / "log").open("a")
        self.log = Log("error", self.lines)
        desk = Desk(self.service, self.log, self.limits, self.bounds)
        self.app = make_app(desk, Access(TokenFile(self.folder, every=0.0), True))

    def stop(self):
        self.service.close()
        self.log.close()
        self.lines.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()
        self.seeded.stop()
        self.loop.close()

    def ask(self, method, path, body=None, headers=None, role=None):
        """Status and content of an answer; what is JSON, or lines of it, is read."""
        self.now += 1.0
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        content = b"" if body is None else content
        own = {"host": "localhost", "content-length": str(len(content)), **(headers or {})}
        if body is not None:
            own.setdefault("content-type", "application/json")
        if role is not None:
            own["authorization"] = f"Bearer {self.tokens.get(role, role)}"
        plain, _, query = path.partition("?")
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
            "scheme": "http", "path": plain, "raw_path": plain.encode(), "root_path": "",
            "query_string": query.encode(), "client": ("127.0.0.1", 1), "server": ("localhost", 80),
            "headers": [(k.encode(), v.encode()) for k, v in own.items() if v is not None],
        }  # fmt: skip
        sent, parts = [], [{"type": "http.request", "body": content, "more_body": False}]
        whole = asyncio.Event()

        async def receive():
            if parts:
                return parts.pop()
            await whole.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                whole.set()

        self.loop.run_until_complete(self.app(scope, receive, send))
        content = b"".join(message.get("body", b"") for message in sent[1:])
        kind = dict(sent[0]["headers"]).get(b"content-type", b"").decode().partition(";")[0]
        if kind == "application/json":
            answer = json.loads(content)
        elif kind == "application/x-ndjson":
            answer = [json.loads(line) for line in content.splitlines()]
        else:
            answer = content.decode("utf-8", "replace")
        return sent[0]["status"], kind, answer


NAMES = {"id", "ids[]", "stream", "event", "spec", "name", "groups[]"}
"""Fields that hold names of the client's or the service's own choice: they are not recorded."""


def parts_of(answer, path=""):
    """Paths and values of an answer, in the order of neutral paths; lists are numbered by [].

    Which stream, group or column a dictionary is keyed by makes no difference here.
    """
    if isinstance(answer, dict):
        own = {
            NEUTRAL.get(k, VERDICTS.get(k, k)): v for k, v in answer.items() if k not in LEFT_OUT
        }
        for name in sorted(own):
            yield from parts_of(own[name], f"{path}.{name}" if path else name)
    elif isinstance(answer, list):
        yield path + "[]", None
        for one in answer:
            yield from parts_of(one, path + "[]")
    else:
        yield path, answer


def fields_of(answer):
    """Names of all fields."""
    return sorted({path for path, _ in parts_of(answer)}) or [""]


def values_of(answer):
    """Numbers, and words as codes, of all fields that do not pass."""
    found, words = [], []
    for path, value in parts_of(answer):
        last = path.rsplit(".", 1)[-1]
        if last in PASSING | NAMES or path.endswith("[]") and value is None:
            continue
        if isinstance(value, str):
            words.append(NEUTRAL.get(value, VERDICTS.get(value, WAYS.get(value, value))))
        else:
            found.append(number(value))
    return found, words


def service():
    """Conversations about forecasters of yes or no."""
    for name, (settings, turns) in inputs.talks().items():
        with tempfile.TemporaryDirectory() as folder, Site(folder) as site:
            yield from talked(name, site, settings, turns)


def answers():
    """Status and fields of what the service answers, and of what it refuses."""
    yield from endpoints()
    yield from refused()


def talked(name, site, settings, turns):
    """One conversation, and what is known at its end."""
    spec = {"forecaster": "forecaster"} | {TALK_WORDS[k]: v for k, v in settings.items()}
    assert site.ask("PUT", "/v1/specs/own", spec)[0] == 201
    found, words, statuses, last = [], [], [], ()
    for turn in turns:
        if turn == "restart":
            site.stop()
            site.open()
            continue
        last = last if turn == "again" else sent_of(turn)
        status, _, answer = site.ask("POST", *last)
        more = values_of(answer)
        found, words, statuses = found + more[0], words + more[1], [*statuses, status]
    yield f"{name}/statuses", sorted(set(statuses))
    yield f"{name}/numbers", few(found, 20)
    yield f"{name}/words", counted(words)
    streams = site.ask("GET", "/v1/streams?sort=stream&descending=false")[2]
    yield f"{name}/list", few(values_of(streams)[0], 12)
    for stream in [row["stream"] for row in streams["streams"]][:2]:
        status, _, view = site.ask("GET", f"/v1/streams/{stream}")
        if status == 200:  # 500 in 60bfd7d where an event had several forecasts
            yield f"{name}/stream-{stream}", few(values_of(view)[0], 20)
            yield f"{name}/stream-{stream}-words", counted(values_of(view)[1])
    yield f"{name}/export", few(values_of(site.ask("GET", "/v1/export")[2])[0])
    yield f"{name}/alarms", few(values_of(site.ask("GET", "/v1/alarms")[2])[0])


def sent_of(turn):
    """Path and body of a turn."""
    items = []
    for kind, *own in turn:
        names = ("stream", "id", "event")
        if kind == "tell":
            names = ("outcome", "weight", "id", "event", "stream")
        item = {k: v for k, v in zip(names, own, strict=True) if v is not None or k == "outcome"}
        items.append(item | ({"spec": "own"} if kind == "ask" else {}))
    asks = turn[0][0] == "ask"
    return ("/v1/forecasts" if asks else "/v1/outcomes"), {"items": items}


def counted(words):
    """Which words, how often."""
    return [f"{word} {words.count(word)}" for word in sorted(set(words))] or [""]


def endpoints():
    """Status and fields of every endpoint, of both kinds of stream."""
    kinds = {
        "line": ({"forecaster": "forecaster", "monitor": 20}, None),
        "default": (None, 0.7),
        "grouped": ({"groups": ["north", "night"]}, 0.7),
        "three": ({"classes": 3}, [0.2, 0.3, 0.5]),
    }  # fmt: skip
    for name, (spec, p) in kinds.items():
        with tempfile.TemporaryDirectory() as folder, Site(folder) as site:
            asks = endpoint_asks(spec, p, 2 if name == "three" else 1)
            for path, method, key, body in asks:
                status, kind, answer = site.ask(method, path, body)
                yield f"{name}/{key}/status", status
                yield f"{name}/{key}/kind", kind
                if isinstance(answer, str):
                    lines = [line for line in answer.splitlines() if line.startswith("fullswap_")]
                    answer = sorted({line.split(" ")[0].split("{")[0] for line in lines})
                    yield f"{name}/{key}/families", answer or [""]
                elif key == "document":
                    own = [f"{m} {at}" for at, ms in answer["paths"].items() for m in ms]
                    yield f"{name}/{key}/paths", sorted(own)
                else:
                    yield f"{name}/{key}/fields", fields_of(answer)


def endpoint_asks(spec, p, yes):
    """Every endpoint once, in an order in which each has something to say."""
    more = ({} if spec is None else {"spec": "own"}) | ({} if p is None else {"p": p})
    more |= {"groups": ["night"]} if spec and "groups" in spec else {}
    asks = [{"stream": "s", "id": f"i{k}", **more} for k in range(200)]
    tells = [{"id": f"i{k}", "outcome": yes if k >= 100 else 0} for k in range(198)]
    event = {"stream": "s", "event": "game", "id": "e1", **more}
    get = "GET"
    if spec is not None:
        yield "/v1/specs/own", "PUT", "put-spec", spec
        yield "/v1/specs/own", "PUT", "put-spec-again", spec
    yield "/v1/specs", get, "specs", None
    yield "/v1/specs/default", get, "spec", None
    yield "/v1/forecasts", "POST", "forecasts", {"items": asks}
    yield "/v1/outcomes", "POST", "outcomes", {"items": tells}
    yield "/v1/outcomes", "POST", "outcomes-again", {"items": tells[:2]}
    yield "/v1/outcomes", "POST", "drop", {"items": [{"id": "i198", "outcome": None}]}
    yield "/v1/forecasts", "POST", "forecast-of-event", {"items": [event]}
    event = {"event": "game", "stream": "s", "outcome": yes}
    yield "/v1/outcomes", "POST", "outcome-of-event", {"items": [event]}
    yield "/v1/streams", get, "streams", None
    yield "/v1/streams?search=s&alarm=true&limit=1", get, "streams-chosen", None
    yield "/v1/streams/s", get, "stream", None
    yield "/v1/alarms", get, "alarms", None
    yield "/v1/alarms/acknowledge", "POST", "acknowledge", {"stream": "s"}
    yield "/v1/alarms", get, "alarms-seen", None
    yield "/v1/export", get, "export", None
    yield "/v1/export?stream=s", get, "export-one", None
    yield "/healthz", get, "health", None
    yield "/metrics", get, "metrics", None
    yield "/openapi.json", get, "document", None
    yield "/", get, "page", None
    yield "/static/style.css", get, "page-part", None
    yield "/healthz", "HEAD", "head", None
    yield "/v1/streams/s", "DELETE", "delete", None


def refused():
    """Status, code and fields of what is refused."""
    small = {"batch": 3, "body": 4000, "pending": 2, "streams": 3, "name": 20}
    with tempfile.TemporaryDirectory() as folder, Site(folder, small) as site:
        line = {"forecaster": "forecaster", "groups": ["north"]}
        site.ask("PUT", "/v1/specs/line", line)
        site.ask("PUT", "/v1/specs/plain", {"forecaster": "forecaster"})
        one = {"stream": "d", "p": 0.4, "id": "x"}
        site.ask("POST", "/v1/forecasts", {"items": [one, {**one, "id": "y", "event": "g"}]})
        site.ask("POST", "/v1/outcomes", {"items": [{"id": "x", "outcome": 1}]})
        yield from refusals("items", site, item_refusals(one))
        yield from refusals("requests", site, request_refusals())
        site.service.close()
        for path, body in (("/v1/forecasts", {"items": [one]}), ("/v1/streams", None)):
            status, _, answer = site.ask("POST" if body else "GET", path, body)
            yield f"refused/closed{path.replace('/', '-')}", [str(status), answer["error"]["code"]]
        yield "refused/closed-health", site.ask("GET", "/healthz")[0]
    roles = ("read", "forecast", "admin")
    with tempfile.TemporaryDirectory() as folder, Site(folder, None, None, roles) as site:
        wanted = {
            "read": ("GET", "/v1/streams", None), "admin": ("PUT", "/v1/specs/s", {}),
            "forecast": ("POST", "/v1/outcomes", {"items": []}), "open": ("GET", "/healthz", None),
        }  # fmt: skip
        for need, (method, path, body) in wanted.items():
            own = [site.ask(method, path, body, role=r)[0] for r in (None, "unknown", *roles)]
            yield f"refused/roles/{need}", own
        answer = site.ask("GET", "/v1/streams")[2]
        yield "refused/roles/code", [answer["error"]["code"], *fields_of(answer)]


def refusals(name, site, asks):
    """Status and codes of these requests, by neutral names."""
    for key, ask in asks.items():
        method, path, body, *headers = ask
        status, _, answer = site.ask(method, path, body, *headers)
        items = answer["items"] if "items" in answer else [answer]
        codes = [item["error"]["code"] if "error" in item else "fine" for item in items]
        codes = [NEUTRAL.get(code, code) for code in codes]
        yield f"refused/{name}/{key}", [str(status), *codes, *fields_of(items[-1])]


def item_refusals(one):
    """Items that are refused, each in a request of its own."""
    asks = {
        "unknown-field": {"stream": "d", "p": 0.5, "q": 1}, "no-stream": {"p": 0.5},
        "no-item": 7, "empty-name": {"stream": "", "p": 0.5},
        "long-name": {"stream": "d" * 50, "p": 0.5},
        "unknown-spec": {"stream": "n", "spec": "none", "p": 0.5},
        "other-spec": {"stream": "d", "spec": "line"}, "no-p": {"stream": "d"},
        "large-p": {"stream": "d", "p": 40}, "many-p": {"stream": "d", "p": [0.1, 0.2, 0.3]},
        "p-for-line": {"stream": "l", "spec": "plain", "p": 0.5},
        "unknown-group": {"stream": "g", "spec": "line", "groups": ["south"]},
        "groups-for-none": {"stream": "d", "p": 0.5, "groups": ["north"]},
        "same-id": {**one, "p": 0.6}, "same-id-same": one, "bad-id": {**one, "id": "\x00"},
        "bad-event": {"stream": "d", "p": 0.5, "event": ""},
    }  # fmt: skip
    tells = {
        "unknown-id": {"id": "none", "outcome": 1},
        "unknown-event": {"event": "none", "outcome": 1},
        "unknown-stream": {"event": "g", "stream": "none", "outcome": 1},
        "nothing-named": {"outcome": 1}, "both-named": {"id": "y", "event": "g", "outcome": 1},
        "no-outcome": {"id": "y"}, "bad-outcome": {"id": "y", "outcome": 7},
        "bad-word": {"id": "y", "outcome": "maybe"}, "bad-weight": {"id": "y", "outcome": 1,
        "weight": 3}, "another-outcome": {"id": "x", "outcome": 0},
        "dropped-late": {"id": "x", "outcome": None}, "of-event-by-id": {"id": "y", "outcome": 1},
    }  # fmt: skip
    own = {f"ask/{k}": ("POST", "/v1/forecasts", {"items": [v]}) for k, v in asks.items()}
    own |= {f"tell/{k}": ("POST", "/v1/outcomes", {"items": [v]}) for k, v in tells.items()}
    waits = [{"stream": "w", "spec": "plain", "id": f"w{k}"} for k in range(3)]
    own["ask/too-many-waiting"] = "POST", "/v1/forecasts", {"items": waits}
    more = [{"stream": f"m{k}", "spec": "plain"} for k in range(3)]
    own["ask/too-many-streams"] = "POST", "/v1/forecasts", {"items": more}
    return own


def request_refusals():
    """Requests that are refused as a whole."""
    post, ask = "POST", "/v1/forecasts"
    return {
        "nowhere": ("GET", "/v1/nothing", None), "method": ("DELETE", ask, None),
        "no-json": (post, ask, b"{"), "no-items": (post, ask, {}),
        "items-of-none": (post, ask, {"items": 3}), "more": (post, ask, {"items": [], "a": 1}),
        "no-type": (post, ask, b"{}", {"content-type": "text/plain"}),
        "packed": (post, ask, b"{}", {"content-encoding": "gzip"}),
        "too-many": (post, ask, {"items": [{"stream": "d"}] * 4}),
        "too-long": (post, ask, {"items": [{"stream": "d" * 5000}]}),
        "host": ("GET", "/v1/streams", None, {"host": "example.org"}),
        "origin": ("GET", "/v1/streams", None, {"origin": "http://example.org"}),
        "bad-name": ("GET", "/v1/streams/%ff", None),
        "no-stream": ("GET", "/v1/streams/none", None),
        "no-stream-to-delete": ("DELETE", "/v1/streams/none", None),
        "no-stream-to-export": ("GET", "/v1/export?stream=none", None),
        "no-spec": ("GET", "/v1/specs/none", None), "no-alarm": (post, "/v1/alarms/acknowledge",
        {"stream": "d"}), "no-file": ("GET", "/static/none.js", None),
        "bad-limit": ("GET", "/v1/streams?limit=0", None),
        "bad-sort": ("GET", "/v1/streams?sort=none", None),
        "bad-verdict": ("GET", "/v1/streams?verdict=none", None),
        "spec-exists": ("PUT", "/v1/specs/plain", {"forecaster": "forecaster", "step": 0.1}),
        "spec-field": ("PUT", "/v1/specs/new", {"none": 1}),
        "spec-kind": ("PUT", "/v1/specs/new", {"forecaster": "none"}),
        "spec-step": ("PUT", "/v1/specs/new", {"step": 0.3}),
        "spec-models": ("PUT", "/v1/specs/new", {"forecaster": "forecaster", "models": 2}),
        "spec-monitor": ("PUT", "/v1/specs/new", {"monitor": -1}),
        "spec-tolerance": ("PUT", "/v1/specs/new", {"tolerance": 2}),
        "spec-groups": ("PUT", "/v1/specs/new", {"groups": "open"}),
        "spec-name": ("PUT", "/v1/specs/%00", {}), "acknowledge-nothing": (post,
        "/v1/alarms/acknowledge", {}),
    }  # fmt: skip


# --- learners ------------------------------------------------------------------------------------

ROWS = {
    "row1": "lipschitz",
    "row2": "smooth",
    "row3": "concave",
    "row4": "strongly convex",
    "row5": "strongly convex and smooth",
    "row6": "discretised",
    "tree": "tree",
}
"""Rows of the paper's table ↦ how they are asked for."""
BASES = {"hedge": "hedge", "gradient": "gradient", "matching": "matching"}
RULES = {"crossing": "crossing", "fixed-point": "stationary"}
WORDS = {name: key for names in (ROWS, BASES, RULES) for key, name in names.items()} | {
    "path": "path", "nearest": "nearest", "barycentric": "barycentric", "none": "none",
}  # fmt: skip
"""What plans say ↦ what is stored."""
LOSSES = {
    "lipschitz": (LossClass(1.0), "any"),
    "convex": (LossClass(1.0, convex=True), "convex"),
    "smooth": (LossClass(1.0, smoothness=inputs.LEARNER_BEND), "any"),
    "smooth-convex": (LossClass(1.0, smoothness=inputs.LEARNER_BEND, convex=True), "convex"),
    "concave": (LossClass(1.0, concave=True), "concave"),
    "linear": (LossClass.linear(1.0), "linear"),
    "squared": (None, "squared"),
    "squared-64ths": (None, "64ths"),
}
"""Classes, and the kind of losses of each."""
TABLE = [
    ("row1", "hedge", "lipschitz"),
    ("row1", "matching", "lipschitz"),
    ("row1", "gradient", "convex"),
    ("row2", "hedge", "smooth"),
    ("row2", "gradient", "smooth-convex"),
    ("row3", "hedge", "concave"),
    ("row3", "matching", "linear"),
    ("row4", "gradient", "squared"),
    ("row5", "gradient", "squared"),
    ("tree", None, "linear"),
    ("tree", None, "squared"),
]
SHOWN = (1, 3, 7, 15, 31, 63, 100, -1)
"""Rounds whose means are stored."""
FEWER = 30
"""Rounds of regret matching, which is not smooth, on chains that are solved to a tolerance only."""
NEGLIGIBLE = 1e-12
"""Probabilities up to this may be rounding."""
WHOLE = (10, -1)
"""Rounds whose distributions are stored."""
MOST = 6
"""Points of a distribution that are stored."""


def learner_set(name: str) -> Any:
    kind, *given = inputs.LEARNER_SETS[name]
    makers = {
        "interval": convex.Interval,
        "box": convex.Box,
        "simplex": convex.Simplex,
        "ball": convex.Ball,
        "polytope": convex.Polytope,
    }
    return makers[kind](*given)


def learner_class(kind: str, field: Any) -> LossClass:
    return LOSSES[kind][0] or LossClass.squared(field.diameter)


def learner_of(
    name: str, kind: str, rounds: int | None = inputs.LEARNER_ROUNDS, **chosen: Any
) -> Any:
    field = learner_set(name)
    chosen["row"] = ROWS.get(chosen.get("row"))
    chosen["rule"] = RULES.get(chosen.get("rule"))
    chosen["learner"] = BASES.get(chosen.get("learner"))
    return FullSwapLearner(field, learner_class(kind, field), rounds, **chosen)


def distribution(points: Any, weights: Any) -> np.ndarray:
    """Rows [weight, point] in the order of the points, equal ones as one."""
    points, weights = np.asarray(points, dtype=float) + 0.0, np.asarray(weights, dtype=float)
    distinct, where = np.unique(points[weights > NEGLIGIBLE], axis=0, return_inverse=True)
    total = np.bincount(where.ravel(), weights[weights > NEGLIGIBLE], len(distinct))
    order = np.lexsort(distinct.round(9).T[::-1])
    return np.column_stack((total, distinct))[order]


def plays_of(record: Any) -> np.ndarray:
    """Rows: number of points and mean of the SHOWN rounds; sums; distributions of the WHOLE ones.

    The sums are those of all means, and of the probabilities' squares beside Σ cos(t)·mean_t.
    """
    counts, means = (record.weights > NEGLIGIBLE).sum(axis=1), record.mean.reshape(len(record), -1)
    shown = [t for t in SHOWN if abs(t) < len(record)]
    rows = [np.column_stack((counts, means))[shown]]
    turned = np.cos(np.arange(len(record))) @ means
    rows += [
        np.append(counts.sum(), means.sum(axis=0)),
        np.append(np.square(record.weights).sum(), turned),
    ]
    for t in WHOLE:
        if abs(t) < len(record):
            whole = distribution(record.points[record.indices[t]], record.weights[t])
            rows += [whole[:MOST], whole.T @ np.arange(len(whole))]
    return np.vstack(rows)


def promises_of(certificate: Any) -> list[Any]:
    """Measured, at most, guaranteed before and after the fact."""
    wanted = (
        certificate.measured,
        certificate.measured_at_most,
        certificate.guaranteed,
        certificate.after_the_fact,
    )
    return [np.nan if value is None else value for value in wanted]


def choice_of(plan: Any, rounds: int) -> tuple[str, list[float]]:
    """Row, base learner, rule and rounding; points, mesh and radii of the grid, bound."""
    words = " ".join(WORDS[w] for w in (plan.row, plan.learner, plan.rule, plan.rounding))
    grid = plan.grid_at(rounds - 1)
    measured = [len(grid), grid.mesh, grid.covering_radius, grid.hull_distance, grid.variance]
    return words, [*measured, plan.bound(rounds), plan.rounding_cost(rounds)]


def told(key: str, learner: Any, record: Any) -> Numbers:
    """Plays, regrets and promises, choices."""
    yield f"{key}/plays", plays_of(record)
    regrets = [metrics.external_regret(record), metrics.full_swap_regret(record)]
    if record.actions is not None:
        regrets.append(metrics.discretised_swap_regret(record))
    lost = [] if record.loss is None else [record.loss.sum()]
    yield (
        f"{key}/regrets",
        [*regrets, *lost, *promises_of(learner.certificate()), learner.guarantee],
    )
    words, numbers = choice_of(learner.plan, len(record))
    yield f"{key}/choice", words
    yield f"{key}/grid", numbers


def run_of(
    key: str, name: str, kind: str, rounds: int | None = inputs.LEARNER_ROUNDS, **chosen: Any
) -> Numbers:
    """A run against fixed rows of coefficients, all at once."""
    learner = learner_of(name, kind, rounds, **chosen)
    rows = inputs.learner_rows(name, LOSSES[kind][1])
    if chosen.get("learner") == "matching":
        rows = rows[:FEWER]
    yield from told(key, learner, learner.run(rows, record=True))


def one_by_one(learner: Any, rows: Any) -> tuple[np.ndarray, list[Any]]:
    """Means of play, round by round, and what the certificate says."""
    means = []
    for row in rows:
        means.append(np.asarray(learner.play().mean))
        learner.observe(losses.QuadraticFamily(row))
    return np.array(means), promises_of(learner.certificate())


def learner_table() -> Numbers:
    for name in inputs.LEARNER_SETS:
        table = TABLE if name not in ("simplex3", "ball3") else TABLE[-4:]
        for row, base, kind in table:
            key = f"{name}/{row}/{base or 'moving'}/{kind}"
            yield from run_of(key, name, kind, row=row, learner=base)
            if base == "gradient" or row == "tree":
                means, said = one_by_one(
                    learner_of(name, kind, row=row, learner=base),
                    inputs.learner_rows(name, LOSSES[kind][1]),
                )
                yield f"{key}/one-by-one", [*means.sum(axis=0), *means[-1], *said]


def learner_rules() -> Numbers:
    """On a line: both rules, and given actions."""
    for row, kind in (
        ("row1", "convex"),
        ("row2", "smooth-convex"),
        ("row4", "squared"),
        ("row5", "squared"),
    ):
        key = f"line/{row}/gradient/{kind}/fixed-point"
        yield from run_of(key, "line", kind, row=row, learner="gradient", rule="fixed-point")
    actions = inputs.LEARNER_ACTIONS
    for rule in RULES:
        given = {"row": "row6", "actions": actions, "rule": rule}
        yield from run_of(
            f"line/row6/gradient/squared-64ths/{rule}", "line", "squared-64ths", **given
        )
        means, said = one_by_one(
            learner_of("line", "squared-64ths", **given), inputs.learner_rows("line", "64ths")
        )
        yield (
            f"line/row6/gradient/squared-64ths/{rule}/one-by-one",
            [means.sum(), means[-1, 0], *said],
        )
    yield from run_of("line/actions-7", "line", "squared-64ths", actions=actions)
    yield from run_of(
        "line/actions-61", "line", "squared-64ths", actions=np.linspace(-1.0, 2.0, 61)
    )
    for size in (7, 61):
        even = np.linspace(-1.0, 2.0, size)
        yield from run_of(
            f"line/actions-{size}/anytime", "line", "squared-64ths", None, actions=even
        )


def learner_anytime() -> Numbers:
    """Without a horizon grids are refined."""
    for name in ("line", "box2", "ball"):
        for row, base, kind in TABLE:
            if base != "matching" and (row, kind) != ("row2", "smooth"):
                key = f"{name}/{row}/{base or 'moving'}/{kind}/anytime"
                yield from run_of(key, name, kind, None, row=row, learner=base)


def learner_others() -> Numbers:
    """Losses and sets given by functions, places far from 0, lines in space, and the rest."""
    rounds = inputs.LEARNER_ROUNDS
    tents = [
        losses.Custom(lambda x, z=z: np.abs(x[:, 0] - z), lambda x, z=z: np.sign(x - z))
        for z in inputs.LEARNER_TENTS
    ]
    order = np.random.default_rng(5).integers(len(tents), size=rounds)
    for rule in RULES:
        learner = learner_of("line", "convex", row="row1", learner="gradient", rule=rule)
        record = learner.run([tents[k] for k in order], record=True)
        yield from told(f"line/row1/gradient/functions/{rule}", learner, record)
    waves = [losses.Custom(lambda x, w=w: np.sin(w * x[:, 0]) / w) for w in inputs.LEARNER_WAVES]
    learner = learner_of("line", "lipschitz", row="row1", learner="hedge")
    record = learner.run([waves[t * t % 3] for t in range(rounds)], record=True)
    yield from told("line/row1/hedge/functions", learner, record)
    row = inputs.learner_rows("box2", "convex")
    learner = learner_of("box2", "convex", row="row1", learner="gradient")
    seen = [losses.QuadraticFamily(r) for r in row]
    foreign = [losses.Custom(loss.value, loss.gradient) for loss in seen[:30]]
    means = []
    for loss in foreign:
        means.append(learner.play().mean)
        learner.observe(loss)
    yield "box2/row1/gradient/functions", np.array(means)[list(SHOWN[:4])]
    ball = learner_set("ball")
    own = convex.Custom(2, ball.project, ball.minimize_linear, ball.diameter)
    for row, base, kind in (("row5", "gradient", "squared"), ("tree", None, "linear")):
        learner = FullSwapLearner(
            own, learner_class(kind, ball), rounds, row=ROWS[row], learner=BASES.get(base)
        )
        record = learner.run(inputs.learner_rows("ball", LOSSES[kind][1]), record=True)
        yield from told(f"own-set/{row}/{kind}", learner, record)
    far = convex.Interval(inputs.LEARNER_FAR, inputs.LEARNER_FAR + 1.0)
    learner = FullSwapLearner(far, LossClass.squared(1.0), rounds)
    centers = inputs.LEARNER_FAR + (inputs.learner_inside("line") + 1) / 3
    record = learner.run([losses.Quadratic(z) for z in centers], record=True)
    offsets = record.mean - inputs.LEARNER_FAR
    yield "far-line/plays", offsets[list(SHOWN)]
    yield (
        "far-line/regrets",
        [metrics.full_swap_regret(record), *promises_of(learner.certificate())],
    )
    edge = convex.Simplex(1)
    share = (inputs.learner_inside("line") + 1) / 3
    learner = FullSwapLearner(edge, LossClass.squared(edge.diameter), rounds)
    rows = losses.quadratic_rows(np.column_stack((share, 1 - share)))
    yield from told("edge", learner, learner.run(rows, record=True))
    rows = inputs.learner_rows("line", "squared")
    learner = learner_of("line", "squared", track=False)
    record = learner.run(rows, record=True)
    yield (
        "line/not-tracked",
        [record.mean.sum(), metrics.full_swap_regret(record), learner.guarantee],
    )
    for row, base, kind in (
        ("row5", "gradient", "squared"),
        ("row3", "hedge", "concave"),
        ("tree", None, "linear"),
    ):
        rows = inputs.learner_rows("box2", LOSSES[kind][1])
        learner = learner_of("box2", kind, row=row, learner=base)
        learner.run(rows[:50])
        learner = pickle.loads(pickle.dumps(learner))
        means, said = one_by_one(learner, rows[50:80])
        learner.run(rows[80:])
        yield (
            f"box2/{row}/restored",
            [*means.sum(axis=0), *said, *promises_of(learner.certificate())],
        )
    learner = learner_of("line", "squared", row="row5")
    learner.run(np.vstack((rows := inputs.learner_rows("line", "squared"), 3 * rows[:1])))
    said = learner.certificate()
    yield "line/broken", [learner.guarantee, *promises_of(said), said.holds]
    learner = learner_of("box2", "squared", row="row5", mesh=0.21)
    yield "box2/mesh", [len(learner.grid), learner.mesh, learner.guarantee]
    yield "box2/mesh/points", learner.grid.points[:: max(1, len(learner.grid) // 10)]


def learner_plans() -> Numbers:
    """What is taken by default, and what was considered."""
    cube = convex.Box([0.0] * 6, [1.0] * 6)
    asked = {
        "line-squared": (learner_set("line"), "squared", 10_000, {}),
        "line-squared-anytime": (learner_set("line"), "squared", None, {}),
        "line-convex": (learner_set("line"), "convex", 20_000, {}),
        "line-lipschitz": (learner_set("line"), "lipschitz", 5_000, {}),
        "line-actions": (
            learner_set("line"),
            "squared",
            5_000,
            {"actions": inputs.LEARNER_ACTIONS},
        ),
        "box2-squared": (learner_set("box2"), "squared", 100_000, {}),
        "box2-smooth": (learner_set("box2"), "smooth", 3_000, {}),
        "box3-squared": (learner_set("box3"), "squared", 3_000, {}),
        "simplex-squared": (learner_set("simplex"), "squared", 20_000, {}),
        "ball-linear": (learner_set("ball"), "linear", 10_000, {}),
        "ball-smooth": (learner_set("ball"), "smooth-convex", 2_000, {}),
        "polytope-concave": (learner_set("polytope"), "concave", 2_000, {}),
        "polytope-squared": (learner_set("polytope"), "squared", 5_000, {}),
        "cube6-squared": (cube, "squared", 10_000, {}),
    }
    for key, (field, kind, rounds, more) in asked.items():
        plan = FullSwapLearner(field, learner_class(kind, field), rounds, **more).plan
        words, numbers = choice_of(plan, rounds or 10_000)
        yield f"default/{key}/choice", words
        yield f"default/{key}/grid", [*numbers, plan.share]
        known = [c for c in plan.considered if c[0] in WORDS]
        yield f"default/{key}/considered", [f"{WORDS[row]} {WORDS[base]}" for row, base, _ in known]
        yield f"default/{key}/bounds", [bound for _, _, bound in known]


def learner_steps() -> Numbers:
    """The readable step, on small grids."""
    line, ball, box = (learner_set(name) for name in ("line", "ball", "box2"))
    fine, net = grids.triangulation(line, 0.4), grids.net(ball, 0.9)
    cells = grids.triangulation(box, 0.5)
    steep = learners.LipschitzRate(Constants(1.0, 3.0))
    strong = learners.StronglyConvexRate(Constants(2 * 3.0, 3.0, 2.0, 2.0))
    on_line = learners.GradientDescent(line, strong, fine.points)
    on_ball = learners.GradientDescent(ball, steep, net.points)
    on_box = learners.GradientDescent(box, steep, cells.points)
    experts = learners.Hedge(net.points, 3.0, 25), learners.RegretMatchingPlus(net.points)
    cases = {
        "line/crossing": ("line", "squared", fine, on_line, None),
        "line/neighbors": ("line", "squared", fine, on_line, rounding.neighbours(fine)),
        "ball/nearest": ("ball", "convex", net, on_ball, rounding.Nearest(net)),
        "box2/barycentric": ("box2", "convex", cells, on_box, rounding.Barycentric(cells)),
        "ball/hedge": ("ball", "any", net, experts[0], None),
        "ball/matching": ("ball", "any", net, experts[1], None),
    }
    for key, (name, kind, grid, bank, rounded) in cases.items():
        rule = RULES["crossing"] if key == "line/crossing" else RULES["fixed-point"]
        state, mixtures = bank.init(len(grid)), []
        for row in inputs.learner_rows(name, kind, 25):
            loss = losses.QuadraticFamily(row)
            state, mixture, _ = reference_step(
                grid.points, bank, state, rounded, lambda x, loss=loss: loss, rule
            )
            mixtures.append(mixture)
        yield f"step/{key}/means", np.array(mixtures)[[1, 5, 12, 24]] @ grid.points
        yield (
            f"step/{key}/last",
            [len(grid), *mixtures[-1][:20], *bank.propose(state).sum(axis=0)[:20]],
        )


# --- players of structured games -----------------------------------------------------------------


def player_shown(player: Any, vectors: Any, width: int) -> tuple[np.ndarray, list[Any]]:
    """Probabilities of the actions in some rounds, their sums; regret, and what is promised."""
    plays = []
    for vector in vectors:
        mixed, row = player.play(), np.zeros(width)
        np.add.at(row, mixed.actions.astype(int), mixed.weights)
        plays.append(row)
        player.observe(vector)
    plays = np.array(plays)
    shown = np.vstack((plays[[1, 2, 9, 50, -1]], plays.sum(axis=0)))
    return shown, [player.swap_regret(), player.guarantee, *promises_of(player.certificate())]


def players() -> Numbers:
    for d, embedded in inputs.PLAYER_VECTORS.items():
        actions, met = games.Vectors(embedded), inputs.player_met(d)
        bound = float(np.linalg.norm(met, axis=1).max())
        ways = {
            "default": (bound, {}),
            "known-opponent": (inputs.PLAYER_OPPONENTS[d], {}),
            "hedge": (bound, {"learner": BASES["hedge"], "row": ROWS["row3"]}),
            "matching": (bound, {"learner": BASES["matching"]}),
            "tree": (bound, {"row": ROWS["tree"]}),
            "mesh": (bound, {"mesh": 1.0}),
            "anytime": (bound, {}),
        }
        if d == 3:
            del ways["matching"]  # chains solved to a tolerance, and kinks: other digits elsewhere
        for key, (known, chosen) in ways.items():
            horizon = None if key == "anytime" else 100
            player = games.StructuredLearner(actions, known, horizon, **chosen)
            plays, said = player_shown(player, met, len(embedded))
            yield f"player/{d}d/{key}/plays", plays
            yield f"player/{d}d/{key}/regrets", said
    actions, sums = games.Units(5), inputs.player_met(3)[:, [0, 1, 2, 0, 1]] * [1, -1, 0.5, 0.7, 2]
    player = games.StructuredLearner(actions, 3.0, 100)
    yield "player/units/plays", player_shown(player, sums, 5)[0]
    parts = [
        games.Vectors(inputs.PLAYER_VECTORS[2][:4]),
        games.Vectors(inputs.PLAYER_VECTORS[2][4:7]),
    ]
    for key, plans, vectors in (
        ("product", games.Product(parts), np.hstack((inputs.player_met(2),) * 2)),
        ("sum", games.Sum(parts), inputs.player_met(2)),
    ):
        player = games.StructuredLearner(plans, 2.0, 100)
        plays, said = player_shown(player, vectors, 12)
        yield f"player/{key}/plays", plays
        yield f"player/{key}/regrets", said
    curve = games.StructuredLearner(games.Curve.parabola(0.0, 2.0), 1.5, 100)
    curve.run(inputs.player_met(2))
    mixed = curve.play()
    yield (
        "player/curve/plays",
        distribution(np.asarray(mixed.actions, dtype=float)[:, None], mixed.weights),
    )
    yield "player/curve/regrets", [curve.swap_regret(), curve.guarantee]
    corners = inputs.PLAYER_CORNERS
    field, linear = convex.Polytope(vertices=corners), LossClass.linear(1.0)
    for row in ("row3", "tree"):
        inner = FullSwapLearner(field, linear, 100, row=ROWS[row])
        player = games.as_player(inner, games.Vectors(corners))
        plays, said = player_shown(player, 0.5 * inputs.player_met(2), len(corners))
        yield f"player/reduction/{row}/plays", plays
        yield f"player/reduction/{row}/regrets", said
    two, three = (
        games.from_matrices(*inputs.PLAYER_MATRICES),
        games.from_tensor(inputs.PLAYER_TENSOR),
    )
    for key, game, chosen in (
        ("two", two, {}),
        ("two-matching", two, {"learner": BASES["matching"]}),
        ("three", three, {}),
    ):
        result = games.play_out(game, 200, progress=False, **chosen)
        known = [result.gap, result.coarse_gap, result.guaranteed, result.rate]
        yield f"played-out/{key}", [*known, *result.regrets, *result.payoffs]


# --- games ---------------------------------------------------------------------------------------

METHODS = {
    "auto": "auto",
    "programme": "lp",
    "oracle": "oracle",
    "self-play": "matching",
    "pivots": "lemke-howson",
}
OBJECTIVES = {"welfare": "welfare", "fair": "fair", "entropy": "entropy"}
NOTIONS = {"correlated": "correlated", "coarse": "coarse"}
SOLVED = 1e-6
"""By how much a value may miss the optimum, and a payoff what is known."""


def game_of(name: str) -> Any:
    """The game of these tables."""
    tables = inputs.GAME_TABLES[name]
    if len(tables) == 2:
        return games.from_matrices(*tables, name=name)
    return games.from_tensor(tables, name)


def gains(tables: Any, joint: np.ndarray, coarse: bool = False) -> float:
    """The largest gain of a player by a swap, or by one fixed action."""
    worst = 0.0
    for player, table in enumerate(tables):
        shape = (table.shape[player], -1)
        own = np.moveaxis(np.asarray(table), player, 0).reshape(shape)
        recommended = np.moveaxis(joint, player, 0).reshape(shape)
        values = recommended @ own.T  # of what is recommended, by what is played
        if coarse:
            worst = max(worst, values.sum(axis=0).max() - np.trace(values))
        else:
            worst = max(worst, (values.max(axis=1) - np.diag(values)).sum())
    return float(worst)


def joint_of(profile: Any, shape: tuple[int, ...]) -> np.ndarray:
    joint = np.zeros(shape)
    np.add.at(joint, tuple(profile.support.astype(int).T), profile.weights)
    return joint


def optimum_of(tables: Any, objective: Any, coarse: bool = False) -> float:
    """The best value of a correlated equilibrium, by a programme of our own."""
    tables, rows = np.asarray(tables, dtype=float), []
    for player, table in enumerate(tables):
        own = np.moveaxis(table, player, 0)
        for b in range(len(own)):
            gain = own[b][None] - own
            each = [
                gain * (np.arange(len(own)) == a).reshape(-1, *[1] * (own.ndim - 1))
                for a in range(len(own))
            ]
            for part in [gain] if coarse else each:
                rows.append(np.moveaxis(part, 0, player).ravel())
    flat, limits = tables.reshape(len(tables), -1), np.array(rows)
    cells = flat.shape[1]
    if objective == "fair":  # the last variable is the least payoff
        above = np.hstack((-flat, np.ones((len(flat), 1))))
        limits = np.vstack((np.hstack((limits, np.zeros((len(limits), 1)))), above))
        cost, sums = np.append(np.zeros(cells), -1.0), np.append(np.ones(cells), 0.0)[None]
        bounds = [(0, None)] * cells + [(None, None)]
    else:
        shares = np.ones(len(flat)) if isinstance(objective, str) else np.asarray(objective)
        cost, sums, bounds = -shares @ flat, np.ones((1, cells)), (0, None)
    found = linprog(cost, limits, np.zeros(len(limits)), sums, [1.0], bounds)
    return float(-found.fun)


def valued(profile: Any, objective: Any) -> float:
    if objective == "entropy":
        return float(-(profile.weights * np.log(profile.weights)).sum())
    if isinstance(objective, str):
        return float(profile.payoffs.min() if objective == "fair" else profile.payoffs.sum())
    return float(profile.payoffs @ objective)


def solved(
    key: str, game: Any, target: float, method: str = "auto", tables: Any = None,
    objective: Any = None, notion: str = "correlated", pays: Any = None, near: float = SOLVED,
    **more: Any,
) -> Numbers:  # fmt: skip
    """One call: is the gap reached, by our own count where there are tables; and are payoffs right?

    ``pays`` are payoffs that every equilibrium has, or every best one, to within ``near``.
    """
    wanted = OBJECTIVES[objective] if isinstance(objective, str) else objective
    found = games.solve(
        game,
        target,
        METHODS[method],
        objective=wanted,
        notion=NOTIONS[notion],
        progress=False,
        **more,
    )
    coarse = notion == "coarse"
    if tables is not None:
        gap = gains(tables, joint_of(found, np.asarray(tables[0]).shape), coarse)
    else:
        checked = games.verify(game, (found.support, found.weights))
        gap = checked.coarse_gap if coarse else checked.gap
    total = float(found.weights.sum())
    facts = [
        gap <= target + 1e-9,
        bool(found.reached),
        abs(total - 1) < 1e-9,
        found.weights.min() >= 0,
    ]
    if pays is not None:
        facts.append(bool(np.abs(found.payoffs - np.asarray(pays)).max() <= near))
    if objective is not None:
        value = valued(found, objective)
        facts.append(abs(found.optimum.value - value) <= SOLVED)
        if objective != "entropy":
            best = optimum_of(tables, objective, coarse)
            facts += [value >= best - SOLVED, found.optimum.bound >= best - SOLVED]
            facts.append(found.optimum.proved)
    yield f"solve/{key}/reached", facts
    yield f"solve/{key}/note-how", f"{found.method}, gap {gap:.3g}"


def solved_table(
    name: str, target: float, method: str = "auto", label: str = "", **more: Any
) -> Numbers:
    key = f"{name}/{label or method}".replace(" ", "-")
    yield from solved(key, game_of(name), target, method, inputs.GAME_TABLES[name], **more)


def solved_zoo() -> Numbers:
    """Named games, and games without end or without tables."""
    zoo = games.zoo
    yield from solved("chicken", zoo.chicken(), 1e-6, pays=[5.25, 5.25])
    yield from solved(
        "shapley", zoo.shapley(), 1e-6, tables=zoo.shapley().table([np.arange(3)] * 2)
    )
    yield from solved("kuhn", zoo.kuhn_poker(), 1e-4, pays=[-1 / 18, 1 / 18], near=2e-4)
    yield from solved("signalling", zoo.von_stengel_forges(), 1e-7, pays=[0, 6], near=1e-3)
    yield from solved("cournot-3", zoo.cournot(3), 1e-6, pays=[1 / 16] * 3, near=1e-2)
    yield from solved("cournot-grid", zoo.cournot(2, grid=31), 1e-6)
    yield from solved("cournot-costs", zoo.cournot(2, 2.0, 1.5, [0.1, 0.3]), 1e-6)
    yield from solved("cournot-types", zoo.bayesian_cournot(), 1e-4)
    yield from solved("routing", zoo.routing(3), 1e-6)
    yield from solved("forecasts-21", zoo.calibration_game(21), 1e-4)
    yield from solved("forecasts", zoo.calibration_game(), 1e-3)
    yield from solved("disc", zoo.quadratic_2d(), 1e-4)
    yield from solved("auction-16x4", zoo.auction(16, 4), 1e-3)
    yield from solved(
        "auction-uneven",
        zoo.auction([0.0, 0.1, 0.25, 0.3, 0.6], [0.2, 0.7, 1.0], [0.5, 0.2, 0.3]),
        1e-3,
    )
    yield from solved("ring-200", zoo.ring(200), 1e-3)
    yield from solved("ring-100000", zoo.ring(100_000), 1e-3)
    yield from solved("ring-300x170/oracle", zoo.ring(300, 170, 0.7), 1e-3, "oracle")
    yield from solved("ring-60/self-play", zoo.ring(60), 2e-2, "self-play", rounds=20_000)
    yield from solved(
        "embedded-300", games.StructuredGame.from_embeddings(*inputs.GAME_EMBEDDED), 1e-2
    )
    own, other = inputs.GAME_LOW_RANK
    low = own @ other.T
    yield from solved(
        "low-rank", games.from_matrices(low, -low.T, rank=3), 1e-3, tables=(low, -low.T)
    )


def solved_tables() -> Numbers:
    """Games by their tables, by all methods."""
    yield from solved_table("paper", 1e-7, pays=[0, 0])
    for method in ("auto", "programme", "oracle", "pivots"):
        yield from solved_table("small 8x8", 1e-6, method)
    yield from solved_table("small 8x8", 1e-2, "self-play")
    for method in ("auto", "oracle", "pivots"):
        yield from solved_table("uniform 30x30", 1e-4, method)
    yield from solved_table("uniform 30x30", 2e-2, "self-play", rounds=50_000)
    yield from solved_table("narrow 40x15", 1e-6, "pivots")
    yield from solved_table("narrow 40x15", 1e-4)
    for name in ("normal 80x80", "common 40x40", "opposed 60x60"):
        yield from solved_table(name, 1e-3)
    value = zero_sum_value(inputs.GAME_TABLES["zero-sum 50x70"][0])
    pays = {"pays": [value, -value], "near": 2e-3}
    yield from solved_table("zero-sum 50x70", 1e-3, **pays)
    yield from solved_table("zero-sum 50x70", 1e-3, "pivots", **pays)
    for name in ("blotto 21", "blotto 84", "all-pay 40", "traveller 30"):
        yield from solved_table(name, 1e-3)
    for name in ("tensor 2x3x4", "four 4x3x4x3"):
        yield from solved_table(name, 1e-4)
        yield from solved_table(name, 1e-4, "oracle")
    yield from solved_table("tensor 2x3x4", 1e-6, "programme")
    yield from solved_table("tensor 2x3x4", 1e-2, "self-play", rounds=50_000)
    for name in ("tensor 6x6x6", "tensor 10x9x8", "five 3x3x3x3x3"):
        yield from solved_table(name, 1e-3)


def zero_sum_value(table: np.ndarray) -> float:
    """What the first player can secure, by a programme of our own."""
    n, m = table.shape
    limits = np.hstack((-table.T, np.ones((m, 1))))
    cost, sums = np.append(np.zeros(n), -1.0), np.append(np.ones(n), 0.0)[None]
    found = linprog(cost, limits, np.zeros(m), sums, [1.0], [(0, None)] * n + [(None, None)])
    return float(-found.fun)


def solved_best() -> Numbers:
    """Objectives, coarse equilibria, and going on from an earlier result."""
    for name in ("chicken", "small 6x7", "cube 3x3x3"):
        for objective in ("welfare", "fair"):
            yield from solved_table(name, 1e-6, label=objective, objective=objective)
            yield from solved_table(
                name, 1e-6, "programme", f"programme-{objective}", objective=objective
            )
        yield from solved_table(name, 1e-6, label="entropy", objective="entropy")
    shares = (1.0, -0.5)
    yield from solved_table("small 6x7", 1e-6, label="weights", objective=shares)
    yield from solved_table("uniform 30x30", 1e-5, label="welfare", objective="welfare")
    for name, target in (("small 8x8", 1e-6), ("uniform 30x30", 1e-3), ("tensor 6x6x6", 1e-3)):
        yield from solved_table(name, target, label="coarse", notion="coarse")
    best = {"objective": "welfare", "notion": "coarse"}
    yield from solved_table("small 8x8", 1e-6, "programme", "coarse-welfare", **best)
    name = "common 40x40"
    first = games.solve(game_of(name), 0.2, progress=False)
    yield from solved_table(name, 1e-3, label="continued", start=first)


def solved_forms() -> Numbers:
    """Many players, roads, sparse matrices, functions, trees."""
    circle = games.polymatrix([3] * 12, inputs.GAME_PAIRS)
    yield from solved("circle-12", circle, 1e-2)
    yield from solved("circle-12/coarse", circle, 1e-2, notion="coarse")
    yield from solved("chain-3", games.polymatrix([2, 3, 2], inputs.GAME_FEW_PAIRS), 1e-6)
    roads = inputs.GAME_ROADS
    yield from solved("roads-3", games.congestion([roads] * 3, inputs.GAME_DELAYS[:, :3]), 1e-6)
    yield from solved(
        "roads-10", games.congestion([roads, roads[:3]] * 5, inputs.GAME_DELAYS), 1e-4
    )
    first, second = inputs.GAME_SPARSE
    sparse = games.from_sparse(csr_array(first), csr_array(second))
    yield from solved("sparse-120", sparse, 1e-3, tables=(first, second))
    yield from solved("bar-20", games.from_function([2] * 20, crowded), 1e-6)
    coin, pays = inputs.GAME_COIN, inputs.GAME_COIN_PAYS
    yield from solved("sequences", games.from_sequence_form(*pays, coin, coin), 1e-6)
    for key, text in GAME_TEXTS.items():
        yield from solved(f"file-{key}", games.parse(text), 1e-6)


GAME_TEXTS = {
    "centipede": inputs.GAME_CENTIPEDE,
    "pennies": inputs.GAME_PENNIES_TWICE,
    "odd": inputs.GAME_ODD,
    "outcomes": inputs.GAME_OUTCOMES,
    "json": inputs.GAME_JSON,
}


def crowded(player: int, others: list[Any]) -> np.ndarray:
    """Twenty people, a bar with room for twelve."""
    there = np.sum(others, axis=0)
    return np.column_stack((np.zeros(len(there)), np.where(there < 12, 1.0, -1.0)))


def gaps_of(key: str, game: Any, profile: Any) -> Numbers:
    """Gaps, payoffs and what else is said of a fixed profile."""
    found = games.verify(game, profile)
    tree = np.nan if found.tree_gap is None else found.tree_gap
    numbers = [found.gap, found.coarse_gap, tree, *[g.swap for g in found.gaps], *found.payoffs]
    yield f"verify/{key}", [*numbers, found.correlation]


def verified() -> Numbers:
    zoo, table, rows = games.zoo, inputs.game_profile, inputs.game_support
    for name in (
        "chicken",
        "small 6x7",
        "tensor 2x3x4",
        "four 4x3x4x3",
        "blotto 21",
        "uniform 30x30",
    ):
        game, tables = game_of(name), inputs.GAME_TABLES[name]
        joint = table(tables.shape[1:], 3)
        yield from gaps_of(name.replace(" ", "-"), game, joint)
        found = games.verify(game, joint)
        slow = gains(tables, joint), gains(tables, joint, coarse=True)
        yield (
            f"verify/{name.replace(' ', '-')}/slowly",
            np.allclose(slow, (found.gap, found.coarse_gap)),
        )
        yield f"verify/{name.replace(' ', '-')}/same", np.allclose(found.to_table(), joint)
    yield from gaps_of("kuhn", zoo.kuhn_poker(), table((27, 64), 4))
    yield from gaps_of("kuhn-rows", zoo.kuhn_poker(), rows((27, 64), 5))
    yield from gaps_of("signalling", zoo.von_stengel_forges(), table((4, 4), 6))
    yield from gaps_of("shapley", zoo.shapley(), table((3, 3), 7))
    yield from gaps_of("ring", zoo.ring(9, 7, 0.6), table((9, 7), 8))
    yield from gaps_of("ring-100000", zoo.ring(100_000), rows((100_000, 100_000), 9, 20))
    yield from gaps_of("auction", zoo.auction(16, 4), rows((65_536, 65_536), 10))
    yield from gaps_of("cournot-types", zoo.bayesian_cournot(), rows((625, 625), 11))
    yield from gaps_of("cournot-grid", zoo.cournot(3, grid=11), rows((11, 11, 11), 12))
    places, weights = inputs.game_inside()
    yield from gaps_of("cournot", zoo.cournot(2, 1.0, 1.0, [0.1, 0.2]), (places, weights))
    yield from gaps_of("routing", zoo.routing(2), (places, weights))
    said = [[x, int(b)] for x, b in zip(places[:, 0], places[:, 1] > 0.5, strict=True)]
    yield from gaps_of("forecasts", zoo.calibration_game(), (said, weights))
    points = [[tuple(2 * p - 1), tuple(1 - p[::-1])] for p in places]
    yield "verify/disc", [g.swap for g in games.verify(zoo.quadratic_2d(), (points, weights)).gaps]
    yield from gaps_of(
        "chain-3", games.polymatrix([2, 3, 2], inputs.GAME_FEW_PAIRS), table((2, 3, 2), 13)
    )
    circle = games.polymatrix([3] * 12, inputs.GAME_PAIRS)
    yield from gaps_of("circle-12", circle, rows((3,) * 12, 14, 15))
    roads = games.congestion([inputs.GAME_ROADS] * 3, inputs.GAME_DELAYS[:, :3])
    yield from gaps_of("roads-3", roads, table((4, 4, 4), 15))
    sparse = games.from_sparse(*map(csr_array, inputs.GAME_SPARSE))
    yield from gaps_of("sparse-120", sparse, rows((120, 120), 16, 30))
    yield from gaps_of("bar-20", games.from_function([2] * 20, crowded), rows((2,) * 20, 17, 9))
    coin = inputs.GAME_COIN
    sequences = games.from_sequence_form(*inputs.GAME_COIN_PAYS, coin, coin)
    yield from gaps_of("sequences", sequences, table((3, 3), 18))
    own, other = inputs.GAME_LOW_RANK
    noisy = games.from_matrices(own @ other.T, (own @ other.T).T, rank=2)
    yield from gaps_of("rank-2", noisy, rows((50, 50), 19, 12))
    yield "verify/rank-2/errors", noisy.errors
    for key, text in GAME_TEXTS.items():
        game = games.parse(text)
        yield from gaps_of(f"file-{key}", game, table(tuple(s.size for s in game.actions), 20))


def decomposed() -> Numbers:
    """Mixed actions with a given mean: the mean is right, and they are few."""
    for d, embedded in inputs.PLAYER_VECTORS.items():
        inside = np.random.default_rng(60 + d).dirichlet(np.full(len(embedded), 0.5), 5) @ embedded
        actions, errors, most = games.Vectors(embedded), [], 0
        for point in inside:
            chosen, weights = games.decompose(actions, point)
            errors.append(np.abs(weights @ embedded[chosen] - point).max())
            most = max(most, len(chosen))
        yield f"decompose/{d}d", [max(errors) < 1e-8, most <= d + 1]


def filed() -> Numbers:
    """What files say, and what comes back from those that are written."""
    for key, text in GAME_TEXTS.items():
        game = games.parse(text)
        yield f"files/{key}/tables", game.table([np.arange(s.size) for s in game.actions])
        yield f"files/{key}/names", [game.name, *game.player_names]
        named = [str(s.name(a)) for s in game.actions for a in range(s.size)]
        yield f"files/{key}/actions", named
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("chicken", "small 6x7", "tensor 2x3x4", "four 4x3x4x3"):
            game, tables, back = game_of(name), inputs.GAME_TABLES[name], []
            for ending in ("nfg", "json"):
                games.write(game, place / f"game.{ending}")
                back.append(games.read(place / f"game.{ending}"))
            np.savez(place / "game.npz", payoffs=tables)
            back.append(games.read(place / "game.npz", "another name"))
            same = [
                np.array_equal(again.table([np.arange(n) for n in tables.shape[1:]]), tables)
                for again in back
            ]
            yield f"files/{name.replace(' ', '-')}/back", same
            yield f"files/{name.replace(' ', '-')}/names", [again.name for again in back]
        kuhn = games.zoo.kuhn_poker()
        games.write(kuhn, place / "kuhn.nfg")
        again = games.read(place / "kuhn.nfg")
        whole = [np.arange(27), np.arange(64)]
        yield "files/kuhn/back", np.array_equal(kuhn.table(whole), again.table(whole))
        V, W, V2, W2 = inputs.GAME_EMBEDDED
        np.savez(place / "embedded.npz", V=V, W=W, V2=V2, W2=W2)
        rows, _ = inputs.game_support((300, 300), 21)
        yield "files/embedded/payoffs", games.read(place / "embedded.npz").payoffs(rows)
    yield "files/chicken/text", games.to_nfg(games.zoo.chicken())
    yield "files/chicken/text-plain", games.to_nfg(games.zoo.chicken(), named=False)


# --- parts ---------------------------------------------------------------------------------------


def learners_part() -> Numbers:
    yield from learner_table()
    yield from learner_rules()
    yield from learner_anytime()
    yield from learner_others()
    yield from learner_plans()
    yield from learner_steps()
    yield from players()


def games_part() -> Numbers:
    yield from solved_zoo()
    yield from solved_tables()
    yield from solved_best()
    yield from solved_forms()
    yield from verified()
    yield from decomposed()
    yield from filed()


# --- all ------------------------------------------------------------------------------------------

PARTS = {
    "forecasters": forecasters, "recalibrators": recalibrators, "groups": groups,
    "classes": classes, "checks": checks, "monitors": monitors, "service": service,
    "answers": answers, "learners": learners_part, "games": games_part,
}  # fmt: skip
