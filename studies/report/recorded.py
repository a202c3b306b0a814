"""Recalibrators on streams of forecast logs (``--data``)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from studies.report.forecasters import (
    brier_table,
    calibration_table,
    draw_scores,
    guaranteed,
    streams_of,
)

_PANELS = 5
"""Streams in a picture."""


def values(summary: dict[str, Any]) -> dict[str, str]:
    """What was measured on recorded streams."""
    streams = streams_of(summary, recorded=True)
    return {
        "guaranteed": guaranteed(streams),
        "calibration": calibration_table(streams),
        "brier": brier_table(streams),
        "pictures": "\n\n".join(
            f"![Scores on recorded streams](figures/{name}.svg)" for name in pictures(summary)
        ),
    }


def pictures(summary: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Scores, a picture for every few streams."""
    streams = streams_of(summary, recorded=True)
    groups = [streams[start : start + _PANELS] for start in range(0, len(streams), _PANELS)]
    return {
        f"forecasters-recorded-{number}": partial(draw_scores, group)
        for number, group in enumerate(groups, 1)
    }
