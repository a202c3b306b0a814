"""Print the table of benchmarks: ``python -m benchmarks [--quick]``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks import (
    Result,
    bank,
    checks,
    classes,
    copies,
    diagram,
    forecasts,
    groups,
    line,
    mesh,
    startup,
    stationary,
    weights,
)

PARTS = (
    line,
    weights,
    stationary,
    mesh,
    forecasts,
    groups,
    classes,
    bank,
    copies,
    checks,
    diagram,
    startup,
)
COLUMNS = ("benchmark", "measured", "against", "ratio", "target", "met")
TITLE = "Ratios measured in one run (smallest processor times)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all benchmarks; missed targets are shown, and are no failure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, about 20 seconds")
    quick = parser.parse_args(arguments).quick
    results = [result for part in PARTS for result in part.benchmark(quick)]
    show([_cells(result) for result in results])
    return 0


def show(rows: list[tuple[str, ...]]) -> None:
    """Print the table, with rich if it is there."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        _show_plain(rows)
        return
    table = Table(title=TITLE)
    for column in COLUMNS:
        table.add_column(column, justify="left" if column in ("benchmark", "target") else "right")
    for row in rows:
        table.add_row(*row, style="" if row[-1] == "yes" else "bold red")
    console = Console()
    # Piped output has no width of its own; a table that breaks its lines is hard to compare.
    Console(width=None if console.is_terminal else 140).print(table)


def _show_plain(rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(cell) for cell in column) for column in zip(COLUMNS, *rows, strict=True)]
    print(TITLE)
    for row in (COLUMNS, *rows):
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(padded).rstrip())


def _cells(result: Result) -> tuple[str, ...]:
    return (
        result.name,
        _shown(result.measured, result.unit),
        _shown(result.yardstick, result.unit),
        f"{result.ratio:.3g}",
        result.target,
        "yes" if result.met else "no",
    )


def _shown(seconds: float, kind: str) -> str:
    if kind != "s":
        return f"{seconds:.4g} {kind}"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


if __name__ == "__main__":
    raise SystemExit(main())
