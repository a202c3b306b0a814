"""``python -m studies groups``: what ``studies.groups`` measures, as tables of a page."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from studies.group_contenders import IGNORING, OURS, OWN, TRUTH
from studies.group_streams import BINS, SOCCER
from studies.groups import NAME, QUICK, Plan, measure
from studies.report.compared import (
    BEHIND,
    Loss,
    Scores,
    about,
    beside,
    command,
    means,
    section,
)
from studies.runs import Row, rows_where

COLUMNS = (
    "everybody", "everybody_noise", "everybody_beyond", "worst", "worst_noise", "worst_beyond",
    "brier", "adaptive",
)  # fmt: skip
HEADS = ("everybody, points off (chance)", "worst group, points off (chance)", "Brier score")
KINDS = (
    Loss("everybody", "everybody"),
    Loss("worst", "worst group"),
    Loss("brier", "Brier score", in_points=False),
)
TITLES = {
    "overlapping": "Groups that overlap, no model",
    "segments": "A model in segments",
    "soccer": "Soccer, a group a league",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return command(NAME, arguments, __doc__, compare, data=True)


def compare(asked: argparse.Namespace) -> tuple[Iterable[Row], Callable[[list[Row]], str]]:
    """Rows, and how to write them down."""
    plan = replace(QUICK if asked.quick else Plan(), seed=asked.seed)
    return measure(plan, asked.data), partial(text_of, said=about(NAME, asked), plan=plan)


def text_of(rows: list[Row], said: str, plan: Plan) -> str:
    """All tables, each with what it shows."""
    parts = [
        f"{said} Made streams: means of {plan.runs} runs of {plan.events:,} events, or of "
        f"{plan.segment_events:,} where there are segments; the log: one run. Points are "
        f"percentage points, over {BINS} bins; in brackets what chance alone would show if every "
        "forecast were right. The worst group is the one that is most clearly off, in standard "
        "deviations of chance. " + BEHIND
    ]
    for part, title in TITLES.items():
        own = rows_where(rows, part=part)
        if own:
            found = means(own, COLUMNS)
            parts += section(title, found, HEADS, _cells, OURS, KINDS, aside=(TRUTH,))
            if part == "segments":
                parts += [pooling(found)]
        elif part == "soccer":
            parts += [f"**{title}.** Left out: `{SOCCER}` was not in the folder given by `DATA=`."]
    return "\n\n".join(part for part in parts if part)


def pooling(found: Mapping[str, Scores]) -> str:
    """Ours beside the better of pooled and separate, as a sentence."""
    excess = {
        stream: 100 * (own[OURS]["brier"] / min(own[IGNORING]["brier"], own[OWN]["brier"]) - 1)
        for stream, own in found.items()
        if OURS in own
    }
    if not excess:
        return ""
    listed = ", ".join(
        f"{'+' if value > 0 else '−'}{abs(value):.2f} % ({stream})"
        for stream, value in excess.items()
    )
    return (
        "Brier score of ours beside the better of one recalibrator for all and one a segment: "
        f"{listed}."
    )


def _cells(own: dict[str, float]) -> tuple[str, str, str]:
    return (
        beside(own["everybody"], own["everybody_noise"]),
        beside(own["worst"], own["worst_noise"]),
        f"{own['brier']:.4f}",
    )
