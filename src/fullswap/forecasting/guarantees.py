"""Certificates of rows: what was measured beside what the ledger guarantees."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.certificates import EVERYBODY, Certificate, GroupTable, Quantity, Subject, Table
from fullswap.certificates.words import CONDITIONS, OFF, points, sums
from fullswap.kernels.columns import DELAY, LEVEL, MASS, OVERLAP, REPEATS, ROUNDING_MOST, ROUNDS
from fullswap.online.claims import Claim
from fullswap.online.kind import Kind
from fullswap.theorems import LEDGER

IN_TURN = (
    "use a separate recalibrator for each lead time (fs.Bank with the lead time as key), so that "
    "each learns its outcome before it forecasts again"
)
LATE = f"labels came late or not at all; {IN_TURN}"
LATE_SCORES = (
    "labels came late or not at all, and a comparison of Brier scores needs each before the next; "
    f"{IN_TURN}"
)

TOGETHER = (
    "events had several forecasts, which were learnt together; forecast each event once, or use a "
    "separate forecaster for each lead time"
)
"""Of many classes: why nothing is known in advance though no label was late."""


def broken_conditions(kind: Kind, row: Vector, claim: Claim | None = None) -> tuple[str, ...]:
    """Why nothing is known before the fact of a claim, by default of the calibration error."""
    bound = claim.guaranteed if claim is not None else _bound_ahead(kind, row)
    if math.isfinite(bound):
        return ()
    if kind.vectors and not row[OVERLAP]:
        return (TOGETHER,)
    if claim is not None and claim.quantity == Quantity.EXCESS_BRIER:
        return (LATE_SCORES,)
    return (LATE,)


def guarantee_of(kind: Kind, row: Vector) -> float | None:
    """A-priori bound: for the horizon, or for the events so far if these are more."""
    bound = _bound_ahead(kind, row)
    return kind.spec.max_weight * bound if math.isfinite(bound) else None


def mass_ahead(kind: Kind, row: Vector) -> float:
    """The mass that ``guarantee_of`` is about, in the user's unit of weight."""
    return kind.spec.max_weight * max(float(kind.spec.horizon or 0), float(row[MASS]))


def _bound_ahead(kind: Kind, row: Vector) -> float:
    level, mass, rounding = int(row[LEVEL]), float(row[MASS]), float(row[ROUNDING_MOST])
    whole, ahead = kind.whole(row), float(kind.spec.horizon or 0)
    if ahead > mass:
        mass, rounding = ahead, kind.rounding_cost(level) * ahead
        whole = whole and kind.spec.max_weight == 1.0  # else other weights are to come
    return kind.bound(mass, rounding, level, kind.waiting(row), whole) + kind.left_over(row)


def certificates_of(kind: Kind, row: Vector) -> tuple[Certificate, ...]:
    """Measured quantities of the events so far beside their guarantees."""
    return tuple(certificate_of(kind, row, claim) for claim in kind.claims(row))


def first_certificate_of(kind: Kind, row: Vector) -> Certificate:
    """The calibration error alone."""
    return certificate_of(kind, row, kind.claims(row)[0])


def group_certificate_of(kind: Kind, row: Vector, number: int, name: Any) -> Certificate:
    """The calibration error in one group."""
    return certificate_of(kind, row, kind.group_claim(row, number, str(name)))


def group_table_of(kind: Kind, row: Vector, names: tuple[Any, ...]) -> GroupTable:
    """Everybody and every group."""
    own = [(EVERYBODY, first_certificate_of(kind, row))]
    own += [(name, group_certificate_of(kind, row, j, name)) for j, name in enumerate(names)]
    return GroupTable.of(own)


def certificate_of(kind: Kind, row: Vector, claim: Claim) -> Certificate:
    """One of them."""
    broken = broken_conditions(kind, row, claim)
    realised, scale = kind.spec.realised, kind.spec.max_weight
    known = None if broken else scale * claim.guaranteed
    # needs no label in time: recommendations are charged as they were at the forecast
    after = scale * claim.after_the_fact if math.isfinite(claim.after_the_fact) else None
    if after is not None and known is not None and not realised:
        after = min(known, after)
    of_all = claim.group is None
    events = int(row[ROUNDS] - row[REPEATS])
    certificate = Certificate(
        claim.quantity,
        int(row[ROUNDS]) if claim.rounds is None else claim.rounds,
        scale * claim.measured,
        known,
        after,
        LEDGER[claim.result].citation,
        broken,
        on_average=realised,
        subject=_subject(kind),
        against=claim.against,
        mass=scale * (float(row[MASS]) if claim.mass is None else claim.mass),
        noise=None if claim.noise is None else scale * claim.noise,
        table=None if claim.table is None else _in_use(claim.table, scale),
        late=int(row[OVERLAP] if claim.in_order else row[DELAY]),
        events=events if row[REPEATS] and of_all else None,
        # no event weighs more than 1 here, so that sum is reached only if all weigh that
        once=bool(row[REPEATS] and scale == 1 and abs(row[MASS] - events) <= 1e-6 * events),
        squared_diameter=claim.largest or kind.squared_diameter,
        brier=None if claim.brier is None else scale * claim.brier,
        group=claim.group,
        about=claim.about,
    )
    if of_all and row[MASS] == 0 and claim.quantity == kind.claims(row)[0].quantity:
        return replace(certificate, about=promise_of(kind, row, certificate))
    return certificate


