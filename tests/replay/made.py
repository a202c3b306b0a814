"""Logs made up for tests, and what plain library calls give for them, written independently."""

from __future__ import annotations

import csv
import math

import numpy as np

from fullswap import Bank, Recalibrator

NAMES = ["station", "at", "p", "rained", "known_at", "remark"]


def made_log(rows, keys=5, seed=0, late=30, pending=0.05, gaps=0.03):
    """Rows in order of time, several at a moment, with outcomes that come late or not yet."""
    rng = np.random.default_rng(seed)
    at = np.sort(rng.integers(0, max(rows // 3, 1), rows))
    p = rng.random(rows).round(3)
    y = rng.random(rows) < 0.2 + 0.5 * p
    log = []
    for k in range(rows):
        wait = int(rng.integers(0, late))
        known = rng.random() >= pending
        log.append({
            "station": f"S{rng.integers(keys)}", "at": str(at[k]),
            "p": "" if rng.random() < gaps else f"{p[k]:.3f}",
            "rained": ("yes" if y[k] else "no") if known else "",
            "known_at": str(at[k] + wait) if known else "",
            "remark": 'a "quoted", remark' if k % 7 == 0 else "",
        })  # fmt: skip
    return log


def write_csv(path, log, malformed=0.0, seed=0):
    """The log as a file; some lines more that are malformed."""
    rng = np.random.default_rng(seed)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, NAMES, lineterminator="\n")
        writer.writeheader()
        for row in log:
            if rng.random() < malformed:
                file.write("broken,line\n")
            writer.writerow(row)
    return path


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def by_hand(log, seed=0, resolved=True, step=None):
    """Columns issued and mean, row by row, with predict and update alone."""
    bank = Bank(Recalibrator(step, seed=seed))
    waiting, answers, clock = [], [], -math.inf
    for row in log:
        clock = max(clock, float(row["at"]))
        if row["p"] == "":
            answers.append(None)
            continue
        due = [item for item in waiting if item[0] < clock]
        waiting = [item for item in waiting if item[0] >= clock]
        for _, ticket, y in due:
            bank.update([ticket], [y])
        (ticket,) = bank.predict([row["station"]], [float(row["p"])])
        answers.append((ticket.issued, ticket.mean))
        if row["rained"] != "":
            moment = row["known_at"] if resolved else row["at"]
            waiting.append((float(moment), ticket, 1.0 if row["rained"] == "yes" else 0.0))
    return answers
