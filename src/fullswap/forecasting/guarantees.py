"""Certificates of rows: what was measured beside what the ledger guarantees."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.certificates import Certificate, Quantity, Subject, Table
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


def broken_conditions(kind: Kind, row: Vector, claim: Claim | None = None) -> tuple[str, ...]:
    """Why nothing is known before the fact of a claim, by default of the calibration error."""
    bound = claim.guaranteed if claim is not None else _bound_ahead(kind, row)
    if math.isfinite(bound):
        return ()
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
    return kind.bound(mass, rounding, level, kind.waiting(row), whole)


def certificates_of(kind: Kind, row: Vector) -> tuple[Certificate, ...]:
    """Measured quantities of the events so far beside their guarantees."""
    return tuple(certificate_of(kind, row, claim) for claim in kind.claims(row))


def first_certificate_of(kind: Kind, row: Vector) -> Certificate:
    """The calibration error alone."""
    return certificate_of(kind, row, kind.claims(row)[0])


def certificate_of(kind: Kind, row: Vector, claim: Claim) -> Certificate:
    """One of them."""
    broken = broken_conditions(kind, row, claim)
    realised, scale = kind.spec.realised, kind.spec.max_weight
    known = None if broken else scale * claim.guaranteed
    # needs no label in time: recommendations are charged as they were at the forecast
    after = scale * claim.after_the_fact if math.isfinite(claim.after_the_fact) else None
    if after is not None and known is not None and not realised:
        after = min(known, after)
    certificate = Certificate(
        claim.quantity,
        int(row[ROUNDS]),
        scale * claim.measured,
        known,
        after,
        LEDGER[claim.result].citation,
        broken,
        on_average=realised,
        subject=Subject.ISSUED if realised else Subject.DISTRIBUTIONS,
        against=claim.against,
        mass=scale * float(row[MASS]),
        noise=None if claim.noise is None else scale * claim.noise,
        table=None if claim.table is None else _in_use(claim.table, scale),
        late=int(row[OVERLAP] if claim.in_order else row[DELAY]),
        events=int(row[ROUNDS] - row[REPEATS]) if row[REPEATS] else None,
        squared_diameter=kind.squared_diameter,
        brier=None if claim.brier is None else scale * claim.brier,
        about=claim.about,
    )
    if row[MASS] == 0 and claim.quantity == kind.claims(row)[0].quantity:
        return replace(certificate, about=promise_of(kind, row, certificate))
    return certificate


def _in_use(table: Table, scale: float) -> Table:
    """The forecasts that had outcomes, in the user's unit of weight: a copy, for rows go on."""
    forecasts, weights, means = table
    held = np.asarray(weights) > 0
    return forecasts[held], scale * weights[held], means[held]


GRIDS = {
    "even": "multiples of 1/{cells}",
    "picks": "some multiples of 1/{cells}",
    "tapered": "even in the middle, finer towards 0 and 1",
    "sines": "finer towards 0 and 1",
    "simplex": "vectors of multiples of 1/{cells}",
}
"""Shapes of grids, in words."""


def explanation_of(kind: Kind, row: Vector) -> str:
    """Which grid and why, and what is guaranteed for as many events as are planned or came."""
    spec, level = kind.spec, int(row[LEVEL])
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
    known = f"{certificate.title} at most {sums(bound)} [{source}]"
    alone = ""
    if kind.whole(row) and spec.max_weight == 1:
        alone = " Every event is to weigh 1 and to be forecast once."
    return f"{promise}; {known}.\n{CONDITIONS[certificate.subject]}{alone}"


def sum_over_classes(parts: tuple[Certificate, ...], broken: str) -> Certificate:
    """Errors of the classes, summed; no guarantee for vectors."""
    noises = [part.noise for part in parts]
    return Certificate(
        Quantity.SUM_OVER_CLASSES,
        parts[0].rounds,
        math.fsum(part.measured for part in parts),
        None,
        None,
        parts[0].theorem,
        (broken,),
        subject=Subject(parts[0].subject),
        mass=parts[0].mass,
        noise=None if None in noises else math.fsum(noise or 0.0 for noise in noises),
        events=parts[0].events,
        late=max(part.late for part in parts),
        squared_diameter=float(len(parts)),
    )
