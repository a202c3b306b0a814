"""What is recorded of the package: the one place that imports and calls it.

Keys and codes are neutral: a renaming edits the calls and the dictionaries of words here, never a
key. Long arrays are recorded by their first and last numbers and by two sums over all.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from dataclasses import astuple
from pathlib import Path
from unittest import mock

import numpy as np

import fullswap as fs
from golden import inputs

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
    own = {"calibration": "classwise"}
    for k, n in ((3, 400), (10, 300)):
        p, y = inputs.claims_of_classes(n, k)
        for name, settings in (("one", {}), ("planned", {"horizon": 500})):
            yield from contextual(
                f"{k}/{name}", lambda k=k, s=settings: fs.Recalibrator(classes=k, **s, **own), p, y
            )
        both, y = inputs.claims_of_classes(n, k, 2, 91)
        forecaster = fs.Recalibrator(classes=k, models=2, **own)
        yield from played(f"{k}/two", forecaster.run(both, y))
        yield from promised(f"{k}/two", forecaster)
        for name, settings in (("alone", {}), ("alone-planned", {"horizon": 500})):
            forecaster = fs.MulticlassForecaster(k, **settings, **own)
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
        bank = fs.forecasting.Bank(fs.MulticlassForecaster(k, **own))
        yield from played(f"{k}/alone-bank", bank.run(inputs.line_keys(n, 5), y))
    named = fs.Recalibrator(classes=["a", "b", "c"], **own)
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

NEUTRAL = {}
"""Names of fields, columns and codes of HTTP that are no longer what they were when recorded: now ↦
then."""
LEFT_OUT = {"calibration", "feedback", "drawn"}
"""Fields that are not recorded, wherever they stand."""
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
        self.limits, self.bounds = Limits(**(limits or {})), Bounds(**(bounds or {}))
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
        if status == 200:  # not yet where an event had several forecasts
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
        "three": ({"classes": 3, "calibration": "classwise"}, [0.2, 0.3, 0.5]),
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


# --- all ------------------------------------------------------------------------------------------

PARTS = {
    "forecasters": forecasters, "recalibrators": recalibrators, "groups": groups,
    "classes": classes, "checks": checks, "monitors": monitors, "service": service,
    "answers": answers,
}  # fmt: skip