def _subject(kind: Kind) -> Subject:
    """What the bounds of a kind are about."""
    if kind.spec.realised:
        return Subject.ISSUED
    return Subject.VECTORS if kind.vectors else Subject.DISTRIBUTIONS


def _in_use(table: Table, scale: float) -> Table:
    """The forecasts that had outcomes, in the user's unit of weight: a copy, for rows go on."""
    forecasts, weights, means = table
    held = np.asarray(weights) > 0
    return forecasts[held], scale * weights[held], means[held]


GRIDS = {
    "even": "multiples of 1/{cells}",
    "tapered": "even in the middle, finer towards 0 and 1",
    "classes": "any vectors of sum 1",
}
"""Shapes of grids, in words."""


def explanation_of(kind: Kind, row: Vector) -> str:
    """Which grid and why, and what is guaranteed for as many events as are planned or came."""
    spec, level = kind.spec, int(row[LEVEL])
    if kind.vectors:
        certificate = first_certificate_of(kind, row)
        return f"{_classes_in_words(kind)}\n{promise_of(kind, row, certificate)}"
    lattice, until = spec.levels[level], spec.end(level)
    shape = GRIDS[lattice.shape].format(cells=lattice.cells)
    if math.isfinite(until):
        why = f"finer from a total weight of {spec.max_weight * until:,.0f} on"
    elif spec.steps is None and not spec.models and spec.horizon:
        why = f"the grid with the smallest guarantee for {spec.horizon:,} events"
    else:
        why = "the same for all events"
    grid = f"Forecasts are among {lattice.size(spec.classes)} values: {shape}; {why}."
    return f"{grid}\n{promise_of(kind, row, first_certificate_of(kind, row))}"


def _classes_in_words(kind: Kind) -> str:
    """What many classes are forecast like, what is guaranteed of that and what is not."""
    spec = kind.spec
    bins = spec.levels[0].cells + 1
    lines = [
        f"Forecasts of {spec.classes:,} classes are vectors of sum 1, calibrated class by class "
        f"and for their declared label, in {bins} soft bins of every class.",
        "Not guaranteed: calibration of whole vectors. Of many classes that takes more events than "
        "there are [FGMS25; P25].",
        "Nor calibration on hard bins, against an adversary who sees a vector before its outcome "
        "[O85].",
    ]
    return "\n".join(lines)


def promise_of(kind: Kind, row: Vector, certificate: Certificate) -> str:
    """What is guaranteed for as many events as are planned, or came if these are more."""
    spec, source = kind.spec, certificate.theorem
    bound, mass = guarantee_of(kind, row), mass_ahead(kind, row)
    if bound is None:
        return f"No guarantee: {'; '.join(certificate.broken)} [{source}]."
    if mass <= 0:
        return (
            "No horizon was given, so what is guaranteed depends on how many events come: "
            f"`guarantee` has it for those so far [{source}]."
        )
    ahead = replace(certificate, guaranteed=bound, mass=mass)
    many = f"{mass:,.6g} event{'' if mass == 1 else 's'}"
    if spec.max_weight != 1:
        many = f"a total weight of {mass:,.6g}"
    late = " with labels this late" if certificate.late else ""
    if ahead.trivial:
        promise = f"Too few events for a guarantee (trivial for {many}{late})"
    else:
        off = points(ahead.points_guaranteed or 0.0, up=True)
        promise = f"Guaranteed for {many}{late}: at most {off} percentage points off"
        promise += OFF[certificate.quantity]
    if spec.groups:
        promise += ", over all events; in each group as its own certificate says"
    known = f"{certificate.title} at most {sums(bound)} [{source}]"
    alone = ""
    if kind.whole(row) and spec.max_weight == 1:
        alone = " Every event is to weigh 1 and to be forecast once."
    return f"{promise}; {known}.\n{CONDITIONS[certificate.subject]}{alone}"
