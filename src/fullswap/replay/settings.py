"""What a replay is asked for, checked once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fullswap.base import checks
from fullswap.grids.steps import steps_of
from fullswap.online.spec import MOST_CLASSES

RUN_LENGTH = 100_000
"""Right forecasts ring the alarm at most once in so many events, on average."""


@dataclass(frozen=True)
class ReplaySettings:
    """How a log is replayed."""

    step: float | str | None = None
    """Only multiples of it are issued: 0.05, "5%"."""
    horizon: int | None = None
    """Number of events for which the grid is chosen."""
    delay: int | None = None
    """Outcomes are known so many rows later; None: by time, or before the next row."""
    alarm: bool = False
    """Whether a monitor watches."""
    max_weight: float | None = None
    """Largest weight that will ever come; None: the largest of the first rows."""
    seed: int | None = 0
    """Of the draws; None: fresh entropy of the system, so that nobody can foresee them."""

    def __post_init__(self) -> None:
        if self.step is not None:
            steps_of(self.step)
        checks.horizon(self.horizon)
        if self.delay is not None:
            checks.whole("delay", self.delay, 0)
        if self.max_weight is not None:
            checks.number("max_weight", self.max_weight, above=0)
        if self.seed is not None:
            checks.whole("seed", self.seed, 0)

    def forecaster(self, classes: int, models: int, max_weight: float, groups: bool = False) -> Any:
        """What every stream begins as; with ``groups`` any name is one when it is first met."""
        from fullswap.forecasting import Forecaster, MulticlassForecaster, Recalibrator

        if classes > MOST_CLASSES:
            checks.refuse("classes", f"be at most {MOST_CLASSES:,} for a forecast", classes)
        if classes > 2 and self.step is not None:
            rule = "be left out for more than two classes: their vectors are on no grid"
            checks.refuse("step", rule, self.step)
        shared: Any = {"horizon": self.horizon, "seed": self.seed, "max_weight": max_weight}
        if groups:
            shared["groups"] = "open"
        if models:
            return Recalibrator(self.step, classes=classes, models=models, **shared)
        if classes == 2:
            return Forecaster(step=self.step, **shared)
        return MulticlassForecaster(classes, **shared)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)
