"""Calibration error as it grows, beside what is guaranteed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Indices, Vector
from fullswap.base.records import Record
from fullswap.metrics.groups import Groups, distinct_rows, l2_of, sums_by
from fullswap.metrics.reading import USE_BINS, warn_if_distinct
from fullswap.report import style
from fullswap.report.bands import yes_no_events

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CHECKPOINTS = 200
"""Numbers of events at which the error is drawn: one for every few pixels."""


def calibration_history(
    y_true: ArrayLike,
    y_proba: ArrayLike | Record,
    *,
    guarantee: float | Callable[[int], float] | None = None,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
    log: bool = True,
) -> Figure:
    """The l2 calibration error after t events, for t up to T, beside the guarantee.

    Measured is Σ_p W_p·(p − ȳ_p)² over the distinct forecasts p up to t, with W_p the weight of
    the events forecast at p and ȳ_p their mean outcome: a sum, not a mean, at about 200 values
    of t. Events of weight 0 are left out. For forecasts of a grid, or rounded ones: raw
    probabilities are hardly ever made twice, which gives a warning.

    Parameters
    ----------
    y_true, y_proba, sample_weight
        Outcomes and forecasts in [0, 1], in the order of time, shape (T,), or a `Record` for the
        forecasts that it issued; weights of the events.
    guarantee
        A number, drawn level (the guarantee for a horizon), or a function of the number of
        events so far, drawn as a curve. None or NaN: nothing is guaranteed, nothing drawn.
    ax, log
        Axes to draw on, by default a new figure; whether both are logarithmic.

    Examples
    --------
    >>> figure = calibration_history([0, 1, 1], [0.5, 0.5, 0.5], guarantee=2.0)
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['measured: 0.0833', 'guaranteed for the horizon: 2']
    """
    events = yes_no_events(y_true, y_proba, sample_weight)
    if not isinstance(y_proba, Record):
        warn_if_distinct(len(distinct_rows(events.forecasts)[0]), len(events), USE_BINS)
    rounds = checkpoints(len(events), log)
    measured = running_error(events, rounds)
    if isinstance(guarantee, float) and math.isnan(guarantee):
        guarantee = None  # nothing is guaranteed: a learner says so by NaN
    promised = None if guarantee is None else _promised(guarantee, rounds)
    axes = style.new_figure(5.4, 3.6, arranged=True).subplots() if ax is None else ax

    # A logarithm has no place for an error of exactly 0.
    shown = np.where(measured > 0, measured, np.nan) if log else measured
    label = f"measured: {style.figures(measured[-1])}"
    axes.plot(rounds, shown, color=style.main(), linewidth=1.8, label=label)
    if promised is not None:
        word = "guaranteed" if callable(guarantee) else "guaranteed for the horizon"
        label = f"{word}: {style.figures(promised[-1])}"
        axes.plot(rounds, promised, "--", color=style.VERMILION, linewidth=1.4, label=label)
    style.tidy(axes)
    axes.set(xlabel="events", ylabel=r"$\ell_2$ calibration error")
    if log:
        axes.set_xscale("log")
        if (measured > 0).any() or (promised is not None and (promised > 0).any()):
            axes.set_yscale("log")
    else:
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter("{x:,g}")
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.6, borderpad=0, ncols=2,
        fontsize=style.SMALL, frameon=False, labelcolor=style.ink(),
    )  # fmt: skip
    return style.root_figure(axes)


def checkpoints(rounds: int, log: bool) -> Indices:
    """About 200 numbers from 1 to `rounds`, evenly spaced on the axis they are drawn on."""
    if rounds <= CHECKPOINTS:
        return np.arange(1, rounds + 1)
    spaced = np.geomspace if log else np.linspace
    return np.unique(np.rint(spaced(1, rounds, CHECKPOINTS)).astype(np.int64))


def running_error(events: Groups, rounds: Indices) -> Vector:
    """Σ_p W_p·(p − ȳ_p)² after each of these numbers of events, ascending.

    O(T + checkpoints·D) for D distinct forecasts.
    """
    distinct, kinds = distinct_rows(events.forecasts)
    weights, sums = np.zeros(len(distinct)), np.zeros(len(distinct))
    errors = np.empty(len(rounds))
    start = 0
    for k, stop in enumerate(rounds):
        fresh = kinds[start:stop]
        weights += sums_by(fresh, events.weights[start:stop], len(distinct))
        sums += sums_by(fresh, events.sums[start:stop, 0], len(distinct))
        errors[k] = l2_of(Groups.of_sums(distinct[:, 0], weights, sums))
        start = stop
    return errors


def _promised(guarantee: float | Callable[[int], float], rounds: Indices) -> Vector:
    """The guarantee at each checkpoint."""
    if not callable(guarantee):
        return np.full(len(rounds), _as_guarantee("guarantee", guarantee))
    return np.array([_as_guarantee(f"guarantee({t})", guarantee(int(t))) for t in rounds])


def _as_guarantee(name: str, value: object) -> float:
    number = checks.number(name, value)
    if number < 0:
        checks.refuse(name, "be finite and at least 0", value)
    return number
