"""Tables of the comparison of tests, evidence and detectors, each with what it says in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from studies.detection import (
    BY_EVENT,
    CALIBRATED,
    EVIDENCE,
    FAMILIES,
    NAIVE,
    OURS,
    SOON,
    Plan,
)
from studies.detectors import RUN_LENGTH, River, detectors
from studies.report.text import bold, listed, table
from studies.runs import Row, number, rows_where

WORDS = {
    "right": "nothing",
    "rare, right": "nothing; rare events",
    "slope .75": "a little over-confident (slope 0.75)",
    "slope .6": "over-confident (slope 0.6)",
    "shift .25": "too low by 0.25 logits",
    "top": "too high by 10 points above 75 %",
    "wiggle": "too low, too high in turn by 8 points",
    "flip": "too low, in the second half too high",
    "rare": "rare events, 1.4 times as many as said",
}
"""What is wrong with the forecasts."""
MONITOR = f"Monitor({RUN_LENGTH:,})"


def share(count: float, runs: float) -> str:
    """Per cent with a standard error, which counts two more of each kind so that it is never 0.

    Examples
    --------
    >>> share(50, 1000), share(0, 100)
    ('5.0 ± 0.7', '0.0 ± 1.3')
    """
    middle = (count + 2) / (runs + 4)
    error = (middle * (1 - middle) / (runs + 4)) ** 0.5
    return f"{100 * count / runs:.1f} ± {100 * error:.1f}"


def plain(count: float, runs: float) -> str:
    """A share in a sentence."""
    return f"{100 * count / runs:.1f} %" if count / runs < 0.1 else f"{100 * count / runs:.0f} %"


def median(row: Row, key: str, most: float) -> str:
    """A median with its standard error, or that it is beyond what was watched.

    Examples
    --------
    >>> median({"delay": 310.0, "delay_error": 12.0}, "delay", 4000), median({}, "delay", 4000)
    ('310 ± 12', '> 4,000')
    """
    if row.get(key) is None:
        return f"> {most:,.0f}"
    error = row.get(f"{key}_error")
    return f"{number(row, key):,.0f}" + ("" if error is None else f" ± {float(error):,.0f}")


def looks_text(rows: Sequence[Row], plan: Plan) -> str:
    """Looking often."""
    lines = [
        (str(row["test"]), share(number(row, "last"), number(row, "runs")),
         share(number(row, "ever"), number(row, "runs")))
        for row in rows
    ]  # fmt: skip
    ours = one(rows, test=EVIDENCE)
    shares = sorted(number(row, "ever") / number(row, "runs") for row in rows if row is not ours)
    reading = (
        f"Read {plan.looks} times on the way, tests that are right at one look reject a "
        f"calibrated model in {100 * shares[0]:.0f} to {100 * shares[-1]:.0f} % of runs. The "
        f"evidence was looked at after every event and reached 20 in "
        f"{plain(number(ours, 'ever'), number(ours, 'runs'))}; 5 % is its limit, for ever."
    )
    heads = ("test at 5 %", "rejects at the last look, %", f"rejects at one of {plan.looks}, %")
    about = f"{plan.look_runs:,} runs of {plan.look_events:,} events."
    return f"{table(heads, lines)}\n\n{reading} {about}"


def power_text(rows: Sequence[Row], plan: Plan) -> str:
    """What is found in a fixed number of events."""
    tests = sorted({str(row["test"]): None for row in rows}, key=lambda test: test != EVIDENCE)
    cases = list(dict.fromkeys((str(row["stream"]), row["events"]) for row in rows))
    lines, best, lost = [], {}, []
    for name, events in cases:
        own = rows_where(rows, stream=name, events=events)
        counts = {str(row["test"]): number(row, "found") for row in own}
        most = max(counts.values())
        marked = name not in CALIBRATED
        shown = {test: round(100 * count / plan.power_runs) for test, count in counts.items()}
        largest = max(shown.values())
        cells = [bold(str(shown[test]), marked and shown[test] == largest) for test in tests]
        longer = "" if events == cases[0][1] else f"; {events:,} events"
        lines.append((WORDS[name] + longer, *cells))
        if marked:
            best[name, events] = max(counts, key=lambda test: counts[test])
            if counts[EVIDENCE] < most:
                lost.append((most - counts[EVIDENCE], name, counts))
    leaders = listed(sorted(set(best.values())), ", ")
    reading = [f"No test is best everywhere: {leaders} each find the most in some row."]
    if lost:
        _, name, counts = max(lost, key=lambda each: each[0])
        leader = max(counts, key=lambda test: counts[test])
        reading.append(
            "With one look, at a number of events that is fixed beforehand, some classical test "
            f"finds more than the evidence in {len(lost)} of {len(best)} rows. Most is lost in "
            f"“{WORDS[name]}”: {plain(counts[EVIDENCE], plan.power_runs)} against "
            f"{plain(counts[leader], plan.power_runs)} ({leader}). Part of that is the price of "
            "looking whenever one likes."
        )
    flips = []
    for name, events in best:
        own = rows_where(rows, stream="flip", events=events) if name == "flip" else []
        counts = {str(row["test"]): number(row, "found") for row in own}
        if counts:
            ours = plain(counts.pop(EVIDENCE), plan.power_runs)
            others = plain(max(counts.values()), plan.power_runs)
            flips.append(f"{ours} against {others} with {events:,} events")
    reading.append(
        "An error that changes its sign half way cancels in every pooled number; the evidence "
        f"finds it, the best of the others hardly: {listed(flips, ', ')}."
    )
    reading.append(
        f"{plan.power_runs:,} runs a row, so ± {50 / plan.power_runs**0.5:.1f} at most; critical "
        f"values of ECE and MCB from {plan.null_runs:,} calibrated streams. Bold: most in a row."
    )
    heads = (f"what is wrong ({cases[0][1]:,} events)", *(f"{test}, %" for test in tests))
    return f"{table(heads, lines)}\n\n{' '.join(reading)}"


def speed_text(rows: Sequence[Row], plan: Plan) -> str:
    """Events until the evidence is 20."""
    streams = list(dict.fromkeys(str(row["stream"]) for row in rows))
    lines, ratios = [], dict.fromkeys(FAMILIES, 0.0)
    missed: set[str] = set()
    first = 0
    for name in streams:
        own = {str(row["family"]): row for row in rows_where(rows, stream=name)}
        medians = {
            family: float("inf") if row["median"] is None else number(row, "median")
            for family, row in own.items()
        }
        least = min(medians.values())
        known = least < float("inf")
        cells = [
            bold(median(own[one], "median", plan.speed_events), known and medians[one] == least)
            for one in FAMILIES
        ]
        lines.append((WORDS[name], *cells))
        if known:
            first += medians[OURS] == least
            for one, took in medians.items():
                ratios[one] = max(ratios[one], min(took, plan.speed_events) / least)
                missed |= {one} if took == float("inf") else set()
    said = {
        one: f"{'more than ' if one in missed else ''}{ratio:.2f}" for one, ratio in ratios.items()
    }
    others = listed((f"{said[one]} ({one})" for one in FAMILIES if one != OURS), ", ")
    reading = (
        f"The mixture of all bets is the quickest in {first} of {len(streams)} rows, and in its "
        f"worst row needs {said[OURS]} times the events of the quickest. A single family has rows "
        f"where it needs far more: at worst {others} times. "
    )
    about = f"Medians of {plan.speed_runs:,} runs of {plan.speed_events:,} events."
    return f"{table(('what is wrong', *FAMILIES), lines)}\n\n{reading}{about}"


def watching_text(rows: Sequence[Row], plan: Plan) -> str:
    """Detectors of change."""
    names = list(dict.fromkeys(str(row["detector"]) for row in rows))
    quiet = {name: one(rows, situation="inputs", detector=name) for name in names}
    false_lines = [
        (name, share(number(row, "runs_with_false"), number(row, "runs")),
         f"{1e4 * number(row, 'false') / number(row, 'watched'):.2f}", f"{row['runs']:,}")
        for name, row in quiet.items()
    ]  # fmt: skip
    ours = quiet[MONITOR]
    loud = [
        name for name, row in quiet.items()
        if number(row, "runs_with_false") >= number(row, "runs") / 2 and "dummy" not in name
    ]  # fmt: skip
    rate = number(ours, "runs_with_false") / number(ours, "runs")
    quieter = [
        name for name, row in quiet.items()
        if number(row, "runs_with_false") / number(row, "runs") < rate
    ]  # fmt: skip
    limit = 100 * plan.inputs_events / RUN_LENGTH
    false_reading = (
        f"Nothing is wrong here: cases become harder half way, and every forecast stays right. "
        f"Ringing in at least half of all runs nevertheless: {listed(loud, ', ')}. Ours rang in "
        f"{plain(number(ours, 'runs_with_false'), number(ours, 'runs'))} of runs; its setting, one "
        f"false alarm in {RUN_LENGTH:,} events at most on average, allows {limit:.0f} %. "
        f"Quieter than ours: {listed(quieter, ', ')}. "
        f"Runs of {plan.inputs_events:,} events."
    )
    lines, readings = [], []
    shift, slope = (
        {name: one(rows, situation=situation, detector=name) for name in names}
        for situation in ("shift", "slope")
    )
    for name in names:
        before = sum(number(each[name], "runs_with_false") for each in (shift, slope))
        runs = number(shift[name], "runs")
        cells = [share(before, 2 * runs)]
        for each in (shift, slope):
            cells += [share(number(each[name], "soon"), runs)]
            cells += [median(each[name], "delay", plan.after)]
        lines.append((name, *cells))
    for words, each in (("the shift", shift), ("the slope", slope)):
        own = each[MONITOR]["delay"]
        quicker = [
            f"{name} ({plain(number(quiet[name], 'runs_with_false'), number(quiet[name], 'runs'))})"
            for name, row in each.items()
            if row["delay"] is not None and (own is None or number(row, "delay") < float(own))
        ]
        readings.append(f"Quicker than ours to ring after {words}: {listed(quicker, ', ')}.")
    readings.append(
        "In brackets: how many of their runs ring when only the inputs shift. The dummy rings by "
        "the clock: how soon a detector rings says little without its false alarms. "
        f"The change comes after {plan.change:,} events, and {plan.after:,} follow. "
        f"{plan.detector_runs} runs, {plan.slow_runs} of KSWIN, which is slow."
    )
    soon = f"found in {SOON:,}, %"
    heads = (
        "detector", "rang before the change, %", f"shift 0.5: {soon}", "delay",
        f"slope 0.6: {soon}", "delay",
    )  # fmt: skip
    quiet_heads = ("detector", "runs with a false alarm, %", "alarms in 10,000 events", "runs")
    return "\n\n".join([
        table(quiet_heads, false_lines), false_reading, table(heads, lines), " ".join(readings),
        settings_text(),
    ])  # fmt: skip


def settings_text() -> str:
    """What river's detectors come with."""
    made: dict[str, str] = {}
    for detector in detectors().values():
        if isinstance(detector, River):
            inner = detector.make(0)
            given = {k: v for k, v in inner._get_params().items() if k not in ("seed", "window")}
            made[type(inner).__name__] = ", ".join(f"{k} {v}" for k, v in given.items())
    return f"Settings, as river {version('river')} ships them: " + "; ".join(
        f"{name} ({given})" for name, given in made.items()
    ) + "."  # fmt: skip


