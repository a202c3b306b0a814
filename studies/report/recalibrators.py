"""``python -m studies.report.recalibrators --data FOLDER PAGE``: the comparison, into a page.

Plays all contenders on made streams and on the logs in the folder and writes the tables between the
markers ``<!-- recalibrators: begin -->`` and ``end``. Logs whose outcomes come late, or are shared,
have tables of their own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from fullswap.report.style import figures
from studies import forecasters
from studies.recalibrators import OURS, REFIT_EVERY, WITHOUT_EVENTS
from studies.report.markers import rewrite
from studies.report.text import table
from studies.runs import Store, provenance, run
from studies.threads import one_thread

NAME = "recalibrators"
"""Of the markers."""
RAW = "raw model"
ISOTONIC = f"isotonic, refitted every {REFIT_EVERY}"
NEWTON = "Platt, online Newton"
ONE_RUN = f"{OURS}, {forecasters.AS_ONE_RUN}"
_PROMPT = {
    "Platt, frozen": "Platt, frozen",
    ISOTONIC: "isotonic, refitted",
    NEWTON: "Platt, online",
    f"{OURS}, mean": "ours, mean",
    f"{OURS}, issued": "ours, issued",
}
"""Contender ↦ heading, where outcomes come at once."""
_LATE = {
    ISOTONIC: "isotonic, refitted",
    NEWTON: "Platt, online",
    f"{WITHOUT_EVENTS}, mean": "ours, events not told, mean",
    f"{OURS}, mean": "ours, mean",
    f"{OURS}, issued": "ours, issued",
}
"""The same where they come late."""
_PER_EVENT = 1e4

Scores = dict[str, dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write; 1 if it cannot be done."""
    parser = argparse.ArgumentParser("python -m studies.report.recalibrators", description=__doc__)
    parser.add_argument("page", type=Path, help="file with the markers")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public logs")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    asked = parser.parse_args(arguments)
    try:
        rewrite(asked.page, NAME, text_of(measure(asked.data, asked.seed)))
    except (ValueError, OSError) as error:
        print(f"recalibrators: {error}", file=sys.stderr)
        return 1
    return 0


def measure(folder: Path, seed: int) -> dict[str, Any]:
    """The summary of all streams: a minute or two on one core."""
    part = forecasters.part_with_logs(folder)
    with one_thread(), TemporaryDirectory() as kept, ThreadPoolExecutor(1) as executor:
        forecasters.warm_up()
        rows = run(part.jobs(True, seed), Store(Path(kept), NAME), executor)
    return forecasters.summarise(rows)


def text_of(summary: dict[str, Any]) -> str:
    """All tables, each below what it shows."""
    streams = summary["streams"]
    prompt = [stream for stream in streams if not stream["delayed"]]
    late = [stream for stream in streams if stream["delayed"]]
    warm_up, first = f"{summary['warm_up']:.0%}".replace("%", " %"), summary["first"]
    revision = str(provenance()["revision"])
    parts = [
        f"Measured by `make recalibrators DATA=…` ({revision}). Made streams: means over several "
        f"draws; logs: one run. Scores are of all forecasts after the first {warm_up} of a stream, "
        f"and once more of the first {first} events from the very first one, where nobody has "
        "learnt much. Ratios are to the model itself: below 1 is better than the model."
    ]
    for streams_here, names, title in (
        (prompt, _PROMPT, "Outcomes that come at once"),
        (late, _LATE, "Outcomes that come late or are shared"),
    ):
        if streams_here:
            parts += [f"**{title}.** Brier score:", brier_table(streams_here, names, "brier")]
            parts += [f"The same over the first {first} events:"]
            parts += [brier_table(streams_here, names, "first_brier")]
            parts += ["Log loss, with nothing clipped:", log_loss_table(streams_here, names)]
            parts += ["Calibration error per forecast less what chance alone would show, × 10⁴:"]
            parts += [calibration_table(streams_here, names)]
    return "\n\n".join([*parts, times(streams)])


def times(streams: list[dict[str, Any]]) -> str:
    """CPU time of ours and of online Platt scaling, as a sentence."""
    spent: dict[str, list[float]] = {}
    for stream in streams:
        for score in stream["contenders"]:
            spent.setdefault(score["contender"], []).append(score["microseconds"])
    middle = {name: figures(median(values)) for name, values in spent.items()}
    said = [f"Ours takes {middle[f'{OURS}, mean']} µs per event from Python"]
    if NEWTON in middle:
        said.append(f"online Platt scaling {middle[NEWTON]} µs")
    if ONE_RUN in middle:
        said.append(f"ours over whole arrays {middle[ONE_RUN]} µs")
    return ", ".join(said) + "."


def brier_table(streams: list[dict[str, Any]], names: dict[str, str], key: str) -> str:
    """The model's Brier score, and those of the others divided by it."""

    def ratio(score: dict[str, Any], raw: dict[str, Any]) -> str:
        return f"{score[key] / raw[key]:.3f}"

    return _table(streams, names, lambda raw: f"{raw[key]:.4f}", ratio)


def log_loss_table(streams: list[dict[str, Any]], names: dict[str, str]) -> str:
    """Log losses; infinite where something happened that had been given no chance."""

    def shown(score: dict[str, Any], _: Any = None) -> str:
        return "∞" if score["log_loss"] is None else f"{score['log_loss']:.4f}"

    return _table(streams, names, shown, shown)


def calibration_table(streams: list[dict[str, Any]], names: dict[str, str]) -> str:
    """Calibration error on multiples of 5 %, net of noise: about 0, or below, is calibrated."""

    def net(score: dict[str, Any], _: Any = None) -> str:
        value = _PER_EVENT * (score["calibration"] - score["noise"])
        digits = 1 if abs(value) < 10 else 0
        rounded = round(value, digits) + 0.0
        return f"{rounded:,.{digits}f}".replace("-", "−")

    return _table(streams, names, net, net)


def _table(
    streams: list[dict[str, Any]],
    names: dict[str, str],
    of_model: Callable[[dict[str, Any]], str],
    of_other: Callable[[dict[str, Any], dict[str, Any]], str],
) -> str:
    """A row a stream: events, the model itself, the contenders."""
    rows = []
    for stream in streams:
        scores: Scores = {score["contender"]: score for score in stream["contenders"]}
        raw = scores[RAW]
        others = [of_other(scores[name], raw) if name in scores else "–" for name in names]
        rows.append((stream["stream"], _size(stream), of_model(raw), *others))
    late = any(stream["outcomes"] for stream in streams)
    sizes = "forecasts (events)" if late else "events"
    return table(("stream", sizes, "model itself", *names.values()), rows)


def _size(stream: dict[str, Any]) -> str:
    """How many forecasts, and of how many events if they are fewer."""
    forecasts, events = f"{stream['events']:,}", stream["outcomes"]
    return f"{forecasts} ({events:,})" if events else forecasts


if __name__ == "__main__":
    sys.exit(main())
