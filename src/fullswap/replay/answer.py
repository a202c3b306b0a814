"""What a replay found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fullswap.base.files import write_text
from fullswap.certificates import Certificate
from fullswap.checking.answer import Check
from fullswap.checking.comparison import Comparison
from fullswap.checking.export import dumped
from fullswap.checking.monitor_alarm import Alarm
from fullswap.replay import words
from fullswap.replay.by_group import GroupChanges
from fullswap.report.history import History

VERSION = 1
"""Of the plain data."""


@dataclass(frozen=True, eq=False, repr=False)
class Replayed:
    """A log replayed; ``print`` it, or write a ``report``."""

    before: Check | None
    """Of the model's own probabilities; of several models the one with the best Brier score."""
    after: Check | None
    """Of the issued forecasts, on the same rows; None before the first outcome."""
    certificate: Certificate | None
    """Of a single stream."""
    certificates: dict[Any, Certificate]
    """Of the stream of every key."""
    history: History | None
    alarms: list[Alarm] = field(default_factory=list)
    rows: int = 0
    """Rows of this call."""
    answered: int = 0
    """Forecasts with an outcome, in this call."""
    pending: int = 0
    """Forecasts that wait for their outcome."""
    skipped: int = 0
    """Rows that could not be forecast, or brought an outcome only."""
    notes: list[str] = field(default_factory=list)
    models: Comparison | None = None
    """Of several models: all of them."""
    groups: GroupChanges | None = None
    """Of every group, where there are any."""
    declared: Certificate | None = None
    """Of the declared class, where there are three or more."""

    @property
    def sentence(self) -> str:
        """Before and after, in a plain paragraph."""
        return words.sentence_of(self)

    def __str__(self) -> str:
        return words.text_of(self)

    def __repr__(self) -> str:
        return f"<Replayed: {self.answered:,} forecasts with outcomes, {self.pending:,} pending>"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        found = {str(key): certificate.to_dict() for key, certificate in self.certificates.items()}
        history = self.history
        names = ("events", "error", "noise", "guaranteed", "before")
        return {
            "version": VERSION, "sentence": self.sentence, "rows": self.rows,
            "answered": self.answered, "pending": self.pending, "skipped": self.skipped,
            "before": None if self.before is None else self.before.to_dict(),
            "after": None if self.after is None else self.after.to_dict(),
            "models": None if self.models is None else self.models.to_dict(),
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "declared": None if self.declared is None else self.declared.to_dict(),
            "certificates": found,
            "groups": None if self.groups is None else self.groups.to_dict(),
            "history": None if history is None else {k: getattr(history, k) for k in names},
            "alarms": [dict(vars(alarm), text=str(alarm)) for alarm in self.alarms],
            "notes": self.notes,
        }  # fmt: skip

    def to_json(self, indent: int | None = None) -> str:
        """The same as JSON; what is infinite is the text "Infinity"."""
        return dumped(self.to_dict(), indent)

    def _listed(self) -> list[tuple[str, Certificate]]:
        if self.certificate is not None:
            return [("", self.certificate)]
        return [(str(key), certificate) for key, certificate in self.certificates.items()]

    def to_html(self, title: str | None = None) -> str:
        """The report as one HTML page that needs nothing else."""
        from fullswap.checking.page_forecast import page_of_forecast

        if self.after is None:
            raise ValueError("a report must be about outcomes, got none so far")
        return page_of_forecast(self.before, self.after, title=title, **self._shown())

    def _shown(self) -> dict[str, Any]:
        return {
            "certificates": self._listed(), "history": self.history, "alarms": self.alarms,
            "notes": [*words.of_the_declared(self.declared), *self.notes],
            "rows": self.rows, "pending": self.pending,
            "skipped": self.skipped, "groups": self.groups,
        }  # fmt: skip

    def report(self, path: Any, title: str | None = None) -> None:
        """Write the report to a file."""
        write_text(path, self.to_html(title))

    def _repr_html_(self) -> str | None:
        from fullswap.checking.page_forecast import fragment_of_forecast

        if self.after is None:
            return None
        try:
            return fragment_of_forecast(self.before, self.after, **self._shown())
        except ImportError:  # without the extra, notebooks show the text
            return None
