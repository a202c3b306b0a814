"""Pictures of forecasts before and after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base.amounts import counted
from fullswap.certificates.decisions import percent, worst_ratio
from fullswap.checking.page_forecast_words import table_of
from fullswap.checking.page_parts_figures import READINGS, WIDTH, Picture, kinds_of, picture_of
from fullswap.checking.page_parts_svg import Palette, themed_svg
from fullswap.checking.page_parts_words import points
from fullswap.report.benefit import draw_benefit
from fullswap.report.decisions import draw_decisions
from fullswap.report.history_picture import draw_history
from fullswap.report.style import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fullswap.report.history import History

HEIGHT = 3.3
"""Inches of the pictures of both sides."""
OWN = ("classes", "windows", "evidence", "segments")
"""Pictures of a check that are shown of the forecasts after."""
HISTORY = (
    "Each point looks at all events up to there. Shaded is what chance alone would "
    "show{guaranteed}. Few events are far off by luck, so all lines fall at first."
)
GUARANTEED = ", dashed the most that is guaranteed"
DECISIONS = (
    "For whoever protects when the forecast exceeds the cost of protection over the loss that it "
    "prevents: what the best re-reading of the same forecasts would have saved them. Lower is "
    "better."
)


@dataclass(frozen=True)
class Both:
    """Checks of the same rows before, if there was a model, and after."""

    before: Any
    after: Any

    def parts(self, part: Callable[[Any], Any]) -> dict[str, Any]:
        """A part of each, by name."""
        if self.before is None:
            return {"forecasts": part(self.after)}
        return {"before": part(self.before), "after": part(self.after)}


def sides_of(both: Both, palette: Palette, name: str = "f") -> list[tuple[str, Any, Picture]]:
    """Name, check and reliability diagram of each side."""
    return [
        (side, check, picture_of(check, "reliability", palette, f"{name}-{side}"))
        for side, check in both.parts(lambda check: check).items()
    ]


def pictures_of(
    both: Both, level: float | None, history: History | None, palette: Palette
) -> list[Picture]:
    """All other pictures that have something to show."""
    return list(_pictures(both, level, history, palette))


def _pictures(
    both: Both, level: float | None, history: History | None, palette: Palette
) -> Iterator[Picture]:
    def made(
        kind: str, title: str, label: str, reading: str, draw: Callable[[Axes], Figure]
    ) -> Picture:
        svg = themed_svg(lambda: _narrow(draw), f"f-{kind}", label, palette)
        return Picture(kind, title, label, reading, svg)

    if history is not None:
        label = history_label(history)
        known = bool(np.isfinite(history.guaranteed).any())
        title = "Error so far" + (", with its guarantee" if known else "")
        reading = HISTORY.format(guaranteed=GUARANTEED if known else "")
        yield made("history", title, label, reading, lambda ax: draw_history(history, ax))
    tables = both.parts(table_of)
    yield made(
        "decisions", "Decision curve", decisions_label(tables, level), DECISIONS,
        lambda ax: draw_decisions(tables, level, ax=ax),
    )  # fmt: skip
    earlier = None if both.before is None else both.before.cells
    happened = None if both.after.classes == 2 else "the likeliest class was right"
    title, reading = READINGS["benefit"]
    label = "Net benefit at every threshold, beside acting always and acting never."
    yield made(
        "benefit", title, label, reading,
        lambda ax: draw_benefit(both.after.cells, earlier=earlier, happened=happened, ax=ax),
    )  # fmt: skip
    for kind in kinds_of(both.after):
        if kind in OWN:
            picture = picture_of(both.after, kind, palette)
            after = "" if both.before is None else ", after"
            yield replace(picture, title=f"{picture.title}{after}")


def _narrow(draw: Callable[[Axes], Figure]) -> Figure:
    """The picture in a size at which its words can be read on a phone."""
    return draw(new_figure(WIDTH, HEIGHT, arranged=True).add_subplot())


def history_label(history: History) -> str:
    """The history in a sentence."""
    end = counted(int(history.events[-1]), history.unit.removesuffix("s"))
    said = f"Error after {end}: {points(history.error[-1])}"
    for name, words in (
        ("before", "before"), ("noise", "chance alone"), ("guaranteed", "guaranteed at most"),
    ):  # fmt: skip
        value = float(getattr(history, name)[-1])
        said += f", {words} {points(value)}" if np.isfinite(value) else ""
    return f"{said}."


def decisions_label(tables: dict[str, Any], level: float | None) -> str:
    """The decision curve in a sentence."""
    worst = {name: worst_ratio(table) for name, table in tables.items()}
    said = ", ".join(
        f"{name} {percent(loss)} at ratio {ratio:.2g}" for name, (ratio, loss) in worst.items()
    )
    known = "" if level is None else f"; guaranteed at most {percent(level, up=True)} at any ratio"
    return f"Loss by acting on the forecasts, at the worst ratio: {said}{known}."
