"""Regret against rounds, of several learners side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.base.records import Record
from fullswap.metrics.regret import regret_curve
from fullswap.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_NAME = 30
FITTED = 3
"""Fewest points for a rate."""


@dataclass(frozen=True)
class Curve:
    """Regret of one learner after growing numbers of rounds, and its guarantee if it has one."""

    rounds: Vector
    regret: Vector
    guaranteed: Vector | None

    @property
    def rate(self) -> float | None:
        """Exponent a of regret ≈ c·T^a over the later half of the points; None if unknown."""
        late = np.arange(len(self.rounds)) >= len(self.rounds) // 2
        fitted = late & (self.regret > 0)
        if np.count_nonzero(fitted) < FITTED:
            return None
        x, y = np.log(self.rounds[fitted]), np.log(self.regret[fitted])
        return float(np.polyfit(x, y, 1)[0])


def regret_curves(
    learners: Mapping[str, Record | tuple[Any, ...]],
    *,
    log: bool = True,
    ax: Axes | None = None,
    ylabel: str = "full swap regret",
) -> Figure:
    """Measured regret of several learners against the number of rounds, guarantees dashed.

    The legend says at which rate the regret of each has grown over the later half of the points:
    T^0.33 doubles it when rounds are eight times as many.

    Parameters
    ----------
    learners
        Name ↦ a `Record` (its full swap regret is measured), or (rounds, regret), or (rounds,
        regret, guaranteed) with arrays of equal length; the last may be one number, or NaN where
        nothing is guaranteed.
    log
        Whether both axes are logarithmic, on which rates are slopes.
    ax, ylabel
        Axes to draw on, by default a new figure; what is measured.

    Examples
    --------
    >>> rounds = [10, 100, 1000]
    >>> figure = regret_curves({"ours": (rounds, [2.0, 4.3, 9.3], 20.0), "other": (rounds, rounds)})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['ours: 9.3 (at most 20)', 'other: 1,000']
    """
    if not isinstance(learners, Mapping) or not learners:
        checks.refuse("learners", "be a mapping of names to records or curves, not empty", learners)
    curves = {str(name): _curve(str(name), given) for name, given in learners.items()}
    ax = style.axes_of(ax, 5.4, 3.6 + 0.1 * max(len(curves) - 3, 0))
    looks = style.palette(len(curves))
    if len(curves) == 1:
        looks[0]["color"] = style.main()
    for k, (name, curve) in enumerate(curves.items()):
        # A logarithm has no place for a regret of 0 or less.
        shown = np.where(curve.regret > 0, curve.regret, np.nan) if log else curve.regret
        label = style.plain(name, LONGEST_NAME) + _ending(curve)
        look: dict[str, Any] = dict(color=looks[k]["color"], linewidth=1.7, gid=f"learner-{k + 1}")
        # A line of one point is not seen without a mark.
        marked = len(curve.rounds) < FITTED
        ax.plot(
            curve.rounds, shown, label=label, marker="o" if marked else "", markersize=4, **look
        )
        if curve.guaranteed is not None:
            dashed: dict[str, Any] = dict(linestyle=(0, (5, 2)), color=looks[k]["color"])
            gid = f"guaranteed-{k + 1}"
            ax.plot(curve.rounds, curve.guaranteed, linewidth=1.1, gid=gid, **dashed)
    _dress(ax, log, any((curve.regret > 0).any() for curve in curves.values()))
    ax.set(xlabel="rounds", ylabel=style.plain(ylabel))
    rates = any(curve.rate is not None for curve in curves.values())
    line = "at the end" + (", and how it grows in rounds T" if rates else "")
    if any(curve.guaranteed is not None for curve in curves.values()):
        line += "; dashed: guaranteed"
    style.legend_above(ax, [line])
    return style.root_figure(ax)


def _dress(ax: Axes, log: bool, positive: bool) -> None:
    style.tidy(ax)
    if log:
        ax.set_xscale("log")
        if positive:
            ax.set_yscale("log")
    else:
        ax.set_xlim(left=0)
        style.whole_ticks(ax, "x", 5)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")


def _ending(curve: Curve) -> str:
    """The last regret, the rate at which it has grown, and the most that it could be."""
    rate, bound = curve.rate, curve.guaranteed
    said = f": {style.figures(float(curve.regret[-1]))}"
    said += "" if rate is None else f", T^{rate:.2f}".replace("-", "−")
    if bound is None or np.isnan(bound[-1]):
        return said
    return f"{said} (at most {style.figures(float(bound[-1]))})"


def _curve(name: str, given: Any) -> Curve:
    """A record measured, or arrays checked."""
    if isinstance(given, Record):
        rounds, regret = regret_curve(given)
        return Curve(rounds.astype(float), regret, None)
    if not isinstance(given, tuple | list) or len(given) not in (2, 3):
        rule = "be a Record, (rounds, regret) or (rounds, regret, guaranteed)"
        checks.refuse(f"learners[{name!r}]", rule, given)
    places = checks.vector(f"rounds of {name!r}", given[0])
    rising = len(places) > 0 and places[0] > 0 and bool((np.diff(places) > 0).all())
    if not rising:
        checks.refuse(f"rounds of {name!r}", "be positive and ascending, not empty", given[0])
    measured = checks.vector(f"regret of {name!r}", given[1], len(places))
    return Curve(places, measured, _guarantee(name, given[2:], len(places)))


def _guarantee(name: str, given: Any, count: int) -> Vector | None:
    """Bounds at every number of rounds; None where none is known anywhere."""
    if not given or given[0] is None:
        return None
    bounds = checks.numbers(f"guaranteed of {name!r}", given[0]).astype(float)
    if bounds.shape not in ((), (count,)):
        checks.refuse_shape(f"guaranteed of {name!r}", f"() or ({count},)", bounds)
    if (bounds < 0).any() or np.isinf(bounds).any():
        checks.refuse(f"guaranteed of {name!r}", "be at least 0, or NaN", given[0])
    return None if np.isnan(bounds).all() else np.broadcast_to(bounds, (count,))
