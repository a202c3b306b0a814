"""Is this forecaster calibrated? How far off, which way, at what cost, and how sure."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fullswap.base.files import write_text
from fullswap.checking import export, words
from fullswap.checking.evidence import Evidence
from fullswap.checking.segments import Segment
from fullswap.checking.settings import Settings
from fullswap.metrics.bins import Bins
from fullswap.metrics.cells import Cells
from fullswap.metrics.chance import Chance
from fullswap.metrics.corp import Curve, ScoreDecomposition, curve_of
from fullswap.metrics.cox import Cox
from fullswap.metrics.windows import Windows


@dataclass(frozen=True, eq=False)
class ClassPart:
    """One class against the rest, or the likeliest class."""

    label: str
    cells: Cells
    bins: Bins
    chance: Chance
    cox: Cox
    settings: Settings

    @cached_property
    def curve(self) -> Curve:
        """The best increasing re-reading; worked out when it is asked for: there may be many."""
        return curve_of(self.cells, band=self.settings.band, seed=self.settings.seed)

    @property
    def error(self) -> float:
        """Average error, a share."""
        return self.bins.error


@dataclass(frozen=True, eq=False)
class Recalibrated:
    """What recalibrating online would have given, learning from each outcome after its forecast."""

    events: int
    """The last so many events, from a blank start."""
    brier_before: float
    brier_after: float
    log_loss_before: float
    log_loss_after: float
    before: Cells | None
    """Of these events as they were forecast; None for several classes."""
    after: Cells | None
    """Of the recalibrated forecasts."""


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """The answer; ``print`` it, ``plot`` it, write a ``report``.

    All errors are shares: 0.041 is 4.1 percentage points.
    """

    verdict: str
    """"miscalibrated", "miscalibrated, but little", "no evidence of miscalibration" or
    "too little data to say"."""
    classes: int
    labels: list[str]
    rows: int
    """Rows with an outcome."""
    events: int
    """Independent events among them."""
    pending: int
    """Rows without an outcome."""
    error: float
    """Average error over bins; of several classes, the probability on the wrong class."""
    chance: Chance
    error_over_time: float
    """Average error in windows of time beyond their chance level."""
    smallest_seen: float
    """An error below this, the same way everywhere, might have gone unseen."""
    cells: Cells
    bins: Bins
    curve: Curve
    cox: Cox
    brier: ScoreDecomposition
    log_loss: ScoreDecomposition | None
    """None for several classes; their log loss is among the metrics."""
    recalibrated: Recalibrated | None
    evidence: Evidence
    windows: Windows
    segments: list[Segment]
    """The worst first: by how far the error lies beyond what chance would show."""
    by_class: list[ClassPart]
    top: ClassPart | None
    metrics: dict[str, float | None]
    """Every number by name."""
    settings: dict[str, Any]
    names: dict[str, Any] = field(default_factory=dict)
    """Which column was read as what."""
    notes: list[str] = field(default_factory=list)
    """What was noticed, guessed or put right on the way in."""
    times: Any = None
    """Time of every row, in order; None if there is none."""
    given: Any = None
    """Which of the given rows each row is; None: they were read in order."""

    @property
    def tolerance(self) -> float:
        """Average error that does not matter."""
        return float(self.settings["tolerance"])

    @property
    def sentence(self) -> str:
        """The answer in a plain paragraph."""
        return words.sentence_of(self)

    @property
    def headline(self) -> str:
        """The answer in a few words."""
        return words.headline_of(self)

    @property
    def verdicts(self) -> list[str]:
        """The verdict alone; a comparison has one for each model."""
        return [self.verdict]

    @property
    def miscalibrated(self) -> bool:
        """Whether the verdict is "miscalibrated"."""
        return self.verdict == "miscalibrated"

    @property
    def time_labels(self) -> list[str] | None:
        """Time at which each window begins."""
        if self.times is None:
            return None
        return [self.time_of(int(row)) or "" for row in self.windows.start]

    def time_of(self, row: int) -> str | None:
        """The time of a row in words, if times are known."""
        if self.times is None or not 0 <= row < len(self.times):
            return None
        return export.time_text(self.times[row])

    def row_of(self, row: int) -> int:
        """The number of a row as it was given, counted from 1."""
        return 1 + (row if self.given is None else int(self.given[row]))

    def __repr__(self) -> str:
        return f"<Check: {self.headline}; {self.events:,} {self.settings['counted']}>"

    def __str__(self) -> str:
        return export.text_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, pictures' points included."""
        return export.dict_of(self)

    def to_json(self, indent: int | None = None) -> str:
        """The same as JSON; what is infinite is the text "Infinity"."""
        return export.json_of(self, indent)

    def frame(self, what: str = "summary") -> Any:
        """A pandas frame: "summary" (the whole and its segments), "bins", "curve", "windows"."""
        return export.frame_of(self, what)

    def plot(self, kind: str = "reliability", ax: Any = None) -> Any:
        """A picture, as a matplotlib figure.

        ``kind``: "reliability", "evidence", "windows", "segments", "benefit" or
        "classes".
        """
        from fullswap.checking.pictures import picture_of

        return picture_of(self, kind, ax)

    def to_html(self, title: str | None = None) -> str:
        """The report as one HTML page that needs nothing else."""
        from fullswap.checking.page import page_of

        return page_of(self, title=title)

    def report(self, path: Any, title: str | None = None) -> None:
        """Write the report to a file: one HTML page that needs nothing else."""
        write_text(path, self.to_html(title))

    def _repr_html_(self) -> str | None:
        from fullswap.checking.page import fragment_of

        try:
            return fragment_of(self)
        except ImportError:  # without the extra, notebooks show the text
            return None