def repeated_text(rows: Sequence[Row], plan: Plan) -> str:
    """Many forecasts of one event."""
    lines = [
        (str(row["test"]), share(number(row, "rejected"), number(row, "runs"))) for row in rows
    ]
    naive, told = one(rows, test=NAIVE), one(rows, test=BY_EVENT)
    worst = max(
        number(row, "rejected") for row in rows if row["test"] not in (NAIVE, BY_EVENT)
    )  # fmt: skip
    reading = (
        f"All forecasts are right, but {plan.log_forecasts} of them share an outcome. Classical "
        f"tests reject up to {plain(worst, plan.log_runs)} of the logs, and the evidence, if it is "
        f"not told, {plain(number(naive, 'rejected'), plan.log_runs)}. Told which rows belong to "
        f"one event it rejects {plain(number(told, 'rejected'), plan.log_runs)}. "
        f"{plan.log_runs:,} logs of {plan.log_events} events, {plan.log_forecasts} forecasts each."
    )
    return f"{table(('test at 5 %', 'calibrated logs rejected, %'), lines)}\n\n{reading}"


def one(rows: Sequence[Row], **wanted: Any) -> Row:
    """The only row with these values."""
    (row,) = rows_where(rows, **wanted)
    return row


TEXTS: dict[str, Callable[[Sequence[Row], Plan], str]] = {
    "looking_often": looks_text,
    "power": power_text,
    "speed": speed_text,
    "watching": watching_text,
    "repeated": repeated_text,
}
"""Part ↦ its table and what it says; markers are called ``detection-part``."""
