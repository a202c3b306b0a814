"""What a check is asked for, checked once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fullswap.base import checks

STRATEGIES = ("quantile", "uniform")
BANDS = ("pointwise", "simultaneous")
MOST_BINS = 10_000


@dataclass(frozen=True)
class Settings:
    """How a log is checked."""

    n_bins: int | str = "cube_root"
    """Bins of the average error; "cube_root": ⌈n^(1/3)⌉."""
    strategy: str = "quantile"
    """Bins of equal mass ("quantile") or of equal width ("uniform")."""
    tolerance: float = 0.02
    """Average error that does not matter, a share."""
    level: float = 0.05
    """Calibrated forecasters that may be called miscalibrated, a share: evidence of 1/level."""
    step: float | None = None
    """Forecasts are rounded to multiples of it, and may be off by half of it."""
    least: float = 0.0
    """What a forecast of 0 is to the evidence, and 1 minus it a forecast of 1: forecasts that are
    drawn from a grid stand for chances near its ends, not for certainty."""
    delay: int = 0
    """Outcomes are known only so many rows later."""
    band: str = "pointwise"
    """Whether the band holds at each forecast or for the whole curve."""
    recalibrate: bool = True
    """Whether to try what recalibrating online would have given."""
    seed: int = 0
    """Of the records drawn for the chance level."""

    def __post_init__(self) -> None:
        if self.n_bins != "cube_root":
            if not checks.is_whole(self.n_bins) or not 1 <= int(self.n_bins) <= MOST_BINS:
                rule = f"be 'cube_root' or a whole number from 1 to {MOST_BINS}"
                checks.refuse("n_bins", rule, self.n_bins)
        checks.one_of("strategy", self.strategy, STRATEGIES)
        if not 0 <= checks.setting("tolerance", self.tolerance) <= 1:
            rule = "lie in [0, 1] (a share: 0.03 is 3 points)"
            checks.refuse("tolerance", rule, self.tolerance)
        if not 0 < checks.setting("level", self.level) <= 0.5:
            checks.refuse("level", "lie in (0, 0.5]", self.level)
        if self.step is not None and not 0 < checks.setting("step", self.step) <= 0.5:
            checks.refuse("step", "lie in (0, 0.5], or be None", self.step)
        if not 0 <= checks.setting("least", self.least) <= 0.25:
            checks.refuse("least", "lie in [0, 0.25]", self.least)
        checks.whole("delay", self.delay, 0)
        checks.one_of("band", self.band, BANDS)
        checks.whole("seed", self.seed, 0)

    @property
    def threshold(self) -> float:
        """Evidence that counts as strong."""
        return 1.0 / self.level

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)
