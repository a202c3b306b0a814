"""Read states that were tampered with, and go on with those that are accepted.

    python attack.py COUNT SEED [NAME …]

reads COUNT states of each of the kinds named (all if none is), prints a line of JSON for each kind,
and ends with 1 if anything but a refusal or sound work came of a state.
"""  # fmt: skip

from __future__ import annotations

import faulthandler
import json
import math
import sys
import traceback
import warnings
from collections import Counter
from typing import Any

import mutations
import numpy as np
from saved_states import MAKERS, context, groups, in_the_middle, outcome, run

from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.guarantees import broken_conditions
from fullswap.kernels.columns import DELAY, LEVEL, MASS, NEXT_ID
from fullswap.online.kind import MOST_IDS

SECONDS = 20
"""Longest that one state may take; after that the process ends with a traceback."""
MOST_MEMORY = 6 * 2**30
"""Address space of the process."""
TOLERANCE = 1e-6


class Unsound(AssertionError):
    """An accepted state does what no state may do."""


def demand(holds: Any, what: str) -> None:
    if not holds:
        raise Unsound(what)


def check_certificates(forecaster: OnlineForecaster, fresh: bool) -> None:
    """Finite, of the right signs, no less than the ledger gives; and true if nothing ran since."""
    kind, row = forecaster._stream.kind, forecaster._stream.row
    demand(np.isfinite(row).all(), "row is finite")
    mass, level, scale = float(row[MASS]), int(row[LEVEL]), kind.spec.max_weight
    slack = TOLERANCE * scale * (1 + mass)
    guarantee = forecaster.guarantee
    if broken_conditions(kind, row):
        demand(guarantee is None, "nothing is guaranteed where conditions are broken")
    else:
        rounding, _ = kind._rounding_range(mass)
        whole = kind.whole(row) and mass == math.floor(mass)
        least = scale * kind.bound(mass, rounding, level, int(row[DELAY]), whole)
        demand(guarantee is not None, "something is guaranteed")
        demand(least - slack <= guarantee < math.inf, f"guarantee {guarantee} >= {least}")
    for place, certificate in enumerate(forecaster.certificates()):
        measured, known = certificate.measured, certificate.guaranteed
        demand(math.isfinite(measured), f"measured {measured} is finite")
        demand(place or measured >= -slack, f"measured {measured} >= 0")
        if known is not None:
            demand(0 <= known < math.inf, f"guaranteed {known} is finite, and no less than 0")
            if fresh and not certificate.on_average:
                demand(measured <= known + slack, f"measured {measured} <= guaranteed {known}")
        after = certificate.after_the_fact
        if after is not None:
            demand(known is None or after <= known + slack, "after the fact is at most a priori")
            held = not fresh or certificate.on_average or certificate.late
            demand(held or measured <= after + slack, f"measured {measured} <= {after}")
    str(forecaster.certificate()), forecaster.explain(), repr(forecaster)


def check_forecast(forecast: Any) -> None:
    weights, points = np.asarray(forecast.weights), np.asarray(forecast.points)
    demand((weights > 0).all() and abs(weights.sum() - 1) < 1e-6, "weights are a distribution")
    demand((points >= 0).all() and (points <= 1).all(), "points are probabilities")


def drive(forecaster: OnlineForecaster) -> None:
    """Everything that can be asked of a forecaster, across a refinement if one is near."""
    rng = np.random.default_rng(3)
    check_certificates(forecaster, fresh=True)
    waiting = [forecast.id for forecast in forecaster.pending]
    rounds = forecaster.rounds
    text = forecaster.to_json()
    again = type(forecaster).from_json(text)
    demand(again.to_json() == text, "what is written is read back")
    check_forecast(forecaster.peek(*context(forecaster, rng), **groups(forecaster, rng)))
    demand(forecaster.to_json() == text, "peek changes nothing")
    for _ in range(3):
        made = forecaster.predict(*context(forecaster, rng), **groups(forecaster, rng))
        check_forecast(made)
        demand(made.id not in waiting, "ids are new")
        repr(made), made.mean, made.issued
        waiting.append(made.id)
    for number in waiting[::2] + waiting[1::2]:
        (own,) = [ticket for ticket in forecaster.pending if ticket.id == number] or [None]
        if own is not None and own.event is not None:  # else learnt with others of its event
            forecaster.resolve(own.event, outcome(forecaster, rng), forecaster.max_weight)
        elif own is not None:
            forecaster.update(outcome(forecaster, rng), number, forecaster.max_weight)
    demand(forecaster.rounds == rounds + len(waiting) and not forecaster.pending, "all were learnt")
    run(forecaster, 50, rng, record=bool(rng.integers(2)))
    demand(forecaster.rounds == rounds + len(waiting) + 50, "all events were learnt")
    check_certificates(forecaster, fresh=False)
    text = forecaster.to_json()
    if forecaster._stream.row[NEXT_ID] <= MOST_IDS:  # else it is refused, as it should be
        again = type(forecaster).from_json(text)
        demand(again.to_json() == text, "what went on is read back")
    width = forecaster._stream.kind.row_width(int(forecaster._stream.row[LEVEL]))
    demand(len(forecaster._stream.row) == width, "a row has the width of its grid")


def attack(name: str, count: int, seed: int) -> tuple[Counter, list[str]]:
    """Read so many tampered states of a kind: how each went, and what was wrong."""
    texts = [in_the_middle(name, pending).to_json() for pending in (False, True)]
    reader = type(in_the_middle(name, False)).from_json
    rng = np.random.default_rng(seed)
    went: Counter = Counter()
    wrong = []
    for _ in range(count):
        source = texts[int(rng.integers(2))]
        text = source
        while text == source:
            text, what = mutations.mutated(source, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                forecaster = reader(text)
            except ValueError:
                went["refused"] += 1
                continue
            except Exception as error:  # noqa: BLE001 - any other refusal is what is looked for
                wrong.append(f"{name}: {what}: reading: {_told(error)}")
                continue
            try:
                drive(forecaster)
                went["accepted"] += 1
            except Exception as error:  # noqa: BLE001 - the same
                wrong.append(f"{name}: {what}: working: {_told(error)}")
    return went, wrong


def _told(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{last.filename.split('/')[-1]}:{last.lineno}"
    return f"{type(error).__name__}: {str(error)[:200]} ({place})"


def main(arguments: list[str]) -> int:
    import resource

    count, seed, names = int(arguments[0]), int(arguments[1]), arguments[2:] or list(MAKERS)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    faulthandler.enable()
    bad = 0
    for place, name in enumerate(names):
        drive(in_the_middle(name, True))  # compiles, and must work untampered
        faulthandler.dump_traceback_later(SECONDS + 0.2 * count, exit=True)
        went, wrong = attack(name, count, seed + place)
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps({"kind": name, **went, "wrong": wrong}), flush=True)
        bad += len(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
