"""Rival forecasters of the same events, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fullswap.base.files import write_text
from fullswap.checking import export
from fullswap.checking.answer import Check
from fullswap.checking.verdict import LITTLE, MISCALIBRATED
from fullswap.checking.words import capital


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Checks of several models; best Brier score first."""

    checks: dict[str, Check]
    notes: list[str] = field(default_factory=list)
    """What was noticed, guessed or put right on the way in."""

    def __post_init__(self) -> None:
        ranked = sorted(self.checks.items(), key=lambda item: item[1].brier.score)
        object.__setattr__(self, "checks", dict(ranked))

    def __len__(self) -> int:
        return len(self.checks)

    def __getitem__(self, name: str) -> Check:
        return self.checks[name]

    @property
    def verdicts(self) -> list[str]:
        """Of each model."""
        return [check.verdict for check in self.checks.values()]

    @property
    def miscalibrated(self) -> bool:
        """Whether a model is."""
        return any(check.miscalibrated for check in self.checks.values())

    @property
    def sentence(self) -> str:
        """The comparison in a plain paragraph."""
        best = next(iter(self.checks))
        sharpest = max(self.checks, key=lambda name: self.checks[name].brier.discrimination)
        off = [n for n, c in self.checks.items() if c.verdict in (MISCALIBRATED, LITTLE)]
        score = self.checks[best].brier.score
        parts = [f"{len(self.checks)} models. Best Brier score: {best} ({score:.4f})."]
        if sharpest != best:
            parts.append(
                f"{sharpest} tells events apart best, and would win if it were recalibrated."
                if self._would_win(sharpest)
                else f"{sharpest} tells events apart best."
            )
        if not off:
            parts.append("No evidence of miscalibration in any of them.")
        else:
            shown = ", ".join(off[:6]) + (f" and {len(off) - 6} more" if len(off) > 6 else "")
            parts.append(f"Miscalibrated: {len(off)} of {len(self.checks)} ({shown}).")
        counts = sorted({check.events for check in self.checks.values()})
        if len(counts) > 1:
            parts.append(
                f"They forecast different numbers of events ({counts[0]:,} to {counts[-1]:,}), so "
                "compare scores with care."
            )
        return " ".join(parts)

    def _would_win(self, name: str) -> bool:
        """Whether its score without miscalibration is below all others'."""
        own = self.checks[name].brier
        least = own.score - own.miscalibration
        return all(least < other.brier.score for n, other in self.checks.items() if n != name)

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.checks)} models: {', '.join(self.checks)}>"

    def __str__(self) -> str:
        return export.comparison_text(self)

    def frame(self) -> Any:
        """A pandas frame with a row for each model."""
        return export.frame_from(export.comparison_rows(self))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        models = {name: check.to_dict() for name, check in self.checks.items()}
        return {
            "version": export.VERSION, "sentence": self.sentence, "notes": self.notes,
            "models": models,
        }  # fmt: skip

    def to_json(self, indent: int | None = None) -> str:
        """The same as JSON."""
        return export.dumped(self.to_dict(), indent)

    def plot(self) -> Any:
        """Reliability diagrams of the models side by side, the best Brier score first."""
        from fullswap.checking.pictures import model_parts
        from fullswap.report.classes import draw_models

        parts, more = model_parts(self.checks)
        return draw_models(parts, more=more)

    def to_html(self, title: str | None = None) -> str:
        """The report as one HTML page that needs nothing else."""
        from fullswap.checking.page import page_of_comparison

        return page_of_comparison(self, title=title)

    def report(self, path: Any, title: str | None = None) -> None:
        """Write the report to a file."""
        write_text(path, self.to_html(title))

    def _repr_html_(self) -> str | None:
        from fullswap.checking.page import fragment_of_comparison

        try:
            return fragment_of_comparison(self)
        except ImportError:  # without the extra, notebooks show the text
            return None

    @property
    def headline(self) -> str:
        """A few words."""
        return capital(f"{len(self.checks)} models compared")
