"""How far off, of one yes/no question or of several together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fullswap.checking.settings import Settings
from fullswap.metrics.bins import bins_of
from fullswap.metrics.calibration import smooth_of
from fullswap.metrics.cells import Cells
from fullswap.metrics.chance import Chance, chance_of
from fullswap.metrics.corp import ScoreDecomposition, decompose
from fullswap.metrics.cox import cox_of
from fullswap.metrics.groups import Groups
from fullswap.metrics.seen import smallest_seen

if TYPE_CHECKING:
    from fullswap.checking.answer import Check, ClassPart

FEW_CLASSES = 10
"""Up to so many classes the curve of each is worked out at once."""
FEW_DRAWS = 200
"""Records drawn for the chance level of one among many."""
SMOOTH_CELLS = 10_000
"""Cells up to which the smooth calibration error is worked out exactly."""


def part_of(label: str, cells: Cells, settings: Settings, draws: int | None = None) -> ClassPart:
    """Error, chance, curve and direction of one yes/no question."""
    from fullswap.checking.answer import ClassPart

    bins = bins_of(cells, settings.n_bins, settings.strategy)
    chance = chance_of(cells, bins, draws, settings.seed)
    return ClassPart(label, cells, bins, chance, cox_of(cells), settings)


def pooled(parts: list[tuple[float, Chance]]) -> tuple[float, Chance]:
    """Probability on the wrong class: half the sum of the errors of all classes.

    For two classes that is the error of either. The chance level adds quantiles, which is at least
    the quantile of a sum of errors that go together.
    """
    error = 0.5 * sum(one for one, _ in parts)
    chances = [chance for _, chance in parts]
    level = min(len(parts) * min(chance.level for chance in chances), 1.0)
    median, high = (0.5 * sum(getattr(c, name) for c in chances) for name in ("median", "high"))
    return error, Chance(median, high, level, chances[0].draws)


def total_brier(parts: list[ClassPart]) -> ScoreDecomposition:
    """Brier score and its parts, summed over the classes; what chance would show, if not many."""
    own = [decompose(part.cells, "brier") for part in parts]
    names = ("score", "miscalibration", "discrimination", "uncertainty")
    score, lost, gained, unsure = (sum(getattr(part, name) for part in own) for name in names)
    chance = None
    if len(parts) <= FEW_CLASSES:
        chance = sum(part.curve.chance or 0.0 for part in parts)
    return ScoreDecomposition(score, lost, gained, unsure, chance)


def seen_of(parts: list[ClassPart], chance: Chance, settings: Settings, largest: float) -> float:
    """Smallest error that four logs of five would have shown: of yes/no events, or of one class.

    Of several classes at least what lifts their pooled error above its chance level. Forecasts that
    may be off by half a step hide as much.
    """
    own = [smallest_seen(part.cells, settings.threshold * len(parts), largest) for part in parts]
    seen = max(own)
    if len(parts) > 1:
        seen = max(seen, math.sqrt(max(chance.high**2 - chance.median**2, 0.0)))
    return min(seen + (settings.step or 0.0) / 2, 1.0)


def means_of(cells: Cells, low: float, high: float) -> tuple[float, float]:
    """Mean forecast and mean outcome of the forecasts in [low, high]."""
    inside = (cells.forecast >= low) & (cells.forecast <= high)
    weight = cells.weight[inside] if inside.any() else cells.weight
    own = inside if inside.any() else np.ones(len(inside), np.bool_)
    total = float(weight.sum())
    says = float(weight @ cells.forecast[own]) / total
    return says, float(cells.yes[own].sum()) / total


def thirds_of(cells: Cells) -> tuple[float, float]:
    """Forecasts below and above which a third of the weight lies."""
    sums = np.cumsum(cells.weight)
    places = np.searchsorted(sums, [sums[-1] / 3, 2 * sums[-1] / 3])
    low, high = cells.forecast[np.minimum(places, len(sums) - 1)]
    return float(low), float(high)


def metrics_of(c: Check) -> dict[str, float | None]:
    """Every number by name."""
    found: dict[str, float | None] = {
        "error": c.error,
        "error_chance_median": c.chance.median,
        "error_chance_95": c.chance.high,
        "one_look_level": c.chance.level,
        "error_over_time": c.error_over_time,
        "smallest_error_seen": c.smallest_seen,
        "mean_forecast": float(c.cells.weight @ c.cells.forecast) / c.cells.total,
        "mean_outcome": float(c.cells.yes.sum()) / c.cells.total,
        "bias": c.cox.bias,
        "bias_error": c.cox.bias_error,
        "intercept": c.cox.intercept,
        "intercept_error": c.cox.intercept_error,
        "slope": c.cox.slope,
        "slope_error": c.cox.slope_error,
        "smooth_calibration_error": _smooth(c.cells),
        "cumulative_error": _cumulative(c.cells),
    }
    for name, score in (("brier", c.brier), ("log_loss", c.log_loss)):
        if score is not None:
            found[name] = score.score
            found[f"{name}_miscalibration"] = score.miscalibration
            found[f"{name}_discrimination"] = score.discrimination
            found[f"{name}_uncertainty"] = score.uncertainty
    if c.brier.chance is not None:
        found["brier_miscalibration_chance"] = c.brier.chance
    if c.classes > 2:
        assert c.top is not None
        found["log_loss"] = _log_loss([part.cells for part in c.by_class])
        found["classwise_error"] = float(np.mean([part.error for part in c.by_class]))
        found["top_label_error"] = c.top.error
    if c.recalibrated is not None:
        found["recalibrated_brier"] = c.recalibrated.brier_after
        found["recalibrated_brier_before"] = c.recalibrated.brier_before
        found["recalibrated_log_loss"] = c.recalibrated.log_loss_after
        found["recalibrated_log_loss_before"] = c.recalibrated.log_loss_before
    found["log10_evidence"] = c.evidence.log10
    found["log10_evidence_most"] = math.inf if len(c.evidence.impossible) else c.evidence.log10_most
    return found


def _smooth(cells: Cells) -> float:
    few = cells if len(cells.weight) <= SMOOTH_CELLS else cells.folded(SMOOTH_CELLS)
    return smooth_of(Groups.of_sums(few.forecast, few.weight, few.yes))


def _cumulative(cells: Cells) -> float:
    """Largest error over an interval of forecasts (Kuiper's statistic; ECCE-R), per event."""
    sums = np.concatenate(([0.0], np.cumsum(cells.yes - cells.weight * cells.forecast)))
    return float(sums.max() - sums.min()) / cells.total


def _log_loss(classes: list[Cells]) -> float:
    """Log loss of all classes, from the outcomes of each."""
    total = 0.0
    for cells in classes:
        happened = cells.yes > 0
        with np.errstate(divide="ignore"):
            total -= float(cells.yes[happened] @ np.log(cells.forecast[happened]))
    return total / classes[0].total
